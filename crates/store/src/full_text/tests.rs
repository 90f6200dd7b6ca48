//! Proofs for the index over trees: what is found where, that it follows what changes, that it never leaves the tree, and
//! that it has bounds.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use drydock_contract::{
    Meter, Timestamp,
    port::{DirEntry, FileResult, FileTimes, Follow, Mode, OpenFile, OpenHow, Stat},
};
use proptest::prelude::*;

use super::*;
use crate::{Access, HostDir, MemoryFiles};

/// A tree in memory that counts how often a file was opened.
struct Tree {
    files: MemoryFiles,
    opened: AtomicU64,
}

fn path(text: &str) -> TreePath {
    TreePath::new(text).unwrap()
}

impl Tree {
    fn of(files: &[(&str, &str)]) -> Self {
        let tree =
            Self { files: MemoryFiles::with(Arc::new(Meter::new(64 << 20))), opened: AtomicU64::new(0) };
        for (at, (name, text)) in (1..).zip(files) {
            tree.write(name, text.as_bytes(), at);
        }
        tree
    }

    fn write(&self, name: &str, bytes: &[u8], now: u64) {
        for (at, _) in name.match_indices('/') {
            let _ = self.files.create_dir(&path(&name[..at]), Mode::DIRECTORY, Timestamp(now));
        }
        let how = OpenHow { write: true, create: true, truncate: true, ..OpenHow::NONE };
        let file = self.files.open(&path(name), how, Timestamp(now)).unwrap();
        file.write_at(0, bytes, Timestamp(now)).unwrap();
    }

    fn opened(&self) -> u64 {
        self.opened.swap(0, Ordering::Relaxed)
    }
}

impl Files for Tree {
    fn stat(&self, path: &TreePath, follow: Follow) -> FileResult<Stat> {
        self.files.stat(path, follow)
    }
    fn open(&self, path: &TreePath, how: OpenHow, now: Timestamp) -> FileResult<Arc<dyn OpenFile>> {
        self.opened.fetch_add(1, Ordering::Relaxed);
        self.files.open(path, how, now)
    }
    fn read_dir(&self, path: &TreePath) -> FileResult<Vec<DirEntry>> {
        self.files.read_dir(path)
    }
    fn create_dir(&self, path: &TreePath, mode: Mode, now: Timestamp) -> FileResult<()> {
        self.files.create_dir(path, mode, now)
    }
    fn remove_dir(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        self.files.remove_dir(path, now)
    }
    fn unlink(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        self.files.unlink(path, now)
    }
    fn rename(&self, from: &TreePath, to: &TreePath, now: Timestamp) -> FileResult<()> {
        self.files.rename(from, to, now)
    }
    fn link(&self, from: &TreePath, follow: Follow, to: &TreePath, now: Timestamp) -> FileResult<()> {
        self.files.link(from, follow, to, now)
    }
    fn symlink(&self, target: &str, path: &TreePath, now: Timestamp) -> FileResult<()> {
        self.files.symlink(target, path, now)
    }
    fn read_link(&self, path: &TreePath) -> FileResult<String> {
        self.files.read_link(path)
    }
    fn set_times(&self, path: &TreePath, follow: Follow, times: FileTimes, now: Timestamp) -> FileResult<()> {
        self.files.set_times(path, follow, times, now)
    }
    fn set_mode(&self, path: &TreePath, follow: Follow, mode: Mode, now: Timestamp) -> FileResult<()> {
        self.files.set_mode(path, follow, mode, now)
    }
}

fn search(index: &FullText, tree: &dyn Files, query: &str) -> FullTextFound {
    index.search(tree, query, &Searching::default()).unwrap()
}

/// The paths that a fresh index finds.
fn found(tree: &Tree, query: &str) -> Vec<String> {
    let index = FullText::new(FullTextLimits::default());
    search(&index, tree, query).rows.into_iter().map(|it| it.path).collect()
}

fn house() -> Tree {
    Tree::of(&[
        ("README.md", "A house.\n\nThe budget of a session is settled by the gate.\n"),
        ("src/budget.rs", "fn reserve() {}\nfn settle_all() { budget(); }\n"),
        ("src/deep/er/gate.rs", "// the gate\nstruct Gate;\n// Größe und Maß\n"),
        (".git/config", "budget gate"),
    ])
}

