//! Trees are copied with what is kept of them.

use super::*;
use std::os::unix::fs::MetadataExt as _;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("wbox-copy-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("a/deep")).unwrap();
        fs::write(folder.join("a/file"), "one").unwrap();
        fs::write(folder.join("a/deep/tool"), "two").unwrap();
        modes::set(&folder.join("a/deep/tool"), true, 0o751).unwrap();
        symlink(Path::new("file"), &folder.join("a/link")).unwrap();
        fs::hard_link(folder.join("a/file"), folder.join("a/twin")).unwrap();
        let old = Time { seconds: 1_000_000_000, nanos: 5 };
        set_times(&folder.join("a/file"), old, old, Follow::Yes).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn run(&self, applet: fn(&[&[u8]]) -> i32, line: &str) -> i32 {
        let words: Vec<String> = line
            .split_whitespace()
            .map(|it| if it.starts_with('-') { it.to_owned() } else { self.path(it).display().to_string() })
            .collect();
        applet(&words.iter().map(String::as_bytes).collect::<Vec<_>>())
    }
}

use facts::Time;

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn an_archive_keeps_modes_times_and_links() {
    let folder = Folder::new("archive");
    assert_eq!(folder.run(cp::main, "-a a b"), 0);
    assert_eq!(modes::get(&folder.path("b/deep/tool"), true).unwrap(), 0o751);
    assert_eq!(fs::read_link(folder.path("b/link")).unwrap(), Path::new("file"));
    let (file, twin) =
        (fs::metadata(folder.path("b/file")).unwrap(), fs::metadata(folder.path("b/twin")).unwrap());
    assert_eq!((file.mtime(), file.ino()), (1_000_000_000, twin.ino()));
}

#[test]
fn a_copy_without_options_takes_the_mode_within_the_mask() {
    let folder = Folder::new("plain");
    assert_eq!(folder.run(cp::main, "a/deep/tool t"), 0);
    assert_eq!(modes::get(&folder.path("t"), true).unwrap(), 0o751);
    assert_eq!(folder.run(cp::main, "a b"), 1);
    assert_eq!(folder.run(cp::main, "-r a a/deep/in"), 1);
    assert_eq!(folder.run(cp::main, "a/file a/file"), 1);
    assert_eq!(folder.run(cp::main, "-p a/file t"), 0);
    assert_eq!(fs::metadata(folder.path("t")).unwrap().mtime(), 1_000_000_000);
    assert_eq!(folder.run(cp::main, "--preserve=nonsense a/file t"), 1);
}

#[test]
fn what_is_in_the_way_is_treated_as_asked() {
    let folder = Folder::new("way");
    fs::write(folder.path("t"), "before").unwrap();
    assert_eq!(folder.run(cp::main, "-n a/file t"), 0);
    assert_eq!(fs::read(folder.path("t")).unwrap(), b"before");
    // The source is from 2001.
    assert_eq!(folder.run(cp::main, "-u a/file t"), 0);
    assert_eq!(fs::read(folder.path("t")).unwrap(), b"before");
    assert_eq!(folder.run(cp::main, "-b a/file t"), 0);
    assert_eq!(
        (fs::read(folder.path("t")).unwrap(), fs::read(folder.path("t~")).unwrap()),
        (b"one".to_vec(), b"before".to_vec())
    );
    assert_eq!(folder.run(cp::main, "--parents -r a/deep a"), 0);
}

#[test]
fn a_move_renames_and_refuses_what_makes_no_sense() {
    let folder = Folder::new("move");
    assert_eq!(folder.run(mv::main, "a/file x"), 0);
    assert!(!folder.path("a/file").exists() && folder.path("x").exists());
    assert_eq!(folder.run(mv::main, "a a/deep"), 1);
    assert_eq!(folder.run(mv::main, "x x"), 1);
    assert_eq!(folder.run(mv::main, "nothing x"), 1);
    assert_eq!(folder.run(mv::main, "x a/twin a/deep"), 0);
    assert!(folder.path("a/deep/x").exists() && folder.path("a/deep/twin").exists());
}
