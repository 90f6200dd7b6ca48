//! Values by key and messages over SQLite: what their ports promise, and what is true of files alone.
#![allow(clippy::unwrap_used)]

use std::{fs, path::Path, sync::Arc, thread};

use drydock_contract::{
    Tenant, Timestamp,
    port::{KeyChange, KeyRefusal, KeyValues, Queues, Taking},
};
use drydock_store::{Home, KEYS_MAX, SqliteKeyValues, SqliteQueues};
use drydock_testkit::{block_on, key_values_contract::key_values_contract, queues_contract::queues_contract};

const NOW: Timestamp = Timestamp(1_767_225_599_000_000_000);

fn put(value: &[u8]) -> KeyChange {
    KeyChange::Put { value: value.into(), if_version: None, expires: None }
}

fn tenant(name: &str) -> Tenant {
    name.parse().unwrap()
}

/// Homes that last as long as the test.
fn homes() -> impl Fn() -> Home {
    let temp = tempfile::tempdir().unwrap();
    let made = std::cell::Cell::new(0);
    move || {
        made.set(made.get() + 1);
        Home::open(temp.path().join(made.get().to_string())).unwrap()
    }
}

#[test]
fn values_by_key_keep_what_their_port_promises() {
    let home = homes();
    key_values_contract(|| Arc::new(SqliteKeyValues::of(&home())));
}

#[test]
fn messages_keep_what_their_port_promises() {
    let home = homes();
    queues_contract(|| Arc::new(SqliteQueues::of(&home())));
}

#[test]
fn looking_makes_no_file_and_the_first_value_makes_one_that_its_owner_alone_reads() {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    let (values, queues, dev) = (SqliteKeyValues::of(&home), SqliteQueues::of(&home), Tenant::default());
    block_on(values.get(&dev, "k", NOW)).unwrap();
    block_on(values.change(&dev, "k", KeyChange::Delete { if_version: None }, NOW)).unwrap().unwrap();
    block_on(queues.depth(&dev, "t", NOW)).unwrap();
    assert!(!home.tenant(&dev).root().exists(), "asking makes nothing");
    block_on(values.change(&dev, "k", put(b"v"), NOW)).unwrap().unwrap();
    block_on(queues.publish(&dev, "t", vec![vec![1]], NOW)).unwrap().unwrap();
    for file in [home.tenant(&dev).key_values_file(), home.tenant(&dev).queues_file()] {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn what_one_handle_was_answered_another_sees_at_once_and_after_a_restart() {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    let dev = Tenant::default();
    let (one, other) = (SqliteKeyValues::of(&home), SqliteKeyValues::of(&home));
    for n in 0..50_u32 {
        let value = n.to_string();
        block_on(one.change(&dev, "k", put(value.as_bytes()), NOW)).unwrap().unwrap();
        for it in [&one, &other] {
            assert_eq!(block_on(it.get(&dev, "k", NOW)).unwrap().unwrap().value, value.as_bytes());
        }
    }
    drop((one, other));
    let later = SqliteKeyValues::of(&home);
    assert_eq!(block_on(later.get(&dev, "k", NOW)).unwrap().unwrap().value, b"49");
}

#[test]
fn whoever_adds_at_once_loses_no_sum_and_whoever_polls_at_once_gets_each_message_once() {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    let dev = Tenant::default();
    let values = [SqliteKeyValues::of(&home), SqliteKeyValues::of(&home)];
    let queues = [SqliteQueues::of(&home), SqliteQueues::of(&home)];
    let messages = (0..200_u32).map(|n| n.to_string().into_bytes()).collect();
    block_on(queues[0].publish(&dev, "t", messages, NOW)).unwrap().unwrap();
    let mut taken: Vec<Vec<u8>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|n| {
                let (values, queues, dev) = (&values[n % 2], &queues[n % 2], &dev);
                scope.spawn(move || {
                    let mut taken = Vec::new();
                    for _ in 0..25 {
                        let add = KeyChange::Add { by: 1, expires: None };
                        block_on(values.change(dev, "n", add, NOW)).unwrap().unwrap();
                        let taking = Taking { messages_max: 1, bytes_max: 99, lease: None };
                        let one = block_on(queues.take(dev, "t", taking, NOW)).unwrap().unwrap();
                        taken.extend(one.into_iter().map(|it| it.body));
                    }
                    taken
                })
            })
            .collect();
        threads.into_iter().flat_map(|it| it.join().unwrap()).collect()
    });
    taken.sort();
    taken.dedup();
    assert_eq!(taken.len(), 200);
    assert_eq!(block_on(values[0].get(&dev, "n", NOW)).unwrap().unwrap().value, b"200");
}