#[test]
fn words_phrases_and_beginnings_are_found_with_their_line() {
    let tree = house();
    for (query, want) in [
        ("budget gate", &["README.md"][..]),
        ("\"the gate\"", &["README.md", "src/deep/er/gate.rs"]),
        ("\"gate the\"", &[]),
        ("sett*", &["README.md", "src/budget.rs"]),
        ("settle", &[]),
        ("settle_all", &["src/budget.rs"]),
        ("GROSSE", &[]),
        ("große", &["src/deep/er/gate.rs"]),
        ("gate.rs", &["src/deep/er/gate.rs"]),
    ] {
        let mut told = found(&tree, query);
        told.sort();
        assert_eq!(told, want, "{query}");
    }
    let index = FullText::new(FullTextLimits::default());
    let best = search(&index, &tree, "budget session").rows.swap_remove(0);
    assert_eq!((best.line, best.lines_found), (3, 1));
    assert_eq!(best.snippet, "The budget of a session is settled by the gate.");
    assert_eq!(search(&index, &tree, "budget").rows[0].path, "src/budget.rs", "a path counts more");
}

#[test]
fn where_no_file_has_all_those_that_have_some_are_told_as_such() {
    let (tree, index) = (house(), FullText::new(FullTextLimits::default()));
    let some = search(&index, &tree, "reserve house nowhere");
    assert!(some.has_some_only && some.rows.len() == 2, "{some:?}");
    let none = search(&index, &tree, "nowhere nothing");
    assert!(!none.has_some_only && none.rows.is_empty(), "{none:?}");
    assert!(!search(&index, &tree, "budget gate").has_some_only);
}

#[test]
fn a_second_search_reads_only_what_has_changed() {
    let (tree, index) = (house(), FullText::new(FullTextLimits::default()));
    assert_eq!(search(&index, &tree, "gate").files, 3, "and not what lies in .git");
    assert_eq!(tree.opened(), 3);
    search(&index, &tree, "budget");
    assert_eq!(tree.opened(), 0);
    // Of the same length.
    tree.write("README.md", b"B house.", 100);
    tree.write("README.md", b"A mouse.", 200);
    tree.write("new", b"mouse", 300);
    tree.files.unlink(&path("src/budget.rs"), Timestamp(300)).unwrap();
    let told = search(&index, &tree, "mouse");
    assert_eq!((told.rows.len(), told.files, tree.opened()), (2, 3, 2));
    assert!(search(&index, &tree, "reserve").rows.is_empty(), "what is gone is not found");
    tree.files.rename(&path("src/deep"), &path("moved"), Timestamp(400)).unwrap();
    assert_eq!(search(&index, &tree, "struct").rows[0].path, "moved/er/gate.rs");
    assert_eq!(search(&index, &tree, "gate.rs").rows.len(), 1);
}

#[test]
fn a_file_that_changes_twice_within_a_tick_of_its_clock_is_read_again() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("f");
    let tree = HostDir::open(temp.path(), Access::ReadOnly).unwrap();
    let index = FullText::new(FullTextLimits::default());
    fs::write(&file, "one").unwrap();
    let time = fs::metadata(&file).unwrap().modified().unwrap();
    assert_eq!(search(&index, &tree, "one").rows.len(), 1);
    fs::write(&file, "two").unwrap();
    fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
    assert_eq!(search(&index, &tree, "two").rows.len(), 1);
    assert!(search(&index, &tree, "one").rows.is_empty());
}

#[test]
fn links_are_not_followed_and_nothing_outside_is_found() {
    let temp = tempfile::tempdir().unwrap();
    let (inside, outside) = (temp.path().join("in"), temp.path().join("out"));
    for dir in [&inside, &outside] {
        fs::create_dir(dir).unwrap();
        fs::write(dir.join("f"), "treasure").unwrap();
    }
    for (from, to) in [(outside.join("f"), "file"), (outside.clone(), "dir"), (inside.clone(), "round")] {
        std::os::unix::fs::symlink(from, inside.join(to)).unwrap();
    }
    let tree = HostDir::open(&inside, Access::ReadOnly).unwrap();
    let told = search(&FullText::new(FullTextLimits::default()), &tree, "treasure");
    assert_eq!(told.rows.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["f"]);
    assert!(told.is_complete);
}

