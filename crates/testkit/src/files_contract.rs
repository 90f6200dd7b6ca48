//! What every tree of files promises, whatever is behind it: one suite, called by each backing.
//!
//! Each check gets a fresh, empty, writable tree with room for about a megabyte. Limits and
//! charges are a backing's own and are not tried here.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use drydock_contract::{
    Timestamp,
    port::{
        FileError, FileError::*, FileKind, FileLimit, FileResult, FileTimes, Files, Follow, Mode, OpenFile,
        OpenHow, TreePath,
    },
};

use crate::files_facts;

/// Runs the whole suite; panics at the first broken promise.
pub fn files_contract(make: impl Fn() -> Arc<dyn Files>) {
    files_contract_but_for_changed(&make);
    naming_the_promise("when anything changed is kept", || changed_is_kept(&Tree(make())));
}

/// The suite for a backing whose `changed` times are the host's own: no system lets them be set.
pub fn files_contract_but_for_changed(make: impl Fn() -> Arc<dyn Files>) {
    let checks: &[(&str, Check)] = &[
        ("a new tree is an empty root", a_new_tree_is_an_empty_root),
        ("paths are confined and normalised", paths_are_confined_and_normalised),
        ("opening answers as POSIX does", opening_answers_as_posix_does),
        ("a handle does what it was opened for", a_handle_does_what_it_was_opened_for),
        ("reads and writes are positional", reads_and_writes_are_positional),
        ("appending moves nobody's position", appending_goes_to_the_end),
        ("lengths are cut and extended with zeros", lengths_are_cut_and_extended),
        ("absurd offsets are refused", absurd_offsets_are_refused),
        ("directories are made, listed and removed", directories_are_made_listed_and_removed),
        ("unlinking leaves handles alone", unlinking_leaves_handles_alone),
        ("unlinking answers as POSIX does", unlinking_answers_as_posix_does),
        ("renaming moves and replaces", renaming_moves_and_replaces),
        ("renaming refuses as POSIX does", renaming_refuses_as_posix_does),
        ("renaming onto itself does nothing", renaming_onto_itself_does_nothing),
        ("hard links share a file", hard_links_share_a_file),
        ("hard links refuse as POSIX does", hard_links_refuse_as_posix_does),
        ("symbolic links are followed", symbolic_links_are_followed),
        ("symbolic links cannot leave", symbolic_links_cannot_leave),
        ("symbolic link loops end", symbolic_link_loops_end),
        ("a dangling link is created through", a_dangling_link_is_created_through),
        ("trailing slashes mean directories", trailing_slashes_mean_directories),
        ("times are kept and set", times_are_kept_and_set),
        ("names and paths have their lengths", names_and_paths_have_their_lengths),
        ("a file deleted while open lives on in its handles", a_file_deleted_while_open_lives_on),
        ("renaming over an open file leaves its handles alone", renaming_over_an_open_file),
        ("a listing is whole while names go", a_listing_is_whole_while_names_go),
        ("modes are kept and set", |tree| files_facts::modes_are_kept_and_set(&*tree.0)),
        ("names are bytes", |tree| files_facts::names_are_bytes(&*tree.0)),
    ];
    for (name, check) in checks {
        naming_the_promise(name, || check(&Tree(make())));
    }
}

#[allow(clippy::print_stderr)]
fn naming_the_promise(name: &str, check: impl FnOnce()) {
    struct Told<'a>(&'a str);
    impl Drop for Told<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("broken promise: {}", self.0);
            }
        }
    }
    let _told = Told(name);
    check();
}

const NOW: Timestamp = Timestamp(1_700_000_000_000_000_000);
const LATER: Timestamp = Timestamp(1_800_000_000_000_000_000);
const READ: OpenHow = OpenHow { read: true, ..OpenHow::NONE };
const WRITE: OpenHow = OpenHow { read: true, write: true, ..READ };
const CREATE: OpenHow = OpenHow { create: true, ..WRITE };
const NEW: OpenHow = OpenHow { exclusive: true, ..CREATE };

struct Tree(Arc<dyn Files>);
type Check = fn(&Tree);

