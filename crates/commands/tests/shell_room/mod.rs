//! A shell over fake commands and files in memory.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::sync::Arc;

use drydock_commands::shell::{LineFiles, LineReport, Mode, Shell, ShellLimits, ShellSpec};
use drydock_contract::{
    Limits, Meter, Sink, Source, Streams,
    port::{Files, TreePath},
};
use drydock_store::MemoryFiles;
use drydock_testkit::{FAKE_COMMANDS, FakeDoor, FixedClock, block_on};

pub struct Room {
    pub door: Arc<FakeDoor>,
    pub files: Arc<LineFiles>,
    pub shell: Shell,
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
    let door = Arc::new(FakeDoor::new(Arc::clone(&files) as _));
    let shell = Shell::new(ShellSpec {
        door: Arc::clone(&door) as _,
        commands: Arc::new(|name| FAKE_COMMANDS.contains(&name) || name == "denied"),
        names: Arc::new(|| FAKE_COMMANDS.iter().map(|it| (*it).to_owned()).collect()),
        absent: Arc::new(|_| None),
        files: Arc::clone(&files),
        clock: Arc::new(FixedClock::at_second(1_700_000_000)),
        roots: vec!["/w".into(), "/tmp".into()],
        scratch: "/tmp".into(),
        cwd: "/w".into(),
        env: vec![("HOME".into(), "/home".into()), ("PATH".into(), "/usr/bin:/bin".into())],
        name: "bash".into(),
        args: Vec::new(),
        mode,
        seed: 42,
        limits,
        stage_limits: Limits::default(),
        line_memory_bytes_max: 384 << 20,
    });
    Room { door, files, shell }
}

impl Room {
    pub fn run(&mut self, text: &str) -> Ran {
        self.run_on(text, "")
    }

    pub fn run_on(&mut self, text: &str, stdin: &str) -> Ran {
        let streams = Streams {
            stdin: Source::from(stdin.as_bytes().to_vec()),
            stdout: Sink::capture(),
            stderr: Sink::capture(),
        };
        self.files.begin_line();
        let (report, streams) = block_on(self.shell.run(text, streams));
        let text = |sink: Sink| String::from_utf8_lossy(&sink.into_captured()).into_owned();
        Ran { status: report.status, stdout: text(streams.stdout), stderr: text(streams.stderr), report }
    }
}
