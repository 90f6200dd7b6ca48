//! Archives are taken apart by guests: `tar` and `unzip`, the built-in commands, in a tree in memory that holds
//! nothing else, with limits of their own. Names that lead out, links, and members that grow without end meet the
//! guest's walls; this process only reads the finished tree, and only what was asked for.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use drydock_contract::{
    Limits, Meter, Outcome, Sink, Source, Streams, Timestamp,
    port::{FileKind, FileResult, Files, Follow, OpenHow, TreePath},
};
use drydock_embed::{Dock, Setup, store::MemoryFiles};

use crate::source::Packing;

/// All that an archive may unpack to, the archive itself included where it lies in the tree.
const TREE_BYTES_MAX: u64 = 640 << 20;
/// Memory of the guest, besides the tree.
const GUEST_BYTES_MAX: u64 = 256 << 20;
const WALL_MAX: Duration = Duration::from_secs(180);
const FUEL_MAX: u64 = 1_000_000_000_000;
/// Of what the guest complains, so much is shown.
const SAID_BYTES_MAX: usize = 400;

/// Where the members go.
const OUT: &str = "out";

/// An archive could not be taken apart.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnpackError {
    /// The guest found it broken, or a member absent.
    #[error("{tool} could not unpack it: {said}")]
    Broken {
        /// The guest.
        tool: &'static str,
        /// What it said.
        said: String,
    },
    /// It took more than it may.
    #[error("unpacking it took more than it may ({0})")]
    Limit(&'static str),
    /// The member is not there, or no plain file.
    #[error("`{0}` is no file of the archive")]
    NotInArchive(String),
    /// There is nothing below that directory.
    #[error("the archive has no files below `{0}`")]
    Empty(String),
    /// The guest could not be started.
    #[error("{tool} could not be started: {why}")]
    Guest {
        /// The guest.
        tool: &'static str,
        /// Why.
        why: String,
    },
}

impl UnpackError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Broken { .. } | Self::Empty(_) => "bad_archive",
            Self::Limit(_) => "archive_too_large",
            Self::NotInArchive(_) => "wasm_not_in_archive",
            Self::Guest { .. } => "internal_error",
        }
    }
}

/// One name of an unpacked tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// From the root of the tree, without a leading slash.
    pub path: String,
    /// What it is.
    pub content: Content,
}

/// What a member is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A directory.
    Directory,
    /// A file, and whether it may be executed.
    File(Bytes, bool),
    /// A symbolic link that says this.
    Link(String),
}

/// These files of an archive, in this order.
pub(crate) async fn members(
    dock: &Dock,
    archive: Bytes,
    packing: Packing,
    wanted: &[&str],
) -> Result<Vec<Bytes>, UnpackError> {
    let tree = unpacked(dock, archive, packing, wanted).await?;
    wanted.iter().map(|path| file(&tree, path)).collect()
}

/// Everything below a directory of an archive, by paths below it.
pub(crate) async fn below(
    dock: &Dock,
    archive: Bytes,
    packing: Packing,
    directory: &str,
) -> Result<Vec<Member>, UnpackError> {
    let tree = unpacked(dock, archive, packing, &[directory]).await?;
    walked(&tree, &format!("{OUT}/{directory}")).ok_or_else(|| UnpackError::Empty(directory.to_owned()))
}

/// Everything in a tar file, by its paths.
pub(crate) async fn tar_file(dock: &Dock, tar: Bytes) -> Result<Vec<Member>, UnpackError> {
    let tree = unpacked(dock, tar, Packing::TarGz, &[]).await?;
    walked(&tree, OUT).ok_or_else(|| UnpackError::Empty("/".into()))
}

/// The so-manieth run of base64 in a text, as bytes: some packages carry a module inside a script. Guests cut it
/// out and decode it.
pub(crate) async fn base64(dock: &Dock, text: Bytes, number: u32) -> Result<Bytes, UnpackError> {
    let line = format!("tr -c 'A-Za-z0-9+/=' '\\n' | awk 'length($0) > 4096 && ++n == {number}' | base64 -d");
    let why = |why: String| UnpackError::Guest { tool: "base64", why };
    let mut setup = Setup::allowing(["tr", "awk", "base64"]).map_err(|error| why(error.to_string()))?;
    setup.limits = Some(limits());
    setup.builtin_memory_bytes_max = Some(GUEST_BYTES_MAX);
    setup.line_memory_bytes_max = GUEST_BYTES_MAX * 2;
    let done =
        dock.exec(line).with(PRINCIPAL, setup).stdin(text).await.map_err(|error| why(error.to_string()))?;
    if done.limit.is_some() {
        return Err(UnpackError::Limit("a limit"));
    }
    if done.status != 0 {
        return Err(UnpackError::Broken { tool: "base64", said: said(&done.stderr) });
    }
    Ok(done.stdout.into())
}

/// Who the guests run for, in the audit journal.
const PRINCIPAL: &str = "catalog";

