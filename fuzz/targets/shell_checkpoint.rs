//! Any bytes as the checkpoint of a shell: a clear error, or a shell that runs and that can be saved and restored again
//! to the same bytes.
#![no_main]

use std::sync::Arc;

use drydock_contract::{
    BoxFuture, Limits, Meter, Sink, Source, Streams,
    port::{Clock, Files, TreePath},
};
use drydock_shell::{
    CHECKPOINT_VERSION, Mode, Shell, ShellLimits, ShellSpec,
    door::{CallingCommands, Commands, Door, Ended, FilesTree, Start, Tree},
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

fn spec(files: &Arc<MemoryFiles>) -> ShellSpec {
    let limits = ShellLimits {
        steps_max: 2_000,
        call_depth_max: 50,
        subshell_depth_max: 8,
        tasks_max: 64,
        text_bytes_max: 64 << 10,
        variable_bytes_max: 64 << 10,
        expansion_bytes_max: 64 << 10,
        words_max: 2_000,
        ..ShellLimits::default()
    };
    let clock = Arc::new(FixedClock::at_second(1));
    let fake = Arc::new(FakeDoor::new(Arc::clone(files) as _));
    let commands = CallingCommands::new(fake, &*clock);
    ShellSpec {
        door: Arc::new(FuzzDoor { commands, files: Arc::clone(files), clock }),
        roots: vec!["/w".into(), "/tmp".into()],
        cwd: "/w".into(),
        env: Vec::new(),
        name: "bash".into(),
        args: Vec::new(),
        mode: Mode { eval_allowed: true, ..Mode::default() },
        seed: 1,
        limits,
        stage_limits: Limits::default(),
        line_memory_bytes_max: 384 << 20,
    }
}

// Nine parts in the frame that they need, or the bytes of all of them as they are.
libfuzzer_sys::fuzz_target!(|input: (Option<[&[u8]; 9]>, &[u8])| {
    let bytes = match input {
        (None, bytes) => bytes.to_vec(),
        (Some(parts), trailing) => {
            let mut all = b"drysh\0".to_vec();
            all.extend_from_slice(&CHECKPOINT_VERSION.to_le_bytes());
            for part in parts {
                all.extend_from_slice(&(part.len() as u32).to_le_bytes());
                all.extend_from_slice(part);
            }
            all.extend_from_slice(trailing);
            all
        }
    };
    // `sleep forever` is the one fake command that never ends, and a trap may say it; nobody here would end it.
    if bytes.windows(5).any(|it| it == b"sleep") {
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
    let Ok((mut shell, _)) = Shell::restore(spec(&files), &bytes) else { return };
    let saved = shell.save().expect("what was restored can be saved").to_vec();
    let (mut again, _) = Shell::restore(spec(&files), &saved).expect("what was saved can be restored");
    assert_eq!(again.save().expect("once more").to_vec(), saved);
    let streams = Streams {
        stdin: Source::Empty,
        stdout: Sink::capture(),
        stderr: Sink::capture(),
        ..Streams::default()
    };
    let text = "declare -p; declare -f; set -o; trap; getopts ab x; (echo $RANDOM $SECONDS $_ >&3); cd -";
    let (report, _) = block_on(shell.run(text, streams));
    assert!((0..=255).contains(&report.status), "{}", report.status);
});
