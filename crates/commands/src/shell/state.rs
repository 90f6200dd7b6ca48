//! The state of a shell. A subshell is a copy of it.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering},
    },
};

use drydock_contract::{Dispatch, Limits, Meter, Timestamp, Waited, exit, port::Clock, schedule, size_text};
use parking_lot::Mutex;

use super::{
    LineFiles, Mode, StageRecord,
    fd::{Fd, FdTable},
    inbox::{Directory, Inbox},
    limits::ShellLimits,
    options::Options,
    origin::Origin,
    syntax::{Aliases, Script, ast::Function},
    tasks::{Handle, Tasks},
    vars::Vars,
};

/// How evaluation leaves where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Flow {
    Break(u32),
    Continue(u32),
    Return(i32),
    Exit(i32),
    /// An error that costs the rest of the line.
    Discard,
    /// A limit: nothing more of this `run` is evaluated.
    Abort,
}

pub(crate) type Eval<T> = Result<T, Flow>;

/// What all copies of one shell share.
pub(crate) struct Shared {
    pub(crate) door: Arc<dyn Dispatch>,
    pub(crate) commands: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    pub(crate) names: Arc<dyn Fn() -> Vec<String> + Send + Sync>,
    pub(crate) absent: super::session::Remedy,
    pub(crate) files: Arc<LineFiles>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) roots: Vec<String>,
    pub(crate) scratch: String,
    pub(crate) mode: Mode,
    pub(crate) limits: ShellLimits,
    /// The limits of a command, and of all memory of a line, to name them by.
    pub(crate) stage_limits: Limits,
    pub(crate) line_memory_bytes_max: u64,
    /// What the line in flight is charged for the shell's own memory.
    pub(crate) memory: Mutex<Option<Arc<Meter>>>,
    pub(crate) tasks: Arc<Tasks>,
    pub(crate) steps: AtomicU64,
    pub(crate) aborted: AtomicBool,
    pub(crate) abort: Mutex<Option<String>>,
    pub(crate) records: Mutex<Vec<StageRecord>>,
    pub(crate) stages: AtomicU64,
    pub(crate) next_id: AtomicU32,
    pub(crate) directory: Directory,
    /// What `export -f` named: the functions of shells that commands start.
    pub(crate) handed: Mutex<HashMap<String, Arc<Function>>>,
}

/// How many jobs that ended are remembered.
const ENDED_MAX: usize = 256;

/// Whether a limit ended a command of a stage of a pipeline that nobody looked at: its status, or 0.
#[derive(Clone, Default)]
pub(crate) struct Limited {
    status: Arc<AtomicI32>,
    /// How often `tested` was counted when the stage began: above that, the stage itself looks.
    tested: u32,
}

impl Limited {
    /// For a stage that begins where `tested` stands so.
    pub(crate) fn new(tested: u32) -> Self {
        Self { status: Arc::default(), tested }
    }

    pub(crate) fn note(&self, status: i32, tested: u32) {
        if tested <= self.tested {
            self.status.store(status, Ordering::Relaxed);
        }
    }

    pub(crate) fn status(&self) -> i32 {
        self.status.load(Ordering::Relaxed)
    }
}

/// A background job.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) id: u32,
    /// What `%1` means.
    pub(crate) number: u32,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) done: Handle<i32>,
    /// The command, as typed.
    pub(crate) typed: Arc<str>,
}

/// What a trap does.
#[derive(Clone)]
pub(crate) struct Trap {
    pub(crate) text: String,
    pub(crate) script: Option<Arc<Script>>,
    /// The trap of the shell around this one: it is listed, and does not run.
    pub(crate) inert: bool,
}

