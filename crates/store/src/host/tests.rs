//! Ways out of a host directory, and that none is one.

use std::{
    fs as std_fs,
    os::unix::{fs::symlink, net::UnixListener},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use drydock_contract::port::FileError::{Denied, NotFound, ReadOnly};

use super::*;

const NOW: Timestamp = Timestamp(3_000_000_000);

fn path(text: &str) -> TreePath {
    TreePath::new(text).unwrap()
}

/// `outside/secret` beside `inside/`, which has `d/f`; the directory and its opening.
fn furnished(access: Access) -> (tempfile::TempDir, HostDir) {
    let temp = tempfile::tempdir().unwrap();
    for dir in ["outside", "inside/d"] {
        std_fs::create_dir_all(temp.path().join(dir)).unwrap();
    }
    std_fs::write(temp.path().join("outside/secret"), "secret").unwrap();
    std_fs::write(temp.path().join("inside/d/f"), "f").unwrap();
    let host = HostDir::open(temp.path().join("inside"), access).unwrap();
    (temp, host)
}

fn read(host: &HostDir, text: &str) -> FileResult<Vec<u8>> {
    let file = host.open(&path(text), OpenHow { read: true, ..OpenHow::default() }, NOW)?;
    let mut bytes = vec![0; 100];
    let count = file.read_at(0, &mut bytes)?;
    bytes.truncate(count);
    Ok(bytes)
}

#[test]
fn no_spelling_leads_out() {
    let (temp, host) = furnished(Access::ReadWrite);
    let secret = temp.path().join("outside/secret");
    let inside = temp.path().join("inside");
    symlink("../outside/secret", inside.join("up")).unwrap();
    symlink(&secret, inside.join("absolute")).unwrap();
    symlink("../outside", inside.join("dir")).unwrap();
    symlink("..", inside.join("d/parent")).unwrap();
    symlink("/proc/self/root", inside.join("root")).unwrap();
    let secret = secret.to_str().unwrap().to_owned();
    let spellings = [
        "../outside/secret",
        "/../outside/secret",
        "d/../../outside/secret",
        "up",
        "absolute",
        "dir/secret",
        "d/parent/../outside/secret",
        "d/parent/parent/../outside/secret",
        "root/etc/passwd",
        &secret,
    ];
    let create = OpenHow { write: true, create: true, ..OpenHow::default() };
    for text in spellings {
        assert_eq!(read(&host, text), Err(NotFound), "{text}");
        assert_eq!(host.stat(&path(text), Follow::Yes).err(), Some(NotFound), "{text}");
        assert_eq!(host.open(&path(text), create, NOW).err(), Some(NotFound), "{text}");
        assert!(host.rename(&path("d/f"), &path(&format!("{text}/x")), NOW).is_err(), "{text}");
    }
    assert_eq!(std_fs::read_dir(temp.path().join("outside")).unwrap().count(), 1);
    assert_eq!(read(&host, "d/parent/d/f"), Ok(b"f".to_vec()));
}

#[test]
fn a_directory_swapped_for_a_link_in_the_middle_of_a_walk_leads_nowhere() {
    let (temp, host) = furnished(Access::ReadWrite);
    let (inside, stop) = (temp.path().join("inside"), AtomicBool::new(false));
    std_fs::write(inside.join("d/secret"), "public").unwrap();
    symlink("../outside", inside.join("link")).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let exchange = |a: &str, b: &str| std_fs::rename(inside.join(a), inside.join(b)).unwrap();
            while !stop.load(Ordering::Relaxed) {
                exchange("d", "away");
                exchange("link", "d");
                exchange("d", "link");
                exchange("away", "d");
            }
        });
        // Also when a check below fails.
        struct Stop<'a>(&'a AtomicBool);
        impl Drop for Stop<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let _stop = Stop(&stop);
        let create = OpenHow { write: true, create: true, ..OpenHow::default() };
        let (mut seen, mut n) = (0, 0);
        // On a machine whose threads others hold, the directory may be away for all of so many looks.
        let hung = Instant::now() + Duration::from_secs(60);
        while n < 20_000 || (seen == 0 && Instant::now() < hung) {
            n += 1;
            match read(&host, "d/secret") {
                Ok(bytes) => {
                    assert_eq!(bytes, b"public");
                    seen += 1;
                }
                Err(error) => {
                    assert!(matches!(error, NotFound | FileError::NotADirectory | FileError::Loop), "{error}")
                }
            }
            if n % 16 == 0 {
                let _ = host.open(&path("d/planted"), create, NOW);
            }
        }
        assert!(seen > 0);
    });
    assert!(!temp.path().join("outside/planted").exists());
}

