//! The state of a shell. A subshell is a copy of it.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
};

use drydock_contract::{
    Dispatch, Timestamp,
    port::{Clock, Files},
};
use parking_lot::Mutex;

use super::{
    Mode, StageRecord,
    fd::{Fd, FdTable},
    limits::ShellLimits,
    options::Options,
    syntax::{Script, ast::Function},
    tasks::{Handle, Tasks, yield_now},
    vars::{Value, Vars},
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
    pub(crate) files: Arc<dyn Files>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) roots: Vec<String>,
    pub(crate) scratch: String,
    pub(crate) mode: Mode,
    pub(crate) limits: ShellLimits,
    pub(crate) tasks: Arc<Tasks>,
    pub(crate) steps: AtomicU64,
    pub(crate) aborted: AtomicBool,
    pub(crate) abort: Mutex<Option<String>>,
    pub(crate) records: Mutex<Vec<StageRecord>>,
    pub(crate) stages: AtomicU64,
    pub(crate) next_id: AtomicU32,
}

/// A background job.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) id: u32,
    pub(crate) done: Handle<i32>,
}

/// What a trap does.
#[derive(Clone)]
pub(crate) struct Trap {
    pub(crate) text: String,
    pub(crate) script: Option<Arc<Script>>,
}

#[derive(Clone)]
pub(crate) struct Env {
    pub(crate) shared: Arc<Shared>,
    pub(crate) vars: Vars,
    pub(crate) functions: Arc<HashMap<String, Arc<Function>>>,
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
    pub(crate) random: (u32, u32),
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
}

/// A process substitution that was turned into a file.
#[derive(Clone)]
pub(crate) struct Process {
    pub(crate) path: String,
    /// Runs when the command that writes the file is done.
    pub(crate) reader: Option<Arc<Script>>,
}

