//! Commands that are not the shell's own: one call at the door each.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    task::Poll,
};

use drydock_abi::exec::{COMMAND, decode_report, encode_command};
use drydock_contract::{
    Call, CallError, CommandName, Denial, Outcome, RunReport, Sink, Source, Streams,
    port::{FileError, FileKind, Follow},
};

use crate::shell::{
    StageRecord,
    builtin::{lookup, nested},
    fd::{Fd, FdSink, FdSource},
    state::{Env, Eval, Flow},
    text,
};

/// How often a command may write to nobody before it is ended.
const BROKEN_MAX: u32 = 4;

/// Where other systems keep commands; here a name is enough.
const PREFIXES: [&str; 6] =
    ["/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/"];

/// Bash's words for what files answer.
pub(crate) fn file_error(error: FileError) -> String {
    match error {
        FileError::NotFound => "No such file or directory".into(),
        FileError::Exists => "File exists".into(),
        FileError::NotADirectory => "Not a directory".into(),
        FileError::IsADirectory => "Is a directory".into(),
        FileError::Denied => "Permission denied".into(),
        FileError::ReadOnly => "Read-only file system".into(),
        FileError::NoSpace => "No space left on device".into(),
        other => other.to_string(),
    }
}

/// The name without a place where commands are elsewhere.
fn bare(word: &str) -> &str {
    PREFIXES.iter().find_map(|prefix| word.strip_prefix(prefix)).unwrap_or(word)
}

