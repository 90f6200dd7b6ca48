//! Archives made and read back, and hostile ones.

use super::record::{self, DEFLATED, Member};
use super::run;
use proptest::prelude::*;
use std::io::{Cursor, Write as _};
use std::path::PathBuf;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("zip-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap_or_default();
    folder
}

fn call(name: &str, args: &[&str]) -> i32 {
    run(name, &args.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
}

fn archive(members: &[(&str, &[u8], u64)]) -> Vec<u8> {
    let (mut out, mut all) = (Vec::new(), Vec::new());
    for (name, content, size) in members {
        let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        let _ = packed.write_all(content);
        let packed = packed.finish().unwrap_or_default();
        let mut sum = flate2::Crc::new();
        sum.update(content);
        let member = Member {
            name: (*name).to_owned(),
            method: DEFLATED,
            sum: sum.sum(),
            packed: packed.len() as u64,
            size: *size,
            at: out.len() as u64,
            ..Member::default()
        };
        out.extend(member.local().unwrap_or_default());
        out.extend(packed);
        all.push(member);
    }
    let start = out.len() as u64;
    all.iter().for_each(|it| out.extend(it.central().unwrap_or_default()));
    let bytes = out.len() as u64 - start;
    out.extend(record::end(all.len(), start, bytes).unwrap_or_default());
    out
}

#[test]
fn what_is_zipped_is_unzipped_with_modes_and_links() {
    let folder = folder("round");
    let path = |name: &str| folder.join(name).display().to_string();
    std::fs::create_dir_all(folder.join("in/d")).unwrap_or_default();
    let long = "abc ".repeat(50_000);
    for (name, text) in [("in/a", "hello\n"), ("in/d/run", "#!/bin/sh\n"), ("in/long", long.as_str())] {
        std::fs::write(folder.join(name), text).unwrap_or_default();
    }
    modes::set(&folder.join("in/d/run"), true, 0o755).unwrap_or_default();
    crate::tar::extract::symlink("a", &folder.join("in/l")).unwrap_or_default();
    assert_eq!(call("zip", &["-qry", &path("x.zip"), &path("in")]), 0);
    assert_eq!(call("unzip", &["-q", &path("x"), "-d", &path("out")]), 0);
    let inside = folder.join("out").join(path("in").trim_start_matches('/'));
    assert_eq!(std::fs::read_to_string(inside.join("long")).ok(), Some(long));
    assert_eq!(std::fs::read_link(inside.join("l")).ok(), Some(PathBuf::from("a")));
    assert_eq!(modes::get(&inside.join("d/run"), true).ok(), Some(0o755));
    assert_eq!(modes::get(&inside.join("a"), true).ok(), Some(0o644));
    let mut file = std::fs::File::open(folder.join("x.zip")).map(std::io::BufReader::new);
    let members = file.as_mut().ok().and_then(|it| record::members(it).ok()).unwrap_or_default();
    assert!(members.iter().any(|it| it.name.ends_with("long") && it.packed < 2_000), "{members:?}");
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn no_member_leads_out_or_grows_beyond_what_it_says() {
    let folder = folder("hostile");
    let bomb = vec![0; 1 << 20];
    let cases: [(&str, Vec<u8>, &str); 3] = [
        ("slip", archive(&[("../out", b"x", 1), ("ok", b"y", 1)]), "ok"),
        ("slip2", archive(&[("a/../../out", b"x", 1), ("/abs", b"y", 1)]), "abs"),
        ("bomb", archive(&[("big", &bomb, 10), ("ok", b"y", 1)]), "ok"),
    ];
    for (name, bytes, left) in cases {
        let file = folder.join(format!("{name}.zip"));
        std::fs::write(&file, bytes).unwrap_or_default();
        let into = folder.join(name);
        let status = call("unzip", &["-q", &file.display().to_string(), "-d", &into.display().to_string()]);
        assert_eq!(status, 2, "{name}");
        let there: Vec<String> = std::fs::read_dir(&into)
            .map(|it| it.flatten().map(|it| it.file_name().to_string_lossy().into_owned()).collect())
            .unwrap_or_default();
        assert_eq!(there, [left], "{name}");
    }
    assert!(!folder.join("out").exists());
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn members_that_share_bytes_are_refused() {
    let mut bytes = archive(&[("a", b"x", 1), ("b", b"x", 1)]);
    // The second entry of the directory points at the first member.
    let entry = bytes.windows(4).rposition(|it| it == b"PK\x01\x02").unwrap_or(0);
    bytes[entry + 42..entry + 46].fill(0);
    let problem = record::members(&mut Cursor::new(bytes)).err().map(|it| it.to_string());
    assert!(problem.is_some_and(|it| it.contains("overlap")));
}

#[test]
fn times_are_kept_to_two_seconds() {
    for seconds in [315_532_800, 1_700_000_000, 1_790_000_001] {
        assert!((record::seconds(record::dos_time(seconds)) - seconds).abs() < 2, "{seconds}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_the_directory_panic(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..300),
        at in 0..300usize,
        flips in proptest::collection::vec((0..400usize, any::<u8>()), 0..8),
    ) {
        let _ = record::members(&mut Cursor::new(bytes.clone()));
        let good = archive(&[("a", b"xyz", 3), ("d/b", b"", 0)]);
        bytes.truncate(at);
        bytes.extend(good);
        for (place, byte) in flips {
            if let Some(slot) = bytes.get_mut(place) {
                *slot = byte;
            }
        }
        if let Ok(members) = record::members(&mut Cursor::new(bytes.clone())) {
            for member in members {
                let _ = record::content_start(&mut Cursor::new(bytes.clone()), &member);
            }
        }
    }
}