impl Tree {
    fn open(&self, path: &str, how: OpenHow) -> FileResult<Arc<dyn OpenFile>> {
        self.0.open(&at(path), how, NOW)
    }
    fn open_error(&self, path: &str, how: OpenHow) -> Option<FileError> {
        self.open(path, how).err()
    }
    fn write(&self, path: &str, bytes: &[u8]) {
        let how = OpenHow { truncate: true, ..CREATE };
        self.open(path, how).unwrap().write_at(0, bytes, NOW).unwrap();
    }
    fn read(&self, path: &str) -> FileResult<Vec<u8>> {
        let file = self.open(path, READ)?;
        let mut bytes = vec![0; 100];
        let read = file.read_at(0, &mut bytes)?;
        bytes.truncate(read);
        Ok(bytes)
    }
    fn mkdir(&self, path: &str) -> FileResult<()> {
        self.0.create_dir(&at(path), Mode::DIRECTORY, NOW)
    }
    fn rmdir(&self, path: &str) -> FileResult<()> {
        self.0.remove_dir(&at(path), NOW)
    }
    fn unlink(&self, path: &str) -> FileResult<()> {
        self.0.unlink(&at(path), NOW)
    }
    fn rename(&self, from: &str, to: &str) -> FileResult<()> {
        self.0.rename(&at(from), &at(to), NOW)
    }
    fn link(&self, from: &str, to: &str) -> FileResult<()> {
        self.0.link(&at(from), Follow::No, &at(to), NOW)
    }
    fn symlink(&self, target: &str, path: &str) -> FileResult<()> {
        self.0.symlink(target, &at(path), NOW)
    }
    fn kind(&self, path: &str) -> FileResult<FileKind> {
        self.0.stat(&at(path), Follow::Yes).map(|it| it.kind)
    }
    fn lkind(&self, path: &str) -> FileResult<FileKind> {
        self.0.stat(&at(path), Follow::No).map(|it| it.kind)
    }
    fn inode(&self, path: &str) -> u64 {
        self.0.stat(&at(path), Follow::No).unwrap().inode
    }
    fn links(&self, path: &str) -> u64 {
        self.0.stat(&at(path), Follow::No).unwrap().links
    }
    fn names(&self, path: &str) -> FileResult<Vec<String>> {
        Ok(self.0.read_dir(&at(path))?.into_iter().map(|it| it.name).collect())
    }
    /// `d/` with a file in it, the empty `e/`, the file `f`.
    fn furnish(&self) {
        self.mkdir("d").unwrap();
        self.mkdir("e").unwrap();
        self.write("d/x", b"x");
        self.write("f", b"f");
    }
}

fn at(path: &str) -> TreePath {
    TreePath::new(path).unwrap()
}

fn a_new_tree_is_an_empty_root(tree: &Tree) {
    for root in ["", "/", ".", "..", "./..", "//"] {
        assert_eq!(tree.kind(root), Ok(FileKind::Directory), "{root:?}");
        assert_eq!(tree.names(root), Ok(vec![]), "{root:?}");
        assert_eq!(tree.mkdir(root), Err(Exists), "{root:?}");
        assert_eq!(tree.open_error(root, READ), Some(IsADirectory), "{root:?}");
        assert!(tree.rmdir(root).is_err(), "{root:?}");
        assert!(tree.unlink(root).is_err(), "{root:?}");
        assert!(tree.rename(root, "x").is_err(), "{root:?}");
    }
    assert_eq!(tree.kind("none"), Err(NotFound));
    assert_eq!(tree.kind("none/below"), Err(NotFound));
}

fn paths_are_confined_and_normalised(tree: &Tree) {
    tree.furnish();
    for same in ["d/x", "/d/x", "//d//x", "./d/./x", "d/../d/x", "../../../d/x", "e/../d/x"] {
        assert_eq!(tree.read(same), Ok(b"x".to_vec()), "{same}");
    }
    assert_eq!(tree.read("none/../d/x"), Err(NotFound));
    assert_eq!(tree.read("f/../d/x"), Err(NotADirectory));
    assert_eq!(tree.read("f/x"), Err(NotADirectory));
    assert_eq!(tree.names("f"), Err(NotADirectory));
}

