//! A shell and one line of it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
};

use drydock_contract::{
    Dispatch, Limits, Meter, Streams, exit,
    port::{Clock, Interrupt},
};
use parking_lot::Mutex;

use super::{
    LineFiles, LineReport, ShellLimits,
    exec::Discarded,
    fd::{Fd, Input, Output},
    inbox::{Directory, Inbox},
    state::{Env, Flow, Shared},
    syntax,
    tasks::Tasks,
    vars::{Value, Vars},
};

/// How a shell differs from bash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode {
    /// An unset `$name` of a command's words stays as it was typed.
    pub literal_unknown: bool,
    /// `eval` and `source` parse text again, and so do shells inside this one.
    pub eval_allowed: bool,
    /// Scripts that the line did not write need no such permission. Off where one file has two names
    /// that the line's files cannot tell to be one.
    pub scripts_allowed: bool,
    /// The text is a script file: fatal expansion errors are status 1, and not 127.
    pub script_file: bool,
}

impl Default for Mode {
    fn default() -> Self {
        Self { literal_unknown: false, eval_allowed: false, scripts_allowed: true, script_file: false }
    }
}

/// What to say of a name that is no command, after the name and a colon, where more is known of it than that.
pub type Remedy = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What a shell is made of.
pub struct ShellSpec {
    /// Where commands are called.
    pub door: Arc<dyn Dispatch>,
    /// Whether a name is a command that may be run.
    pub commands: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    /// All of them, to find the one that was meant.
    pub names: Arc<dyn Fn() -> Vec<String> + Send + Sync>,
    /// What to say of a name that is none.
    pub absent: Remedy,
    /// The files redirections, globs and tests see. Its commands must see them through the same one.
    pub files: Arc<LineFiles>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Directories redirections may reach; empty for all of `files`.
    pub roots: Vec<String>,
    /// Where process substitutions keep their files.
    pub scratch: String,
    /// The working directory.
    pub cwd: String,
    /// Exported variables.
    pub env: Vec<(String, String)>,
    /// `$0`.
    pub name: String,
    /// `$1` and on.
    pub args: Vec<String>,
    /// How it differs from bash.
    pub mode: Mode,
    /// Where `$RANDOM` starts, and what all other numbers of the shell are derived from.
    pub seed: u64,
    /// What a line may cost.
    pub limits: ShellLimits,
    /// What one of its commands may cost, to say so when one cost more.
    pub stage_limits: Limits,
    /// The memory of a line's shell and commands together, to say so likewise.
    pub line_memory_bytes_max: u64,
}

/// A shell. Variables, functions, the working directory and options live as long as it does.
pub struct Shell {
    env: Env,
}

impl Shell {
    /// A new shell.
    pub fn new(spec: ShellSpec) -> Self {
        let mut vars = Vars::new(spec.limits.variable_bytes_max);
        for (name, value) in &spec.env {
            if syntax::is_name(name) {
                let var = vars.entry(name);
                var.value = Value::Scalar(value.clone());
                var.attributes.exported = true;
            }
        }
        let shell_own = [
            ("IFS", " \t\n"),
            ("OPTIND", "1"),
            ("OPTERR", "1"),
            ("PWD", spec.cwd.as_str()),
            ("BASH_VERSION", "5.2.15(1)-release"),
            ("BASH", "/bin/bash"),
            ("HOSTNAME", "drydock"),
            ("OSTYPE", "linux-gnu"),
            ("MACHTYPE", "wasm32-unknown-wasi"),
            ("HOSTTYPE", "wasm32"),
            ("PS4", "+ "),
            ("SHLVL", "1"),
            ("UID", "1000"),
            ("EUID", "1000"),
            ("PPID", "0"),
        ];
        for (name, value) in shell_own {
            vars.entry(name).value = Value::Scalar(value.to_owned());
        }
        let version = ["5", "2", "15", "1", "release", "wasm32-unknown-wasi"].map(str::to_owned);
        let versinfo = vars.entry("BASH_VERSINFO");
        versinfo.value = Value::Indexed((0..).zip(version).collect());
        versinfo.attributes.readonly = true;
        for name in ["UID", "EUID", "PPID"] {
            let attributes = &mut vars.entry(name).attributes;
            attributes.readonly = true;
            attributes.integer = true;
        }
        vars.entry("PWD").attributes.exported = true;
        let now = spec.clock.now();
        let shared = Arc::new(Shared {
            door: spec.door,
            commands: spec.commands,
            names: spec.names,
            absent: spec.absent,
            files: until_expired(spec.files, &spec.limits),
            clock: spec.clock,
            roots: spec.roots,
            scratch: spec.scratch,
            mode: spec.mode,
            limits: spec.limits,
            stage_limits: spec.stage_limits,
            line_memory_bytes_max: spec.line_memory_bytes_max,
            memory: Mutex::default(),
            tasks: Arc::new(Tasks::default()),
            steps: AtomicU64::new(0),
            aborted: AtomicBool::new(false),
            abort: Mutex::new(None),
            records: Mutex::default(),
            stages: AtomicU64::new(0),
            next_id: AtomicU32::new(2),
            directory: Directory::default(),
            handed: Mutex::default(),
        });
        let inbox = Arc::new(Inbox::default());
        shared.directory.enter(1, &inbox);
        let env = Env {
            vars,
            args: Arc::new(spec.args),
            name: spec.name.into(),
            cwd: spec.cwd,
            script_file: spec.mode.script_file,
            random: (spec.seed as u32, 0),
            seed: spec.seed,
            seconds_from: now,
            id: 1,
            inbox,
            ..Env::bare(shared)
        };
        Self { env }
    }