impl Env {
    /// The registered name a word stands for.
    pub(crate) fn command_of<'n>(&self, word: &'n str) -> Option<&'n str> {
        let name = bare(word);
        (!name.contains('/') && (self.shared.commands)(name)).then_some(name)
    }

    /// Where a name would be found, as `type` and `command -v` say it: commands are in the first
    /// directory of `PATH` that other systems keep them in.
    pub(crate) fn found_command(&self, word: &str) -> Option<String> {
        let inner = |name: &str| nested::NAMES.contains(&name) || name == "which";
        let there = self.command_of(word).is_some() || inner(bare(word));
        if word.contains('/') {
            return (there || self.unary_stat_x(word)).then(|| word.to_owned());
        }
        if !there {
            return self.script_on_path(word);
        }
        let list = self.vars.get("PATH").unwrap_or_default();
        let known = |it: &&str| matches!(*it, "/usr/bin" | "/bin");
        let place = list.split(':').find(known).unwrap_or("/usr/bin");
        Some(format!("{place}/{word}"))
    }

    /// What `source name` reads: a file of `PATH` first, the name itself else.
    pub(crate) fn sourced_path(&self, name: &str) -> String {
        if name.contains('/') {
            return name.to_owned();
        }
        let list = self.vars.get("PATH").unwrap_or_default();
        let mut paths = list.split(':').map(|place| {
            if place.is_empty() {
                format!("./{name}")
            } else {
                format!("{}/{name}", place.trim_end_matches('/'))
            }
        });
        paths.find(|path| self.is_file(path)).unwrap_or_else(|| name.to_owned())
    }

    /// A script of that name in a directory of `PATH` that is not where commands are.
    fn script_on_path(&self, name: &str) -> Option<String> {
        if name.is_empty() || name.contains('/') {
            return None;
        }
        let list = self.vars.get("PATH")?;
        let known = |it: &str| PREFIXES.iter().any(|prefix| prefix.trim_end_matches('/') == it);
        list.split(':').filter(|it| !known(it)).find_map(|place| {
            let place = if place.is_empty() { "." } else { place.trim_end_matches('/') };
            let path = format!("{place}/{name}");
            self.unary_stat_x(&path).then_some(path)
        })
    }

    /// Whether a file was made executable.
    fn unary_stat_x(&self, word: &str) -> bool {
        let found = self.tree_path(word).ok().and_then(|it| self.shared.files.stat(&it, Follow::Yes).ok());
        found.is_some_and(|it| it.kind == FileKind::File && self.shared.modes.may(&it, 0o111))
    }

    pub(super) async fn run_external(&mut self, words: Vec<String>) -> Eval<()> {
        let mut words = words;
        let known = self.command_of(&words[0]).map(str::to_owned);
        if known.is_none() {
            if nested::NAMES.contains(&bare(&words[0])) {
                self.status = Box::pin(nested::run(self, &words)).await?;
                return Ok(());
            }
            if bare(&words[0]) == "which" {
                self.status = lookup::which(self, &words[1..]).await?;
                return Ok(());
            }
            if let Some(path) = self.script_on_path(&words[0]) {
                words[0] = path;
            }
            if words[0].contains('/') && self.is_file(&words[0]) {
                self.status = Box::pin(nested::run_file(self, &words)).await?;
                return Ok(());
            }
        }
        // A name that nothing is known of is asked about all the same: only the gate says what exists, to
        // whom, and keeps a record of who asked.
        let asked =
            || Some(bare(&words[0])).filter(|it| it.parse::<CommandName>().is_ok()).map(str::to_owned);
        let Some(name) = known.or_else(asked) else { return self.no_command(&words[0]).await };
        let mut env: Vec<Vec<u8>> = Vec::new();
        for (key, value) in self.vars.exported() {
            if key == "PWD" {
                continue;
            }
            env.push(text::to_bytes(&format!("{key}={value}")).into_owned());
        }
        env.push(text::to_bytes(&format!("PWD={}", self.cwd)).into_owned());
        let args: Vec<Vec<u8>> = words[1..].iter().map(|word| text::to_bytes(word).into_owned()).collect();
        let Ok(mut payload) = encode_command(&env, &name, &args, b"") else {
            self.complain(&format!("{name}: argument list too long")).await?;
            self.status = 126;
            return Ok(());
        };
        let broken = Arc::new(AtomicU32::new(0));
        let started = self.shared.clock.now();
        // What it starts has no more time than it has itself.
        if let Some(deadline) = self.deadline {
            let millis = deadline.0.saturating_sub(started.0) / 1_000_000;
            payload.extend_from_slice(&u32::try_from(millis.max(1)).unwrap_or(u32::MAX).to_le_bytes());
        }
        let streams = Streams {
            stdin: source(self.fd(0)),
            stdout: sink(self.fd(1), &broken),
            stderr: sink(self.fd(2), &Arc::new(AtomicU32::new(0))),
        };
        let answer = {
            let call = Call::new(COMMAND, &payload, streams);
            let door = Arc::clone(self.door.as_ref().unwrap_or(&self.shared.door));
            let mut answer = pin!(door.dispatch(call));
            poll_fn(|cx| match answer.as_mut().poll(cx) {
                Poll::Ready(answer) => Poll::Ready(Some(answer)),
                Poll::Pending if broken.load(Ordering::Relaxed) >= BROKEN_MAX => Poll::Ready(None),
                Poll::Pending => {
                    self.inbox.listen(cx.waker());
                    if self.inbox.deadly().is_some() { Poll::Ready(None) } else { Poll::Pending }
                }
            })
            .await
        };
        if answer.is_none() && self.inbox.any() {
            self.take_signals().await?;
        }
        let piped = broken.load(Ordering::Relaxed) > 0;
        // A command that was ended from outside, or whose output the line no longer takes, is no answer
        // to go on with.
        if piped || !matches!(&answer, Some(Ok(reply)) if !cancelled(&reply.payload)) {
            self.check_expired()?;
        }
        let micros = self.shared.clock.now().0.saturating_sub(started.0) / 1_000;
        let (mut status, outcome, report) = match answer {
            None => (141, "broken_pipe".to_owned(), None),
            Some(Ok(reply)) => match decode_report(&reply.payload) {
                Ok(report) => {
                    (outcome_status(&report.outcome), report.outcome.code().to_owned(), Some(report))
                }
                Err(_) => (126, "malformed_reply".to_owned(), None),
            },
            Some(Err(error)) => {
                let status = match &error {
                    CallError::Denied(Denial::UnknownCommand(_)) => 127,
                    CallError::Denied(Denial::BudgetExceeded(_)) => 125,
                    _ => 126,
                };
                let text = match status {
                    127 if words[0].contains('/') => "No such file or directory".to_owned(),
                    127 => "command not found".to_owned(),
                    _ => error.to_string(),
                };
                let shown = if status == 127 { &words[0] } else { &name };
                self.complain(&format!("{shown}: {text}")).await?;
                (status, error.code().to_owned(), None)
            }
        };
        if let Some(RunReport { outcome, .. }) = &report
            && outcome.status().is_none()
            && !piped
        {
            self.complain(&format!("{name}: {outcome}")).await?;
        }
        if piped {
            status = 141;
        }
        if status == 0 && name == "chmod" {
            self.remember_modes(&words[1..]);
        }
        // The command had what was left of the time, so none is left.
        let late = self.deadline.is_some() && outcome == "timed_out";
        self.record(name, status, outcome, report, micros);
        if late {
            return Err(Flow::Exit(124));
        }
        self.status = status;
        if self.inbox.any() {
            self.take_signals().await?;
        }
        if self.shared.aborted.load(Ordering::Relaxed) {
            return Err(Flow::Abort);
        }
        Ok(())
    }

    /// Keeps what `chmod` agreed to; the command itself has nowhere to put it.
    fn remember_modes(&self, args: &[String]) {
        let is_mode = |it: &str| it.len() > 1 && it[1..].chars().all(|it| "rwxXst,+-=ugoa".contains(it));
        let mut rest = args.iter().filter(|it| !it.starts_with('-') || is_mode(it));
        let Some(mode) = rest.next() else { return };
        for name in rest {
            let found =
                self.tree_path(name).ok().and_then(|it| self.shared.files.stat(&it, Follow::Yes).ok());
            if let Some(stat) = found {
                self.shared.modes.change(&stat, mode, self.mask);
            }
        }
    }

    fn is_file(&self, word: &str) -> bool {
        let found = self.tree_path(word).ok().and_then(|it| self.shared.files.stat(&it, Follow::Yes).ok());
        found.is_some_and(|it| it.kind == FileKind::File)
    }

    async fn no_command(&mut self, word: &str) -> Eval<()> {
        let (status, why) = if word.contains('/') {
            let kind = self
                .tree_path(word)
                .ok()
                .and_then(|path| self.shared.files.stat(&path, Follow::Yes).ok())
                .map(|stat| stat.kind);
            match kind {
                None => (127, "No such file or directory"),
                Some(FileKind::Directory) => (126, "Is a directory"),
                Some(_) => (126, "not a file"),
            }
        } else {
            (127, "command not found")
        };
        self.complain(&format!("{word}: {why}")).await?;
        let outcome = if status == 127 { "unknown_command" } else { "not_a_command" };
        self.record(word.to_owned(), status, outcome.into(), None, 0);
        self.status = status;
        Ok(())
    }

    fn record(&self, command: String, status: i32, outcome: String, report: Option<RunReport>, micros: u64) {
        self.shared.stages.fetch_add(1, Ordering::Relaxed);
        let mut records = self.shared.records.lock();
        if records.len() >= self.shared.limits.records_max {
            return;
        }
        let figure = |pick: fn(&RunReport) -> u64| report.as_ref().map_or(0, pick);
        records.push(StageRecord {
            command,
            status,
            outcome,
            quota: report.as_ref().and_then(|it| it.quota).map(|it| it.code()),
            stdin_bytes: figure(|it| it.stdin_bytes),
            stdout_bytes: figure(|it| it.stdout_bytes),
            stderr_bytes: figure(|it| it.stderr_bytes),
            fuel: figure(|it| it.fuel),
            micros,
        });
    }
}

