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
    Shelf { kind: &SMALL, path: TenantHome::queues_file, lock: "queue", open_max: 2, glances: false };

#[test]
fn a_file_that_is_full_refuses_by_name_and_takes_more_when_something_is_gone() {
    let temp = tempfile::tempdir().unwrap();
    let queues = SqliteQueues::on(&Home::open(temp.path()).unwrap(), &SHELF_OF_SMALL);
    let (dev, now) = (Tenant::default(), Timestamp(1));
    let publish = || block_on(queues.publish(&dev, "t", vec![vec![7; 256 << 10]; 4], now)).unwrap();
    let (full, refusal) = (0..20).find_map(|n| publish().err().map(|why| (n, why))).unwrap();
    assert_eq!(refusal, QueueRefusal::NoRoom { bytes_max: 8 << 20 });
    assert!((5..8).contains(&full), "{full}");
    assert_eq!(block_on(queues.depth(&dev, "t", now)).unwrap().messages, full * 4, "all of a batch or none");
    let taking = Taking { messages_max: 4, bytes_max: 2 << 20, lease: None };
    assert_eq!(block_on(queues.take(&dev, "t", taking, now)).unwrap().unwrap().len(), 4);
    assert!(publish().is_ok());
    assert_eq!(block_on(queues.depth(&dev, "", now)).unwrap_err().code, "ledger_limit");
}
