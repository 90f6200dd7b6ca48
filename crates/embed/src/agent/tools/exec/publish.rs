//! `publish`: what a person configured, and nothing that an agent could add to: folders that are copied to a directory, or
//! a program.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use drydock_contract::{
    Timestamp,
    port::{FileError, FileKind, Files, Mode, OpenHow, TreePath},
};
use drydock_store::{Access, HostDir, Quota};

use super::{
    ToolError,
    native::{Native, Word},
    settings::Publish,
    workdir::NoRepository,
};

/// Files of one publication.
const FILES_MAX: u64 = 100_000;
/// Bytes of one.
const BYTES_MAX: u64 = 4 << 30;
/// Folders within folders.
const DEPTH_MAX: usize = 64;
/// What is copied at once.
const PIECE_BYTES: usize = 1 << 20;
/// How much of what a program says is told.
const TOLD_BYTES_MAX: usize = 4 << 10;

pub(super) async fn publish(publish: &Publish, workdir: &Path, now: Timestamp) -> Result<String, ToolError> {
    match publish {
        Publish::Copy { folders, into } => copy(folders, workdir, into, now).await,
        Publish::Run { program, args, env, wall_max } => {
            let native = Native {
                program: program.clone(),
                args: args.iter().map(Word::from).collect(),
                env: env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
                dir: workdir.to_owned(),
                stdin: Vec::new(),
                wall_max: *wall_max,
            };
            let ended = native.run().await?;
            let said = [told(&ended.stdout), told(&ended.stderr)].concat();
            match ended.status {
                Some(0) => Ok(format!("published\n{said}").trim_end().to_owned()),
                Some(status) => Err(ToolError::new(
                    "publish_failed",
                    format!("it ended with status {status}; it says: {said}"),
                )),
                None => Err(ToolError::new("publish_failed", "it was ended by a signal")),
            }
        }
    }
}

fn told(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text[..text.floor_char_boundary(TOLD_BYTES_MAX)].to_owned()
}

async fn copy(folders: &[String], workdir: &Path, into: &Path, now: Timestamp) -> Result<String, ToolError> {
    let broken = |error: std::io::Error| ToolError::new("publish_failed", error.to_string());
    let from: Arc<dyn Files> =
        Arc::new(NoRepository(Arc::new(HostDir::open(workdir, Access::ReadOnly).map_err(broken)?)));
    let to: Arc<dyn Files> =
        Arc::new(HostDir::within(into, Access::ReadWrite, Quota::default()).map_err(broken)?);
    let given_up = Arc::new(AtomicBool::new(false));
    let _ends = GivesUp(Arc::clone(&given_up));
    let folders = folders.to_vec();
    let work = move || {
        let mut copying = Copying { from: &*from, to: &*to, now, given_up: &given_up, files: 0, bytes: 0 };
        for folder in folders.iter().filter_map(|it| TreePath::new(it).ok()) {
            match copying.from.read_dir(&folder) {
                Ok(_) => copying.folder(&folder, 0)?,
                // A folder that is not there has nothing to publish.
                Err(FileError::NotFound) => {}
                Err(error) => return Err((folder.as_str().to_owned(), error)),
            }
        }
        Ok((copying.files, copying.bytes))
    };
    let done = tokio::task::spawn_blocking(work).await;
    let failed = |why: String| ToolError::new("publish_failed", why);
    match done.map_err(|error| failed(error.to_string()))? {
        Ok((files, bytes)) => Ok(format!("published {files} files, {bytes} bytes")),
        Err((path, error)) => Err(failed(format!("{path}: {error}"))),
    }
}

/// Tells the thread that copies that nobody waits for it any more.
struct GivesUp(Arc<AtomicBool>);

impl Drop for GivesUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Copying<'a> {
    from: &'a dyn Files,
    to: &'a dyn Files,
    now: Timestamp,
    given_up: &'a AtomicBool,
    files: u64,
    bytes: u64,
}

type Copied = Result<(), (String, FileError)>;

impl Copying<'_> {
    /// Links are left out: what they say is an agent's, and where they lead is not for everybody.
    fn folder(&mut self, folder: &TreePath, depth: usize) -> Copied {
        let failed = |error| (folder.as_str().to_owned(), error);
        if depth > DEPTH_MAX {
            return Err(failed(FileError::NameTooLong));
        }
        make_dirs(self.to, folder, self.now).map_err(failed)?;
        for entry in self.from.read_dir(folder).map_err(failed)? {
            let path = folder.join(&entry.name).map_err(failed)?;
            match entry.kind {
                FileKind::Directory => self.folder(&path, depth + 1)?,
                FileKind::File => self.file(&path).map_err(|error| (path.as_str().to_owned(), error))?,
                FileKind::Symlink => {}
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &TreePath) -> Result<(), FileError> {
        self.files += 1;
        if self.files > FILES_MAX {
            return Err(FileError::TooBig);
        }
        let from = self.from.open(path, OpenHow { read: true, nofollow: true, ..OpenHow::NONE }, self.now)?;
        let how = OpenHow { write: true, create: true, truncate: true, nofollow: true, ..OpenHow::NONE };
        let to = self.to.open(path, how, self.now)?;
        let mut piece = vec![0; PIECE_BYTES];
        let mut at = 0;
        loop {
            if self.given_up.load(Ordering::Relaxed) {
                return Err(FileError::Interrupted);
            }
            let count = from.read_at(at, &mut piece)?;
            let Some(read) = piece.get(..count).filter(|it| !it.is_empty()) else { return Ok(()) };
            to.write_at(at, read, self.now)?;
            at += read.len() as u64;
            self.bytes += read.len() as u64;
            if self.bytes > BYTES_MAX {
                return Err(FileError::TooBig);
            }
        }
    }
}

fn make_dirs(files: &dyn Files, path: &TreePath, now: Timestamp) -> Result<(), FileError> {
    let names: Vec<&str> = path.names().collect();
    for end in 1..=names.len() {
        let dir = TreePath::new(&names.get(..end).unwrap_or_default().join("/"))?;
        match files.create_dir(&dir, Mode::DIRECTORY, now) {
            Ok(()) | Err(FileError::Exists) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
