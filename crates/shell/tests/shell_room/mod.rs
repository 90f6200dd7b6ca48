//! A shell over fake commands and files in memory.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::sync::Arc;

use drydock_commands::catalog;
use drydock_contract::{
    BoxFuture, Limits, Meter, Sink, Source, Streams,
    port::{Clock, Files, OpenHow, TreePath},
};
use drydock_shell::{
    BadCheckpoint, LineReport, Lost, Mode, Shell, ShellLimits, ShellSpec,
    door::{CallingCommands, Commands, Door, Ended, FilesTree, ShellFile, Start, Tree},
};
use drydock_store::{LineFiles, MemoryFiles};
use drydock_testkit::{FAKE_COMMANDS, FakeDoor, FixedClock, block_on};

pub struct Room {
    pub door: Arc<FakeDoor>,
    pub files: Arc<LineFiles>,
    pub shell: Shell,
}

/// What the shell of a room has of the outside.
struct RoomDoor {
    commands: CallingCommands,
    files: Arc<LineFiles>,
    clock: Arc<FixedClock>,
    expired: Option<&'static str>,
}

impl Commands for RoomDoor {
    fn start<'a>(&'a self, start: Start<'a>) -> BoxFuture<'a, Ended> {
        self.commands.start(start)
    }
}

impl Door for RoomDoor {
    fn tree(&self) -> Arc<dyn Tree> {
        let expired = self.expired.is_some();
        let (files, clock) = (Arc::clone(&self.files) as _, Arc::clone(&self.clock) as _);
        Arc::new(FilesTree::new(files, clock, &(Arc::new(move || expired) as _)))
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock) as _
    }

    fn has_command(&self, name: &str) -> bool {
        FAKE_COMMANDS.contains(&name) || name == "denied"
    }

    fn not_found(&self, name: &str) -> String {
        catalog::not_found(name, FAKE_COMMANDS.iter().copied())
    }

    fn was_changed(&self, path: &TreePath, open: &dyn ShellFile) -> bool {
        self.files.was_changed(path, open.stat())
    }

    fn expired(&self) -> Option<String> {
        self.expired.map(str::to_owned)
    }
}

pub struct Ran {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
    pub report: LineReport,
}

pub fn room() -> Room {
    room_with(Mode { eval_allowed: true, ..Mode::default() }, ShellLimits::default())
}

pub fn room_with(mode: Mode, limits: ShellLimits) -> Room {
    room_until(None, mode, limits)
}

/// A room whose lines must end for this reason, if there is one.
pub fn room_until(expired: Option<&'static str>, mode: Mode, limits: ShellLimits) -> Room {
    let meter = Arc::new(Meter::new(Limits::default().memory_bytes_max));
    let files = Arc::new(LineFiles::over(Arc::new(MemoryFiles::with(meter))));
    for dir in ["w", "tmp", "home"] {
        files
            .create_dir(
                &TreePath::new(dir).unwrap(),
                drydock_contract::port::Mode::DIRECTORY,
                Default::default(),
            )
            .unwrap();
    }
    let (spec, door) = spec(&files, expired, mode, limits);
    Room { door, files, shell: Shell::new(spec) }
}

/// What a shell over these files is made of, and the door its commands go through.
pub fn spec(
    files: &Arc<LineFiles>,
    expired: Option<&'static str>,
    mode: Mode,
    limits: ShellLimits,
) -> (ShellSpec, Arc<FakeDoor>) {
    let door = Arc::new(FakeDoor::new(Arc::clone(files) as _));
    let clock = Arc::new(FixedClock::at_second(1_700_000_000));
    let commands = CallingCommands::new(Arc::clone(&door) as _, &*clock);
    let spec = ShellSpec {
        door: Arc::new(RoomDoor { commands, files: Arc::clone(files), clock, expired }),
        roots: vec!["/w".into(), "/tmp".into()],
        cwd: "/w".into(),
        env: vec![("HOME".into(), "/home".into()), ("PATH".into(), "/usr/bin:/bin".into())],
        name: "bash".into(),
        args: Vec::new(),
        mode,
        seed: 42,
        limits,
        stage_limits: Limits::default(),
        line_memory_bytes_max: 384 << 20,
    };
    (spec, door)
}

impl Room {
    /// Puts a file there that no shell wrote.
    pub fn files_write(&self, path: &str, bytes: &[u8]) {
        let how = OpenHow {
            read: false,
            write: true,
            create: true,
            exclusive: true,
            truncate: false,
            nofollow: false,
            mode: drydock_contract::port::Mode::new(0o600),
        };
        let file = self.files.open(&TreePath::new(path).unwrap(), how, Default::default()).unwrap();
        file.write_at(0, bytes, Default::default()).unwrap();
    }

    pub fn run(&mut self, text: &str) -> Ran {
        self.run_on(text, "")
    }

    /// A room over the same files, whose shell goes on where this one is.
    pub fn restored(&mut self) -> (Self, Lost) {
        let bytes = self.shell.save().unwrap().to_vec();
        self.restored_from(&bytes).unwrap()
    }

    pub fn restored_from(&self, bytes: &[u8]) -> Result<(Self, Lost), BadCheckpoint> {
        let mode = Mode { eval_allowed: true, ..Mode::default() };
        let (spec, door) = spec(&self.files, None, mode, ShellLimits::default());
        let (shell, lost) = Shell::restore(spec, bytes)?;
        Ok((Self { door, files: Arc::clone(&self.files), shell }, lost))
    }

    pub fn run_on(&mut self, text: &str, stdin: &str) -> Ran {
        let streams = Streams {
            stdin: Source::from(stdin.as_bytes().to_vec()),
            stdout: Sink::capture(),
            stderr: Sink::capture(),
            ..Streams::default()
        };
        self.files.begin_line();
        let (report, streams) = block_on(self.shell.run(text, streams));
        let text = |sink: Sink| String::from_utf8_lossy(&sink.into_captured()).into_owned();
        Ran { status: report.status, stdout: text(streams.stdout), stderr: text(streams.stderr), report }
    }
}
