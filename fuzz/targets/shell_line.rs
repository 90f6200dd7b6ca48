//! Any text at the shell: it parses or says why not, and what parses runs to an end within its limits.
#![no_main]

use std::sync::Arc;

use drydock_contract::{
    BoxFuture, Limits, Meter, Sink, Source, Streams,
    port::{Clock, Files, TreePath},
};
use drydock_shell::{
    Mode, Shell, ShellLimits, ShellSpec,
    door::{CallingCommands, Commands, Door, Ended, FilesTree, Start, Tree},
    explain, parses,
};
use drydock_store::MemoryFiles;
use drydock_testkit::{FAKE_COMMANDS, FakeDoor, FixedClock, block_on};

struct FuzzDoor {
    commands: CallingCommands,
    files: Arc<MemoryFiles>,
    clock: Arc<FixedClock>,
}

impl Commands for FuzzDoor {
    fn start<'a>(&'a self, start: Start<'a>) -> BoxFuture<'a, Ended> {
        self.commands.start(start)
    }
}

impl Door for FuzzDoor {
    fn tree(&self) -> Arc<dyn Tree> {
        let (files, clock) = (Arc::clone(&self.files) as _, Arc::clone(&self.clock) as _);
        Arc::new(FilesTree::new(files, clock, &(Arc::new(|| false) as _)))
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock) as _
    }

    fn has_command(&self, name: &str) -> bool {
        FAKE_COMMANDS.contains(&name)
    }
}

libfuzzer_sys::fuzz_target!(|input: (bool, &str)| {
    let (literal_unknown, text) = input;
    let limits = ShellLimits {
        steps_max: 2_000,
        call_depth_max: 50,
        subshell_depth_max: 8,
        tasks_max: 64,
        variable_bytes_max: 64 << 10,
        expansion_bytes_max: 64 << 10,
        words_max: 2_000,
        ..ShellLimits::default()
    };
    let readable = parses(text);
    assert_eq!(explain(text, &ShellLimits::default()).is_ok(), readable);
    // `sleep forever` is the one fake command that never ends; nobody here would end it.
    if !readable || text.contains("sleep") {
        return;
    }
    let meter = Arc::new(Meter::new(Limits::default().memory_bytes_max));
    let files = Arc::new(MemoryFiles::with(meter));
    for name in ["w", "tmp"] {
        let path = TreePath::new(name).expect("a plain name is a path");
        files
            .create_dir(&path, drydock_contract::port::Mode::DIRECTORY, Default::default())
            .expect("an empty tree has room");
    }
    let clock = Arc::new(FixedClock::at_second(1));
    let fake = Arc::new(FakeDoor::new(Arc::clone(&files) as _));
    let mut shell = Shell::new(ShellSpec {
        door: Arc::new(FuzzDoor { commands: CallingCommands::new(fake, &*clock), files, clock }),
        roots: vec!["/w".into(), "/tmp".into()],
        cwd: "/w".into(),
        env: Vec::new(),
        name: "bash".into(),
        args: Vec::new(),
        mode: Mode { literal_unknown, eval_allowed: true, ..Mode::default() },
        seed: 1,
        limits,
        stage_limits: Limits::default(),
        line_memory_bytes_max: 384 << 20,
    });
    let streams = Streams {
        stdin: Source::Empty,
        stdout: Sink::capture(),
        stderr: Sink::capture(),
        ..Streams::default()
    };
    let (report, _) = block_on(shell.run(text, streams));
    assert!((0..=255).contains(&report.status), "{}", report.status);
});