#[derive(Clone)]
pub(crate) struct Env {
    pub(crate) shared: Arc<Shared>,
    pub(crate) vars: Vars,
    pub(crate) functions: Arc<HashMap<String, Arc<Function>>>,
    pub(crate) aliases: Arc<Aliases>,
    /// Their expansion was asked for, and refused.
    pub(crate) aliases_refused: bool,
    /// What `hash` and `complete` were told.
    pub(crate) hashed: Arc<BTreeMap<String, String>>,
    pub(crate) completions: Arc<BTreeMap<String, String>>,
    pub(crate) args: Arc<Vec<String>>,
    pub(crate) name: Arc<str>,
    pub(crate) options: Options,
    pub(crate) cwd: String,
    pub(crate) dirs: Vec<String>,
    pub(crate) fds: FdTable,
    pub(crate) status: i32,
    pub(crate) pipe_status: Vec<i32>,
    pub(crate) last_job: Option<u32>,
    pub(crate) jobs: Vec<Job>,
    /// How jobs ended that were waited for already.
    pub(crate) ended: BTreeMap<u32, i32>,
    /// `$$`, and where signals to it arrive.
    pub(crate) pid: u32,
    pub(crate) inbox: Arc<Inbox>,
    /// Whether this is the shell or job the inbox belongs to, and no subshell of it.
    pub(crate) owns_inbox: bool,
    pub(crate) traps: Arc<HashMap<String, Trap>>,
    pub(crate) calls: Vec<String>,
    /// Where each of `calls` was called: the line, and the text it stands in.
    pub(crate) sites: Vec<(u32, Arc<str>)>,
    /// Files being sourced, and the line that did.
    pub(crate) sources: Vec<(u32, Arc<str>)>,
    pub(crate) call_depth: u32,
    pub(crate) sourced: u32,
    pub(crate) loops: u32,
    /// Above 0, failing does not end the shell however `-e` is set.
    pub(crate) tested: u32,
    pub(crate) subshell: u32,
    /// Subshells around the shell this belongs to: above 0 for `bash -c` inside a script.
    pub(crate) shell_level: u32,
    /// Whether the text is a script file.
    pub(crate) script_file: bool,
    pub(crate) interactive: bool,
    /// Where `$RANDOM` stands, and what it last gave.
    pub(crate) random: (u32, u32),
    /// What `$SRANDOM` and the subshells' `$RANDOM` are derived from.
    pub(crate) seed: u64,
    pub(crate) origin: Origin,
    pub(crate) seconds_from: Timestamp,
    pub(crate) line: u32,
    /// The status of the last command substitution of the command being expanded.
    pub(crate) substituted: Option<i32>,
    /// Names the texts so far gave values to: theirs, however unset.
    pub(crate) known: Arc<HashSet<String>>,
    /// Whether unknown names of the word being expanded stay as typed.
    pub(crate) keep_unknown: bool,
    pub(crate) getopts_at: usize,
    pub(crate) in_trap: bool,
    /// Files of process substitutions to remove, and what reads them first.
    pub(crate) processes: Vec<Process>,
    pub(crate) id: u32,
    /// Descriptors a `{name}>` opened.
    pub(crate) named_fds: BTreeSet<u32>,
    /// Command substitutions around what is being evaluated.
    pub(crate) substitutions: u32,
    /// What `umask` says.
    pub(crate) mask: u32,
    /// `$_`.
    pub(crate) last_word: String,
    /// `BASH_COMMAND`, where a text asks for it.
    pub(crate) command: Arc<str>,
    /// Functions that a shell inside this one has too.
    pub(crate) exported_functions: Arc<BTreeSet<String>>,
    /// Where each function was defined.
    pub(crate) defined_in: Arc<HashMap<String, Arc<str>>>,
    /// The status an EXIT trap began with: what `exit` alone means in it.
    pub(crate) exit_status: Option<i32>,
    /// An arithmetic error costs a line, and the shell not even under `-e`.
    pub(crate) forgiven: bool,
    /// References and prompts inside one another.
    pub(crate) inside_itself: u32,
    /// Where commands are called, if not at the line's own door.
    pub(crate) door: Option<Arc<dyn Dispatch>>,
    /// When it must have ended: what `timeout` allows.
    pub(crate) deadline: Option<NestedDeadline>,
    /// The stage of a pipeline that this belongs to.
    pub(crate) limited: Limited,
}