#[test]
fn files_that_are_no_text_or_too_large_or_too_many_are_counted_and_left_out() {
    let tree = Tree::of(&[("a", "word"), ("b", "word"), ("c", "word")]);
    tree.write("binary", b"word\0word", 9);
    tree.write("large", &[b'x'; 2_000], 9);
    tree.write("latin", b"word caf\xe9", 9);
    let limits = FullTextLimits { file_bytes_max: 1_000, files_max: 3, ..FullTextLimits::default() };
    let index = FullText::new(limits);
    let told = search(&index, &tree, "word");
    assert_eq!((told.rows.len(), told.files), (3, 3));
    assert_eq!(told.left_out, LeftOut { too_large: 1, binary: 1, no_room: 1, unreadable: 0 });
    tree.opened();
    assert_eq!(search(&index, &tree, "word"), told);
    assert_eq!(tree.opened(), 0, "what has no room is not read again");
    tree.files.unlink(&path("a"), Timestamp(10)).unwrap();
    search(&index, &tree, "word");
    let told = search(&index, &tree, "caf*");
    assert_eq!((told.rows.len(), told.left_out.no_room), (1, 0), "there is room now");
    let few = FullText::new(FullTextLimits { bytes_max: 12, ..FullTextLimits::default() });
    assert_eq!(search(&few, &tree, "word").left_out.no_room, 3, "what cannot fit is not even read");
}

#[test]
fn a_search_ends_when_its_time_is_up_and_the_next_one_goes_on() {
    let tree = house();
    let index = FullText::new(FullTextLimits::default());
    let at_once = Searching { wall_max: Duration::ZERO, ..Searching::default() };
    match index.search(&tree, "gate", &at_once) {
        Ok(told) => assert!(!told.is_complete),
        Err(error) => assert_eq!(error.code(), "search_too_long"),
    }
    let looks = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&looks);
    let cancelled: Interrupt = Arc::new(move || counted.fetch_add(1, Ordering::Relaxed) >= 3);
    let soon = Searching { cancelled: Some(cancelled), ..Searching::default() };
    assert_eq!(index.search(&tree, "gate", &soon).unwrap_err().code(), "cancelled");
    assert_eq!(search(&index, &tree, "gate").rows.len(), 2);
}

#[test]
fn what_a_search_is_refused_for_is_told_by_name_and_where_the_tree_cannot_be_read_too() {
    let (tree, index) = (house(), FullText::new(FullTextLimits::default()));
    for (query, code) in [("", "search_no_word"), ("\"", "search_no_word"), ("( ) *", "search_no_word")] {
        assert_eq!(index.search(&tree, query, &Searching::default()).unwrap_err().code(), code);
    }
    let nowhere = FullText::new(FullTextLimits { root: path("no/where"), ..FullTextLimits::default() });
    let error = nowhere.search(&tree, "x", &Searching::default()).unwrap_err();
    assert_eq!(error.code(), "search_no_files");
    let below = FullText::new(FullTextLimits { root: path("src"), ..FullTextLimits::default() });
    assert_eq!(search(&below, &tree, "gate").rows[0].path, "src/deep/er/gate.rs");
    assert_eq!(search(&below, &tree, "gate").rows.len(), 1);
}

proptest! {
    /// Whatever is asked, FTS5 understands it, or it is refused before.
    #[test]
    fn fts5_understands_what_becomes_of_any_text(query in "(\\PC|[\"*()^:{}+\\-\\x00-\\x20]|AND|OR|NOT|NEAR){0,40}") {
        prop_assert!(is_understood(&query));
    }

    /// A word of a text is found by itself, and by its beginning.
    #[test]
    fn every_word_of_a_text_is_found(words in proptest::collection::vec("[a-z][a-z0-9_]{0,12}", 1..20), pick in 0_usize..20) {
        let tree = Tree::of(&[("f", &words.join(" "))]);
        let word = &words[pick % words.len()];
        prop_assert_eq!(found(&tree, word), ["f"]);
        prop_assert_eq!(found(&tree, &format!("{}*", &word[..1])), ["f"]);
        prop_assert_eq!(found(&tree, &format!("\"{}\"", words.join(" "))), ["f"]);
    }
}
