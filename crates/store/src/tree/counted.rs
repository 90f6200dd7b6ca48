//! What a path costs in a tree on top of trees, counted in names that the trees below had to walk:
//! linear in its depth, and quadratic where both sides of an overlay have it. Never measured in time.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use drydock_contract::{
    Meter, Timestamp,
    port::{
        DirEntry, FileError, FileKind, FileResult, FileTimes, Files, Follow, Mode, OpenFile, OpenHow, Stat,
        TreePath,
    },
};

use crate::{MemoryFiles, Mounts, Overlay};

const NOW: Timestamp = Timestamp(3);
const DEPTH: usize = 100;

/// A tree that counts the names of every path it is asked about.
struct Counted {
    files: MemoryFiles,
    names: AtomicUsize,
}

impl Counted {
    fn new() -> Arc<Self> {
        let files = MemoryFiles::with(Arc::new(Meter::new(1 << 24)));
        Arc::new(Self { files, names: AtomicUsize::new(0) })
    }

    fn deep() -> Arc<Self> {
        let counted = Self::new();
        counted.files.write(&format!("{}f", "d/".repeat(DEPTH)), b"deep").unwrap();
        counted
    }

    fn under(&self, path: &TreePath) -> &MemoryFiles {
        self.names.fetch_add(path.names().count() + 1, Ordering::Relaxed);
        &self.files
    }

    fn take(&self) -> usize {
        self.names.swap(0, Ordering::Relaxed)
    }
}

impl Files for Counted {
    fn stat(&self, path: &TreePath, follow: Follow) -> FileResult<Stat> {
        self.under(path).stat(path, follow)
    }
    fn open(&self, path: &TreePath, how: OpenHow, now: Timestamp) -> FileResult<Arc<dyn OpenFile>> {
        self.under(path).open(path, how, now)
    }
    fn read_dir(&self, path: &TreePath) -> FileResult<Vec<DirEntry>> {
        self.under(path).read_dir(path)
    }
    fn create_dir(&self, path: &TreePath, mode: Mode, now: Timestamp) -> FileResult<()> {
        self.under(path).create_dir(path, mode, now)
    }
    fn remove_dir(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        self.under(path).remove_dir(path, now)
    }
    fn unlink(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        self.under(path).unlink(path, now)
    }
    fn rename(&self, from: &TreePath, to: &TreePath, now: Timestamp) -> FileResult<()> {
        self.under(from).rename(from, to, now)
    }
    fn link(&self, from: &TreePath, follow: Follow, to: &TreePath, now: Timestamp) -> FileResult<()> {
        self.under(from).link(from, follow, to, now)
    }
    fn symlink(&self, target: &str, path: &TreePath, now: Timestamp) -> FileResult<()> {
        self.under(path).symlink(target, path, now)
    }
    fn read_link(&self, path: &TreePath) -> FileResult<String> {
        self.under(path).read_link(path)
    }
    fn set_times(&self, path: &TreePath, follow: Follow, times: FileTimes, now: Timestamp) -> FileResult<()> {
        self.under(path).set_times(path, follow, times, now)
    }
    fn set_mode(&self, path: &TreePath, follow: Follow, mode: Mode, now: Timestamp) -> FileResult<()> {
        self.under(path).set_mode(path, follow, mode, now)
    }
    fn trail(&self, path: &TreePath) -> Vec<FileKind> {
        self.under(path).trail(path)
    }
}

/// An overlay mounted at `/w`, and how many names its trees walk for one look at the deep file.
fn cost(lower: &Arc<Counted>, upper: &Arc<Counted>) -> usize {
    let mut mounts = Mounts::new();
    mounts.mount("w", Arc::new(Overlay::new(Arc::clone(lower) as _, Arc::clone(upper) as _))).unwrap();
    lower.take();
    upper.take();
    let path = TreePath::new(&format!("/w/{}f", "d/".repeat(DEPTH))).unwrap();
    assert_eq!(mounts.stat(&path, Follow::Yes).unwrap().size, 4);
    lower.take() + upper.take()
}

#[test]
fn a_deep_path_through_mounts_and_overlays_costs_in_proportion_to_its_depth() {
    for (lower, upper) in [(Counted::deep(), Counted::new()), (Counted::new(), Counted::deep())] {
        let names = cost(&lower, &upper);
        assert!(names <= 12 * DEPTH, "{names} names for a path of {DEPTH}");
    }
}

#[test]
fn where_both_sides_have_the_path_it_costs_at_most_its_square() {
    let names = cost(&Counted::deep(), &Counted::deep());
    // Each directory of both is looked at once for a whiteout, and the walk is made twice.
    assert!(names <= 2 * DEPTH * DEPTH, "{names} names for a path of {DEPTH}");
}

#[test]
fn a_trail_stops_at_the_first_name_that_is_no_directory() {
    let counted = Counted::new();
    counted.files.write("d/e/f", b"").unwrap();
    counted.files.symlink("d", &TreePath::new("d/to").unwrap(), NOW).unwrap();
    let mut mounts = Mounts::new();
    mounts.mount("w", Arc::new(Overlay::new(Counted::new(), Arc::clone(&counted) as _))).unwrap();
    let (dir, file, link) = (FileKind::Directory, FileKind::File, FileKind::Symlink);
    let cases: [(&str, &[FileKind]); 7] = [
        ("/w/d/e/f", &[dir, dir, dir, file]),
        ("w/d/./e//f/g", &[dir, dir, dir, file]),
        ("w/d/to/e", &[dir, dir, link]),
        ("w/d/none/e", &[dir, dir]),
        ("w/d/../d", &[dir, dir]),
        ("w/.wh.d/e", &[dir]),
        ("", &[]),
    ];
    for (path, want) in cases {
        assert_eq!(mounts.trail(&TreePath::new(path).unwrap()), want, "{path:?}");
    }
    let hidden = mounts.stat(&TreePath::new("w/.wh.d/e").unwrap(), Follow::Yes);
    assert_eq!(hidden, Err(FileError::Denied));
}
