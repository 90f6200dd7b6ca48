//! Programs of the session itself, called by their path: `./prog`, `/workspace/prog`.
//!
//! The file is read once, through the session's own files, and what was read is hashed and run: nobody can swap it in
//! between. It gets what any command of the session gets, and nothing more; whether it is a module that runs, and what
//! compiling it may take, is judged where modules are. A file that is none is left to the front end's shell.

use std::sync::Arc;

use drydock_contract::{
    ARTIFACT_BYTES_MAX, Artifact, ArtifactInPieces, Denial, Meter, SUBJECT_BYTES_MAX, Timestamp,
    port::{FileKind, Follow, OpenFile, OpenHow, TreePath},
    yield_now,
};
use drydock_gate::SessionSpec;

/// Read and hashed at a time: well under a millisecond.
const PIECE_BYTES: usize = 128 << 10;

/// How every module begins.
const MAGIC: &[u8] = b"\0asm";

/// What a path leads to.
pub(crate) enum Program {
    /// A module, and what it holds of the session's memory while it runs.
    Module(Artifact, Held),
    /// A file that is no module, and may be executed.
    Other,
}

/// Memory of a session that bytes of the host take for it: those of a program, those of a request.
pub(crate) struct Held(Option<(Arc<Meter>, u64)>);

impl Held {
    /// Takes so many bytes, or says what the meter has.
    pub(crate) fn of(meter: Option<&Arc<Meter>>, bytes: u64) -> Result<Self, u64> {
        match meter {
            Some(meter) if !meter.try_hold(bytes) => Err(meter.max()),
            meter => Ok(Self(meter.map(|it| (Arc::clone(it), bytes)))),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some((meter, bytes)) = self.0.take() {
            meter.release(bytes);
        }
    }
}

/// At most as much of a guest's text as a record holds, which is all that a grant could name.
pub(crate) fn short(name: &str) -> Arc<str> {
    name[..name.floor_char_boundary(SUBJECT_BYTES_MAX)].into()
}

/// All names that begin so, as a record says it.
pub(crate) fn all(prefix: &str) -> Arc<str> {
    format!("{}*", short(prefix)).into()
}

/// Whether a name is a path, which no registered name is.
pub(crate) fn is_path(name: &str) -> bool {
    name.contains('/') && !name.ends_with('/')
}

/// Reads what lies at `path`, as seen from the working directory that the environment names. Others get the thread
/// in between: a program may be large.
pub(crate) async fn read(spec: &SessionSpec, env: &[Vec<u8>], path: &str) -> Result<Program, Denial> {
    let refused = |why| Denial::NotExecutable { path: short(path), why };
    let unknown = || Denial::UnknownCommand(short(path));
    let files = spec.files.as_ref().ok_or_else(unknown)?;
    let place = place(env, path).ok_or_else(unknown)?;
    let found = files.stat(&place, Follow::Yes).map_err(|_| unknown())?;
    if found.kind != FileKind::File {
        return Err(refused("it is a directory"));
    }
    if !found.mode.has(0o111) {
        return Err(refused("it has no permission bit for it; chmod +x sets one"));
    }
    let how = OpenHow { read: true, ..OpenHow::default() };
    let file = files.open(&place, how, Timestamp(0)).map_err(|_| refused("it cannot be read"))?;
    let mut magic = [0; MAGIC.len()];
    if !matches!(file.read_at(0, &mut magic), Ok(count) if magic[..count] == *MAGIC) {
        return Ok(Program::Other);
    }
    // Looked at again in the open file, which is the one that is read.
    let size = file.stat().map_err(|_| refused("it cannot be read"))?.size;
    let max = ARTIFACT_BYTES_MAX.min(spec.limits.memory_bytes_max);
    if size > max {
        return Err(Denial::TooLarge { what: "program", bytes: size, max });
    }
    let held = Held::of(spec.memory.as_ref(), size).map_err(|max| Denial::TooLarge {
        what: "program",
        bytes: size,
        max,
    })?;
    let artifact = whole(&*file, size).await.ok_or_else(|| refused("it cannot be read"))?;
    Ok(Program::Module(artifact, held))
}

/// The path in the tree.
fn place(env: &[Vec<u8>], path: &str) -> Option<TreePath> {
    if let Some(absolute) = path.strip_prefix('/') {
        return TreePath::new(absolute).ok();
    }
    let pwd = env.iter().find_map(|it| it.strip_prefix(b"PWD=")).unwrap_or(b"/");
    let pwd = drydock_contract::text::from_bytes(pwd);
    TreePath::new(pwd.strip_prefix('/')?).ok()?.join(path).ok()
}

/// As many bytes as the file had, or fewer if it shrank meanwhile.
async fn whole(file: &dyn OpenFile, size: u64) -> Option<Artifact> {
    let mut all = ArtifactInPieces::with_capacity(usize::try_from(size).ok()?);
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let left = usize::try_from(size).ok()? - all.len();
        let room = &mut piece[..left.min(PIECE_BYTES)];
        match room.is_empty() {
            true => break,
            false => match file.read_at(all.len() as u64, room).ok()? {
                0 => break,
                count => all.push(&room[..count.min(room.len())]),
            },
        }
        yield_now().await;
    }
    Some(all.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_starts_at_the_root_or_in_the_working_directory() {
        let env = [b"PWD=/work/in".to_vec()];
        let at = |env: &[Vec<u8>], path: &str| place(env, path).map(|it| it.as_str().to_owned());
        assert_eq!(at(&env, "./prog").as_deref(), Some("work/in/./prog"));
        assert_eq!(at(&env, "../prog").as_deref(), Some("work/in/../prog"));
        assert_eq!(at(&env, "/work/prog").as_deref(), Some("work/prog"));
        assert_eq!(at(&[], "bin/prog").as_deref(), Some("bin/prog"));
        assert_eq!(at(&[b"PWD=elsewhere".to_vec()], "./prog"), None);
        assert!(is_path("./a") && is_path("/a") && !is_path("a") && !is_path("a/") && !is_path(""));
    }
}