#[test]
fn a_tenant_has_ten_thousand_keys_and_no_more_until_some_are_gone() {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    let (values, dev) = (Arc::new(SqliteKeyValues::of(&home)), Tenant::default());
    let ending = KeyChange::Put { value: vec![], if_version: None, expires: Some(Timestamp(NOW.0 + 9)) };
    block_on(values.change(&dev, "ends", ending, NOW)).unwrap().unwrap();
    // Many at once are few commits.
    thread::scope(|scope| {
        for n in 0..32_u64 {
            let (values, dev) = (&values, &dev);
            scope.spawn(move || {
                for at in (n..KEYS_MAX - 1).step_by(32) {
                    let key = format!("k{at}");
                    block_on(values.change(dev, &key, put(b""), NOW)).unwrap().unwrap();
                }
            });
        }
    });
    let more = |key: &str, now| block_on(values.change(&dev, key, put(b"x"), now)).unwrap();
    assert_eq!(more("one too many", NOW), Err(KeyRefusal::TooManyKeys { max: KEYS_MAX }));
    assert!(more("k7", NOW).is_ok(), "what is there can be changed");
    assert!(more("one more", Timestamp(NOW.0 + 9)).is_ok(), "what ended makes room");
    assert!(more("one too many", Timestamp(NOW.0 + 9)).is_err());
    let delete = KeyChange::Delete { if_version: None };
    assert!(block_on(values.change(&dev, "k7", delete, NOW)).unwrap().unwrap().existed);
    assert!(more("one too many", NOW).is_ok());
    let other = block_on(values.change(&tenant("b"), "k", put(b""), NOW)).unwrap();
    assert!(other.is_ok(), "nobody else's trouble");
}

#[test]
fn a_file_that_was_cut_is_an_error_by_name_and_its_tenants_trouble_alone() {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    let (dev, other) = (Tenant::default(), tenant("b"));
    let fill = |values: &SqliteKeyValues, queues: &SqliteQueues| {
        for whose in [&dev, &other] {
            block_on(values.change(whose, "k", put(&[7; 9000]), NOW)).unwrap().unwrap();
            block_on(queues.publish(whose, "t", vec![vec![7; 9000]], NOW)).unwrap().unwrap();
        }
    };
    {
        fill(&SqliteKeyValues::of(&home), &SqliteQueues::of(&home));
    }
    cut(&home.tenant(&dev).key_values_file());
    cut(&home.tenant(&dev).queues_file());
    let (values, queues) = (SqliteKeyValues::of(&home), SqliteQueues::of(&home));
    let taking = Taking { messages_max: 1, bytes_max: 9_999, lease: None };
    assert_eq!(block_on(values.get(&dev, "k", NOW)).unwrap_err().code, "ledger_damaged");
    assert_eq!(block_on(values.change(&dev, "k", put(b""), NOW)).unwrap_err().code, "ledger_damaged");
    assert_eq!(block_on(queues.take(&dev, "t", taking, NOW)).unwrap_err().code, "ledger_damaged");
    assert_eq!(block_on(values.get(&other, "k", NOW)).unwrap().unwrap().value, [7; 9000]);
    assert_eq!(block_on(queues.take(&other, "t", taking, NOW)).unwrap().unwrap()[0].body, [7; 9000]);
}

/// Leaves half a page, and nothing beside it.
fn cut(path: &Path) {
    for side in ["-wal", "-shm"] {
        let mut beside = path.as_os_str().to_owned();
        beside.push(side);
        let _ = fs::remove_file(beside);
    }
    fs::write(path, &fs::read(path).unwrap()[..2048]).unwrap();
}

#[test]
fn hundreds_of_tenants_have_files_and_few_are_open() {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    let (values, queues) = (SqliteKeyValues::of(&home), SqliteQueues::of(&home));
    for n in 0..60 {
        let whose = tenant(&format!("t{n}"));
        block_on(values.change(&whose, "k", put(b"v"), NOW)).unwrap().unwrap();
        block_on(queues.publish(&whose, "t", vec![vec![]], NOW)).unwrap().unwrap();
        assert!(block_on(values.get(&whose, "k", NOW)).unwrap().is_some());
    }
    let open =
        fs::read_dir("/proc/self/fd").unwrap().flatten().filter_map(|it| fs::read_link(it.path()).ok());
    let here = open.filter(|it| it.starts_with(home.root())).count();
    assert!((10..=8 * 5 + 16 * 3).contains(&here), "{here}");
}
