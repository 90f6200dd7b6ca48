//! Proofs for what only a small file shows: that it is full is a refusal by name, and room can be made.

use drydock_testkit::block_on;

use super::*;

static SMALL: Kind = Kind {
    tables: KIND.tables,
    version: 1,
    logged: true,
    bytes_max: 8 << 20,
    checked: false,
    remedy: KIND.remedy,
};
static SHELF_OF_SMALL: Shelf =
    Shelf { kind: &SMALL, path: TenantHome::key_values_file, lock: "kv", open_max: 2, glances: true };

#[test]
fn a_file_that_is_full_refuses_by_name_and_takes_more_when_something_is_gone() {
    let temp = tempfile::tempdir().unwrap();
    let values = SqliteKeyValues::on(&Home::open(temp.path()).unwrap(), &SHELF_OF_SMALL);
    let (dev, now) = (Tenant::default(), Timestamp(1));
    let put = |n: u32| {
        let value = vec![7; 1 << 20];
        let change = KeyChange::Put { value, if_version: None, expires: None };
        block_on(values.change(&dev, &format!("k{n}"), change, now)).unwrap()
    };
    let (full, refusal) = (0..20).find_map(|n| put(n).err().map(|why| (n, why))).unwrap();
    assert_eq!(refusal, KeyRefusal::NoRoom { bytes_max: 8 << 20 });
    assert!((5..8).contains(&full), "{full}");
    let kept = block_on(values.list(&dev, "", None, 99, now)).unwrap();
    assert_eq!(kept.len(), full as usize, "what was there is there");
    block_on(values.change(&dev, "k0", KeyChange::Delete { if_version: None }, now)).unwrap().unwrap();
    assert!(put(full).is_ok());
    assert_eq!(block_on(values.get(&dev, "", now)).unwrap_err().code, "ledger_limit");
}
