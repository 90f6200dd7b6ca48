//! A dock for lembeh guests, the example guests, and what comes of running them.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::{
    io::Write,
    sync::{Arc, Mutex},
    time::Duration,
};

use drydock_embed::{
    Dock, DockSettings, LEMBEH_LIMITS, LembehError, LembehPolicy, LembehRun, LembehSetup, WorkerProgram,
    contract::{Limits, Meter, Outcome, port::Files},
    engine::EngineSettings,
    specimen::{Schedule, Transcript},
    store::MemoryFiles,
};

/// Nothing here takes as long.
pub const HANG: Duration = Duration::from_secs(120);

pub const PROBE: &[u8] = include_bytes!("../lembeh_guests/probe.wasm");
pub const FILTER: &[u8] = include_bytes!("../lembeh_guests/filter.wasm");
pub const VIEW: &[u8] = include_bytes!("../lembeh_guests/view.wasm");

/// Programs that most tests start.
pub const PROGRAMS: &str = r#""programs": {"tools/echo": "echo", "tools/cat": "cat", "tools/yes": "yes", "tools/false": "false",
  "tools/sleep": "sleep", "tools/env": "env", "tools/pwd": "pwd", "tools/seq": "seq", "tools/wc": "wc -c", "tools/shout": "tr a-z A-Z",
  "tools/top": {"command": "cat", "tty": true}, "tools/none": "no-such-command"}"#;

pub struct LembehRoom {
    pub dock: Dock,
    _home: tempfile::TempDir,
}

/// What is written while a guest is recorded.
#[derive(Clone, Default)]
pub struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl LembehRoom {
    pub fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let settings = DockSettings {
            worker: Some(WorkerProgram::new(env!("CARGO_BIN_EXE_drydock-compile-worker"), [""; 0])),
            engine: EngineSettings { slots: Some(16), ..EngineSettings::default() },
            ..DockSettings::default()
        };
        Self { dock: Dock::open_with(home.path(), settings).unwrap(), _home: home }
    }

    /// Runs a guest; what the setup says of its policy is that of the text.
    pub async fn run(
        &self,
        guest: &[u8],
        policy: &str,
        setup: LembehSetup,
    ) -> Result<LembehRun, LembehError> {
        let policy = LembehPolicy::parse(policy.as_bytes()).unwrap();
        let session = self.dock.lembeh_session("me", &policy, None).unwrap();
        let module = self.dock.hand_over(guest.to_vec()).await;
        let run = self.dock.run_lembeh(&session, &module, LembehSetup { policy, ..setup });
        tokio::time::timeout(HANG, run).await.unwrap()
    }

    /// What the probe answers to each line of a script.
    pub async fn probe(&self, policy: &str, script: &str) -> String {
        let run = self.run(PROBE, policy, with_input(script)).await.unwrap();
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        assert_eq!(run.report.outcome, Outcome::Exited(0), "{text}{}", String::from_utf8_lossy(&run.stderr));
        text
    }

    /// Runs a guest of the text format under a policy.
    pub async fn wat(&self, wat: &str, policy: &str, setup: LembehSetup) -> Result<LembehRun, LembehError> {
        self.run(&wat::parse_str(wat).unwrap(), policy, setup).await
    }

    /// Runs a guest and writes its calls down.
    pub async fn record(&self, guest: &[u8], policy: &str, setup: LembehSetup) -> (LembehRun, String) {
        let written = Written::default();
        let setup = LembehSetup { record: Some(Box::new(written.clone())), ..setup };
        let run = self.run(guest, policy, setup).await.unwrap();
        assert!(run.is_recorded);
        (run, written.text())
    }

    /// Runs a guest again from a transcript, in a session that was granted nothing.
    pub async fn replay(
        &self,
        guest: &[u8],
        transcript: Transcript,
        schedule: Option<Schedule>,
    ) -> LembehRun {
        self.replay_within(guest, transcript, schedule, LEMBEH_LIMITS).await
    }

    pub async fn replay_within(
        &self,
        guest: &[u8],
        transcript: Transcript,
        schedule: Option<Schedule>,
        limits: Limits,
    ) -> LembehRun {
        let session = self.dock.lembeh_session("me", &LembehPolicy::default(), None).unwrap();
        let module = self.dock.hand_over(guest.to_vec()).await;
        let run = self.dock.replay_lembeh(&session, &module, transcript, schedule, limits);
        tokio::time::timeout(HANG, run).await.unwrap().unwrap()
    }
}

pub fn with_input(text: &str) -> LembehSetup {
    LembehSetup { stdin: text.as_bytes().to_vec().into(), ..LembehSetup::default() }
}

/// A policy with the usual programs and more.
pub fn policy(more: &str) -> String {
    match more {
        "" => format!("{{{PROGRAMS}}}"),
        more => format!("{{{PROGRAMS}, {more}}}"),
    }
}

/// The answer to the last line of a script.
pub fn last(text: &str) -> &str {
    text.trim_end().rsplit('\n').next().unwrap_or_default()
}

/// A tree without files.
pub fn tree() -> Arc<dyn Files> {
    Arc::new(MemoryFiles::with(Arc::new(Meter::new(1 << 20))))
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
