//! What the registry promises: trusted names win, refusals come in order, nothing is lost.

use std::{fs, os::unix::fs::symlink, path::Path, thread};

use drydock_contract::{
    ArgMode, Digest, Tenant,
    port::{EntryDir, EntryOptions},
};

use super::*;

const JQ: &[u8] = b"\0asm\x01\0\0\0jq";
const TEXT: &[u8] = b"\0asm\x01\0\0\0text";
const SORT: &[u8] = b"\0asm\x01\0\0\0sort";

fn builtins() -> Vec<Builtin> {
    let part = |bytes, applets| Part { digest: Digest::of(bytes), bytes, applets };
    let wbox = vec![part(TEXT, &["cat", "jq", "["]), part(SORT, &["sort", "uniq"])];
    vec![
        Builtin { name: "wbox", mode: ArgMode::Argv, parts: wbox },
        Builtin::single("jq", ArgMode::Stdin1, Digest::of(JQ), JQ),
    ]
}

fn module(tail: &str) -> Vec<u8> {
    [b"\0asm\x01\0\0\0", tail.as_bytes()].concat()
}

struct Shop {
    _temp: tempfile::TempDir,
    home: TenantHome,
    registry: CommandRegistry,
}

fn shop() -> Shop {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap().tenant(&Tenant::default());
    // As if something had been registered before.
    home.make(home.root()).unwrap();
    let registry = open(&home);
    Shop { _temp: temp, home, registry }
}

fn open(home: &TenantHome) -> CommandRegistry {
    CommandRegistry::open(home, builtins()).unwrap()
}

fn add(registry: &CommandRegistry, name: &str, tail: &str) -> Result<Entry, RegisterError> {
    registry.add(name, module(tail), ArgMode::Argv, None)
}

