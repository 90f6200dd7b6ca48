//! A volume against the tree in memory: whatever the calls, both answer alike and hold the same.

use drydock_contract::Meter;
use proptest::prelude::*;

use super::*;
use crate::{
    MemoryFiles,
    tree::acts::{Player, acts, dump},
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn a_volume_answers_as_the_tree_in_memory_does(acts in acts()) {
        let temp = tempfile::tempdir().unwrap();
        let db = Arc::new(Db::open(&temp.path().join("w.sqlite")).unwrap());
        let files = SqliteFiles::new(&db, "workspace", Quota::default()).unwrap();
        let memory = MemoryFiles::with(Arc::new(Meter::new(64 << 20)));
        let (mut one, mut other) = (Player::new(&files), Player::new(&memory));
        for (n, it) in (1..).map(Timestamp).zip(&acts) {
            prop_assert_eq!(one.play(it, n), other.play(it, n), "{:?}", it);
        }
        drop((one, other));
        let (mut got, mut want) = (Vec::new(), Vec::new());
        dump(&files, "", &mut got);
        dump(&memory, "", &mut want);
        prop_assert_eq!(got, want);
        super::tests::sound(&db);
    }
}