impl Env {
    /// A copy for a subshell.
    pub(crate) fn fork(&self) -> Self {
        let mut copy = self.clone();
        copy.subshell += 1;
        copy.jobs.clear();
        copy.processes.clear();
        copy.id = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        // A subshell starts without its parent's traps, save what `-E` hands on.
        if !copy.traps.is_empty() {
            let kept = self.traps.get("ERR").filter(|_| self.options.errtrace).cloned();
            copy.traps = Arc::new(kept.map(|trap| ("ERR".to_owned(), trap)).into_iter().collect());
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

    fn light(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            vars: Vars::new(0),
            functions: Arc::default(),
            args: Arc::default(),
            name: Arc::clone(&self.name),
            options: self.options,
            cwd: String::new(),
            dirs: Vec::new(),
            fds: FdTable::new(),
            status: 0,
            pipe_status: Vec::new(),
            last_job: None,
            jobs: Vec::new(),
            traps: Arc::default(),
            calls: Vec::new(),
            sites: Vec::new(),
            sources: Vec::new(),
            call_depth: 0,
            sourced: 0,
            loops: 0,
            tested: 0,
            subshell: 0,
            random: (0, 0),
            seconds_from: self.seconds_from,
            line: 0,
            substituted: None,
            known: Arc::clone(&self.known),
            keep_unknown: false,
            getopts_at: 0,
            in_trap: false,
            processes: Vec::new(),
            id: 0,
            named_fds: BTreeSet::new(),
            substitutions: 0,
            mask: 0o022,
            last_word: String::new(),
        }
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
        let done = shared.steps.fetch_add(1, Ordering::Relaxed) + 1;
        if done > shared.limits.steps_max {
            let text = format!("the line took more than {} steps", shared.limits.steps_max);
            return Err(self.abort(text));
        }
        // A step may be long, so time is asked for more often than others get their turn.
        if done.is_multiple_of(16) {
            self.check_expired()?;
        }
        if done.is_multiple_of(256) {
            yield_now().await;
        }
        Ok(())
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

    /// Writes to a descriptor. Nobody reading is the end of this shell, as SIGPIPE is.
    pub(crate) async fn write(&mut self, number: u32, bytes: &[u8]) -> Eval<bool> {
        if bytes.is_empty() {
            return Ok(true);
        }
        let Some(fd) = self.fd(number) else {
            if number != 2 {
                Box::pin(self.complain("write error: bad file descriptor")).await?;
            }
            return Ok(false);
        };
        match fd.write_all(bytes).await {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(Flow::Exit(141)),
            Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
                if matches!(fd, Fd::Capture(_)) {
                    let max = self.shared.limits.expansion_bytes_max;
                    return Err(self.abort(format!("a command substitution gave more than {max} bytes")));
                }
                Box::pin(self.complain("write error: file too large")).await?;
                Ok(false)
            }
            Err(error) => {
                if number != 2 {
                    Box::pin(self.complain(&format!("write error: {error}"))).await?;
                }
                Ok(false)
            }
        }
    }

    /// Says on stderr what went wrong.
    pub(crate) async fn complain(&mut self, text: &str) -> Eval<()> {
        // The first line counts even where nothing of it ran yet.
        let line = format!("{}: line {}: {text}\n", self.name, self.line.max(1));
        self.write_error(&line).await
    }

    /// The same for what no line of the text is to blame for.
    pub(crate) async fn announce(&mut self, text: &str) -> Eval<()> {
        self.write_error(&format!("drydock: {text}\n")).await
    }

    async fn write_error(&mut self, line: &str) -> Eval<()> {
        let bytes = super::text::to_bytes(line).into_owned();
        match self.write(2, &bytes).await {
            Ok(_) | Err(Flow::Exit(141)) => Ok(()),
            Err(flow) => Err(flow),
        }
    }

    pub(crate) fn next_random(&mut self) -> u32 {
        loop {
            let seed = if self.random.0 == 0 { 123_459_876 } else { self.random.0 };
            let (high, low) = (i64::from(seed / 127_773), i64::from(seed % 127_773));
            let next = 16_807 * low - 2_836 * high;
            let next = if next < 0 { next + 0x7fff_ffff } else { next };
            self.random.0 = next as u32;
            let value = ((self.random.0 >> 16) ^ (self.random.0 & 0xffff)) & 0x7fff;
            if value != self.random.1 {
                self.random.1 = value;
                return value;
            }
        }
    }

    /// The text being run, as `BASH_SOURCE` names it.
    pub(crate) fn source_name(&self) -> Arc<str> {
        match self.sources.last() {
            Some((_, name)) => Arc::clone(name),
            None if self.shared.mode.script_file => Arc::clone(&self.name),
            None => "environment".into(),
        }
    }

    /// Variables that are computed when they are read.
    pub(crate) fn dynamic(&mut self, name: &str) -> Option<Value> {
        if !name.starts_with(|it: char| it.is_ascii_uppercase()) {
            return None;
        }
        let text = |it: String| Some(Value::Scalar(it));
        let list = |items: Vec<String>| Value::Indexed((0..).zip(items).collect());
        match name {
            "RANDOM" => {
                let value = self.next_random();
                text(value.to_string())
            }
            "SECONDS" => {
                let now = self.shared.clock.now().0;
                text((now.saturating_sub(self.seconds_from.0) / 1_000_000_000).to_string())
            }
            "EPOCHSECONDS" => text((self.shared.clock.now().0 / 1_000_000_000).to_string()),
            "EPOCHREALTIME" => {
                let now = self.shared.clock.now().0 / 1_000;
                text(format!("{}.{:06}", now / 1_000_000, now % 1_000_000))
            }
            "LINENO" => text(self.line.to_string()),
            "BASHPID" => text(self.id.to_string()),
            "BASH_SUBSHELL" => text(self.subshell.to_string()),
            "PIPESTATUS" => Some(list(self.pipe_status.iter().map(i32::to_string).collect())),
            "FUNCNAME" if !self.calls.is_empty() => {
                let mut names: Vec<String> = self.calls.iter().rev().cloned().collect();
                if self.shared.mode.script_file {
                    names.push("main".into());
                }
                Some(list(names))
            }
            "BASH_LINENO" => {
                let mut lines: Vec<String> = self.sites.iter().rev().map(|it| it.0.to_string()).collect();
                lines.extend(self.sources.iter().rev().map(|it| it.0.to_string()));
                if self.shared.mode.script_file {
                    lines.push("0".into());
                }
                Some(list(lines))
            }
            "BASH_SOURCE" => {
                let mut names: Vec<String> = self.sites.iter().rev().map(|it| it.1.to_string()).collect();
                names.extend(self.sources.iter().rev().map(|it| it.1.to_string()));
                if self.shared.mode.script_file {
                    names.push(self.name.to_string());
                }
                Some(list(names))
            }
            "BASHOPTS" => {
                let rows = self.options.all_shopt().into_iter().filter(|row| row.1);
                text(rows.map(|row| row.0).collect::<Vec<_>>().join(":"))
            }
            "DIRSTACK" => {
                let mut all = vec![self.cwd.clone()];
                all.extend(self.dirs.iter().rev().cloned());
                Some(list(all))
            }
            "SRANDOM" => {
                let (high, low) = (self.next_random(), self.next_random());
                text((u64::from(high) << 15 | u64::from(low)).to_string())
            }
            "SHELLOPTS" => text(self.options.list().join(":")),
            _ => None,
        }
    }
}
