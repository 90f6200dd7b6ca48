//! A wheel taken apart by a guest, `unzip`, in a tree of its own; what it holds is looked at here.
//!
//! Python files, data and metadata are taken. Scripts are left out, `.pth` files and code for machines are
//! refused, and no name leads anywhere but below the packages.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use drydock_contract::{
    Limits, Meter, Outcome, Sink, Source, Streams, Timestamp,
    port::{FileKind, FileResult, Files, Follow, OpenHow, TreePath},
};
use drydock_store::MemoryFiles;

use super::{LockedPackage, PackageError, Wheel};
use crate::{Dock, Setup};

/// Modules that Python looks for and runs when it starts.
const STARTED: [&str; 2] = ["sitecustomize", "usercustomize"];
/// Who the guest runs for, in the audit journal.
const PRINCIPAL: &str = "packages";
const TREE_BYTES_MAX: u64 = 256 << 20;
const FILES_MAX: usize = 20_000;
const GUEST_BYTES_MAX: u64 = 128 << 20;
const OUT: &str = "out";
/// Endings of files that only a machine could run.
const NATIVE: [&str; 5] = [".so", ".pyd", ".dylib", ".dll", ".a"];

/// A file of a package, below its packages.
pub(super) struct Member {
    pub(super) path: String,
    pub(super) bytes: Bytes,
}

/// The files of a wheel.
pub(super) async fn wheel(
    dock: &Dock,
    wheel: &Wheel,
    package: &LockedPackage,
) -> Result<Vec<Member>, PackageError> {
    let broken = |why: String| PackageError::Unpack { file: wheel.file.clone(), why };
    let tree = Arc::new(MemoryFiles::with(Arc::new(Meter::new(TREE_BYTES_MAX))));
    tree.create_dir_all(OUT).map_err(|error| broken(error.to_string()))?;
    tree.write("wheel.zip", &wheel.bytes).map_err(|error| broken(error.to_string()))?;
    unzip(dock, Arc::clone(&tree) as _).await.map_err(broken)?;
    let mut members = walked(&*tree).map_err(|error| broken(error.to_string()))?;
    if members.len() > FILES_MAX {
        return Err(broken(format!("{} files; at most {FILES_MAX}", members.len())));
    }
    if !members.iter().any(|it| it.path.ends_with(".dist-info/METADATA")) {
        return Err(broken("it has no METADATA, so it is no wheel".into()));
    }
    members = members.into_iter().filter_map(kept).collect();
    if let Some(native) = members.iter().find(|it| NATIVE.iter().any(|end| it.path.ends_with(end))) {
        let (name, file, hint) = (package.name.clone(), native.path.clone(), "");
        return Err(PackageError::Native { name, file, hint });
    }
    let at_start = |it: &&Member| {
        let top = it.path.split('/').next().unwrap_or_default();
        // Whatever form it is in: a source, a compiled one, one for a version.
        let module = top.split('.').next().unwrap_or(top);
        (it.path.ends_with(".pth") && !it.path.contains('/')) || STARTED.contains(&module)
    };
    match members.iter().find(at_start) {
        Some(pth) => Err(broken(format!("`{}` would run at every start of Python", pth.path))),
        None => Ok(members),
    }
}

/// A file where it belongs; nothing if it is none of ours. Of `NAME.data` only Python's own directories are.
fn kept(member: Member) -> Option<Member> {
    let Some((top, rest)) = member.path.split_once('/') else { return Some(member) };
    if !top.ends_with(".data") {
        return Some(member);
    }
    let path = rest.strip_prefix("purelib/").or_else(|| rest.strip_prefix("platlib/"))?.to_owned();
    Some(Member { path, ..member })
}

async fn unzip(dock: &Dock, files: Arc<dyn Files>) -> Result<(), String> {
    let mut setup = Setup::allowing(["unzip"]).map_err(|error| error.to_string())?;
    setup.files = Some(files);
    setup.limits = Some(Limits {
        memory_bytes_max: GUEST_BYTES_MAX,
        fuel_max: 100_000_000_000,
        wall_max: Duration::from_secs(60),
        ..Limits::default()
    });
    setup.builtin_memory_bytes_max = Some(GUEST_BYTES_MAX);
    let session = dock.session(PRINCIPAL, setup).map_err(|error| error.to_string())?;
    let args = ["-q", "-o", "-d", "/out", "/wheel.zip"];
    let streams = Streams {
        stdin: Source::Empty,
        stdout: Sink::Discard,
        stderr: Sink::capture(),
        ..Streams::default()
    };
    let done = session.run_with("unzip", &args, streams).await.map_err(|error| error.to_string())?;
    let (report, streams) = done;
    let said = String::from_utf8_lossy(&streams.stderr.into_captured()).trim().to_owned();
    match (&report.outcome, report.quota) {
        (_, Some(limit)) => Err(format!("it unpacks to too much: {limit}")),
        (Outcome::Exited(0), None) => Ok(()),
        (Outcome::Exited(_), None) => Err(said.chars().take(400).collect()),
        (other, None) => Err(format!("unzip ended by {other}")),
    }
}

/// Every plain file, by its path below the top. A link is none, wherever it leads.
fn walked(tree: &dyn Files) -> FileResult<Vec<Member>> {
    let mut all = Vec::new();
    let mut open = vec![String::new()];
    while let Some(directory) = open.pop() {
        for entry in tree.read_dir(&TreePath::new(&format!("{OUT}/{directory}"))?)? {
            let path = if directory.is_empty() { entry.name } else { format!("{directory}/{}", entry.name) };
            match entry.kind {
                FileKind::Directory => open.push(path),
                FileKind::File if all.len() <= FILES_MAX => {
                    let bytes = read(tree, &TreePath::new(&format!("{OUT}/{path}"))?)?;
                    all.push(Member { path, bytes });
                }
                FileKind::File | FileKind::Symlink => {}
            }
        }
    }
    all.sort_by(|one, two| one.path.cmp(&two.path));
    Ok(all)
}

/// All bytes of a file.
pub(super) fn read(tree: &dyn Files, path: &TreePath) -> FileResult<Bytes> {
    tree.stat(path, Follow::No)?;
    let file = tree.open(path, OpenHow { read: true, nofollow: true, ..OpenHow::default() }, Timestamp(0))?;
    let mut bytes = vec![0; usize::try_from(file.stat()?.size).unwrap_or(usize::MAX)];
    let mut at = 0;
    while let Some(rest) = bytes.get_mut(at..).filter(|it| !it.is_empty()) {
        match file.read_at(at as u64, rest)? {
            0 => break,
            count => at += count,
        }
    }
    bytes.truncate(at);
    Ok(bytes.into())
}
