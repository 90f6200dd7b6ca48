//! A package as files: regular ones and folders, below one folder, and no more of them than a package has.
//!
//! Everything is judged before it is written: each name, each size, and what is there already. A file that is there with other
//! content is nobody's to replace, whichever package it came with.

use std::{
    collections::BTreeSet,
    fs,
    io::{Cursor, Read},
    path::Path,
};

use archive::{
    tar::{header::Kind, reader::Reader},
    zip::record,
};
use flate2::read::{DeflateDecoder, GzDecoder};

/// Files of a package.
const FILES_MAX: usize = 20_000;
/// Bytes of one file.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// Bytes of all of them. They are held in the guest's own memory, which is 256 MiB, beside the package.
const ALL_BYTES_MAX: u64 = 128 << 20;
/// The longest path of one.
const PATH_BYTES_MAX: usize = 1024;

/// The files of a package by their paths.
pub(crate) type Files = Vec<(String, Vec<u8>)>;

/// The path of a member: plain parts with a slash between them, or why it is none.
fn path(name: &str) -> Result<String, String> {
    let bad = || format!("the package has a file `{}`, which leads out of it", name.escape_debug());
    if name.len() > PATH_BYTES_MAX || name.starts_with('/') || name.contains(['\\', '\0']) {
        return Err(bad());
    }
    let parts: Vec<&str> = name.split('/').filter(|it| !it.is_empty() && *it != ".").collect();
    if parts.is_empty() || parts.contains(&"..") {
        return Err(bad());
    }
    Ok(parts.join("/"))
}

/// Counts what is taken.
struct Taken {
    files: Files,
    seen: BTreeSet<String>,
    bytes: u64,
}

impl Taken {
    fn new() -> Self {
        Self { files: Vec::new(), seen: BTreeSet::new(), bytes: 0 }
    }

    /// Reads a member to its end, whatever it says of its length.
    fn take(&mut self, path: String, mut content: impl Read) -> Result<(), String> {
        let mut bytes = Vec::new();
        let read = content.by_ref().take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
        read.map_err(|error| format!("`{path}` cannot be unpacked: {error}"))?;
        self.bytes += bytes.len() as u64;
        if bytes.len() as u64 > FILE_BYTES_MAX || self.bytes > ALL_BYTES_MAX || self.files.len() >= FILES_MAX
        {
            return Err(format!(
                "the package is larger than it may be: {FILES_MAX} files, {FILE_BYTES_MAX} bytes each, {ALL_BYTES_MAX} together"
            ));
        }
        if !self.seen.insert(path.clone()) {
            return Err(format!("the package has two files `{path}`"));
        }
        let below = format!("{path}/");
        let is_folder = self.seen.range(below.clone()..).next().is_some_and(|it| it.starts_with(&below));
        let mut above = path.match_indices('/').map(|(end, _)| &path[..end]);
        if is_folder || above.any(|it| self.seen.contains(it)) {
            return Err(format!("the package has `{path}` as a file and as a folder"));
        }
        self.files.push((path, bytes));
        Ok(())
    }
}

/// The files of a gzipped tar, without their first folder, whatever that is called.
pub(crate) fn tarball(bytes: &[u8]) -> Result<Files, String> {
    let mut reader = Reader::new(GzDecoder::new(bytes));
    let mut taken = Taken::new();
    let mut members = 0;
    while let Some(header) =
        reader.member().map_err(|error| format!("the package cannot be unpacked: {error:?}"))?
    {
        members += 1;
        if members > 2 * FILES_MAX {
            return Err("the package has too many members".to_owned());
        }
        let name = String::from_utf8(header.name)
            .map_err(|_| "the package has a name that is no text".to_owned())?;
        match header.kind {
            Kind::File => {
                let path = path(&name)?;
                let below = path.split_once('/').map(|it| it.1.to_owned());
                taken.take(below.unwrap_or(path), &mut reader)?;
            }
            Kind::Directory => {}
            _ => return Err(format!("the package has `{}`, which is no plain file", name.escape_debug())),
        }
    }
    Ok(taken.files)
}

/// The files of a zip.
pub(crate) fn zip(bytes: &[u8]) -> Result<Files, String> {
    let broken = |error: std::io::Error| format!("the package cannot be unpacked: {error}");
    let mut archive = Cursor::new(bytes);
    let mut taken = Taken::new();
    for member in record::members(&mut archive).map_err(broken)? {
        if member.is_folder() {
            continue;
        }
        if member.is_link() || member.is_locked() {
            return Err(format!("the package has `{}`, which is no plain file", member.name.escape_debug()));
        }
        let path = path(&member.name)?;
        let start = usize::try_from(record::content_start(&mut archive, &member).map_err(broken)?)
            .unwrap_or(usize::MAX);
        let length = usize::try_from(member.packed).unwrap_or(usize::MAX);
        let packed = start.checked_add(length).and_then(|end| bytes.get(start..end));
        let packed = packed.ok_or_else(|| format!("`{path}` is not all there"))?;
        match member.method {
            record::STORED => taken.take(path, packed)?,
            record::DEFLATED => taken.take(path, DeflateDecoder::new(packed))?,
            other => return Err(format!("`{path}` is compressed by method {other}")),
        }
    }
    Ok(taken.files)
}

