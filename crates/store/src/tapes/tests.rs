//! Tapes as they are kept: sealed, bounded, under a quota, and each damage a clear error.

#![allow(clippy::unwrap_used)]

use std::{fs, os::unix::fs::PermissionsExt as _};

use drydock_contract::Tenant;

use super::*;
use crate::Home;

fn home() -> (tempfile::TempDir, Tapes) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::open(dir.path()).unwrap();
    let tapes = Tapes::of(&home.tenant(&Tenant::default())).unwrap();
    (dir, tapes)
}

fn frame(name: &str, answer: &[u8]) -> Frame {
    Frame { seam: Seam::Stream, call: 7, name: name.into(), asked: asked(&[b"q"]), answer: answer.into() }
}

fn body(answers: &[&[u8]]) -> TapeBody {
    let mut writer = TapeWriter::new(TAPE_BYTES_MAX);
    for answer in answers {
        assert!(writer.put(&frame("stdin", answer)));
    }
    writer.finish().unwrap()
}

fn label() -> TapeLabel {
    let (principal, kind, title) = ("me".into(), "sh".into(), "ü".repeat(300));
    TapeLabel { principal, kind, title, created: Timestamp(5) }
}

#[test]
fn a_tape_is_kept_for_its_owner_alone_and_read_as_it_was_written() {
    let (_dir, tapes) = home();
    let facts = tapes.keep(label(), &body(&[b"one", b"", b"two"])).unwrap();
    assert_eq!((facts.frames, facts.title.len()), (3, 200));
    let mode = fs::metadata(tapes.file(&facts.id)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let tape = tapes.open(&facts.id).unwrap();
    assert_eq!(tape.facts, facts);
    let mut frames = tape.frames();
    for want in [&b"one"[..], b"", b"two"] {
        assert_eq!(frames.read().unwrap().unwrap(), frame("stdin", want));
    }
    assert_eq!(frames.read(), Ok(None));
    let listed: Vec<_> = tapes.list().unwrap().into_iter().map(|(id, facts)| (id, facts.unwrap())).collect();
    assert_eq!(listed, [(facts.id.clone(), facts.clone())]);
    tapes.remove(&facts.id).unwrap();
    assert!(matches!(tapes.remove(&facts.id), Err(TapeError::NotThere { .. })));
    assert!(matches!(tapes.open(&facts.id), Err(TapeError::NotThere { .. })));
}

#[test]
fn a_tape_cut_anywhere_of_another_version_or_edited_is_a_clear_error() {
    let (_dir, tapes) = home();
    let facts = tapes.keep(label(), &body(&[b"some bytes", b"and more of them"])).unwrap();
    let path = tapes.file(&facts.id);
    let whole = fs::read(&path).unwrap();
    let code = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        tapes.open(&facts.id).err().map_or("opened", |it| it.code())
    };
    for at in 0..whole.len() {
        assert_eq!(code(&whole[..at]), "tape_cut", "cut at {at}");
    }
    for at in 0..whole.len() {
        let mut edited = whole.clone();
        edited[at] ^= 1;
        let want = match at {
            0..8 => "tape_foreign",
            8..12 => "tape_version",
            // A length that claims more than there is reads like a cut.
            12..16 => "tape_c",
            _ => "tape_changed",
        };
        assert!(code(&edited).starts_with(want), "byte {at}: {}", code(&edited));
    }
    assert_eq!(code(&[&whole[..], b"x"].concat()), "tape_changed");
    assert_eq!(code(b""), "tape_cut");
    assert_eq!(code(&whole), "opened");
    let other = TapeId::fresh();
    fs::rename(&path, tapes.file(&other)).unwrap();
    assert_eq!(tapes.open(&other).err().unwrap().code(), "tape_changed", "renamed");
}

#[test]
fn a_tape_of_another_tenant_or_installation_is_refused() {
    let (_dir, tapes) = home();
    let (_other_dir, others) = home();
    let facts = tapes.keep(label(), &body(&[b"x"])).unwrap();
    others.keep(label(), &body(&[])).unwrap();
    fs::copy(tapes.file(&facts.id), others.file(&facts.id)).unwrap();
    assert_eq!(others.open(&facts.id).err().unwrap().code(), "tape_changed");
}

