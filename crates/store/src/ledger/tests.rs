//! What the ledger promises, tried on real files.

use std::{fs, path::Path, thread};

use rusqlite::Connection;

use super::*;

const NOW: Timestamp = Timestamp(1_767_225_599_123_456_789);

fn home() -> (tempfile::TempDir, Home) {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    (temp, home)
}

fn dev() -> Tenant {
    Tenant::default()
}

fn principal(tenant: &str, name: &str) -> Node {
    Node::Principal(tenant.parse().unwrap(), name.parse().unwrap())
}

fn files(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|it| it.contains("sqlite")).collect();
    names.sort();
    names
}

#[test]
fn where_nothing_was_kept_nothing_is_opened_or_made() {
    let (_temp, home) = home();
    let ledger = SqliteLedger::of(&home);
    assert_eq!(ledger.revocations(None).unwrap(), Some((0, vec![])));
    assert_eq!(ledger.revocations(Some(0)).unwrap(), None);
    assert_eq!(ledger.revoked().unwrap(), []);
    assert!(!ledger.unrevoke(&Node::Tenant(dev())).unwrap());
    assert_eq!(ledger.leased(&dev(), "calls").unwrap(), 0);
    assert_eq!(ledger.lease(&dev(), "calls", 0, 10).unwrap(), 0);
    assert_eq!(ledger.cell(&dev(), "key").unwrap(), None);
    assert_eq!(ledger.cells(&dev(), "").unwrap(), []);
    assert!(!ledger.swap(&dev(), "key", Some(b"x"), None).unwrap());
    assert!(ledger.swap(&dev(), "key", None, None).unwrap());
    assert_eq!((files(home.root()), home.tenants().read_dir().unwrap().count()), (vec![], 0));
}

#[test]
fn what_one_handle_revokes_every_other_hears_and_a_restart_remembers() {
    let (_temp, home) = home();
    let (one, other) = (SqliteLedger::of(&home), SqliteLedger::of(&home));
    let (mark, nodes) = other.revocations(None).unwrap().unwrap();
    assert_eq!((other.revocations(Some(mark)).unwrap(), nodes), (None, vec![]));
    let (cli, all) = (principal("dev", "cli"), Node::Tenant("acme".parse().unwrap()));
    let grant = Node::Grant(dev(), "a grant\0 / ..".into());
    assert!(one.revoke(&cli, NOW).unwrap() && !one.revoke(&cli, NOW).unwrap());
    let (mark, nodes) = other.revocations(Some(mark)).unwrap().unwrap();
    assert_eq!(nodes, std::slice::from_ref(&cli));
    assert_eq!(other.revocations(Some(mark)).unwrap(), None);
    // In the same tick of the disk's clock, and by either.
    assert!(one.revoke(&all, NOW).unwrap() && other.revoke(&grant, NOW).unwrap());
    let (mark, nodes) = other.revocations(Some(mark)).unwrap().unwrap();
    assert_eq!(nodes, [all.clone(), cli.clone(), grant.clone()]);
    assert_eq!(one.revocations(Some(mark)).unwrap(), None, "the mark is the file's, not the handle's");
    assert!(one.unrevoke(&grant).unwrap() && !other.unrevoke(&grant).unwrap());
    assert_eq!(other.revocations(Some(mark)).unwrap().unwrap().1, [all.clone(), cli.clone()]);
    drop((one, other));
    let later = SqliteLedger::of(&home);
    let at = |node| Revoked { node, at: NOW };
    assert_eq!(later.revoked().unwrap(), [at(all), at(cli)]);
    assert_eq!(files(home.root()), ["revocations.sqlite"], "and nothing beside it");
}