#[test]
fn special_files_are_refused_at_once_and_not_shown() {
    let (temp, host) = furnished(Access::ReadWrite);
    let inside = temp.path().join("inside");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        inside.join("pipe"),
        FileType::Fifo,
        fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let _socket = UnixListener::bind(inside.join("socket")).unwrap();
    for name in ["pipe", "socket"] {
        let how = OpenHow { read: true, ..OpenHow::default() };
        assert_eq!(host.open(&path(name), how, NOW).err(), Some(Denied), "{name}");
        assert_eq!(host.open(&path(name), OpenHow { write: true, ..how }, NOW).err(), Some(Denied), "{name}");
        assert_eq!(host.stat(&path(name), Follow::No).err(), Some(Denied), "{name}");
    }
    let names: Vec<_> = host.read_dir(&path("")).unwrap().into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["d"]);
}

#[test]
fn what_is_opened_to_look_at_stays_as_it_is() {
    let (temp, host) = furnished(Access::ReadOnly);
    assert_eq!(read(&host, "d/f"), Ok(b"f".to_vec()));
    let write = OpenHow { write: true, ..OpenHow::default() };
    let times = FileTimes { accessed: None, modified: Some(NOW) };
    let refused = [
        host.open(&path("d/f"), write, NOW).map(|_| ()),
        host.open(&path("d/f"), OpenHow { truncate: true, ..write }, NOW).map(|_| ()),
        host.open(&path("new"), OpenHow { create: true, ..write }, NOW).map(|_| ()),
        host.create_dir(&path("new"), Mode::DIRECTORY, NOW),
        host.remove_dir(&path("d"), NOW),
        host.unlink(&path("d/f"), NOW),
        host.rename(&path("d/f"), &path("g"), NOW),
        host.link(&path("d/f"), Follow::No, &path("g"), NOW),
        host.symlink("x", &path("g"), NOW),
        host.set_times(&path("d/f"), Follow::Yes, times, NOW),
    ];
    for (n, done) in refused.into_iter().enumerate() {
        assert_eq!(done, Err(ReadOnly), "{n}");
    }
    assert_eq!(std_fs::read(temp.path().join("inside/d/f")).unwrap(), b"f");
    assert_eq!(std_fs::read_dir(temp.path().join("inside")).unwrap().count(), 1);
}

#[test]
fn a_path_is_walked_only_so_deep() {
    let (_temp, host) = furnished(Access::ReadWrite);
    let mut text = String::from("d");
    for _ in 1..DEPTH_MAX {
        text.push_str("/d");
        host.create_dir(&path(&text), Mode::DIRECTORY, NOW).unwrap();
    }
    assert_eq!(
        host.create_dir(&path(&format!("{text}/d")), Mode::DIRECTORY, NOW),
        Err(FileError::Quota(FileLimit::Depth))
    );
}