fn cancelled(report: &[u8]) -> bool {
    decode_report(report).is_ok_and(|it| matches!(it.outcome, Outcome::Cancelled | Outcome::TimedOut))
}

fn source(fd: Option<Fd>) -> Source {
    match fd {
        None | Some(Fd::Null) => Source::Empty,
        Some(Fd::Input(input)) if input.is_empty() => Source::Empty,
        // A here-document nobody else holds is handed over whole.
        Some(Fd::Input(input)) if Arc::strong_count(&input) <= 2 => input.take(),
        Some(fd) => Source::Stream(Box::new(FdSource(fd))),
    }
}

fn sink(fd: Option<Fd>, broken: &Arc<AtomicU32>) -> Sink {
    match fd {
        None | Some(Fd::Null) => Sink::Discard,
        Some(fd) => Sink::Stream(Box::new(FdSink { fd, broken: Arc::clone(broken) })),
    }
}

fn outcome_status(outcome: &Outcome) -> i32 {
    match outcome {
        Outcome::Exited(status) => status & 0xff,
        Outcome::TimedOut | Outcome::OutOfFuel => 124,
        Outcome::OutOfMemory | Outcome::OutputLimit | Outcome::InputLimit => 125,
        Outcome::Trapped(_) => 134,
        Outcome::Cancelled => 130,
    }
}
