//! What the cache promises: ours or nothing.

use std::{fs, os::unix::fs::PermissionsExt as _, thread};

use proptest::prelude::*;

use super::*;

fn home() -> (tempfile::TempDir, Home) {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    (temp, home)
}

fn key(of: &str) -> CacheKey {
    CacheKey { digest: Digest::of(of.as_bytes()), compat: 7 }
}

/// The code in a file of the cache, without what stands behind it.
fn code_in(file: Option<CodeFile>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut file = file?.into_file();
    io::Seek::rewind(&mut file).unwrap();
    io::Read::read_to_end(&mut file, &mut bytes).unwrap();
    bytes.truncate(bytes.len() - TRAILER_BYTES);
    Some(bytes)
}

#[test]
fn what_was_put_is_got_by_the_same_key_only_and_across_processes() {
    let (_temp, home) = home();
    CodeCache::open(&home).unwrap().put(&key("a"), b"code");
    let cache = CodeCache::open(&home).unwrap();
    assert_eq!(code_in(cache.get(&key("a"))).as_deref(), Some(&b"code"[..]));
    assert!(cache.get(&key("b")).is_none());
    assert!(cache.get(&CacheKey { compat: 8, ..key("a") }).is_none());
    cache.put(&key("empty"), b"");
    assert_eq!(code_in(cache.get(&key("empty"))), Some(vec![]));
}

#[test]
fn an_entry_under_another_name_cut_short_too_large_or_open_to_others_is_refused_and_removed() {
    let (_temp, home) = home();
    let cache = CodeCache::open(&home).unwrap();
    type Bend = fn(&CodeCache);
    let cases: [(&str, Bend); 6] = [
        ("writable by others", |it| {
            fs::set_permissions(it.path_of(&key("a")), fs::Permissions::from_mode(0o620)).unwrap();
        }),
        ("renamed", |it| {
            it.put(&key("other"), b"code");
            fs::rename(it.path_of(&key("other")), it.path_of(&key("a"))).unwrap();
        }),
        ("cut", |it| File::options().write(true).open(it.path_of(&key("a"))).unwrap().set_len(54).unwrap()),
        ("headless", |it| fs::write(it.path_of(&key("a")), "DRYDOCKC").unwrap()),
        ("grown", |it| {
            File::options().write(true).open(it.path_of(&key("a"))).unwrap().set_len(100).unwrap()
        }),
        ("huge", |it| {
            File::options()
                .write(true)
                .open(it.path_of(&key("a")))
                .unwrap()
                .set_len(CODE_BYTES_MAX + 1)
                .unwrap();
        }),
    ];
    for (what, bend) in cases {
        cache.put(&key("a"), b"code");
        bend(&cache);
        assert!(cache.get(&key("a")).is_none(), "{what}");
        assert!(!cache.path_of(&key("a")).exists(), "{what}");
    }
}

