//! Promises of every tree about permission bits and about names that are not UTF-8.

#![allow(clippy::unwrap_used)]

use drydock_contract::{
    Timestamp,
    port::{FileError, FileKind, Files, Follow, Mode, OpenHow, TreePath},
    text,
};

const NOW: Timestamp = Timestamp(1_700_000_000_000_000_000);
const CREATE: OpenHow = OpenHow { read: true, write: true, create: true, ..OpenHow::NONE };

fn at(text: &str) -> TreePath {
    TreePath::new(text).unwrap()
}

fn mode(files: &dyn Files, path: &str) -> u32 {
    files.stat(&at(path), Follow::Yes).unwrap().mode.bits()
}

pub(crate) fn modes_are_kept_and_set(files: &dyn Files) {
    let made = files.open(&at("f"), OpenHow { mode: Mode::new(0o640), ..CREATE }, NOW).unwrap();
    assert_eq!((mode(files, "f"), made.stat().unwrap().mode.bits()), (0o640, 0o640));
    files.create_dir(&at("d"), Mode::new(0o750), NOW).unwrap();
    assert_eq!(mode(files, "d"), 0o750);
    // Opening what is there changes nothing of it, and writing neither.
    files.open(&at("f"), OpenHow { mode: Mode::new(0o777), truncate: true, ..CREATE }, NOW).unwrap();
    made.write_at(0, b"x", NOW).unwrap();
    assert_eq!(mode(files, "f"), 0o640);
    for bits in [0o755, 0o600, 0o777, 0o644, 0o500, 0o700] {
        files.set_mode(&at("f"), Follow::Yes, Mode::new(bits), NOW).unwrap();
        assert_eq!(mode(files, "f"), bits);
        files.set_mode(&at("d"), Follow::No, Mode::new(bits | 0o700), NOW).unwrap();
        assert_eq!(mode(files, "d"), bits | 0o700);
    }
    made.set_mode(Mode::new(0o711), NOW).unwrap();
    assert_eq!((mode(files, "f"), made.stat().unwrap().mode.bits()), (0o711, 0o711));
    // A name moves with its bits, and every name of a file has the same.
    files.link(&at("f"), Follow::No, &at("g"), NOW).unwrap();
    files.set_mode(&at("g"), Follow::Yes, Mode::new(0o751), NOW).unwrap();
    files.rename(&at("f"), &at("d/f"), NOW).unwrap();
    assert_eq!((mode(files, "d/f"), mode(files, "g")), (0o751, 0o751));
    files.rename(&at("d"), &at("e"), NOW).unwrap();
    assert_eq!((mode(files, "e"), mode(files, "e/f")), (0o700, 0o751));
    // A link shows 777, and stands for its target.
    files.symlink("g", &at("l"), NOW).unwrap();
    assert_eq!(files.stat(&at("l"), Follow::No).unwrap().mode, Mode::LINK);
    files.set_mode(&at("l"), Follow::Yes, Mode::new(0o600), NOW).unwrap();
    assert_eq!(mode(files, "g"), 0o600);
    let itself = files.set_mode(&at("l"), Follow::No, Mode::new(0o600), NOW);
    assert_eq!(itself, Err(FileError::Unsupported));
    assert_eq!(files.set_mode(&at("none"), Follow::Yes, Mode::FILE, NOW), Err(FileError::NotFound));
    // Bits are facts, and refuse nothing.
    files.set_mode(&at("g"), Follow::Yes, Mode::new(0o700), NOW).unwrap();
    assert!(files.open(&at("g"), OpenHow { write: true, read: true, ..OpenHow::NONE }, NOW).is_ok());
}

pub(crate) fn names_are_bytes(files: &dyn Files) {
    let names: [&[u8]; 4] = [b"caf\xe9", b"\xff\xfe", "\u{10ff80}".as_bytes(), "\u{e9}".as_bytes()];
    for name in names {
        let name = text::from_bytes(name);
        files.open(&at(&name), CREATE, NOW).unwrap().append(name.as_bytes(), NOW).unwrap();
    }
    let mut listed: Vec<Vec<u8>> = files
        .read_dir(&TreePath::root())
        .unwrap()
        .into_iter()
        .map(|it| text::to_bytes(&it.name).into_owned())
        .collect();
    let mut want = names.map(<[u8]>::to_vec).to_vec();
    listed.sort();
    want.sort();
    assert_eq!(listed, want);
    // Pieces of a character that were put together are that character.
    let pieces: String = [b"\xc3", b"\xa9"].iter().map(|it| text::from_bytes(*it)).collect();
    assert_ne!(pieces, "\u{e9}");
    assert_eq!(files.stat(&at(&pieces), Follow::No).unwrap().size, 2);
    let (old, new) = (text::from_bytes(b"caf\xe9"), text::from_bytes(b"d\xe9j\xe0"));
    files.rename(&at(&old), &at(&new), NOW).unwrap();
    files.symlink(&new, &at("l"), NOW).unwrap();
    assert_eq!(files.read_link(&at("l")).unwrap(), new);
    assert_eq!(files.stat(&at("l"), Follow::Yes).unwrap().kind, FileKind::File);
    let long = text::from_bytes(&[0xff; 255]).into_owned();
    files.create_dir(&at(&long), Mode::DIRECTORY, NOW).unwrap();
    assert_eq!(TreePath::new(&format!("{long}x")), Err(FileError::NameTooLong));
}