fn limits() -> Limits {
    Limits {
        memory_bytes_max: GUEST_BYTES_MAX,
        fuel_max: FUEL_MAX,
        wall_max: WALL_MAX,
        stdin_bytes_max: 1 << 30,
        stdout_bytes_max: 256 << 20,
        ..Limits::default()
    }
}

/// A tree in which a guest unpacked these members, or all if none is named.
async fn unpacked(
    dock: &Dock,
    archive: Bytes,
    packing: Packing,
    wanted: &[&str],
) -> Result<Arc<MemoryFiles>, UnpackError> {
    let tree = Arc::new(MemoryFiles::with(Arc::new(Meter::new(TREE_BYTES_MAX))));
    let full = |_| UnpackError::Limit("files");
    tree.create_dir_all(OUT).map_err(full)?;
    let out = format!("/{OUT}");
    let (tool, mut args, stdin): (_, Vec<String>, _) = match packing {
        Packing::Zip => {
            tree.write("archive.zip", &archive).map_err(full)?;
            ("unzip", vec!["-q".into(), "-d".into(), out, "/archive.zip".into()], Bytes::new())
        }
        // Whether it is compressed, tar finds out by itself.
        _ => ("tar", vec!["-x".into(), "-C".into(), out, "-f".into(), "-".into()], archive),
    };
    args.extend(wanted.iter().map(|it| match packing {
        // unzip takes patterns, and a directory is none.
        Packing::Zip if !it.contains('.') => format!("{it}/*"),
        _ => (*it).to_owned(),
    }));
    run(dock, tool, &args, stdin, Arc::clone(&tree) as _).await?;
    Ok(tree)
}

async fn run(
    dock: &Dock,
    tool: &'static str,
    args: &[String],
    stdin: Bytes,
    files: Arc<dyn Files>,
) -> Result<(), UnpackError> {
    let why = |why: String| UnpackError::Guest { tool, why };
    let mut setup = Setup::allowing([tool]).map_err(|error| why(error.to_string()))?;
    setup.files = Some(files);
    setup.limits = Some(limits());
    setup.builtin_memory_bytes_max = Some(GUEST_BYTES_MAX);
    let session = dock.session(PRINCIPAL, setup).map_err(|error| why(error.to_string()))?;
    let streams = Streams {
        stdin: Source::Bytes(stdin),
        stdout: Sink::Discard,
        stderr: Sink::capture(),
        ..Streams::default()
    };
    let done = session.run_with(tool, args, streams).await;
    let (report, streams) = done.map_err(|error| why(error.to_string()))?;
    match report.outcome {
        Outcome::Exited(0) if report.quota.is_none() => Ok(()),
        _ if report.quota.is_some() => Err(UnpackError::Limit("files")),
        Outcome::Exited(_) => Err(UnpackError::Broken { tool, said: said(&streams.stderr.into_captured()) }),
        other => Err(UnpackError::Limit(other.code())),
    }
}

/// The beginning of what a guest said, on one line.
fn said(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes.get(..SAID_BYTES_MAX).unwrap_or(bytes)).into_owned();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    lines.join("; ")
}

/// One plain file of the tree. A link is none, wherever it leads.
fn file(tree: &MemoryFiles, path: &str) -> Result<Bytes, UnpackError> {
    let read = || -> FileResult<Option<Bytes>> {
        let full = TreePath::new(&format!("{OUT}/{path}"))?;
        match tree.stat(&full, Follow::No)?.kind {
            FileKind::File => read(tree, &full).map(Some),
            _ => Ok(None),
        }
    };
    read().ok().flatten().ok_or_else(|| UnpackError::NotInArchive(path.to_owned()))
}

fn read(tree: &MemoryFiles, path: &TreePath) -> FileResult<Bytes> {
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

/// Everything below a directory, parents first; none if there is no file.
fn walked(tree: &MemoryFiles, root: &str) -> Option<Vec<Member>> {
    let mut all = Vec::new();
    let mut open = vec![String::new()];
    while let Some(directory) = open.pop() {
        let here = TreePath::new(&format!("{root}/{directory}")).ok()?;
        for entry in tree.read_dir(&here).ok()? {
            let path = match directory.as_str() {
                "" => entry.name,
                above => format!("{above}/{}", entry.name),
            };
            let full = TreePath::new(&format!("{root}/{path}")).ok()?;
            let content = match entry.kind {
                FileKind::Directory => {
                    open.push(path.clone());
                    Content::Directory
                }
                FileKind::File => {
                    let runs = tree.stat(&full, Follow::No).ok()?.mode.bits() & 0o111 != 0;
                    Content::File(read(tree, &full).ok()?, runs)
                }
                FileKind::Symlink => Content::Link(tree.read_link(&full).ok()?),
            };
            all.push(Member { path, content });
        }
    }
    all.iter().any(|it| matches!(it.content, Content::File(..))).then_some(all)
}