    /// Runs a text. `Streams` come back with what was captured.
    pub async fn run(&mut self, text: &str, streams: Streams) -> (LineReport, Streams) {
        self.run_with(text, streams, AtEnd::RunExitTrap).await
    }

    /// The same, for one line of many: the EXIT trap waits for `exit`.
    pub async fn run_line(&mut self, text: &str, streams: Streams) -> (LineReport, Streams) {
        self.run_with(text, streams, AtEnd::KeepExitTrap).await
    }

    /// What the shell itself holds for the next line is charged to this.
    pub fn charge(&mut self, memory: Arc<Meter>) {
        *self.env.shared.memory.lock() = Some(memory);
    }

    /// What `$?` is for the next line, where something outside ended the last one.
    pub fn set_status(&mut self, status: i32) {
        self.env.status = status;
    }

    /// The working directory.
    pub fn cwd(&self) -> &str {
        &self.env.cwd
    }

    /// The value of a variable.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.env.vars.get(name)
    }

    /// This shell as a command that its own commands may start.
    pub fn inside(&self) -> Arc<dyn drydock_gate::Inside> {
        Arc::new(super::inside::Within(Arc::downgrade(&self.env.shared)))
    }

    /// Names of variables and functions that start so, for completion.
    pub fn names_with(&self, prefix: &str) -> Vec<String> {
        let functions = self.env.functions.keys().cloned();
        let builtins = super::builtin::NAMES.iter().map(|it| (*it).to_owned());
        let mut names: Vec<String> = functions.chain(builtins).filter(|it| it.starts_with(prefix)).collect();
        names.sort_unstable();
        names
    }

    async fn run_with(&mut self, text: &str, streams: Streams, at_end: AtEnd) -> (LineReport, Streams) {
        let shared = Arc::clone(&self.env.shared);
        let started = shared.clock.now();
        shared.steps.store(0, Ordering::Relaxed);
        shared.stages.store(0, Ordering::Relaxed);
        shared.aborted.store(false, Ordering::Relaxed);
        *shared.abort.lock() = None;
        let input = Arc::new(Input::new(streams.stdin));
        let output = Arc::new(Output::new(streams.stdout));
        let errors = Arc::new(Output::new(streams.stderr));
        // What `exec 3<file` opened stays; the three standard ones are this run's.
        self.env.fds.insert(0, Fd::Input(Arc::clone(&input)));
        self.env.fds.insert(1, Fd::Output(Arc::clone(&output)));
        self.env.fds.insert(2, Fd::Output(Arc::clone(&errors)));
        let mut report = LineReport::default();
        // Of a line that is not finished nothing runs: the prompt will ask for the rest.
        if at_end == AtEnd::KeepExitTrap
            && let Err(error) = syntax::parse(text, shared.limits.parse())
            && error.incomplete
        {
            let _ = self.env.announce(&error.to_string()).await;
            self.env.status = 2;
            report.status = 2;
            report.syntax = Some(error);
            return (report, self.take_back(&input, &output, &errors));
        }
        let text = text.to_owned();
        let hollow = self.env.hollow();
        let mut env = std::mem::replace(&mut self.env, hollow);
        let main = shared.tasks.spawn(async move {
            let (result, stopped) = env.run_text(&text, Discarded::Line).await;
            if let Some(error) = &stopped {
                let _ = env.announce(&error.to_string()).await;
                env.status = 2;
            }
            let exiting = matches!(result, Err(Flow::Exit(_)));
            if exiting || at_end == AtEnd::RunExitTrap {
                env.settle(&result);
                let _ = env.run_trap("EXIT").await;
            } else {
                env.settle(&result);
            }
            (env, exiting, stopped)
        });
        let aborted = || shared.aborted.load(Ordering::Relaxed) && main.is_done();
        shared.tasks.drive(shared.clock.stepped(), aborted).await;
        if let Some((env, exiting, stopped)) = main.take() {
            self.env = env;
            report.syntax = stopped;
            report.exited = exiting;
        }
        report.limit = shared.abort.lock().take();
        if report.limit.is_some() {
            self.env.status = i32::from(exit::LIMITED);
        }
        if let Some(limit) = report.limit.as_ref().filter(|it| !it.is_empty()) {
            let _ = self.env.announce(&format!("limit: {limit}")).await;
        }
        self.env.reset();
        report.status = self.env.status;
        report.stages = std::mem::take(&mut *shared.records.lock());
        report.stages_total = shared.stages.load(Ordering::Relaxed);
        report.steps = shared.steps.load(Ordering::Relaxed);
        report.micros = shared.clock.now().0.saturating_sub(started.0) / 1_000;
        (report, self.take_back(&input, &output, &errors))
    }

    fn take_back(&mut self, input: &Input, output: &Output, errors: &Output) -> Streams {
        for number in 0..3 {
            self.env.fds.remove(&number);
        }
        Streams { stdin: input.take(), stdout: output.take(), stderr: errors.take() }
    }
}

/// The files, whose long work ends when the line must.
fn until_expired(files: Arc<LineFiles>, limits: &ShellLimits) -> Arc<LineFiles> {
    let Some(expired) = limits.expired.clone() else { return files };
    let time_is_up: Interrupt = Arc::new(move || expired().is_some());
    files.bounded(&time_is_up).map_or(files, Arc::new)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AtEnd {
    RunExitTrap,
    KeepExitTrap,
}

impl Env {
    /// Forgets what belonged to the line that ended.
    fn reset(&mut self) {
        self.jobs.clear();
        self.calls.clear();
        self.sites.clear();
        self.sources.clear();
        self.call_depth = 0;
        self.loops = 0;
        self.tested = 0;
        self.in_trap = false;
        self.processes.clear();
        while self.vars.depth() > 1 {
            self.vars.pop_scope();
        }
    }
}