#[test]
fn a_key_that_others_may_read_is_replaced_and_its_entries_are_foreign() {
    let (_temp, home) = home();
    CodeCache::open(&home).unwrap().put(&key("a"), b"code");
    let path = home.keys().join("cache.key");
    let old = fs::read(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();

    let cache = CodeCache::open(&home).unwrap();
    assert!(cache.get(&key("a")).is_none());
    assert_ne!(fs::read(&path).unwrap(), old);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_key_of_the_wrong_length_or_behind_a_link_is_replaced() {
    let (temp, home) = home();
    let path = home.keys().join("cache.key");
    fs::write(&path, "short").unwrap();
    CodeCache::open(&home).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), 32);
    let elsewhere = temp.path().join("elsewhere");
    fs::rename(&path, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    CodeCache::open(&home).unwrap();
    assert!(!path.symlink_metadata().unwrap().is_symlink());
}

#[test]
fn processes_that_start_at_once_agree_on_one_key() {
    let (_temp, home) = home();
    let caches: Vec<_> = thread::scope(|scope| {
        let all: Vec<_> = (0..8).map(|_| scope.spawn(|| CodeCache::open(&home).unwrap())).collect();
        all.into_iter().map(|it| it.join().unwrap()).collect()
    });
    caches[0].put(&key("a"), b"code");
    assert!(caches.iter().all(|it| it.get(&key("a")).is_some()));
}

#[test]
fn the_least_recently_used_entry_goes_first_and_use_is_marked() {
    let (_temp, home) = home();
    let cache = CodeCache::with_bytes_max(&home, 1000).unwrap();
    let hours_ago = |n: u64| SystemTime::now() - Duration::from_secs(n * 3600);
    for (name, hours) in [("a", 5), ("b", 4), ("c", 3)] {
        cache.put(&key(name), &[0; 200]);
        File::open(cache.path_of(&key(name))).unwrap().set_modified(hours_ago(hours)).unwrap();
    }
    cache.get(&key("a")).unwrap();
    cache.put(&key("d"), &[0; 200]);
    let there = ["a", "b", "c", "d"].map(|name| cache.get(&key(name)).is_some());
    assert_eq!(there, [true, false, true, true]);
    cache.put(&key("huge"), &[0; 1000]);
    assert!(cache.get(&key("huge")).is_none());
}

#[test]
fn a_cache_that_cannot_be_written_forgets_and_does_not_fail() {
    let (_temp, home) = home();
    let cache = CodeCache::open(&home).unwrap();
    fs::remove_dir_all(home.cache()).unwrap();
    cache.put(&key("a"), b"code");
    assert!(cache.get(&key("a")).is_none());
}

#[test]
fn any_single_bit_flip_is_refused() {
    let (_temp, home) = home();
    let cache = CodeCache::open(&home).unwrap();
    let code = proptest::collection::vec(any::<u8>(), 0..200);
    proptest!(|(code in code, at in any::<proptest::sample::Index>(), bit in 0u8..8)| {
        cache.put(&key("a"), &code);
        let path = cache.path_of(&key("a"));
        let mut bytes = fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        fs::write(&path, bytes).unwrap();
        prop_assert!(cache.get(&key("a")).is_none());
    });
}

#[test]
fn an_entry_that_cannot_be_read_is_kept_and_so_is_a_key() {
    let (_temp, home) = home();
    let cache = CodeCache::open(&home).unwrap();
    cache.put(&key("a"), b"code");
    // Descriptors that ran out, as the kernel says it.
    let none_left = io::Error::from_raw_os_error(rustix::io::Errno::MFILE.raw_os_error());
    assert!(!is_damage(&none_left));
    // A loop of links is no content either: the entry's name stays, whatever it leads to.
    let path = cache.path_of(&key("looped"));
    std::os::unix::fs::symlink(&path, &path).unwrap();
    assert!(cache.get(&key("looped")).is_none());
    assert!(path.symlink_metadata().is_ok(), "an error of the disk removes nothing");
    assert_eq!(code_in(cache.get(&key("a"))).as_deref(), Some(&b"code"[..]));

    let keys = home.keys();
    let kept = fs::read(keys.join("cache.key")).unwrap();
    if rustix::process::geteuid().is_root() {
        return; // Root reads whatever it likes.
    }
    fs::set_permissions(&keys, fs::Permissions::from_mode(0o000)).unwrap();
    assert!(CodeCache::open(&home).is_err(), "a key that cannot be read is not replaced");
    fs::set_permissions(&keys, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(fs::read(keys.join("cache.key")).unwrap(), kept);
}

#[test]
fn one_has_the_turn_to_compile_a_module_and_the_next_gets_it_after() {
    let (_temp, home) = home();
    let (mine, theirs) = (CodeCache::open(&home).unwrap(), CodeCache::open(&home).unwrap());
    let turn = mine.try_turn(&key("a")).unwrap();
    assert!(turn.is_some());
    assert!(theirs.try_turn(&key("a")).unwrap().is_none());
    drop(turn);
    assert!(theirs.try_turn(&key("a")).unwrap().is_some());
}

/// Code of one module for one lane that came with a program in `dir`.
fn shipped_in(dir: &Path) -> (Shipped, PathBuf, Digest) {
    let module = Digest::of(b"module");
    let listed = Box::leak(Box::new([ShippedCode {
        file: "module-fuel.cwasm",
        module: *module.as_bytes(),
        lane: "fuel-reserved",
        blake3: *blake3::hash(b"code").as_bytes(),
    }]));
    (Shipped { dir: dir.to_owned(), codes: listed }, dir.join("module-fuel.cwasm"), module)
}

#[test]
fn shipped_code_is_taken_by_its_hash_alone() {
    let temp = tempfile::tempdir().unwrap();
    let (shipped, file, module) = shipped_in(temp.path());
    let get = |module, lane| shipped.get(module, lane, None);
    assert!(get(module, "fuel-reserved").is_none(), "nothing is there");
    fs::write(&file, b"code").unwrap();
    let mut found = String::new();
    io::Read::read_to_string(&mut get(module, "fuel-reserved").unwrap().into_file(), &mut found).unwrap();
    assert_eq!(found, "code");
    assert!(get(module, "tick-reserved").is_none(), "another lane");
    assert!(get(Digest::of(b"other"), "fuel-reserved").is_none(), "another module");
    fs::write(&file, b"c0de").unwrap();
    assert!(get(module, "fuel-reserved").is_none(), "other bytes");
    assert!(file.exists(), "what is not ours to write is not ours to remove");
}

#[test]
fn shipped_code_that_was_read_before_is_read_again_when_it_has_changed_or_others_may_write_it() {
    let (temp, home) = home();
    let cache = CodeCache::open(&home).unwrap();
    let (shipped, file, module) = shipped_in(temp.path());
    let (listed, get) = (&shipped.codes[0], || shipped.get(module, "fuel-reserved", Some(&cache)));
    // Other bytes than those of the hash: whoever takes them has not read them.
    let noted = |mode| {
        fs::write(&file, b"c0de").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let (note, what) = (cache.note_of_shipped(listed), shipped::what(listed));
        crate::home::verified_testing::note_in(&cache.verified, &note, &file, &what);
    };
    noted(0o644);
    assert!(get().is_some(), "by its note");
    noted(0o664);
    assert!(get().is_none(), "others may write it, so the note says nothing");
    noted(0o644);
    fs::write(&file, b"c1de").unwrap();
    assert!(get().is_none(), "it has changed");
    noted(0o644);
    fs::copy(cache.note_of_shipped(listed), note_of(&cache.path_of(&key("a")))).unwrap();
    fs::copy(&file, cache.path_of(&key("a"))).unwrap();
    assert!(cache.get(&key("a")).is_none(), "a note about shipped code is none about the cache's");
    fs::write(&file, b"code").unwrap();
    assert!(get().is_some(), "by its hash");
}

#[test]
fn code_that_was_checked_before_is_checked_again_when_it_has_changed() {
    let (_temp, home) = home();
    let cache = CodeCache::open(&home).unwrap();
    cache.put(&key("a"), b"code");
    let path = cache.path_of(&key("a"));
    crate::home::verified_testing::note(&cache.verified, &path, &key("a").as_bytes());
    assert_eq!(code_in(cache.get(&key("a"))).as_deref(), Some(&b"code"[..]));
    let mut bytes = fs::read(&path).unwrap();
    bytes[0] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert!(cache.get(&key("a")).is_none(), "tampered with after it was checked");
    assert!(!path.exists() && !note_of(&path).exists(), "and removed with its note");
}
