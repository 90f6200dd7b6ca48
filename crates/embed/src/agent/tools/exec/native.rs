//! The one file of an agent's tools that starts a native program.
//!
//! What is started, with which arguments, is trusted code or a person's configuration: an argument is a [`Word`], and a
//! word is a constant of this program or a [`Configured`] text. What an agent wrote is neither, and travels by stdin. The
//! program has no environment but what is set here, a group of its own, an end in time, and dies with whoever waits.

use std::{ffi::OsString, path::PathBuf, process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, Command},
    runtime::Handle,
};

use super::settings::Configured;

/// What is kept of each output; the rest is read and dropped.
const OUTPUT_BYTES_MAX: usize = 256 << 10;
/// How long a program that was told to end may take to do so.
const GRACE: Duration = Duration::from_secs(2);

/// One argument of a native program.
#[derive(Debug, Clone)]
pub(super) enum Word {
    /// A constant of this program.
    Fixed(&'static str),
    /// What a person configured.
    Configured(Configured),
}

impl From<&'static str> for Word {
    fn from(text: &'static str) -> Self {
        Self::Fixed(text)
    }
}

impl From<&Configured> for Word {
    fn from(text: &Configured) -> Self {
        Self::Configured(text.clone())
    }
}

/// A native program that is about to be started.
#[derive(Debug)]
pub(super) struct Native {
    /// Which.
    pub(super) program: Configured,
    /// With which arguments.
    pub(super) args: Vec<Word>,
    /// All of its environment.
    pub(super) env: Vec<(Word, Word)>,
    /// Where it starts.
    pub(super) dir: PathBuf,
    /// What it reads.
    pub(super) stdin: Vec<u8>,
    /// How long it may take.
    pub(super) wall_max: Duration,
}

/// How it ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// Its status; none if a signal ended it.
    pub(super) status: Option<i32>,
    /// The beginning of what it wrote.
    pub(super) stdout: Vec<u8>,
    /// The same of its errors.
    pub(super) stderr: Vec<u8>,
}

/// It did not run to its end.
#[derive(Debug, thiserror::Error)]
pub(super) enum NativeError {
    /// It cannot be started.
    #[error("`{program}` cannot be started: {cause}")]
    Start {
        /// Which.
        program: String,
        /// Why not.
        cause: std::io::Error,
    },
    /// Its time was up.
    #[error("`{program}` did not end in {} s, and was ended", .wall_max.as_secs_f64())]
    TimedOut {
        /// Which.
        program: String,
        /// How much time it had.
        wall_max: Duration,
    },
}

impl Native {
    /// Runs it to its end. Dropping the future ends it, and all that it started.
    pub(super) async fn run(self) -> Result<Ended, NativeError> {
        let Self { program, args, env, dir, stdin, wall_max } = self;
        let shown = program.to_string();
        let failed = |cause| NativeError::Start { program: shown.clone(), cause };
        let child = Command::new(program.as_os())
            .args(args.into_iter().map(Word::into_os))
            .env_clear()
            .envs(env.into_iter().map(|(name, value)| (name.into_os(), value.into_os())))
            .current_dir(dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own, so that what it started can be ended with it.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let mut running = Running(Some(child));
        match tokio::time::timeout(wall_max, running.talk(&stdin)).await {
            Ok(ended) => ended.map_err(failed),
            Err(_) => Err(NativeError::TimedOut { program: shown, wall_max }),
        }
    }
}

/// A program that was started. Dropped before its end, it is told to end, and made to a moment later.
struct Running(Option<Child>);

impl Running {
    async fn talk(&mut self, stdin: &[u8]) -> std::io::Result<Ended> {
        let child = self.0.as_mut().ok_or(std::io::ErrorKind::NotFound)?;
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let write = async {
            if let Some(mut input) = input {
                // Whoever does not read it has no use for it.
                let _ = input.write_all(stdin).await;
            }
        };
        let ((), stdout, stderr) = tokio::join!(write, kept(output), kept(errors));
        let status = child.wait().await?;
        self.0 = None;
        Ok(Ended { status: status.code(), stdout, stderr })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(mut child) = self.0.take() else { return };
        // It is not waited for yet, so the number is nobody else's.
        let Some(group) = child.id().and_then(|it| Pid::from_raw(i32::try_from(it).ok()?)) else { return };
        let end = move |how| {
            // It may be over already.
            let _ = kill_process_group(group, how);
        };
        let Ok(runtime) = Handle::try_current() else { return end(Signal::KILL) };
        // Git takes its locks along if it is asked to end.
        end(Signal::TERM);
        runtime.spawn(async move {
            let _ = tokio::time::timeout(GRACE, child.wait()).await;
            end(Signal::KILL);
            let _ = child.wait().await;
        });
    }
}

impl Word {
    fn into_os(self) -> OsString {
        match self {
            Self::Fixed(text) => text.into(),
            Self::Configured(text) => text.as_os().to_owned(),
        }
    }
}

/// The beginning of what comes, read to the end.
async fn kept(from: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let (Some(mut from), mut kept, mut piece) = (from, Vec::new(), vec![0; 16 << 10]) else {
        return Vec::new();
    };
    while let Ok(count @ 1..) = from.read(&mut piece).await {
        let room = OUTPUT_BYTES_MAX.saturating_sub(kept.len()).min(count);
        kept.extend_from_slice(piece.get(..room).unwrap_or_default());
    }
    kept
}