#[test]
fn a_revocations_file_that_was_moved_away_and_made_anew_is_not_taken_for_the_old_one() {
    let (_temp, home) = home();
    let ledger = SqliteLedger::of(&home);
    ledger.revoke(&principal("dev", "ada"), NOW).unwrap();
    let (mark, _) = ledger.revocations(None).unwrap().unwrap();
    fs::rename(home.revocations_file(), home.root().join("away")).unwrap();
    assert_eq!(ledger.revocations(Some(mark)).unwrap(), Some((0, vec![])));
    SqliteLedger::of(&home).revoke(&principal("dev", "bob"), NOW).unwrap();
    assert_eq!(ledger.revocations(Some(mark)).unwrap().unwrap().1, [principal("dev", "bob")]);
}

#[test]
fn revocations_that_were_cut_or_bent_are_an_error_by_name_and_never_an_empty_list() {
    let (_temp, home) = home();
    let path = home.revocations_file();
    let ledger = SqliteLedger::of(&home);
    for n in 0..200 {
        ledger.revoke(&principal("dev", &format!("{n}-{}", "x".repeat(100))), NOW).unwrap();
    }
    let running = SqliteLedger::of(&home);
    running.revocations(None).unwrap();
    let whole = fs::read(&path).unwrap();
    let half = whole.len() / 2;
    for cut in [0, 1, 15, 99, 100, 512, 4095, 4096, half - 1, half, whole.len() - 4096, whole.len() - 1] {
        fs::write(&path, &whole[..cut]).unwrap();
        let fresh = SqliteLedger::of(&home);
        for ledger in [&fresh, &running] {
            let error = ledger.revocations(None).unwrap_err();
            assert_eq!((error.code, &error.path), ("ledger_damaged", &path), "{cut}: {error}");
            assert!(ledger.revoked().is_err() && ledger.revoke(&principal("dev", "new"), NOW).is_err());
        }
        assert_eq!(fs::read(&path).unwrap(), whole[..cut], "nothing was written over it");
    }
    for text in ["not a database", &"x".repeat(8192)] {
        fs::write(&path, text).unwrap();
        assert_eq!(SqliteLedger::of(&home).revocations(None).unwrap_err().code, "ledger_damaged");
    }
    // A whole database that is not ours, or says what nobody could have written.
    let ours = |change: &str| {
        fs::write(&path, &whole).unwrap();
        Connection::open(&path).unwrap().execute_batch(change).unwrap();
        SqliteLedger::of(&home).revocations(None).unwrap_err()
    };
    for change in [
        "DROP TABLE revoked",
        "DELETE FROM mark",
        "PRAGMA application_id = 7",
        "INSERT INTO revoked VALUES ('dev', 9, '', 0)",
        "INSERT INTO revoked VALUES ('', 0, '', 0)",
        "INSERT INTO revoked VALUES ('dev', 1, 'a b', 0)",
    ] {
        assert_eq!(ours(change).code, "ledger_damaged", "{change}");
    }
    assert_eq!(ours("PRAGMA user_version = 2").code, "ledger_version");
    fs::write(&path, &whole).unwrap();
    assert_eq!(running.revocations(None).unwrap().unwrap().1.len(), 200);
    insta::assert_snapshot!(
        SqliteLedger::of(&Home::open(broken(&whole[..half]).path()).unwrap()).revocations(None).unwrap_err()
            .problem,
        @"is damaged; nobody can say what is revoked, so no session is opened. Put a backup in its place; or move it away, which takes every revocation back, and revoke again what must be");
}

fn broken(bytes: &[u8]) -> tempfile::TempDir {
    let (temp, home) = home();
    fs::write(home.revocations_file(), bytes).unwrap();
    temp
}