fn opening_answers_as_posix_does(tree: &Tree) {
    tree.furnish();
    tree.symlink("f", "l").unwrap();
    tree.symlink("nowhere", "gone").unwrap();
    let nofollow = OpenHow { nofollow: true, ..READ };
    let cases = [
        // path      how       want
        ("f", READ, None),
        ("f", WRITE, None),
        ("f", CREATE, None),
        ("f", NEW, Some(Exists)),
        ("f", nofollow, None),
        ("d", READ, Some(IsADirectory)),
        ("d", WRITE, Some(IsADirectory)),
        ("d", CREATE, Some(IsADirectory)),
        ("d", NEW, Some(Exists)),
        ("none", READ, Some(NotFound)),
        ("none/x", CREATE, Some(NotFound)),
        ("f/x", CREATE, Some(NotADirectory)),
        ("l", READ, None),
        ("l", nofollow, Some(Loop)),
        ("l", NEW, Some(Exists)),
        ("gone", READ, Some(NotFound)),
        ("gone", NEW, Some(Exists)),
        ("new", NEW, None),
    ];
    for (path, how, want) in cases {
        assert_eq!(tree.open_error(path, how), want, "{path} {how:?}");
    }
    assert_eq!(tree.open_error("f", OpenHow { truncate: true, ..READ }), Some(Invalid));
    assert_eq!(tree.read("f"), Ok(b"f".to_vec()));
    tree.open("f", OpenHow { truncate: true, ..WRITE }).unwrap();
    assert_eq!(tree.read("f"), Ok(vec![]));
}

fn a_handle_does_what_it_was_opened_for(tree: &Tree) {
    tree.furnish();
    let reader = tree.open("f", READ).unwrap();
    assert_eq!(reader.write_at(0, b"no", NOW), Err(Denied));
    assert_eq!(reader.append(b"no", NOW), Err(Denied));
    assert_eq!(reader.set_len(0, NOW), Err(Denied));
    let writer = tree.open("f", OpenHow { read: false, ..WRITE }).unwrap();
    assert_eq!(writer.read_at(0, &mut [0]), Err(Denied));
    writer.write_at(0, b"g", NOW).unwrap();
    writer.sync().unwrap();
    let mut byte = [0];
    assert_eq!((reader.read_at(0, &mut byte), byte), (Ok(1), *b"g"));
}

fn reads_and_writes_are_positional(tree: &Tree) {
    let file = tree.open("f", CREATE).unwrap();
    file.write_at(2, b"cde", NOW).unwrap();
    file.write_at(0, b"ab", NOW).unwrap();
    file.write_at(4, b"EF", NOW).unwrap();
    assert_eq!(tree.read("f"), Ok(b"abcdEF".to_vec()));
    file.write_at(8, b"x", NOW).unwrap();
    assert_eq!(tree.read("f"), Ok(b"abcdEF\0\0x".to_vec()));
    // A write of nothing extends nothing.
    file.write_at(100, b"", NOW).unwrap();
    assert_eq!(file.stat().unwrap().size, 9);
    let mut buffer = [9; 4];
    assert_eq!(file.read_at(7, &mut buffer), Ok(2));
    assert_eq!(buffer, [0, b'x', 9, 9]);
    assert_eq!(file.read_at(9, &mut buffer), Ok(0));
    assert_eq!(file.read_at(1 << 40, &mut buffer), Ok(0));
    assert_eq!(file.read_at(0, &mut []), Ok(0));
}

fn appending_goes_to_the_end(tree: &Tree) {
    let (one, two) = (tree.open("f", CREATE).unwrap(), tree.open("f", CREATE).unwrap());
    assert_eq!(one.append(b"one", NOW), Ok(3));
    assert_eq!(two.append(b"two", NOW), Ok(6));
    assert_eq!(one.append(b"", NOW), Ok(6));
    assert_eq!(one.append(b"!", NOW), Ok(7));
    assert_eq!(tree.read("f"), Ok(b"onetwo!".to_vec()));
}

fn lengths_are_cut_and_extended(tree: &Tree) {
    let file = tree.open("f", CREATE).unwrap();
    file.write_at(0, b"abcdef", NOW).unwrap();
    file.set_len(3, NOW).unwrap();
    file.set_len(5, NOW).unwrap();
    // What was cut off does not come back.
    assert_eq!(tree.read("f"), Ok(b"abc\0\0".to_vec()));
    file.set_len(0, NOW).unwrap();
    file.write_at(3, b"x", NOW).unwrap();
    assert_eq!(tree.read("f"), Ok(b"\0\0\0x".to_vec()));
}

