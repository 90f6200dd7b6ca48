//! An overlay against one plain tree that began as its lower tree: whatever the calls, both answer
//! alike and hold the same, the lower tree stays as it was, and the changes tell the difference.

use std::collections::BTreeSet;

use drydock_contract::Meter;
use proptest::prelude::*;

use super::*;
use crate::{
    MemoryFiles,
    tree::acts::{Act, Player, acts, dump},
};

fn memory() -> Arc<MemoryFiles> {
    Arc::new(MemoryFiles::with(Arc::new(Meter::new(64 << 20))))
}

/// What is there, without times and counts: path, kind, content.
fn plain(files: &dyn Files) -> BTreeSet<String> {
    let mut lines = Vec::new();
    dump(files, "", &mut lines);
    let words = |line: String| {
        let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
        let content = words[6..].join(" ");
        format!("{} {} {content}", words[0], words[1])
    };
    lines.into_iter().map(words).collect()
}

fn paths(lines: impl Iterator<Item = String>) -> BTreeSet<String> {
    lines.map(|it| it.split(' ').next().unwrap_or_default().trim_start_matches('/').to_owned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn an_overlay_answers_as_one_tree_would(before in acts(), after in acts()) {
        let (lower, whole) = (memory(), memory());
        // Hard links of the lower tree are copied up one by one: the one known difference.
        for (n, it) in (1..).map(Timestamp).zip(before.iter().filter(|it| !matches!(it, Act::Link(..)))) {
            prop_assert_eq!(Player::new(&*lower).play(it, n), Player::new(&*whole).play(it, n));
        }
        let was = plain(&*lower);
        let overlay = Overlay::new(Arc::clone(&lower) as _, memory());
        let (mut one, mut other) = (Player::new(&overlay), Player::new(&*whole));
        for (n, it) in (1000..).map(Timestamp).zip(&after) {
            prop_assert_eq!(one.play(it, n), other.play(it, n), "{:?}", it);
            prop_assert_eq!(plain(&overlay), plain(&*whole), "after {:?}", it);
        }
        prop_assert_eq!(plain(&*lower), was.clone());
        let is = plain(&overlay);
        let differ = paths(was.symmetric_difference(&is).cloned());
        prop_assert_eq!(paths(overlay.changes().unwrap().into_iter().map(|it| it.path)), differ);
    }
}