#[test]
fn revocations_behind_a_link_that_leads_nowhere_are_an_error_and_no_empty_list() {
    let (temp, home) = home();
    let path = home.revocations_file();
    SqliteLedger::of(&home).revoke(&principal("dev", "me"), NOW).unwrap();
    fs::rename(&path, temp.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(temp.path().join("gone"), &path).unwrap();
    let error = SqliteLedger::of(&home).revocations(None).unwrap_err();
    assert_eq!(error.path, path, "{error}");
}

#[test]
fn a_tenants_ledger_that_was_cut_is_that_tenants_trouble_alone() {
    let (_temp, home) = home();
    let (ada, bob) = ("ada".parse::<Tenant>().unwrap(), "bob".parse::<Tenant>().unwrap());
    let ledger = SqliteLedger::of(&home);
    for tenant in [&ada, &bob] {
        for n in 0..100 {
            ledger.swap(tenant, &format!("k{n}"), None, Some(&[7; 500])).unwrap();
        }
    }
    drop(ledger);
    let path = home.tenant(&ada).ledger_file();
    let whole = fs::read(&path).unwrap();
    for cut in [0, 50, 4096, whole.len() / 2] {
        fs::write(&path, &whole[..cut]).unwrap();
        let ledger = SqliteLedger::of(&home);
        let errors = [
            ledger.cell(&ada, "k1").unwrap_err(),
            ledger.cells(&ada, "").unwrap_err(),
            ledger.lease(&ada, "calls", 1, 9).unwrap_err(),
            ledger.leased(&ada, "calls").unwrap_err(),
            ledger.swap(&ada, "k1", None, Some(b"")).unwrap_err(),
        ];
        assert!(errors.iter().all(|it| it.code == "ledger_damaged" && it.path == path), "{cut} {errors:?}");
        assert_eq!(ledger.cell(&bob, "k1").unwrap(), Some(vec![7; 500]));
        assert_eq!(ledger.lease(&bob, "calls", 1, 9).unwrap(), 1);
        ledger.revoke(&Node::Tenant(ada.clone()), NOW).unwrap();
    }
}

#[test]
fn a_ledger_that_another_connection_holds_is_waited_for_and_then_an_error_by_name() {
    let (_temp, home) = home();
    let ledger = SqliteLedger::of(&home);
    ledger.revoke(&principal("dev", "ada"), NOW).unwrap();
    ledger.lease(&dev(), "calls", 3, 10).unwrap();
    let hold = |path: &Path| {
        let other = Connection::open(path).unwrap();
        other.execute_batch("BEGIN EXCLUSIVE").unwrap();
        other
    };
    let held = [hold(&home.revocations_file()), hold(&home.tenant(&dev()).ledger_file())];
    thread::scope(|scope| {
        let (one, other) = (SqliteLedger::of(&home), SqliteLedger::of(&home));
        let revoking = scope.spawn(move || one.revocations(None).map(drop));
        let leasing = scope.spawn(move || other.lease(&Tenant::default(), "calls", 1, 10).map(drop));
        for ended in [revoking.join().unwrap(), leasing.join().unwrap()] {
            let error = ended.unwrap_err();
            assert_eq!(error.code, "ledger_locked", "{error}");
            assert!(error.to_string().contains("locked by another process for 2 s"), "{error}");
        }
    });
    drop(held);
    assert_eq!(ledger.revocations(None).unwrap().unwrap().1.len(), 1);
    assert_eq!(ledger.lease(&dev(), "calls", 100, 10).unwrap(), 7);
}

#[test]
fn a_watcher_waits_a_moment_for_a_locked_file_and_not_for_a_revocation_that_waits_for_it() {
    let (_temp, home) = home();
    let ledger = SqliteLedger::of(&home);
    ledger.revoke(&principal("dev", "ada"), NOW).unwrap();
    let (mark, _) = ledger.revocations(None).unwrap().unwrap();
    assert!(ledger.revocations(Some(mark)).unwrap().is_none());
    let held = Connection::open(home.revocations_file()).unwrap();
    held.execute_batch("BEGIN EXCLUSIVE").unwrap();
    thread::scope(|scope| {
        let revoking = scope.spawn(|| ledger.revoke(&principal("dev", "bob"), NOW).map(drop));
        let error = ledger.revocations(Some(mark)).unwrap_err();
        assert_eq!(error.code, "ledger_locked");
        assert!(error.to_string().contains("for 50 ms"), "{error}");
        held.execute_batch("ROLLBACK").unwrap();
        revoking.join().unwrap().unwrap();
    });
    assert_eq!(ledger.revocations(Some(mark)).unwrap().unwrap().1.len(), 2);
}

#[test]
fn a_file_that_another_process_makes_for_ever_is_an_error_by_name() {
    let (_temp, home) = home();
    let ledger = SqliteLedger::of(&home);
    let held = home.tenant(&dev()).lock("ledger").unwrap();
    let error = ledger.lease(&dev(), "calls", 1, 9).unwrap_err();
    assert_eq!(error.code, "ledger_locked", "{error}");
    drop(held);
    assert_eq!(ledger.lease(&dev(), "calls", 1, 9).unwrap(), 1);
}

#[test]
fn what_is_given_back_is_leased_again_and_no_more_than_that() {
    let (_temp, home) = home();
    let ledger = SqliteLedger::of(&home);
    ledger.give_back(&dev(), "uses", 3).unwrap();
    assert_eq!(ledger.lease(&dev(), "uses", 8, 10).unwrap(), 8);
    ledger.give_back(&dev(), "uses", 3).unwrap();
    assert_eq!(SqliteLedger::of(&home).leased(&dev(), "uses").unwrap(), 5);
    ledger.give_back(&dev(), "uses", 99).unwrap();
    assert_eq!(ledger.lease(&dev(), "uses", 99, 10).unwrap(), 10);
}

#[test]
fn no_unit_of_a_counter_is_leased_twice_whoever_asks() {
    let (_temp, home) = home();
    let handles = [SqliteLedger::of(&home), SqliteLedger::of(&home)];
    let given: u64 = thread::scope(|scope| {
        let lease = |ledger: &SqliteLedger| {
            let leases = (0..50).map(|n| ledger.lease(&dev(), "calls", 1 + n % 7, 500).unwrap());
            leases.sum::<u64>()
        };
        let threads: Vec<_> = (0..8)
            .map(|n| {
                scope.spawn({
                    let it = &handles[n % 2];
                    move || lease(it)
                })
            })
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).sum()
    });
    assert_eq!(given, 500);
    let later = SqliteLedger::of(&home);
    assert_eq!(
        (later.leased(&dev(), "calls").unwrap(), later.lease(&dev(), "calls", 9, 500).unwrap()),
        (500, 0)
    );
    // A counter that is raised goes on, one that is lowered gives nothing.
    assert_eq!(later.lease(&dev(), "calls", 9, 503).unwrap(), 3);
    assert_eq!(later.lease(&dev(), "calls", 9, 100).unwrap(), 0);
    assert_eq!(later.lease(&dev(), "endless", u64::MAX, u64::MAX).unwrap(), i64::MAX.cast_unsigned());
    assert_eq!(later.lease(&dev(), "endless", 1, u64::MAX).unwrap(), 0);
    assert_eq!(later.leased(&"other".parse().unwrap(), "calls").unwrap(), 0);
}

