//! The reference pages are there, and say that they are generated.
//!
//! Whether they are up to date is checked where they are generated: by a test of `drydock-embed`,
//! which knows the capabilities. This crate does not, or it would build the engine to count lines.

use super::{Finding, tree::Tree};

const FOLDER: &str = "docs/reference";
const MARK: &str = "generated, do not edit";
const PAGES: &[&str] = &["capabilities.md", "codes.md", "profiles.md"];

pub(super) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for page in PAGES {
        let path = format!("{FOLDER}/{page}");
        if tree.file(&path).is_none() {
            findings.push(Finding::new(path, "is missing", "generate it: `just docs`"));
        }
    }
    for (page, file) in tree.below(FOLDER) {
        let first = file.text().and_then(|text| text.lines().next()).unwrap_or_default();
        if page.ends_with(".md") && !first.contains(MARK) {
            findings.push(Finding::new(
                &file.path,
                format!("its first line does not say `{MARK}`"),
                "pages written by hand live elsewhere in docs/",
            ));
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_and_handwritten_pages_are_found() {
        let (_folder, tree) = Tree::fixture(&[
            ("docs/reference/capabilities.md", "<!-- generated, do not edit: just docs -->\n"),
            ("docs/reference/codes.md", "# Codes\n"),
        ]);
        let found: Vec<String> = check(&tree).unwrap().iter().map(Finding::to_string).collect();
        assert_eq!(found.len(), 2, "{found:#?}");
        assert!(found[0].starts_with("docs/reference/profiles.md: is missing"));
        assert!(found[1].starts_with("docs/reference/codes.md: its first line"));
    }
}