/// Whether something is there that is not this file.
fn is_another(file: &Path, bytes: &[u8]) -> bool {
    let Ok(facts) = fs::symlink_metadata(file) else { return false };
    let is_alike = facts.is_file() && facts.len() == bytes.len() as u64;
    !is_alike || fs::read(file).is_ok_and(|it| it != bytes)
}

/// Writes them below a folder, which is new or empty, or may have other packages in it.
pub(crate) fn write(folder: &str, files: &Files, shared: bool) -> Result<(), String> {
    let root = Path::new(folder);
    let is_empty = fs::read_dir(root).map_or(true, |mut it| it.next().is_none());
    if !shared && !is_empty {
        return Err(format!("`{folder}` is there and not empty; remove it, or say another one with -d"));
    }
    if let Some((path, _)) = files.iter().find(|(path, bytes)| is_another(&root.join(path), bytes)) {
        return Err(format!(
            "`{folder}/{path}` is there, of another package or another version; remove that one first"
        ));
    }
    for (path, bytes) in files {
        let file = root.join(path);
        let failed = |error: std::io::Error| format!("{}: {}", file.display(), place::reason(&error));
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        fs::write(&file, bytes).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Write as _;

    use archive::zip::record::Member;

    use super::*;

    /// A tar of these members, each a name, a kind and a content.
    pub(crate) fn tar(members: &[(&str, u8, &[u8])]) -> Vec<u8> {
        let mut all = Vec::new();
        for (name, kind, content) in members {
            let mut block = [0; 512];
            block[..name.len()].copy_from_slice(name.as_bytes());
            block[100..107].copy_from_slice(b"0000644");
            block[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
            block[148..156].copy_from_slice(b"        ");
            block[156] = *kind;
            block[257..263].copy_from_slice(b"ustar\0");
            let sum: u32 = block.iter().map(|it| u32::from(*it)).sum();
            block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
            all.extend_from_slice(&block);
            all.extend_from_slice(content);
            all.resize(all.len().next_multiple_of(512), 0);
        }
        all.resize(all.len() + 1024, 0);
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let _ = packer.write_all(&all);
        packer.finish().unwrap_or_default()
    }

    #[test]
    fn a_package_is_its_plain_files_below_its_folder() {
        let packed = tar(&[
            ("package/", b'5', b""),
            ("package/package.json", b'0', b"{}"),
            ("package/lib/a.js", b'0', b"1"),
        ]);
        let files = tarball(&packed).unwrap_or_default();
        let names: Vec<&str> = files.iter().map(|it| it.0.as_str()).collect();
        assert_eq!(names, ["package.json", "lib/a.js"]);
    }

    #[test]
    fn what_leads_out_of_a_package_or_is_no_file_is_refused() {
        for (name, kind, want) in [
            ("package/../../x", b'0', "leads out of it"),
            ("/etc/passwd", b'0', "leads out of it"),
            ("package/a\\..\\b", b'0', "leads out of it"),
            ("..", b'0', "leads out of it"),
            ("package/link", b'2', "no plain file"),
            ("package/hard", b'1', "no plain file"),
        ] {
            let told = tarball(&tar(&[(name, kind, b"")])).err().unwrap_or_default();
            assert!(told.contains(want), "{name}: {told}");
        }
        let twice = tar(&[("p/a", b'0', b"1"), ("q/a", b'0', b"2")]);
        assert!(tarball(&twice).is_err_and(|it| it.contains("two files")));
        let packed = tar(&[("p/a", b'0', &[0; 4096])]);
        for bytes in [&b""[..], b"no gzip", &packed[..packed.len() / 2]] {
            assert!(tarball(bytes).is_err());
            assert!(zip(bytes).is_err());
        }
    }

    /// A wheel of these members.
    fn wheel(members: &[(Member, &[u8])]) -> Vec<u8> {
        let (mut all, mut directory) = (Vec::new(), Vec::new());
        for (member, packed) in members {
            let member = Member { at: all.len() as u64, packed: packed.len() as u64, ..member.clone() };
            all.extend(member.local().unwrap_or_default());
            all.extend_from_slice(packed);
            directory.extend(member.central().unwrap_or_default());
        }
        let end = record::end(members.len(), all.len() as u64, directory.len() as u64).unwrap_or_default();
        [all, directory, end].concat()
    }

    fn named(name: &str) -> Member {
        Member { name: name.to_owned(), ..Member::default() }
    }

    fn deflated(zeros: u64) -> Vec<u8> {
        let mut packer = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        let _ = std::io::copy(&mut std::io::repeat(0).take(zeros), &mut packer);
        packer.finish().unwrap_or_default()
    }

    fn why(done: Result<Files, String>) -> String {
        done.err().unwrap_or_default()
    }

    #[test]
    fn what_leads_out_of_a_wheel_or_is_no_file_is_refused() {
        let link = Member { mode: Some(0o120_777), ..named("a/link") };
        let shrunk = Member { method: 12, ..named("a") };
        for (members, want) in [
            (vec![(named("a/../../x"), &b"1"[..])], "leads out of it"),
            (vec![(named("../x"), b"1")], "leads out of it"),
            (vec![(named("/etc/passwd"), b"1")], "leads out of it"),
            (vec![(named("a\\..\\..\\x"), b"1")], "leads out of it"),
            (vec![(link, b"/etc/passwd")], "no plain file"),
            (vec![(named("a"), b"1"), (named("./a"), b"2")], "two files"),
            (vec![(named("a/b"), b"1"), (named("a"), b"2")], "as a file and as a folder"),
            (vec![(named("a"), b"1"), (named("a/b/c"), b"2")], "as a file and as a folder"),
            (vec![(shrunk, b"1")], "compressed by method 12"),
            (vec![(Member { method: record::DEFLATED, ..named("a") }, b"no deflate")], "cannot be unpacked"),
        ] {
            let told = why(zip(&wheel(&members)));
            assert!(told.contains(want), "{}: {told}", members[0].0.name);
        }
    }

    #[test]
    fn a_package_of_too_many_files_or_members_is_refused() {
        let names: Vec<String> = (0..=FILES_MAX).map(|it| format!("p/{it}")).collect();
        let members: Vec<_> = names.iter().map(|it| (it.as_str(), b'0', &b""[..])).collect();
        assert!(tarball(&tar(&members[..FILES_MAX])).is_ok_and(|it| it.len() == FILES_MAX));
        assert!(why(tarball(&tar(&members))).contains("larger than it may be"));
        let folders = vec![("p/", b'5', &b""[..]); 2 * FILES_MAX + 1];
        assert!(tarball(&tar(&folders[1..])).is_ok_and(|it| it.is_empty()));
        assert!(why(tarball(&tar(&folders))).contains("too many members"));
        let members: Vec<_> = names.iter().map(|it| (named(it), &b""[..])).collect();
        assert!(zip(&wheel(&members[..FILES_MAX])).is_ok_and(|it| it.len() == FILES_MAX));
        assert!(why(zip(&wheel(&members))).contains("larger than it may be"));
    }

    #[test]
    fn a_small_package_that_becomes_a_large_one_is_refused_before_it_is_there() {
        let member = |name: &str| Member { method: record::DEFLATED, ..named(name) };
        let (fits, over) = (deflated(FILE_BYTES_MAX), deflated(FILE_BYTES_MAX + 1));
        assert!(over.len() < 1 << 20, "{}", over.len());
        assert!(why(zip(&wheel(&[(member("a"), &over)]))).contains("larger than it may be"));
        let zeros = vec![0; usize::try_from(FILE_BYTES_MAX + 1).unwrap_or_default()];
        assert!(why(tarball(&tar(&[("p/a", b'0', &zeros)]))).contains("larger than it may be"));
        drop(zeros);
        // Each may be there, and all of them together may not.
        let one_more = deflated(1);
        let bomb = wheel(&[(member("a"), &fits), (member("b"), &fits), (member("c"), &one_more)]);
        assert!(zip(&wheel(&[(member("a"), &fits), (member("b"), &fits)])).is_ok_and(|it| it.len() == 2));
        assert!(why(zip(&bomb)).contains("larger than it may be"));
    }

    #[test]
    fn what_is_there_of_another_package_is_not_replaced() {
        let root = std::env::temp_dir().join(format!("fetch-shared-{}", std::process::id()));
        let folder = root.display().to_string();
        let of =
            |content: &[u8]| vec![("new".to_owned(), b"1".to_vec()), ("a/b".to_owned(), content.to_vec())];
        assert_eq!(write(&folder, &of(b"one"), true), Ok(()));
        assert_eq!(write(&folder, &of(b"one"), true), Ok(()), "the same again");
        let _ = fs::remove_file(root.join("new"));
        for other in [&b"two"[..], b"longer"] {
            assert!(write(&folder, &of(other), true).is_err_and(|it| it.contains("a/b` is there")));
        }
        assert!(!root.join("new").exists(), "nothing of it was written");
        assert!(write(&folder, &vec![("a".to_owned(), Vec::new())], true).is_err());
        assert!(write(&folder, &of(b"one"), false).is_err_and(|it| it.contains("not empty")));
        assert!(fs::read(root.join("a/b")).is_ok_and(|it| it == b"one"));
        let _ = fs::remove_dir_all(&root);
    }
}
