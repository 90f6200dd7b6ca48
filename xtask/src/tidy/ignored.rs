//! A test that does not run proves nothing.

use super::{Finding, source, tree::Tree};

pub(super) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        let Some(text) = file.text() else { continue };
        for (number, line) in source::masked(text).lines().enumerate() {
            let line: String = line.chars().filter(|c| !c.is_whitespace()).collect();
            if line.contains("#[ignore]") || line.contains("#[ignore=") {
                findings.push(Finding::new(
                    format!("{}:{}", file.path, number + 1),
                    "an ignored test",
                    "make it pass, or remove it",
                ));
            }
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_tests_are_found_and_mentions_of_them_are_not() {
        let (_folder, tree) = Tree::fixture(&[
            ("a.rs", "#[test]\n#[ignore]\nfn a() {}\n"),
            ("b.rs", "#[test]\n#[ ignore = \"slow\" ]\nfn a() {}\n"),
            ("c.rs", "//! No #[ignore] here.\nconst A: &str = \"#[ignore]\";\n#[must_use]\nfn a() {}\n"),
        ]);
        let files: Vec<String> = check(&tree).unwrap().into_iter().map(|it| it.file).collect();
        assert_eq!(files, ["a.rs:2", "b.rs:2"]);
    }
}
