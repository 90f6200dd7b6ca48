//! What is not done is an issue or a row of COMPAT.md, not a note in the code.

use super::{Finding, source, tree::Tree};

/// The notes, in pieces so that this file holds none.
const NOTES: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

pub(super) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let is_code = |path: &str| {
        [".rs", ".toml", ".sh", ".c", ".wat", "justfile"].iter().any(|end| path.ends_with(end))
            || path == ".ci/run"
    };
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| is_code(&file.path)) {
        let Some(text) = file.text() else { continue };
        for (number, line) in text.lines().enumerate() {
            for note in NOTES.iter().filter(|note| source::has_word(line, note)) {
                findings.push(Finding::new(
                    format!("{}:{}", file.path, number + 1),
                    format!("a {note}"),
                    "finish it, or file it and say in COMPAT.md what lacks",
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
    fn notes_in_code_are_found_and_documents_may_have_them() {
        let note = NOTES[0];
        let (_folder, tree) = Tree::fixture(&[
            ("a.rs", &format!("fn a() {{}}\n// {note}: more\n")),
            ("b.rs", &format!("fn my{note}() {{}}\n")),
            ("c.toml", &format!("# {}\n", NOTES[1])),
            ("d.md", note),
        ]);
        let files: Vec<String> = check(&tree).unwrap().into_iter().map(|it| it.file).collect();
        assert_eq!(files, ["a.rs:2", "c.toml:1"]);
    }
}