#[test]
fn a_tape_past_its_bound_is_none_and_says_by_which_flag() {
    let mut writer = TapeWriter::new(1000);
    let noise: Vec<u8> = (0..100_u32).flat_map(|it| *blake3::hash(&it.to_le_bytes()).as_bytes()).collect();
    let fits = (0..1000).take_while(|_| writer.put(&frame("noise", &noise))).count();
    assert!(fits < 1000);
    assert!(writer.finish().is_none());
    insta::assert_snapshot!(TapeError::TooLong { bytes_max: 1000 }, @"the tape would be longer than 1000 bytes; --record-max allows more");
}

#[test]
fn no_more_tapes_are_kept_than_the_quota_has_room_for() {
    let (dir, tapes) = home();
    tapes.keep(label(), &body(&[b"x"])).unwrap();
    let tenant = Home::open(dir.path()).unwrap().tenant(&Tenant::default());
    for (bytes_max, tapes_max) in [(TAPES_BYTES_MAX, 1), (10, 9)] {
        let tight = Tapes::within(&tenant, bytes_max, tapes_max).unwrap();
        assert_eq!(tight.keep(label(), &body(&[b"y"])).err().unwrap().code(), "tapes_full");
    }
}

#[test]
fn what_was_noted_is_believed_until_the_folder_changes_and_refuses_nobody_who_has_room() {
    let (dir, tapes) = home();
    let tenant = Home::open(dir.path()).unwrap().tenant(&Tenant::default());
    let folder = tenant.tapes();
    let noted = || Tally::noted(&tenant.lock(LOCK).unwrap(), &folder);
    let first = tapes.keep(label(), &body(&[b"x"])).unwrap();
    let second = tapes.keep(label(), &body(&[b"more of them"])).unwrap();
    let bytes: u64 = [&first, &second].iter().map(|it| fs::metadata(tapes.file(&it.id)).unwrap().len()).sum();
    assert_eq!(noted(), Some(Tally { bytes, tapes: 2 }));
    // A note is not counted again while it holds: what it says is what is gone by.
    Tally { bytes, tapes: 3 }.note(&tenant.lock(LOCK).unwrap(), &folder);
    tapes.keep(label(), &body(&[b"x"])).unwrap();
    assert_eq!(noted().unwrap().tapes, 4);
    // Who would be refused by a note is counted, and there are three.
    let four = Tapes::within(&tenant, TAPES_BYTES_MAX, 4).unwrap();
    let fourth = four.keep(label(), &body(&[b"x"])).unwrap();
    assert_eq!(noted().unwrap().tapes, 4);
    assert_eq!(four.keep(label(), &body(&[b"x"])).err().unwrap().code(), "tapes_full");
    // A note of another moment is none, nor is a part of one. The folder's time has the grain of a tick.
    four.remove(&fourth.id).unwrap();
    while noted().is_some() {
        fs::write(folder.join("neighbour"), b"").unwrap();
        fs::remove_file(folder.join("neighbour")).unwrap();
    }
    four.keep(label(), &body(&[b"x"])).unwrap();
    assert_eq!(noted().unwrap().tapes, 4);
    fs::write(tenant.root().join("tapes.lock"), b"half").unwrap();
    assert_eq!(noted(), None);
    assert_eq!(four.keep(label(), &body(&[b"x"])).err().unwrap().code(), "tapes_full");
}

#[test]
fn compressed_bytes_that_are_more_than_they_claim_are_no_tape() {
    let many = body(&[&[0; 100_000]]);
    assert!(Frames::of(many.bytes.clone(), many.raw_bytes - 1).read().is_err());
    assert!(Frames::of(many.bytes.clone(), many.raw_bytes).read().is_ok());
    assert!(!crate::foreign::tape(b"no zlib"));
}

#[test]
fn an_id_is_sixteen_digits_and_no_path() {
    for text in ["", "../../etc/passwd", "0123456789ABCDEF", "0123456789abcde", "0123456789abcdef0"] {
        assert!(text.parse::<TapeId>().is_err(), "{text}");
    }
    let id = TapeId::fresh();
    assert_eq!(id.as_str().parse(), Ok(id));
}
