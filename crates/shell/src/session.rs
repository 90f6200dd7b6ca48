//! A shell and one line of it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
};

use drydock_abi::shell::TextFrom;
use drydock_contract::{Limits, SharedSink, SharedSource, Streams, exit};
use parking_lot::Mutex;

use super::{
    LineReport, Mode, NestedShells, ShellLimits,
    builtin::startup,
    checkpoint::Kept,
    door::{Door, LineEnds},
    exec::Discarded,
    fd::Fd,
    inbox::{Directory, Inbox, Interrupter},
    state::{Env, Flow, Shared},
    syntax,
    tasks::Tasks,
    vars::{Value, Vars},
};

/// What a shell is made of.
pub struct ShellSpec {
    /// All it has of the outside.
    pub door: Arc<dyn Door>,
    /// Directories redirections may reach; empty for all of the door's files.
    pub roots: Vec<String>,
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
    pub(crate) env: Env,
    /// What was saved last, to save again only what changed.
    pub(crate) kept: Kept,
    /// A line has the state of the shell. What is left of that when a line was dropped is not worth saving.
    pub(crate) is_running: bool,
    /// What stood in for the state during the last line, to stand in for it again.
    spare: Option<Env>,
}

impl Shell {
    /// A new shell.
    pub fn new(spec: ShellSpec) -> Self {
        let vars = starting_variables(&spec);
        let clock = spec.door.clock();
        let shared = Arc::new(Shared {
            files: spec.door.tree(),
            clock,
            door: spec.door,
            roots: spec.roots,
            mode: spec.mode,
            limits: spec.limits,
            stage_limits: spec.stage_limits,
            line_memory_bytes_max: spec.line_memory_bytes_max,
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
        let mut env = Env { vars, ..Env::bare(shared) };
        env.frame.args = Arc::new(spec.args);
        env.identity.id = 1;
        env.identity.name = spec.name.into();
        env.identity.text_from = spec.mode.text_from;
        env.options.switch_on(spec.mode.switches);
        if spec.mode.is_typed {
            startup::typed(&mut env);
        }
        env.dirs.cwd = spec.cwd.into();
        env.computed.seed = spec.seed;
        env.computed.start_random(spec.seed as u32);
        env.traps.inbox = inbox;
        Self { env, kept: Kept::default(), is_running: false, spare: None }
    }

    /// Runs a text. `Streams` come back with what was captured.
    pub async fn run(&mut self, text: &str, streams: Streams) -> (LineReport, Streams) {
        let (stdin, stdout) = (SharedSource::new(streams.stdin), SharedSink::new(streams.stdout));
        let stderr = SharedSink::new(streams.stderr);
        let ends = LineEnds {
            stdin: Arc::new(stdin.clone()),
            stdout: Arc::new(stdout.clone()),
            stderr: Arc::new(stderr.clone()),
        };
        let report = self.run_between(text, ends, AtEnd::RunExitTrap).await;
        (
            report,
            Streams {
                stdin: stdin.take(),
                stdout: stdout.take(),
                stderr: stderr.take(),
                ..Streams::default()
            },
        )
    }

    /// Runs what `PROMPT_COMMAND` says, before a prompt is shown; true if that ended the shell. `$?` is left as it was. The
    /// value is parsed, so nothing of it runs where `eval` is refused.
    pub async fn run_prompt_command(&mut self, ends: LineEnds) -> bool {
        if !self.env.shared.mode.eval_allowed {
            return false;
        }
        let status = self.env.status;
        for text in self.env.value("PROMPT_COMMAND").elements() {
            if self.run_between(&text, ends.clone(), AtEnd::KeepExitTrap).await.exited {
                return true;
            }
            self.env.status = status;
        }
        false
    }

    /// What `$?` is for the next line, where something outside ended the last one.
    pub fn set_status(&mut self, status: i32) {
        self.env.status = status;
    }

    /// The working directory.
    pub fn cwd(&self) -> &str {
        &self.env.dirs.cwd
    }

    /// The value of a variable.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.env.vars.get(name)
    }

    /// Hands Ctrl-C on to it.
    pub fn interrupter(&self) -> Interrupter {
        Interrupter(Arc::clone(&self.env.traps.inbox))
    }

    /// This shell as a command that its own commands may start.
    pub fn nested(&self) -> NestedShells {
        NestedShells::of(&self.env.shared)
    }

    /// Names of variables and functions that start so, for completion.
    pub fn names_with(&self, prefix: &str) -> Vec<String> {
        let functions = self.env.definitions.functions.keys().cloned();
        let builtins = super::builtin::names().map(str::to_owned);
        let mut names: Vec<String> = functions.chain(builtins).filter(|it| it.starts_with(prefix)).collect();
        names.sort_unstable();
        names
    }

    /// Runs a text, or one line of many, between these streams.
    pub async fn run_between(&mut self, text: &str, ends: LineEnds, at_end: AtEnd) -> LineReport {
        let shared = Arc::clone(&self.env.shared);
        shared.steps.store(0, Ordering::Relaxed);
        shared.stages.store(0, Ordering::Relaxed);
        shared.aborted.store(false, Ordering::Relaxed);
        *shared.abort.lock() = None;
        // What `exec 3<file` opened stays; the three standard ones are this run's.
        self.env.fds.insert(0, Fd::PipeIn(ends.stdin));
        self.env.fds.insert(1, Fd::PipeOut(ends.stdout));
        self.env.fds.insert(2, Fd::PipeOut(ends.stderr));
        // A trap that an earlier line set.
        if !self.env.traps.set.is_empty() {
            self.env.tell_interrupts();
        }
        let mut report = LineReport::default();
        let text = text.to_owned();
        let hollow = self.spare.take().unwrap_or_else(|| self.env.hollow());
        let mut env = std::mem::replace(&mut self.env, hollow);
        self.is_running = true;
        let main = shared.tasks.spawn(async move {
            // Of a line that is not finished nothing runs: the prompt will ask for the rest.
            let (result, stopped) = match at_end {
                AtEnd::RunExitTrap if env.identity.text_from == TextFrom::Stdin => env.run_stdin(&text).await,
                AtEnd::RunExitTrap => env.run_text(&text, Discarded::Line).await,
                AtEnd::KeepExitTrap => env.run_finished(&text, Discarded::Line).await,
            };
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
            // Pipes end with the line, and its jobs with them.
            env.fds.close_pipes();
            (env, exiting, stopped)
        });
        let aborted = || shared.aborted.load(Ordering::Relaxed) && main.is_done();
        shared.tasks.drive(shared.clock.stepped(), aborted).await;
        if let Some((env, exiting, stopped)) = main.take() {
            self.spare = Some(std::mem::replace(&mut self.env, env));
            self.is_running = false;
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
        self.env.after_line();
        report.status = self.env.status;
        report.stages = std::mem::take(&mut *shared.records.lock());
        report.stages_total = shared.stages.load(Ordering::Relaxed);
        report.steps = shared.steps.load(Ordering::Relaxed);
        self.take_back();
        report
    }

    fn take_back(&mut self) {
        for number in 0..3 {
            self.env.fds.remove(number);
        }
    }
}

/// What a shell that begins has: the environment it was given, and what is its own.
fn starting_variables(spec: &ShellSpec) -> Vars {
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
    for (name, value) in [("PATH", startup::PATH), ("SHELL", startup::SHELL)] {
        if vars.get(name).is_none() {
            vars.entry(name).value = Value::Scalar(value.to_owned());
        }
    }
    let version = ["5", "2", "15", "1", "release", "wasm32-unknown-wasi"].map(str::to_owned);
    let versinfo = vars.entry("BASH_VERSINFO");
    versinfo.value = Value::Indexed((0..).zip(version).collect());
    versinfo.attributes.readonly = true;
    // Their values are computed, and nobody else's to set.
    for name in ["BASHOPTS", "SHELLOPTS"] {
        let var = vars.entry(name);
        var.value = Value::Scalar(String::new());
        var.attributes.readonly = true;
    }
    for name in ["UID", "EUID", "PPID"] {
        let attributes = &mut vars.entry(name).attributes;
        attributes.readonly = true;
        attributes.integer = true;
    }
    vars.entry("PWD").attributes.exported = true;
    vars
}

/// What is done at the end of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtEnd {
    /// It is all there is: the EXIT trap runs.
    RunExitTrap,
    /// It is one line of many: the EXIT trap waits for `exit`.
    KeepExitTrap,
}
