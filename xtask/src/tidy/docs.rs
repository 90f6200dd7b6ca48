//! Every Rust file opens with what it promises.

use super::{Finding, tree::Tree};

const REMEDY: &str = "open it with `//!`: what it promises, and what it deliberately does not do";

pub(super) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let silent = tree.rust().filter(|file| !file.bytes.starts_with(b"//!"));
    Ok(silent.map(|file| Finding::new(&file.path, "does not open with module docs", REMEDY)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_opens_with_code_is_found() {
        let (_folder, tree) = Tree::fixture(&[
            ("crates/gate/src/lib.rs", "//! Decides.\n"),
            ("crates/gate/src/rate.rs", "use std::time::Duration;\n"),
            ("fuzz/wire.rs", "// a plain comment\n"),
            ("README.md", "no docs needed"),
        ]);
        let files: Vec<String> = check(&tree).unwrap().into_iter().map(|it| it.file).collect();
        assert_eq!(files, ["crates/gate/src/rate.rs", "fuzz/wire.rs"]);
    }
}