#[test]
fn what_is_made_through_a_directory_stays_within_its_quota() {
    let (temp, _) = furnished(Access::ReadWrite);
    let quota =
        Quota { bytes_max: 1000, file_bytes_max: 900, files_max: 3, depth_max: 2, path_bytes_max: 20 };
    let host = HostDir::within(temp.path().join("inside"), Access::ReadWrite, quota).unwrap();
    let create = OpenHow { read: true, write: true, create: true, ..OpenHow::default() };
    let (f, a) = (host.open(&path("d/f"), create, NOW).unwrap(), host.open(&path("a"), create, NOW).unwrap());
    assert_eq!(f.write_at(0, &[1; 901], NOW), Err(FileError::Quota(FileLimit::FileBytes)));
    assert_eq!(f.set_len(901, NOW), Err(FileError::Quota(FileLimit::FileBytes)));
    // What was there does not count; what is overwritten neither.
    f.write_at(0, &[1; 601], NOW).unwrap();
    f.write_at(0, &[2; 601], NOW).unwrap();
    assert_eq!(a.append(&[1; 401], NOW), Err(FileError::Quota(FileLimit::Bytes)));
    a.append(&[1; 400], NOW).unwrap();
    assert_eq!(a.set_len(401, NOW), Err(FileError::Quota(FileLimit::Bytes)));
    f.set_len(0, NOW).unwrap();
    a.set_len(401, NOW).unwrap();
    host.create_dir(&path("e"), Mode::DIRECTORY, NOW).unwrap();
    host.symlink("a", &path("l"), NOW).unwrap();
    assert_eq!(host.create_dir(&path("g"), Mode::DIRECTORY, NOW), Err(FileError::Quota(FileLimit::Files)));
    assert_eq!(host.link(&path("a"), Follow::No, &path("h"), NOW), Err(FileError::Quota(FileLimit::Files)));
    assert_eq!(host.open(&path("i"), create, NOW).err(), Some(FileError::Quota(FileLimit::Files)));
    host.unlink(&path("l"), NOW).unwrap();
    // A name that could not be made is not counted.
    assert_eq!(host.create_dir(&path("e"), Mode::DIRECTORY, NOW), Err(FileError::Exists));
    host.create_dir(&path("d/d"), Mode::DIRECTORY, NOW).unwrap();
    host.unlink(&path("a"), NOW).unwrap();
    assert_eq!(
        host.create_dir(&path("d/d/d"), Mode::DIRECTORY, NOW),
        Err(FileError::Quota(FileLimit::Depth))
    );
    let long = "n".repeat(21);
    assert_eq!(host.open(&path(&long), create, NOW).err(), Some(FileError::Quota(FileLimit::PathBytes)));
    assert_eq!(host.rename(&path("e"), &path(&long), NOW), Err(FileError::Quota(FileLimit::PathBytes)));
}

#[test]
fn a_name_that_is_no_text_is_shown_and_can_be_used() {
    use std::os::unix::ffi::OsStrExt as _;
    let (temp, host) = furnished(Access::ReadWrite);
    let inside = temp.path().join("inside");
    let odd = std::ffi::OsStr::from_bytes(b"odd-\xff\xfe");
    std_fs::write(inside.join("d").join(odd), "kept").unwrap();
    symlink(odd, inside.join("d/l")).unwrap();
    let names: Vec<_> = host.read_dir(&path("d")).unwrap().into_iter().map(|it| it.name).collect();
    let name = drydock_contract::text::from_bytes(odd.as_bytes()).into_owned();
    assert_eq!(names, ["f".to_owned(), "l".to_owned(), name.clone()]);
    assert_eq!(host.stat(&path("d/odd-\u{fffd}\u{fffd}"), Follow::No).err(), Some(NotFound));
    assert_eq!(read(&host, &format!("d/{name}")).unwrap(), b"kept");
    assert_eq!(read(&host, "d/l").unwrap(), b"kept");
    assert_eq!(host.read_link(&path("d/l")).unwrap(), name);
    host.rename(&path(&format!("d/{name}")), &path(&format!("{name}!")), NOW).unwrap();
    let moved = std::ffi::OsStr::from_bytes(b"odd-\xff\xfe!");
    assert_eq!(std_fs::read(inside.join(moved)).unwrap(), b"kept");
    host.unlink(&path(&format!("{name}!")), NOW).unwrap();
    assert!(!inside.join(moved).exists());
}