fn absurd_offsets_are_refused(tree: &Tree) {
    let file = tree.open("f", CREATE).unwrap();
    file.append(b"kept", NOW).unwrap();
    for offset in [u64::MAX, u64::MAX - 1, 1 << 63] {
        let refused = file.write_at(offset, b"xx", NOW).unwrap_err();
        assert!(matches!(refused, TooBig | NoSpace | Quota(_) | Invalid), "{refused}");
        assert_eq!(file.read_at(offset, &mut [0; 8]), Ok(0));
    }
    assert!(file.set_len(u64::MAX, NOW).is_err());
    assert_eq!(tree.read("f"), Ok(b"kept".to_vec()));
}

fn directories_are_made_listed_and_removed(tree: &Tree) {
    tree.furnish();
    tree.symlink("f", "l").unwrap();
    assert_eq!(tree.mkdir("d"), Err(Exists));
    assert_eq!(tree.mkdir("f"), Err(Exists));
    assert_eq!(tree.mkdir("l"), Err(Exists));
    assert_eq!(tree.mkdir("none/x"), Err(NotFound));
    assert_eq!(tree.mkdir("f/x"), Err(NotADirectory));
    assert_eq!(tree.mkdir("d/.."), Err(Exists));
    for name in ["b", "B", "a b", "ü", "10", "9"] {
        tree.write(&format!("e/{name}"), b"");
    }
    assert_eq!(tree.names("e").unwrap(), ["10", "9", "B", "a b", "b", "ü"]);
    let listed = tree.0.read_dir(&TreePath::root()).unwrap();
    let told: Vec<_> = listed.iter().map(|it| (it.name.as_str(), it.kind)).collect();
    let want = [
        ("d", FileKind::Directory),
        ("e", FileKind::Directory),
        ("f", FileKind::File),
        ("l", FileKind::Symlink),
    ];
    assert_eq!(told, want);
    assert!(listed.iter().all(|it| it.inode == tree.inode(&it.name)));

    assert_eq!(tree.rmdir("d"), Err(NotEmpty));
    assert_eq!(tree.rmdir("f"), Err(NotADirectory));
    assert_eq!(tree.rmdir("l"), Err(NotADirectory));
    assert_eq!(tree.rmdir("none"), Err(NotFound));
    assert_eq!(tree.rmdir("e/."), Err(Invalid));
    assert_eq!(tree.rmdir("d/.."), Err(NotEmpty));
    tree.unlink("d/x").unwrap();
    tree.rmdir("d").unwrap();
    assert_eq!(tree.names("d"), Err(NotFound));
}

fn unlinking_leaves_handles_alone(tree: &Tree) {
    tree.furnish();
    let old = tree.open("f", WRITE).unwrap();
    tree.unlink("f").unwrap();
    assert_eq!(tree.read("f"), Err(NotFound));
    tree.write("f", b"another");
    old.append(b"!", NOW).unwrap();
    let mut bytes = [0; 2];
    assert_eq!((old.read_at(0, &mut bytes), bytes), (Ok(2), *b"f!"));
    assert_eq!(old.stat().unwrap().links, 0);
    assert_eq!(tree.read("f"), Ok(b"another".to_vec()));
}

fn unlinking_answers_as_posix_does(tree: &Tree) {
    tree.furnish();
    tree.symlink("d", "l").unwrap();
    assert_eq!(tree.unlink("d"), Err(IsADirectory));
    assert_eq!(tree.unlink("none"), Err(NotFound));
    assert_eq!(tree.unlink("f/x"), Err(NotADirectory));
    assert_eq!(tree.unlink("f/"), Err(NotADirectory));
    tree.unlink("l").unwrap();
    assert_eq!(tree.kind("d"), Ok(FileKind::Directory));
}