/// A process substitution that was turned into a file.
#[derive(Clone)]
pub(crate) struct Process {
    pub(crate) path: String,
    /// Runs when the command that writes the file is done.
    pub(crate) reader: Option<Arc<Script>>,
}

/// The end of what `timeout` allows a shell. Compiling what it starts is not its time.
#[derive(Debug, Clone)]
pub(crate) struct NestedDeadline {
    pub(crate) until: Timestamp,
    pub(crate) waited: Waited,
}

impl NestedDeadline {
    /// Where it lies now.
    pub(crate) fn at(&self) -> Timestamp {
        let waited = u64::try_from(self.waited.so_far().as_nanos()).unwrap_or(u64::MAX);
        Timestamp(self.until.0.saturating_add(waited))
    }
}

impl Env {
    /// A copy for a subshell.
    pub(crate) fn fork(&self) -> Self {
        let mut copy = self.clone();
        copy.subshell += 1;
        copy.jobs.clear();
        copy.processes.clear();
        copy.id = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        copy.owns_inbox = false;
        copy.origin = self.origin.child();
        // As bash's, a subshell draws numbers of its own.
        copy.seed_random(self.seed);
        // A subshell lists its parent's traps and runs none, save what `-E` and `-T` hand on and what
        // is ignored.
        if !copy.traps.is_empty() {
            for (name, trap) in Arc::make_mut(&mut copy.traps) {
                let kept = match name.as_str() {
                    "ERR" => self.options.errtrace,
                    "DEBUG" | "RETURN" => self.options.functrace,
                    _ => trap.text.is_empty(),
                };
                trap.inert |= !kept;
            }
        }
        copy.in_trap = false;
        copy.loops = 0;
        copy
    }

    /// An empty shell to stand in while the real one is elsewhere.
    pub(crate) fn hollow(&self) -> Self {
        let mut copy = Self {
            vars: Vars::new(0),
            functions: Arc::default(),
            args: Arc::default(),
            fds: FdTable::new(),
            jobs: Vec::new(),
            calls: Vec::new(),
            dirs: Vec::new(),
            processes: Vec::new(),
            ..self.light()
        };
        copy.status = 0;
        copy
    }

    /// A shell with nothing of `self` but what it belongs to.
    fn light(&self) -> Self {
        Self {
            name: Arc::clone(&self.name),
            options: self.options,
            script_file: self.script_file,
            interactive: self.interactive,
            pid: self.pid,
            inbox: Arc::clone(&self.inbox),
            owns_inbox: self.owns_inbox,
            seconds_from: self.seconds_from,
            known: Arc::clone(&self.known),
            ..Self::bare(Arc::clone(&self.shared))
        }
    }

    /// A shell without anything: no variables, no descriptors.
    pub(crate) fn bare(shared: Arc<Shared>) -> Self {
        let variable_bytes_max = shared.limits.variable_bytes_max;
        let seconds_from = shared.clock.now();
        Self {
            shared,
            vars: Vars::new(variable_bytes_max),
            functions: Arc::default(),
            aliases: Arc::default(),
            aliases_refused: false,
            hashed: Arc::default(),
            completions: Arc::default(),
            args: Arc::default(),
            name: "bash".into(),
            options: Options::default(),
            cwd: String::new(),
            dirs: Vec::new(),
            fds: FdTable::new(),
            status: 0,
            pipe_status: Vec::new(),
            last_job: None,
            jobs: Vec::new(),
            ended: BTreeMap::new(),
            pid: 1,
            inbox: Arc::default(),
            owns_inbox: true,
            traps: Arc::default(),
            calls: Vec::new(),
            sites: Vec::new(),
            sources: Vec::new(),
            call_depth: 0,
            sourced: 0,
            loops: 0,
            tested: 0,
            subshell: 0,
            shell_level: 0,
            script_file: false,
            interactive: false,
            random: (0, 0),
            seed: 0,
            origin: Origin::default(),
            seconds_from,
            line: 0,
            substituted: None,
            known: Arc::default(),
            keep_unknown: false,
            getopts_at: 0,
            in_trap: false,
            processes: Vec::new(),
            id: 0,
            named_fds: BTreeSet::new(),
            substitutions: 0,
            mask: 0o022,
            last_word: String::new(),
            command: Arc::default(),
            exported_functions: Arc::default(),
            defined_in: Arc::default(),
            exit_status: None,
            forgiven: false,
            inside_itself: 0,
            door: None,
            deadline: None,
            limited: Limited::default(),
        }
    }

