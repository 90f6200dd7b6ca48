//! What the artifact store promises, tried on a real directory.

use super::*;

fn store() -> (tempfile::TempDir, ArtifactStore) {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    (temp, ArtifactStore::new(&home))
}

#[test]
fn the_same_bytes_always_land_on_the_same_path() {
    let (_temp, store) = store();
    let first = store.put(&b"bytes"[..]).unwrap();
    let second = store.put(&b"bytes"[..]).unwrap();
    assert_eq!(first.digest(), second.digest());
    assert_eq!(store.list().unwrap().len(), 1);
    assert_eq!(fs::read(store.path_of(first.digest())).unwrap(), b"bytes");
}

#[test]
fn a_swapped_file_is_refused_and_repaired_by_putting_the_bytes_again() {
    let (temp, store) = store();
    let digest = store.put(&b"trusted"[..]).unwrap().digest();
    fs::write(store.path_of(digest), "hostile").unwrap();

    let fresh = ArtifactStore::new(&Home::open(temp.path()).unwrap());
    assert_eq!(fresh.load(digest).unwrap_err().code(), "artifact_integrity");
    assert_eq!(fresh.verify_all().unwrap()[0].1.as_ref().unwrap_err().code(), "artifact_integrity");
    fresh.put(&b"trusted"[..]).unwrap();
    assert!(fresh.verify_all().unwrap()[0].1.is_ok());
}

#[test]
fn a_second_load_needs_no_disk() {
    let (_temp, store) = store();
    let digest = store.put(&b"kept"[..]).unwrap().digest();
    fs::remove_file(store.path_of(digest)).unwrap();
    assert_eq!(store.load(digest).unwrap().bytes(), b"kept");
    assert_eq!(store.load_from_disk(digest).unwrap_err().code(), "artifact_read");
}

#[test]
fn a_module_too_large_is_refused_without_being_held() {
    let (_temp, store) = store();
    let endless = io::repeat(0);
    assert_eq!(ArtifactStore::read_new(endless).unwrap_err().code(), "artifact_too_large");
    let digest = Digest::of(b"x");
    fs::File::create(store.path_of(digest)).unwrap().set_len(ARTIFACT_BYTES_MAX + 1).unwrap();
    assert_eq!(store.load(digest).unwrap_err().code(), "artifact_read");
}

#[test]
fn only_files_named_by_a_hash_are_listed() {
    let (_temp, store) = store();
    let digest = store.put(&b"one"[..]).unwrap().digest();
    let shout = Digest::of(b"two").to_string().to_uppercase();
    for name in ["jq.wasm", ".tmp-1", &format!("{shout}.wasm"), &format!("{digest}.txt")] {
        fs::write(store.dir().join(name), "").unwrap();
    }
    let listed: Vec<_> = store.list().unwrap().into_iter().map(|it| it.digest).collect();
    assert_eq!(listed, [digest]);
}