fn renaming_moves_and_replaces(tree: &Tree) {
    tree.furnish();
    let inode = tree.inode("f");
    let replaced = tree.open("d/x", READ).unwrap();
    tree.rename("f", "d/x").unwrap();
    assert_eq!((tree.read("f"), tree.read("d/x")), (Err(NotFound), Ok(b"f".to_vec())));
    assert_eq!(tree.inode("d/x"), inode);
    let mut byte = [0];
    assert_eq!((replaced.read_at(0, &mut byte), byte), (Ok(1), *b"x"));
    // A directory takes what is in it along, onto nothing or onto an empty one.
    tree.rename("d", "e").unwrap();
    tree.rename("e", "g").unwrap();
    assert_eq!(tree.read("g/x"), Ok(b"f".to_vec()));
    assert_eq!(tree.names("").unwrap(), ["g"]);
    assert_eq!(tree.read("g/../g/x"), Ok(b"f".to_vec()));
    // A link is moved, not what it points at.
    tree.symlink("g", "l").unwrap();
    tree.rename("l", "m").unwrap();
    assert_eq!(tree.lkind("m"), Ok(FileKind::Symlink));
    tree.write("h", b"h");
    tree.rename("h", "m").unwrap();
    assert_eq!(tree.lkind("m"), Ok(FileKind::File));
}

fn renaming_refuses_as_posix_does(tree: &Tree) {
    tree.furnish();
    tree.mkdir("d/sub").unwrap();
    let cases = [
        // from    to           want
        ("none", "x", NotFound),
        ("f", "none/x", NotFound),
        ("f", "f/x", NotADirectory),
        ("f", "e", IsADirectory),
        ("e", "f", NotADirectory),
        ("e", "d", NotEmpty),
        ("d/sub", "d", NotEmpty),
        ("d", "d/y", Invalid),
        ("d", "d/sub/y", Invalid),
        ("d", "d/sub", Invalid),
        ("d/.", "x", Invalid),
        ("f", "new/", NotADirectory),
        ("f/", "new", NotADirectory),
    ];
    for (from, to, want) in cases {
        assert_eq!(tree.rename(from, to), Err(want), "{from} -> {to}");
    }
    assert!(tree.rename("d/sub/..", "x").is_err());
    assert_eq!(tree.names("").unwrap(), ["d", "e", "f"]);
    assert_eq!(tree.names("d").unwrap(), ["sub", "x"]);
    tree.rename("e/", "new/").unwrap();
}

fn renaming_onto_itself_does_nothing(tree: &Tree) {
    tree.furnish();
    tree.link("f", "g").unwrap();
    for (from, to) in [("f", "f"), ("f", "g"), ("d", "d"), ("d", "d/../d")] {
        assert_eq!(tree.rename(from, to), Ok(()), "{from} -> {to}");
    }
    assert_eq!(tree.names("").unwrap(), ["d", "e", "f", "g"]);
    assert_eq!(tree.links("f"), 2);
}

fn hard_links_share_a_file(tree: &Tree) {
    tree.furnish();
    tree.link("f", "d/g").unwrap();
    assert_eq!(tree.inode("f"), tree.inode("d/g"));
    assert_eq!(tree.links("f"), 2);
    tree.open("d/g", WRITE).unwrap().append(b"!", NOW).unwrap();
    assert_eq!(tree.read("f"), Ok(b"f!".to_vec()));
    tree.unlink("f").unwrap();
    assert_eq!((tree.read("d/g"), tree.links("d/g")), (Ok(b"f!".to_vec()), 1));
    tree.rename("d/x", "d/g").unwrap();
    assert_eq!((tree.read("d/g"), tree.links("d/g")), (Ok(b"x".to_vec()), 1));
}

fn hard_links_refuse_as_posix_does(tree: &Tree) {
    tree.furnish();
    tree.symlink("f", "l").unwrap();
    assert_eq!(tree.link("d", "x"), Err(Denied));
    assert_eq!(tree.link("f", "d"), Err(Exists));
    assert_eq!(tree.link("f", "l"), Err(Exists));
    assert_eq!(tree.link("none", "x"), Err(NotFound));
    assert_eq!(tree.link("f", "none/x"), Err(NotFound));
    assert_eq!(tree.link("f", "x/"), Err(NotFound));
    assert_eq!(tree.link("f/", "x"), Err(NotADirectory));
    tree.link("l", "m").unwrap();
    assert_eq!(tree.lkind("m"), Ok(FileKind::Symlink));
    tree.0.link(&at("l"), Follow::Yes, &at("n"), NOW).unwrap();
    assert_eq!(tree.lkind("n"), Ok(FileKind::File));
}

