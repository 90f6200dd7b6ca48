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

use drydock_abi::exec::{BadReply, COMMAND, encode_command, take_report};
use drydock_contract::{
    Call, CallError, Denial, Fault, Outcome, Reply, RunReport, Sink, Source, Streams, Timestamp, exit,
    port::{FileError, FileKind, Files as _, Follow, Mode, OpenHow},
    schedule,
};

use crate::shell::{
    builtin::{lookup, nested},
    fd::{Fd, FdSink, FdSource},
    state::{Env, Eval, Flow},
    text,
};

/// How often a command may write to nobody before it is ended.
const BROKEN_MAX: u32 = 4;

/// What a command ends with that wrote to nobody, as SIGPIPE would have it.
const BROKEN_PIPE: i32 = 141;

/// How every module begins.
const MAGIC: [u8; 4] = *b"\0asm";

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
pub(crate) fn bare(word: &str) -> &str {
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
            return (there || self.is_executable(word)).then(|| word.to_owned());
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
            self.is_executable(&path).then_some(path)
        })
    }

    /// Whether a file was made executable.
    pub(crate) fn is_executable(&self, word: &str) -> bool {
        let found = self.tree_path(word).ok().and_then(|it| self.shared.files.stat(&it, Follow::Yes).ok());
        found.is_some_and(|it| it.kind == FileKind::File && it.mode.has(0o111))
    }

    pub(super) async fn run_external(&mut self, words: Vec<String>) -> Eval<()> {
        let word = words[0].as_str();
        if self.command_of(word).is_none() {
            if nested::NAMES.contains(&bare(word)) {
                let status = Box::pin(nested::run(self, &words)).await?;
                return self.ran_inside(bare(word).to_owned(), status);
            }
            if bare(word) == "which" {
                let status = lookup::which(self, &words[1..]).await?;
                return self.ran_inside("which".to_owned(), status);
            }
            let mut words = words;
            if let Some(path) = self.script_on_path(&words[0]) {
                words[0] = path;
            }
            if words[0].contains('/') && self.is_program(&words[0]) {
                let name = words[0].clone();
                return self.call_named(name, words).await;
            }
            if words[0].contains('/') && self.is_file(&words[0]) {
                let status = Box::pin(nested::run_file(self, &words)).await?;
                return self.ran_inside(words.swap_remove(0), status);
            }
            if bare(&words[0]).contains('/') {
                return self.no_program(&words[0]).await;
            }
            if self.aliases_refused && self.aliases.contains_key(&words[0]) {
                let why = "refused: an alias is parsed as code; pass --eval to allow it";
                self.complain(&format!("{}: {why}", words[0])).await?;
                return self.ran_inside(words.swap_remove(0), i32::from(exit::DENIED));
            }
            // Whether there is such a command, and whether that may be known, the gate says.
            return self.call_command(words).await;
        }
        self.call_command(words).await
    }

    /// What the shell answers itself is a stage like others.
    fn ran_inside(&mut self, name: String, status: i32) -> Eval<()> {
        self.record_builtin(&name, status);
        self.status = status;
        Ok(())
    }

    /// The request for a command with the variables that are exported; nothing if it is too long.
    fn request(&self, name: &str, args: &[String], started: Timestamp) -> Option<Vec<u8>> {
        let mut env: Vec<Vec<u8>> = Vec::new();
        // Only who writes to the terminal is told how wide it is.
        let columns = self.fd(1).and_then(|it| it.columns());
        env.extend(columns.map(|it| format!("COLUMNS={it}").into_bytes()));
        for (key, value) in self.vars.exported() {
            if key == "PWD" || (key == "COLUMNS" && columns.is_some()) {
                continue;
            }
            env.push(text::to_bytes(&format!("{key}={value}")).into_owned());
        }
        env.push(text::to_bytes(&format!("PWD={}", self.cwd)).into_owned());
        let args: Vec<Vec<u8>> = args.iter().map(|word| text::to_bytes(word).into_owned()).collect();
        let mut payload = encode_command(&env, name, &args, b"").ok()?;
        // What it starts has no more time than it has itself.
        if let Some(deadline) = &self.deadline {
            let millis = deadline.at().0.saturating_sub(started.0).div_ceil(1_000_000);
            payload.extend_from_slice(&u32::try_from(millis.max(1)).unwrap_or(u32::MAX).to_le_bytes());
        }
        Some(payload)
    }

    /// One call at the door, and what its answer means.
    async fn call_command(&mut self, words: Vec<String>) -> Eval<()> {
        let name = bare(&words[0]).to_owned();
        self.call_named(name, words).await
    }

    /// The same by a name that may be a path.
    async fn call_named(&mut self, name: String, words: Vec<String>) -> Eval<()> {
        let started = self.shared.clock.now();
        let Some(payload) = self.request(&name, &words[1..], started) else {
            self.complain(&format!("{name}: argument list too long")).await?;
            self.status = i32::from(exit::DENIED);
            return Ok(());
        };
        tracing::trace!(target: "drydock::hop", "commands/shell: `{name}`, its arguments and streams become a call");
        let broken = Arc::new(AtomicU32::new(0));
        let answer = self.answer(&payload, &broken).await;
        let answer = answer.map(|it| it.map(|mut reply| take_report(&mut reply)));
        if answer.is_none() && self.inbox.any() {
            self.take_signals().await?;
        }
        let piped = broken.load(Ordering::Relaxed) > 0;
        // A command that was ended from outside, or whose output the line no longer takes, is no answer
        // to go on with.
        if piped || !matches!(&answer, Some(Ok(report)) if !cancelled(report)) {
            self.check_expired()?;
        }
        let (mut status, outcome, report) = match answer {
            None => (BROKEN_PIPE, "broken_pipe".to_owned(), None),
            Some(Ok(Ok(report))) => {
                let status = i32::from(report.outcome.exit_status());
                (status, report.outcome.code().to_owned(), Some(report))
            }
            Some(Ok(Err(_))) => (i32::from(exit::LIMITED), "malformed_reply".to_owned(), None),
            Some(Err(error)) => {
                let text = match &error {
                    CallError::Denied(Denial::UnknownCommand(_)) => self.not_found(&name),
                    // The line's fuel was gone before it began.
                    CallError::Denied(Denial::BudgetExceeded(_)) => {
                        self.limited.note(i32::from(error.exit_status()), self.tested);
                        format!("{error}; --fuel allows more")
                    }
                    _ => error.to_string(),
                };
                self.complain(&format!("{name}: {text}")).await?;
                let status = match &error {
                    // As everywhere: it is there, and cannot be executed.
                    CallError::Failed(Fault::BadModule { .. } | Fault::Import { .. })
                        if name.contains('/') =>
                    {
                        exit::DENIED
                    }
                    _ => error.exit_status(),
                };
                (i32::from(status), error.code().to_owned(), None)
            }
        };
        if piped {
            status = BROKEN_PIPE;
        }
        // The command had what was left of the time, so none is left: whoever set that limit says so.
        let late = self.deadline.is_some() && outcome == "timed_out";
        if let Some(report) = report.as_ref().filter(|_| !piped && !late) {
            self.tell_limits(&name, report).await?;
        }
        let micros =
            report.as_ref().map_or(0, |it| u64::try_from(it.duration.as_micros()).unwrap_or(u64::MAX));
        self.record(name, status, outcome, report, micros);
        if late {
            return Err(Flow::Exit(i32::from(exit::TIMED_OUT)));
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

    /// Waits for the command; nothing if nobody reads it any more, or a signal ended it.
    async fn answer(&self, payload: &[u8], broken: &Arc<AtomicU32>) -> Option<Result<Reply, CallError>> {
        let streams = Streams {
            stdin: source(self.fd(0)),
            stdout: sink(self.fd(1), broken),
            stderr: sink(self.fd(2), &Arc::new(AtomicU32::new(0))),
        };
        let umask = Mode::new(self.mask);
        let call = Call::new(COMMAND, payload, streams).with_umask(umask).answered_typed();
        let call = call.numbered(self.origin.next());
        let door = Arc::clone(self.door.as_ref().unwrap_or(&self.shared.door));
        let mut answer = pin!(door.dispatch(call));
        let is_stepped = self.shared.clock.stepped().is_some();
        poll_fn(|cx| {
            // Asked first: how far the command would come before it notices depends on the machine.
            if self.inbox.deadly().is_some() {
                return Poll::Ready(None);
            }
            if let Poll::Ready(answer) = answer.as_mut().poll(cx) {
                return Poll::Ready(Some(answer));
            }
            // For the same reason, where the order must not depend on it, it is not asked just now.
            let may_ask = !(is_stepped && schedule::is_machines());
            if may_ask && broken.load(Ordering::Relaxed) >= BROKEN_MAX {
                schedule::goes_on();
                return Poll::Ready(None);
            }
            self.inbox.listen(cx.waker());
            if self.inbox.deadly().is_some() {
                schedule::goes_on();
                return Poll::Ready(None);
            }
            Poll::Pending
        })
        .await
    }

    /// Says which limit ended a command or stood in its way, and what raises it. A pipeline around it does
    /// not end well, whatever its last stage makes of the rest.
    async fn tell_limits(&mut self, name: &str, report: &RunReport) -> Eval<()> {
        if let Some(limit) = report.quota {
            self.complain(&format!("{name}: {}", limit.remark())).await?;
        }
        let shared = &self.shared;
        let Some(text) = report.outcome.remark(&shared.stage_limits, Some(shared.line_memory_bytes_max))
        else {
            return Ok(());
        };
        self.limited.note(i32::from(report.outcome.exit_status()), self.tested);
        self.complain(&format!("{name}: {text}")).await
    }

    /// Whether a file may be executed and begins as a module does: then the gate runs it, and nothing of it is parsed
    /// as a script.
    fn is_program(&self, word: &str) -> bool {
        let first = || -> Option<[u8; MAGIC.len()]> {
            let path = self.tree_path(word).ok()?;
            let how = OpenHow { read: true, ..OpenHow::default() };
            let file = self.shared.files.open(&path, how, self.shared.clock.now()).ok()?;
            let mut bytes = [0; MAGIC.len()];
            file.read_at(0, &mut bytes).ok()?;
            Some(bytes)
        };
        self.is_executable(word) && first() == Some(MAGIC)
    }

    fn is_file(&self, word: &str) -> bool {
        let found = self.tree_path(word).ok().and_then(|it| self.shared.files.stat(&it, Follow::Yes).ok());
        found.is_some_and(|it| it.kind == FileKind::File)
    }
}

fn cancelled(report: &Result<RunReport, BadReply>) -> bool {
    report.as_ref().is_ok_and(|it| matches!(it.outcome, Outcome::Cancelled | Outcome::TimedOut))
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