#[test]
fn a_poisoned_registry_file_still_loses_to_the_builtin() {
    let shop = shop();
    let hostile = shop.registry.artifacts().put(module("hostile")).unwrap().digest();
    let row = format!(r#"{{"sha256":"{hostile}","mode":"argv"}}"#);
    let text = format!(r#"{{"version":1,"commands":{{"jq":{row},"sort":{row},"mine":{row}}}}}"#);
    fs::write(shop.home.registry_file(), text).unwrap();
    for registry in [&shop.registry, &open(&shop.home)] {
        for (name, bytes) in [("jq", JQ), ("sort", SORT)] {
            let entry = registry.lookup(name, None).unwrap();
            assert!(entry.builtin, "{name}");
            assert_eq!(registry.load(&entry).unwrap().bytes(), bytes);
        }
        assert_eq!(registry.lookup("mine", None).unwrap().digest, hostile);
    }
}

#[test]
fn a_multicall_command_resolves_to_the_part_that_holds_the_applet() {
    let shop = shop();
    let cases = [
        // name  first argument           module
        ("wbox", Some(&b"sort"[..]), SORT),
        ("wbox", Some(b"cat"), TEXT),
        ("wbox", Some(b"["), TEXT),
        ("wbox", Some(b"jq"), TEXT),
        ("wbox", Some(b"no-such"), TEXT),
        ("wbox", Some(b"\xff\xfe"), TEXT),
        ("wbox", None, TEXT),
        ("sort", Some(b"-n"), SORT),
        ("uniq", None, SORT),
        ("cat", Some(b"sort"), TEXT),
        ("jq", Some(b"sort"), JQ), // the command beats the applet
    ];
    for (name, argument, bytes) in cases {
        let entry = shop.registry.lookup(name, argument).unwrap();
        assert_eq!(entry.name.as_str(), name, "{argument:?}");
        assert_eq!(shop.registry.load(&entry).unwrap().bytes(), bytes, "{name} {argument:?}");
    }
    assert!(shop.registry.lookup("[", None).is_none());
    let names = shop.registry.names();
    let names: Vec<_> = names.iter().map(CommandName::as_str).collect();
    assert_eq!(names, ["cat", "jq", "sort", "uniq", "wbox"]);
}

#[test]
fn refusals_come_in_the_order_of_the_seed_and_nothing_is_written() {
    let shop = shop();
    let wrong = Some(Digest::of(b"other"));
    let large = vec![0; usize::try_from(drydock_contract::ARTIFACT_BYTES_MAX).unwrap() + 1];
    let cases: [(&str, Vec<u8>, Option<Digest>, &str); 11] = [
        ("", vec![], wrong, "invalid_name"),
        ("jq", vec![], wrong, "reserved_name"),
        ("sort", vec![], wrong, "reserved_name"),
        ("a/b", vec![], wrong, "invalid_name"),
        ("..", vec![], wrong, "invalid_name"),
        ("x", large, wrong, "artifact_too_large"),
        ("x", vec![], wrong, "not_wasm"),
        ("x", b"#!/bin/sh\n".to_vec(), wrong, "not_wasm"),
        ("x", b"\0asm\x0d\0\x01\0".to_vec(), wrong, "not_wasm"),
        ("x", b"\0asm\x02\0\0\0".to_vec(), wrong, "not_wasm"),
        ("x", module("x"), wrong, "sha_mismatch"),
    ];
    for (name, bytes, expected, want) in cases {
        let error = shop.registry.add(name, bytes, ArgMode::Argv, expected).unwrap_err();
        assert_eq!(error.code(), want, "{name:?} {error}");
    }
    assert!(!shop.home.registry_file().exists());
    assert!(shop.registry.artifacts().list().unwrap().is_empty());
}

#[test]
fn a_path_must_lie_strictly_inside_and_be_named_by_its_hash() {
    let shop = shop();
    let store = shop.registry.artifacts();
    let inside = store.path_of(store.put(module("inside")).unwrap().digest());
    let swapped = store.path_of(Digest::of(b"promised"));
    fs::write(&swapped, module("other")).unwrap();
    let text = store.path_of(store.put(&b"text"[..]).unwrap().digest());
    let outside = shop.home.root().join(inside.file_name().unwrap());
    fs::copy(&inside, &outside).unwrap();
    let leads_out = store.path_of(Digest::of(b"leads out"));
    symlink(&outside, &leads_out).unwrap();
    let named = store.dir().join("lua.wasm");
    fs::copy(&inside, &named).unwrap();
    let dir = store.path_of(Digest::of(b"dir"));
    fs::create_dir(&dir).unwrap();
    let dotted = store.dir().join("../commands").join(inside.file_name().unwrap());

    let cases: [(&Path, Option<&str>); 10] = [
        (&inside, None),
        (Path::new(inside.file_name().unwrap()), None),
        (&dotted, None),
        (&outside, Some("path_not_confined")),
        (&leads_out, Some("path_not_confined")),
        (&named, Some("path_not_confined")),
        (&dir, Some("path_not_confined")),
        (Path::new("/etc/passwd"), Some("path_not_confined")),
        (&swapped, Some("sha_mismatch")),
        (&text, Some("not_wasm")),
    ];
    for (path, want) in cases {
        let got = shop.registry.register_path("tool", path, ArgMode::Argv);
        assert_eq!(got.err().map(|it| it.code()), want, "{path:?}");
    }
}

#[test]
fn a_full_registry_takes_no_new_name_but_binds_an_old_one_anew() {
    let shop = shop();
    let digest = shop.registry.artifacts().put(module("x")).unwrap().digest();
    let rows: Vec<_> =
        (0..COMMANDS_MAX).map(|n| format!(r#""n{n}":{{"sha256":"{digest}","mode":"argv"}}"#)).collect();
    let text = format!(r#"{{"version":1,"commands":{{{}}}}}"#, rows.join(","));
    fs::write(shop.home.registry_file(), text).unwrap();
    assert_eq!(add(&shop.registry, "one-more", "y").unwrap_err().code(), "registry_full");
    assert_eq!(add(&shop.registry, "n7", "y").unwrap().digest, Digest::of(&module("y")));
    shop.registry.remove("n8").unwrap();
    add(&shop.registry, "one-more", "y").unwrap();
    assert_eq!(open(&shop.home).list().len(), COMMANDS_MAX + 5);
}

#[test]
fn a_name_hot_swaps_and_runs_in_flight_keep_the_old_bytes() {
    let shop = shop();
    let old = add(&shop.registry, "tool", "one").unwrap();
    let new = shop.registry.add("tool", module("two"), ArgMode::Stdin1, None).unwrap();
    assert_eq!(shop.registry.lookup("tool", None).unwrap(), new);
    assert_eq!(open(&shop.home).load(&old).unwrap().bytes(), module("one"));
    assert_eq!(open(&shop.home).lookup("tool", None).unwrap(), new);

    assert_eq!(shop.registry.remove("tool").unwrap(), new);
    assert!(shop.registry.lookup("tool", None).is_none());
    assert_eq!(shop.registry.remove("tool").unwrap_err().code(), "unknown_command");
    assert_eq!(shop.registry.remove("jq").unwrap_err().code(), "reserved_name");
    assert_eq!(shop.registry.load(&new).unwrap().bytes(), module("two"));
}

#[test]
fn a_name_added_by_another_process_is_found_on_a_miss() {
    let shop = shop();
    let other = open(&shop.home);
    assert!(shop.registry.lookup("late", None).is_none());
    let entry = add(&other, "late", "late").unwrap();
    assert_eq!(shop.registry.lookup("late", None), Some(entry.clone()));
    assert_eq!(shop.registry.load(&entry).unwrap().bytes(), module("late"));
}

#[test]
fn a_binding_changed_by_another_process_is_seen_when_a_look_is_due() {
    let shop = shop();
    let other = open(&shop.home);
    add(&shop.registry, "tool", "one").unwrap();
    let new = add(&other, "tool", "two").unwrap();
    shop.registry.look_again_ms.store(0, Ordering::Relaxed);
    assert_eq!(shop.registry.lookup("tool", None), Some(new));
    other.remove("tool").unwrap();
    shop.registry.look_again_ms.store(0, Ordering::Relaxed);
    assert_eq!(shop.registry.lookup("tool", None), None);
}

#[test]
fn two_registries_adding_at_once_lose_nothing() {
    let shop = shop();
    thread::scope(|scope| {
        for who in 0..4 {
            let registry = open(&shop.home);
            scope.spawn(move || {
                for n in 0..8 {
                    add(&registry, &format!("t{who}-{n}"), &format!("{n}")).unwrap();
                }
            });
        }
    });
    let listed = open(&shop.home).list();
    assert_eq!(listed.iter().filter(|it| !it.entry.builtin).count(), 32);
}

#[test]
fn a_file_cut_in_half_keeps_builtins_running_and_is_never_written_over() {
    let shop = shop();
    add(&shop.registry, "first", "1").unwrap();
    add(&shop.registry, "second", "2").unwrap();
    let file = shop.home.registry_file();
    let whole = fs::read(&file).unwrap();
    let half = &whole[..whole.len() / 2];
    fs::write(&file, half).unwrap();

    let fresh = open(&shop.home);
    for registry in [&shop.registry, &fresh] {
        let error = add(registry, "third", "3").unwrap_err();
        assert_eq!(error.code(), "registry_corrupt");
        assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
        assert_eq!(registry.remove("first").unwrap_err().code(), "registry_corrupt");
        assert_eq!(registry.check().unwrap_err().code(), "registry_corrupt");
        assert!(registry.lookup("jq", None).is_some());
    }
    assert!(fresh.lookup("second", None).is_none());
    assert!(shop.registry.lookup("second", None).is_some(), "it knew the name before");
    assert_eq!(fs::read(&file).unwrap(), half);

    let Repaired::SetAside { broken, restored } = fresh.repair().unwrap() else {
        panic!("the file was damaged");
    };
    assert_eq!(
        (fs::read(&broken).unwrap().as_slice(), restored),
        (half, Some(2)),
        "nothing acknowledged is lost"
    );
    assert!(broken.ends_with("registry.json.broken-1"));
    assert!(fresh.lookup("first", None).is_some());
    assert_eq!(fresh.repair().unwrap(), Repaired::Nothing);
    add(&fresh, "third", "3").unwrap();
    fresh.check().unwrap();
}

#[test]
fn a_repair_without_a_previous_file_starts_empty_and_keeps_every_broken_one() {
    let shop = shop();
    for n in 1..=2 {
        fs::write(shop.home.registry_file(), "").unwrap();
        let _ = fs::remove_file(shop.home.root().join("registry.json.prev"));
        let broken = shop.home.root().join(format!("registry.json.broken-{n}"));
        let want = Repaired::SetAside { broken, restored: None };
        assert_eq!(shop.registry.repair().unwrap(), want);
        add(&shop.registry, "again", "x").unwrap();
    }
}

#[test]
fn several_names_are_bound_in_one_change_or_none_is() {
    let shop = shop();
    let older = add(&shop.registry, "one", "older").unwrap().digest;
    let newer = shop.registry.artifacts().put(module("newer")).unwrap().digest();
    let plain = Registration::default;
    let absent = EntryDir { tree: Digest::of(b"absent"), path: "/lib".into() };
    let options = EntryOptions { dirs: vec![absent], ..EntryOptions::default() };
    let cases = [
        (newer, ("jq", plain()), "reserved_name"),
        (newer, ("no name", plain()), "invalid_name"),
        (newer, ("two", Registration { options, ..plain() }), "unknown_tree"),
        (Digest::of(b"absent"), ("two", plain()), "artifact_read"),
    ];
    for (digest, second, code) in cases {
        let error = shop.registry.register_all(digest, vec![("one", plain()), second]).unwrap_err();
        assert_eq!(error.code(), code);
        assert_eq!(shop.registry.lookup("one", None).unwrap().digest, older, "{code}");
        assert!(shop.registry.lookup("two", None).is_none(), "{code}");
    }
    // A disk that takes no more refuses before any name has changed.
    let previous = shop.home.root().join("registry.json.prev");
    fs::remove_file(&previous).unwrap();
    fs::create_dir(&previous).unwrap();
    let both = || vec![("one", plain()), ("two", plain())];
    assert_eq!(shop.registry.register_all(newer, both()).unwrap_err().code(), "write_failed");
    assert_eq!(open(&shop.home).lookup("one", None).unwrap().digest, older);
    fs::remove_dir(&previous).unwrap();
    shop.registry.register_all(newer, both()).unwrap();
    for name in ["one", "two"] {
        assert_eq!(open(&shop.home).lookup(name, None).unwrap().digest, newer);
    }
}

#[test]
fn verify_finds_the_swapped_artifact_and_vouches_for_the_rest() {
    let shop = shop();
    add(&shop.registry, "good", "good").unwrap();
    let bad = add(&shop.registry, "bad", "bad").unwrap();
    let gone = add(&shop.registry, "gone", "gone").unwrap();
    fs::write(shop.registry.artifacts().path_of(bad.digest), module("evil")).unwrap();
    fs::remove_file(shop.registry.artifacts().path_of(gone.digest)).unwrap();
    let verdicts = shop.registry.verify();
    let told: Vec<_> = verdicts
        .iter()
        .map(|it| (it.name.as_str(), it.outcome.as_ref().map_or_else(LoadError::code, |_| "ok")))
        .collect();
    let want = [
        ("bad", "artifact_integrity"),
        ("gone", "artifact_read"),
        ("good", "ok"),
        ("jq", "ok"),
        ("wbox", "ok"),
        ("wbox", "ok"),
    ];
    assert_eq!(told, want);
}

#[test]
fn an_entry_keeps_its_options_needs_its_trees_and_is_verified_with_them() {
    let shop = shop();
    let tree = Digest::of(b"archive");
    let options = EntryOptions {
        argv0: Some("clang".into()),
        dirs: vec![EntryDir { tree, path: "/usr".into() }],
        ..EntryOptions::default()
    };
    let how = || Registration { options: options.clone(), ..Registration::default() };
    let missing = shop.registry.register("clang", module("llvm"), how()).unwrap_err();
    assert_eq!(missing.code(), "unknown_tree");
    let mut made = shop.registry.trees().begin(tree, crate::TreeBounds::default()).unwrap();
    made.file("include/a.h", b"int a;", 0o644).unwrap();
    made.finish().unwrap();
    let entry = shop.registry.register("clang", module("llvm"), how()).unwrap();
    let ld = EntryOptions { argv0: Some("wasm-ld".into()), ..options.clone() };
    shop.registry
        .register_again(
            "wasm-ld",
            entry.digest,
            Registration { options: ld.clone(), ..Registration::default() },
        )
        .unwrap();
    let found = open(&shop.home);
    assert_eq!(*found.lookup("clang", None).unwrap().options, options, "another process reads the same");
    assert_eq!(*found.lookup("wasm-ld", None).unwrap().options, ld);
    assert_eq!(Registry::trees(&found, &entry).unwrap()[0].path, "/usr");
    let bad = EntryOptions { argv: vec!["a\0b".into()], ..EntryOptions::default() };
    let refused =
        shop.registry.register("x", module("x"), Registration { options: bad, ..how() }).unwrap_err();
    assert_eq!(refused.code(), "bad_options");

    assert!(shop.registry.verify().iter().all(|it| it.outcome.is_ok()));
    let file = shop.registry.trees().path_of(tree).join("include/a.h");
    fs::remove_file(&file).unwrap();
    fs::write(&file, "int evil;").unwrap();
    let bad = shop.registry.verify().into_iter().filter(|it| it.outcome.is_err());
    assert_eq!(bad.map(|it| it.name.to_string()).collect::<Vec<_>>(), ["clang", "wasm-ld"]);
}

#[test]
fn a_builtin_with_other_bytes_than_its_hash_is_refused() {
    let shop = shop();
    let bent = Builtin::single("bent", ArgMode::Argv, Digest::of(b"promised"), JQ);
    let registry = CommandRegistry::open(&shop.home, vec![bent]).unwrap();
    let entry = registry.lookup("bent", None).unwrap();
    let to_run = registry.to_run(&entry).unwrap();
    assert!(to_run.bytes().is_empty(), "code may be there already");
    assert_eq!(
        to_run.loaded().unwrap_err().code(),
        "artifact_integrity",
        "whoever compiles gets them hashed"
    );
    assert_eq!(registry.load(&entry).unwrap_err().code(), "artifact_integrity");
    assert!(registry.verify()[0].outcome.is_err());
}

#[test]
fn listing_tells_where_each_command_comes_from() {
    let shop = shop();
    let mine = add(&shop.registry, "mine", "mine").unwrap();
    let told: Vec<_> = shop.registry.list().into_iter().map(|it| (it.size, it.origin)).collect();
    let applet = |bytes: &[u8]| (Some(bytes.len() as u64), Origin::Applet { of: "wbox".parse().unwrap() });
    let path = shop.registry.artifacts().path_of(mine.digest);
    let want = [
        applet(TEXT),
        (Some(JQ.len() as u64), Origin::Builtin),
        (Some(12), Origin::Registered { path }),
        applet(SORT),
        applet(SORT),
        (Some(TEXT.len() as u64), Origin::Builtin),
    ];
    assert_eq!(told, want);
    assert_eq!(shop.registry.show("mine").unwrap().entry, mine);
    assert_eq!(shop.registry.show("none").unwrap_err().code(), "unknown_command");
}

#[test]
fn contradictions_among_builtins_are_refused() {
    let one = |name| Builtin::single(name, ArgMode::Argv, Digest::of(JQ), JQ);
    let shop = shop();
    let refused = |list| CommandRegistry::open(&shop.home, list).unwrap_err().to_string();
    assert_eq!(refused(vec![one("a"), one("a")]), "two built-in commands are named `a`");
    assert!(refused(vec![one("a b")]).contains("not a command name"));
    let empty = Builtin { parts: vec![], ..one("a") };
    assert_eq!(refused(vec![empty]), "built-in command `a` has no module");
}