fn symbolic_links_are_followed(tree: &Tree) {
    tree.furnish();
    for (target, path) in [("x", "d/near"), ("../f", "d/up"), ("/d/x", "e/abs"), ("d", "dir"), ("d/", "dirs")]
    {
        tree.symlink(target, path).unwrap();
        assert_eq!(tree.0.read_link(&at(path)).as_deref(), Ok(target));
        assert_eq!(tree.lkind(path), Ok(FileKind::Symlink));
        assert_eq!(tree.0.stat(&at(path), Follow::No).unwrap().size, target.len() as u64);
    }
    let cases = [
        ("d/near", "x"),
        ("d/up", "f"),
        ("e/abs", "x"),
        ("dir/x", "x"),
        ("dirs/x", "x"),
        ("dir/near", "x"),
        ("dir/up", "f"),
        ("dir/../f", "f"),
        ("e/../dir/../d/x", "x"),
    ];
    for (path, want) in cases {
        assert_eq!(tree.read(path), Ok(want.as_bytes().to_vec()), "{path}");
    }
    assert_eq!(tree.names("dir"), tree.names("d"));
    // `..` after a link is beside what it points at, not beside the link.
    tree.mkdir("e/deep").unwrap();
    tree.symlink("e/deep", "short").unwrap();
    assert_eq!(tree.read("short/../abs"), Ok(b"x".to_vec()));

    assert_eq!(tree.0.read_link(&at("f")), Err(Invalid));
    assert_eq!(tree.0.read_link(&at("d")), Err(Invalid));
    assert_eq!(tree.0.read_link(&at("none")), Err(NotFound));
    assert_eq!(tree.symlink("x", "f"), Err(Exists));
    assert_eq!(tree.symlink("x", "dir"), Err(Exists));
    assert_eq!(tree.symlink("x", "none/x"), Err(NotFound));
    assert_eq!(tree.symlink("x", "new/"), Err(NotFound));
    assert_eq!(tree.symlink("", "new"), Err(NotFound));
    assert_eq!(tree.symlink("a\0b", "new"), Err(Invalid));
}

fn symbolic_links_cannot_leave(tree: &Tree) {
    tree.furnish();
    let targets = ["/etc/passwd", "../../../etc/passwd", "/../etc/passwd", "d/../../../../etc/passwd"];
    for (n, target) in targets.iter().enumerate() {
        let name = format!("l{n}");
        tree.symlink(target, &name).unwrap();
        assert_eq!(tree.read(&name), Err(NotFound), "{target}");
    }
    tree.mkdir("etc").unwrap();
    tree.write("etc/passwd", b"ours");
    for n in 0..targets.len() {
        assert_eq!(tree.read(&format!("l{n}")), Ok(b"ours".to_vec()), "{n}");
    }
}

fn symbolic_link_loops_end(tree: &Tree) {
    for (target, path) in [("me", "me"), ("b", "a"), ("a", "b"), ("spin/x", "spin")] {
        tree.symlink(target, path).unwrap();
    }
    for path in ["me", "me/x", "a", "b/", "spin", "spin/y"] {
        assert_eq!(tree.kind(path), Err(Loop), "{path}");
        assert_eq!(tree.open_error(path, CREATE), Some(Loop), "{path}");
        assert_eq!(tree.names(path), Err(Loop), "{path}");
    }
    assert_eq!(tree.lkind("me"), Ok(FileKind::Symlink));
    tree.write("end", b"end");
    let mut last = "end".to_owned();
    for n in 0..40 {
        let name = format!("c{n}");
        tree.symlink(&last, &name).unwrap();
        last = name;
    }
    assert_eq!(tree.read("c30"), Ok(b"end".to_vec()));
    tree.symlink("c39", "c40").unwrap();
    assert_eq!(tree.read("c40"), Err(Loop));
    for path in ["me", "a", "spin", "c40"] {
        tree.unlink(path).unwrap();
    }
}

fn a_dangling_link_is_created_through(tree: &Tree) {
    tree.furnish();
    tree.symlink("d/made", "l").unwrap();
    assert_eq!(tree.mkdir("l"), Err(Exists));
    tree.open("l", CREATE).unwrap().append(b"made", NOW).unwrap();
    assert_eq!(tree.read("d/made"), Ok(b"made".to_vec()));
    assert_eq!(tree.lkind("l"), Ok(FileKind::Symlink));
    tree.symlink("none/made", "m").unwrap();
    assert_eq!(tree.open_error("m", CREATE), Some(NotFound));
}

