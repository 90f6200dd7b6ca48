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

#[test]
fn a_large_file_that_was_hashed_before_is_read_when_its_bytes_are_needed_or_it_has_changed() {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    let bytes = vec![7; usize::try_from(NOTED_BYTES_MIN).unwrap()];
    let digest = ArtifactStore::new(&home).put(bytes.clone()).unwrap().digest();
    let store = ArtifactStore::new(&home);
    let path = store.path_of(digest);
    crate::home::verified_testing::note(&store.0.verified, &path, digest.as_bytes());
    let unread = store.load_to_run(digest).unwrap();
    assert!(unread.bytes().is_empty());
    assert_eq!(unread.loaded().unwrap().bytes(), bytes);
    assert_eq!(
        ArtifactStore::new(&home).load(digest).unwrap().bytes(),
        bytes,
        "who asks for bytes gets them"
    );
    let mut tampered = bytes;
    tampered[100] ^= 1;
    fs::write(&path, tampered).unwrap();
    assert_eq!(store.load_to_run(digest).unwrap_err().code(), "artifact_integrity", "the note has ended");
    assert_eq!(unread.loaded().unwrap_err().code(), "artifact_integrity", "and what is read is hashed");
}