    /// Keeps how a job ended for whoever asks again.
    pub(crate) fn remember(&mut self, id: u32, status: i32) {
        self.ended.insert(id, status);
        if self.ended.len() > ENDED_MAX {
            self.ended.pop_first();
        }
    }

    /// Whether a trap is there to run.
    pub(crate) fn has_trap(&self, name: &str) -> bool {
        !self.traps.is_empty() && self.traps.get(name).is_some_and(|trap| !trap.inert)
    }

    /// Remembers the names of a text that is about to run.
    pub(crate) fn learn(&mut self, script: &Script) {
        if self.shared.mode.literal_unknown && !script.names.is_empty() {
            Arc::make_mut(&mut self.known).extend(script.names.iter().cloned());
        }
    }

    /// Counts one unit of work; now and then lets others run and looks at the clock.
    pub(crate) async fn step(&mut self) -> Eval<()> {
        let shared = &self.shared;
        if shared.aborted.load(Ordering::Relaxed) {
            return Err(Flow::Abort);
        }
        if self.inbox.any() {
            self.take_signals().await?;
        }
        if self.is_late() {
            return Err(Flow::Exit(i32::from(exit::TIMED_OUT)));
        }
        let shared = &self.shared;
        let done = shared.steps.fetch_add(1, Ordering::Relaxed) + 1;
        if done > shared.limits.steps_max {
            let text = format!("the line took more than {} steps", shared.limits.steps_max);
            return Err(self.abort(text));
        }
        // A step may be long, so time is asked for more often than others get their turn.
        if done.is_multiple_of(16) {
            self.check_expired()?;
            self.check_memory()?;
        }
        if done.is_multiple_of(256) {
            schedule::slice_done().await;
        }
        Ok(())
    }

    /// Whether its time is up.
    pub(crate) fn is_late(&self) -> bool {
        self.deadline.as_ref().is_some_and(|it| self.shared.clock.now() >= it.at())
    }

    /// Ends the run if its variables and its commands together hold too much.
    pub(crate) fn check_memory(&self) -> Eval<()> {
        let memory = self.shared.memory.lock().clone();
        match memory {
            Some(meter) if !self.vars.charge_line(&meter) => Err(self.out_of_memory()),
            _ => Ok(()),
        }
    }

    /// The end of a line whose shell and commands hold too much together.
    pub(crate) fn out_of_memory(&self) -> Flow {
        let max = size_text(self.shared.line_memory_bytes_max);
        self.abort(format!("out_of_memory: the limit is {max} for the whole line; --line-memory allows more"))
    }

    /// Ends the run if whoever started it wants that.
    pub(crate) fn check_expired(&self) -> Eval<()> {
        match self.shared.limits.expired.as_ref().and_then(|it| it()) {
            Some(why) => Err(self.abort(why)),
            None => Ok(()),
        }
    }

    /// Ends the whole run.
    pub(crate) fn abort(&self, text: String) -> Flow {
        let mut abort = self.shared.abort.lock();
        if abort.is_none() {
            *abort = Some(text);
        }
        self.shared.aborted.store(true, Ordering::Relaxed);
        Flow::Abort
    }

    pub(crate) fn fd(&self, number: u32) -> Option<Fd> {
        self.fds.get(&number).cloned()
    }
}