fn trailing_slashes_mean_directories(tree: &Tree) {
    tree.furnish();
    tree.symlink("d", "l").unwrap();
    tree.symlink("f", "m").unwrap();
    assert_eq!(tree.kind("d/"), Ok(FileKind::Directory));
    for path in ["f/", "f/.", "f//", "m/"] {
        assert_eq!(tree.kind(path), Err(NotADirectory), "{path}");
        assert_eq!(tree.open_error(path, READ), Some(NotADirectory), "{path}");
    }
    assert_eq!(tree.lkind("l"), Ok(FileKind::Symlink));
    assert_eq!(tree.lkind("l/"), Ok(FileKind::Directory));
    assert_eq!(tree.open_error("new/", CREATE), Some(IsADirectory));
    assert_eq!(tree.open_error("new/", READ), Some(NotFound));
    assert_eq!(tree.rmdir("l/"), Err(NotADirectory));
    tree.mkdir("new/").unwrap();
    tree.rmdir("new/").unwrap();
    assert_eq!(tree.kind("new"), Err(NotFound));
}

fn times_are_kept_and_set(tree: &Tree) {
    let stat = |path| tree.0.stat(&at(path), Follow::No).unwrap();
    tree.furnish();
    assert_eq!((stat("f").modified, stat("d").modified), (NOW, NOW));
    let file = tree.open("f", WRITE).unwrap();
    file.append(b"!", LATER).unwrap();
    assert_eq!(stat("f").modified, LATER);
    tree.0.create_dir(&at("d/new"), Mode::DIRECTORY, LATER).unwrap();
    assert_eq!(stat("d").modified, LATER);
    let past = Timestamp(1_000_000_000_000_000_000);
    let times = FileTimes { accessed: Some(past), modified: None };
    file.set_times(times, LATER).unwrap();
    assert_eq!((stat("f").accessed, stat("f").modified), (past, LATER));
    tree.symlink("f", "l").unwrap();
    let times = FileTimes { accessed: None, modified: Some(past) };
    tree.0.set_times(&at("l"), Follow::Yes, times, LATER).unwrap();
    assert_eq!((stat("f").modified, stat("l").modified), (past, NOW));
    tree.0.set_times(&at("d"), Follow::Yes, times, LATER).unwrap();
    assert_eq!(stat("d").modified, past);
    assert_eq!(tree.0.set_times(&at("none"), Follow::Yes, times, LATER), Err(NotFound));
    let facts = file.stat().unwrap();
    assert_eq!((facts.inode, facts.kind, facts.size), (stat("f").inode, FileKind::File, 2));
}

fn changed_is_kept(tree: &Tree) {
    let changed = |path| tree.0.stat(&at(path), Follow::No).unwrap().changed;
    tree.furnish();
    assert_eq!((changed("f"), changed("d")), (NOW, NOW));
    tree.open("f", WRITE).unwrap().append(b"!", LATER).unwrap();
    tree.0.set_times(&at("d"), Follow::Yes, FileTimes::default(), LATER).unwrap();
    assert_eq!((changed("f"), changed("d")), (LATER, LATER));
}

