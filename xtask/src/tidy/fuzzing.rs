//! Every fuzz target has its row in `docs/fuzzing.md`, and every row its target.

use std::collections::BTreeSet;

use super::{Finding, tree::Tree};

const PAGE: &str = "docs/fuzzing.md";
const TARGETS: &str = "fuzz/targets";

pub(super) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let targets: BTreeSet<&str> =
        tree.below(TARGETS).filter_map(|(name, _)| name.strip_suffix(".rs")).collect();
    let page = tree.text(PAGE).unwrap_or_default();
    let named = |line: &'_ str| line.strip_prefix("| `")?.split_once('`').map(|it| it.0.to_owned());
    let rows: BTreeSet<String> = page.lines().filter_map(named).collect();
    let without_row = targets.iter().filter(|it| !rows.contains(**it));
    let without_target = rows.iter().filter(|it| !targets.contains(it.as_str()));
    let missing = without_row.map(|it| {
        let remedy = format!("say in {PAGE} what it holds to");
        Finding::new(format!("{TARGETS}/{it}.rs"), "has no row", remedy)
    });
    let gone = without_target
        .map(|it| Finding::new(PAGE, format!("names `{it}`, which is no target"), "remove the row"));
    Ok(missing.chain(gone).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_without_a_row_and_rows_without_a_target_are_found() {
        let (_folder, tree) = Tree::fixture(&[
            ("docs/fuzzing.md", "| target | what |\n|---|---|\n| `known` | that |\n| `gone` | this |\n"),
            ("fuzz/targets/known.rs", ""),
            ("fuzz/targets/new.rs", ""),
        ]);
        let found: Vec<String> = check(&tree).unwrap().iter().map(Finding::to_string).collect();
        assert_eq!(found.len(), 2, "{found:#?}");
        assert!(found[0].starts_with("fuzz/targets/new.rs: has no row"));
        assert!(found[1].contains("`gone`, which is no target"));
    }
}