#[test]
fn a_cell_is_swapped_only_for_what_was_expected() {
    let (_temp, home) = home();
    let ledger = SqliteLedger::of(&home);
    let swap =
        |expected: Option<&[u8]>, new: Option<&[u8]>| ledger.swap(&dev(), "key", expected, new).unwrap();
    type Value = Option<&'static [u8]>;
    let cases: [(Value, Value, bool, Value); 8] = [
        // expected, new          swapped, there is then
        (Some(b"a"), Some(b"b"), false, None),
        (None, Some(b"a"), true, Some(b"a")),
        (None, Some(b"b"), false, Some(b"a")),
        (Some(b"b"), None, false, Some(b"a")),
        (Some(b"a"), Some(b""), true, Some(b"")),
        (None, None, false, Some(b"")),
        (Some(b""), None, true, None),
        (None, None, true, None),
    ];
    for (at, (expected, new, swapped, then)) in cases.into_iter().enumerate() {
        assert_eq!(swap(expected, new), swapped, "{at}");
        assert_eq!(SqliteLedger::of(&home).cell(&dev(), "key").unwrap().as_deref(), then, "{at}");
    }
}

#[test]
fn keys_are_any_text_and_a_prefix_finds_those_that_begin_so() {
    let (_temp, home) = home();
    let ledger = SqliteLedger::of(&home);
    let dots = ".".repeat(128);
    let keys = ["..", "../x", "a", "a\0", "a\0b", "a/b", "a\u{7f}", "aü", "b", "\u{10ffff}", &dots];
    for key in keys {
        assert!(ledger.swap(&dev(), key, None, Some(key.as_bytes())).unwrap());
    }
    let under = |prefix: &str| {
        let found = ledger.cells(&dev(), prefix).unwrap();
        found
            .into_iter()
            .map(|(key, value)| {
                assert_eq!(key.as_bytes(), value);
                key
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(under("a"), ["a", "a\0", "a\0b", "a/b", "a\u{7f}", "aü"]);
    assert_eq!(under("a\0"), ["a\0", "a\0b"]);
    assert_eq!(under("\u{10ffff}"), ["\u{10ffff}"]);
    assert_eq!(under("").len(), keys.len());
    assert_eq!(under("nothing"), [""; 0]);
    for bad in ["", &"k".repeat(513)] {
        assert_eq!(ledger.cell(&dev(), bad).unwrap_err().code, "ledger_limit");
        assert_eq!(ledger.lease(&dev(), bad, 1, 1).unwrap_err().code, "ledger_limit");
    }
    let large = vec![0; LEDGER_VALUE_BYTES_MAX + 1];
    assert_eq!(ledger.swap(&dev(), "a", Some(b"a"), Some(&large)).unwrap_err().code, "ledger_limit");
}

#[test]
fn a_ledger_that_may_not_grow_says_so_and_goes_on_when_something_is_taken_out() {
    let (_temp, home) = home();
    let ledger = SqliteLedger::of(&home);
    let value = vec![1; LEDGER_VALUE_BYTES_MAX];
    let put = |n: u32| ledger.swap(&dev(), &format!("k{n}"), None, Some(&value));
    let (full, error) = (0..80).find_map(|n| put(n).err().map(|error| (n, error))).unwrap();
    assert_eq!(error.code, "ledger_limit", "{error}");
    assert!((60..64).contains(&full), "{full}");
    assert_eq!(ledger.cells(&dev(), "").unwrap().len(), full as usize, "what was there is there");
    assert!(ledger.swap(&dev(), "k0", Some(&value), None).unwrap());
    assert!(put(full).unwrap());
}

#[test]
fn a_thousand_tenants_have_ledgers_and_few_are_open() {
    let (_temp, home) = home();
    let ledger = SqliteLedger::of(&home);
    let tenant = |n: usize| format!("t/{n}").parse::<Tenant>().unwrap();
    for n in 0..1000 {
        assert_eq!(ledger.leased(&tenant(n), "calls").unwrap(), 0);
    }
    assert_eq!(home.tenants().read_dir().unwrap().count(), 0, "asking makes nothing");
    for n in 0..100 {
        assert_eq!(ledger.lease(&tenant(n), "calls", 5, 9).unwrap(), 5);
    }
    for n in 0..100 {
        assert_eq!(ledger.lease(&tenant(n), "calls", 5, 9).unwrap(), 4);
    }
    // Of this process all connections, whichever test they belong to, are counted: those of this home are not more.
    let open =
        fs::read_dir("/proc/self/fd").unwrap().flatten().filter_map(|it| fs::read_link(it.path()).ok());
    let here = open.filter(|it| it.starts_with(home.root())).count();
    assert!((LEDGERS_MAX..=3 * LEDGERS_MAX).contains(&here), "{here}");
}