fn names_and_paths_have_their_lengths(tree: &Tree) {
    tree.furnish();
    let (longest, odd) = ("n".repeat(255), "a b\n\\\"'*\u{feff}\u{202e}ü🦀");
    for name in [longest.as_str(), odd, "...", "-rf", " ", "~"] {
        tree.write(name, b"x");
        assert_eq!(tree.read(name), Ok(b"x".to_vec()), "{name:?}");
        assert!(tree.names("").unwrap().contains(&name.to_owned()), "{name:?}");
        let below = format!("d/{name}");
        tree.rename(name, &below).unwrap();
        tree.link(&below, name).unwrap();
        assert_eq!(tree.links(name), 2, "{name:?}");
        tree.unlink(name).unwrap();
        tree.unlink(&below).unwrap();
        tree.mkdir(name).unwrap();
        tree.rmdir(name).unwrap();
        assert_eq!(tree.read(name), Err(NotFound), "{name:?}");
    }
    let cases = [
        ("n".repeat(256), NameTooLong),
        (format!("d/{}/x", "ü".repeat(128)), NameTooLong),
        ("a/".repeat(5000), Quota(FileLimit::PathBytes)),
        ("nul\0".to_owned(), Invalid),
        ("\0".to_owned(), Invalid),
        ("d/\0/x".to_owned(), Invalid),
    ];
    for (text, want) in cases {
        assert_eq!(TreePath::new(&text), Err(want), "{} bytes", text.len());
    }
    // As many components as a path can hold, leading nowhere and somewhere.
    assert_eq!(tree.kind(&"a/".repeat(2048)), Err(NotFound));
    assert_eq!(tree.read(&format!("{}f", "./".repeat(2047))), Ok(b"f".to_vec()));
    assert_eq!(tree.read(&format!("{}f", "d/../".repeat(819))), Ok(b"f".to_vec()));
    assert_eq!(tree.read(&format!("{}f", "../".repeat(1365))), Ok(b"f".to_vec()));
    // What a link says is measured when it is followed.
    tree.symlink(&"n".repeat(256), "long").unwrap();
    assert_eq!(tree.read("long"), Err(NameTooLong));
    assert!(tree.symlink(&"d/".repeat(2049), "longer").is_err());
    assert_eq!(tree.symlink("nul\0", "nul"), Err(Invalid));
    assert_eq!(tree.symlink("", "empty"), Err(NotFound));
}

fn a_file_deleted_while_open_lives_on(tree: &Tree) {
    tree.furnish();
    let (one, two) = (tree.open("f", WRITE).unwrap(), tree.open("f", READ).unwrap());
    tree.unlink("f").unwrap();
    assert_eq!(tree.read("f"), Err(NotFound));
    one.append(b"!", LATER).unwrap();
    one.write_at(5000, b"end", LATER).unwrap();
    let mut bytes = [7; 3];
    assert_eq!((two.read_at(0, &mut bytes), bytes), (Ok(3), *b"f!\0"));
    assert_eq!((two.read_at(5000, &mut bytes), bytes), (Ok(3), *b"end"));
    let facts = two.stat().unwrap();
    assert_eq!((facts.links, facts.size), (0, 5003));
    // Another file of that name is another file.
    tree.write("f", b"new");
    one.set_len(1, LATER).unwrap();
    assert_eq!(tree.read("f"), Ok(b"new".to_vec()));
    assert_eq!((two.read_at(0, &mut bytes), bytes[0]), (Ok(1), b'f'));
    drop((one, two));
    assert_eq!(tree.read("f"), Ok(b"new".to_vec()));
    // Its directory may go too.
    let inner = tree.open("d/x", WRITE).unwrap();
    tree.unlink("d/x").unwrap();
    tree.rmdir("d").unwrap();
    inner.append(b"y", LATER).unwrap();
    assert_eq!((inner.read_at(0, &mut bytes), &bytes[..2]), (Ok(2), &b"xy"[..]));
}

fn renaming_over_an_open_file(tree: &Tree) {
    tree.furnish();
    let (old, new) = (tree.open("f", WRITE).unwrap(), tree.open("d/x", WRITE).unwrap());
    tree.rename("d/x", "f").unwrap();
    old.append(b"-old", LATER).unwrap();
    new.append(b"-new", LATER).unwrap();
    assert_eq!(tree.read("f"), Ok(b"x-new".to_vec()));
    let mut bytes = [0; 5];
    assert_eq!((old.read_at(0, &mut bytes), bytes), (Ok(5), *b"f-old"));
    assert_eq!((old.stat().unwrap().links, new.stat().unwrap().links), (0, 1));
    assert_eq!(new.stat().unwrap().inode, tree.inode("f"));
}

fn a_listing_is_whole_while_names_go(tree: &Tree) {
    tree.mkdir("many").unwrap();
    for n in 0..300 {
        tree.write(&format!("many/{n:03}"), b"");
    }
    let names = tree.names("many").unwrap();
    assert_eq!(names.len(), 300);
    // What a program does that lists once and removes as it goes.
    for name in &names {
        tree.unlink(&format!("many/{name}")).unwrap();
    }
    assert_eq!(tree.names("many"), Ok(vec![]));
    tree.rmdir("many").unwrap();
}
