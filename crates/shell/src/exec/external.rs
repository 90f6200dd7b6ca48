//! Commands that are not the shell's own: one call at the door each.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
};

use drydock_abi::shell::{NUMBERED_MAX, Refusal, RefusalKind};
use drydock_contract::{
    Outcome, RunReport, Source, exit,
    port::{FileError, FileKind, FileRules, Follow, Mode, OpenHow},
    schedule,
};

use crate::{
    builtin::{self, nested},
    door::{Ended, NotRun, ShellOutput, StageInput, StageNumbered, StageOutput, StageStreams, Start},
    fd::{Fd, FdSource},
    state::{Env, Eval, Flow},
    text,
};

/// What a command ends with that wrote to nobody, as SIGPIPE would have it.
const BROKEN_PIPE: i32 = 141;

/// What a command ends with that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// What somebody ends with who wrote more to a file than `ulimit -f` allows, as SIGXFSZ would have it.
pub(crate) const FILE_TOO_LARGE: i32 = 128 + SIGXFSZ as i32;

/// The signal of that.
pub(crate) const SIGXFSZ: u8 = 25;

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
        (!name.contains('/') && self.shared.door.has_command(name)).then_some(name)
    }

    /// Where a name would be found, as `type` and `command -v` say it: commands are in the first
    /// directory of `PATH` that other systems keep them in.
    pub(crate) fn found_command(&self, word: &str) -> Option<String> {
        if word.is_empty() {
            return None;
        }
        let there = self.command_of(word).is_some() || builtin::answered(bare(word)).is_some();
        if word.contains('/') {
            return (there || self.is_executable(word)).then(|| word.to_owned());
        }
        if !there {
            return self.script_on_path(word);
        }
        Some(self.path_of_command(word))
    }

    /// The same for a name that is known to be a command, which costs no question.
    fn path_of_command(&self, name: &str) -> String {
        let list = self.vars.get("PATH").unwrap_or_default();
        let known = |it: &&str| matches!(*it, "/usr/bin" | "/bin");
        let place = list.split(':').find(known).unwrap_or("/usr/bin");
        format!("{place}/{name}")
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
            if let Some(answered) = builtin::answered(bare(word)) {
                let status = (answered.run)(self, &words).await?;
                return self.ran_inside(answered.name.to_owned(), status);
            }
            let mut words = words;
            let hashed = self.definitions.hashed.get(&words[0]).map(|it| it.path.clone());
            if let Some(path) = hashed.or_else(|| self.script_on_path(&words[0])) {
                self.remember_command(&words[0], path.clone(), 1);
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
            if self.definitions.aliases_refused && self.definitions.aliases.contains_key(&words[0]) {
                let why = "refused: an alias is parsed as code; pass --eval to allow it";
                self.complain(&format!("{}: {why}", words[0])).await?;
                return self.ran_inside(words.swap_remove(0), i32::from(exit::DENIED));
            }
            // Whether there is such a command, and whether that may be known, the gate says.
            return self.call_command(words).await;
        }
        if let Some(known) = self.definitions.hashed.get(&words[0]) {
            known.hit(1);
        } else if !words[0].contains('/') {
            let path = self.path_of_command(&words[0]);
            self.remember_command(&words[0], path, 1);
        }
        self.call_command(words).await
    }

    /// What the shell answers itself is a stage like others.
    fn ran_inside(&mut self, name: String, status: i32) -> Eval<()> {
        self.record_builtin(&name, status);
        self.status = status;
        Ok(())
    }

    /// The environment of a command: variables that are exported, and where it starts.
    fn environment(&self) -> Vec<Vec<u8>> {
        let mut env: Vec<Vec<u8>> = Vec::new();
        // Only who writes to the terminal is told how wide it is.
        let columns = self.fd(1).and_then(|it| it.columns());
        env.extend(columns.map(|it| format!("COLUMNS={it}").into_bytes()));
        for (key, value) in self.vars.exported() {
            if key == "PWD" || (key == "COLUMNS" && columns.is_some()) {
                continue;
            }
            // The one that is exported and computed.
            if key == "SHELLOPTS" {
                env.push(entry(key, &self.options.list().join(":")));
                continue;
            }
            env.push(entry(key, value));
        }
        env.push(entry("PWD", &self.dirs.cwd));
        env
    }

    /// What is left of its time, where it has a limit of its own: what it starts has no more.
    fn wall_ms_max(&self) -> Option<u32> {
        let left =
            self.time_left().map(|it| u64::try_from(it.as_micros().div_ceil(1_000)).unwrap_or(u64::MAX));
        // `ulimit -t` may allow less.
        let millis = left.into_iter().chain(self.rlimits.command_ms_max()).min()?;
        Some(u32::try_from(millis.max(1)).unwrap_or(u32::MAX))
    }

    /// One call at the door, and what its answer means.
    async fn call_command(&mut self, words: Vec<String>) -> Eval<()> {
        let name = bare(&words[0]).to_owned();
        self.call_named(name, words).await
    }

    /// The same by a name that may be a path.
    async fn call_named(&mut self, name: String, words: Vec<String>) -> Eval<()> {
        let too_large = self.limited_output();
        let answer = self.answer(&name, &words[1..], too_large.as_ref()).await;
        if let Some(Ended { answer: Err(NotRun::TooLong), .. }) = answer {
            self.complain(&format!("{name}: argument list too long")).await?;
            self.status = i32::from(exit::DENIED);
            return Ok(());
        }
        let is_given_up = answer.is_none();
        if is_given_up && self.traps.inbox.any() {
            self.take_signals().await?;
        }
        let piped = answer.as_ref().is_some_and(|it| it.is_pipe_broken);
        let is_too_large = too_large.is_some_and(|it| it.load(Ordering::Relaxed));
        let answer = answer.map_or(Err(NotRun::BrokenPipe), |it| it.answer);
        // A command that was ended from outside, or whose output the line no longer takes, is no answer
        // to go on with.
        if piped || !matches!(&answer, Ok(report) if !is_cancelled(report)) {
            self.check_expired()?;
        }
        let (mut status, outcome, report) = match answer {
            Ok(report) => {
                let status = i32::from(report.outcome.exit_status());
                (status, report.outcome.code().to_owned(), Some(report))
            }
            Err(NotRun::Refused(refusal)) => {
                let (status, outcome) = self.refused(&name, &refusal).await?;
                (status, outcome, None)
            }
            Err(NotRun::MalformedReply) => (i32::from(exit::LIMITED), "malformed_reply".to_owned(), None),
            Err(NotRun::BrokenPipe | NotRun::TooLong) => (BROKEN_PIPE, "broken_pipe".to_owned(), None),
        };
        if piped {
            status = BROKEN_PIPE;
        }
        // It was ended by Ctrl-C, which this shell has a trap for.
        if is_given_up {
            status = INTERRUPTED;
        }
        // A file of its own, or one that the shell writes for it.
        if is_too_large || (status == FILE_TOO_LARGE && self.rlimits.file_bytes_max().is_some()) {
            status = FILE_TOO_LARGE;
            self.complain(&format!("{name}: File size limit exceeded")).await?;
        }
        // The command had what was left of the time, so none is left: whoever set that limit says so.
        let late = self.time_left().is_some() && outcome == "timed_out";
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
        if self.traps.inbox.any() {
            self.take_signals().await?;
        }
        if self.shared.aborted.load(Ordering::Relaxed) {
            return Err(Flow::Abort);
        }
        Ok(())
    }

    /// Says why a command was not run; answers the status and the code of that.
    async fn refused(&mut self, name: &str, refusal: &Refusal) -> Eval<(i32, String)> {
        let text = match refusal.kind {
            RefusalKind::UnknownCommand => self.shared.door.not_found(name),
            // The line's fuel was gone before it began.
            RefusalKind::BudgetExceeded => {
                self.results.limited.note(i32::from(refusal.status), self.frame.tested);
                format!("{refusal}; --fuel allows more")
            }
            RefusalKind::NotAProgram | RefusalKind::Other => refusal.to_string(),
        };
        self.complain(&format!("{name}: {text}")).await?;
        let status = match refusal.kind {
            // As everywhere: it is there, and cannot be executed.
            RefusalKind::NotAProgram if name.contains('/') => exit::DENIED,
            _ => refusal.status,
        };
        Ok((i32::from(status), refusal.code.clone()))
    }

    /// Starts a command and waits for it; nothing if a signal ended it.
    async fn answer(
        &self,
        name: &str,
        args: &[String],
        too_large: Option<&Arc<AtomicBool>>,
    ) -> Option<Ended> {
        let args: Vec<Vec<u8>> = args.iter().map(|word| text::to_bytes(word).into_owned()).collect();
        let env = self.environment();
        let start = Start {
            name,
            args: &args,
            env: &env,
            wall_ms_max: self.wall_ms_max(),
            file_rules: FileRules {
                umask: Mode::new(self.dirs.umask),
                bytes_max: self.rlimits.file_bytes_max(),
            },
            ordinal: self.identity.origin.next(),
            streams: StageStreams {
                stdin: input(self.fd(0), self.fds.is_shared()),
                stdout: output(self.fd(1), too_large),
                stderr: output(self.fd(2), too_large),
                numbered: self.fds.beside_streams().map(by_number).take(NUMBERED_MAX).collect(),
            },
        };
        let mut ended = pin!(match &self.nested {
            Some(nested) => nested.start(start),
            None => self.shared.door.start(start),
        });
        let mut has_listened = false;
        poll_fn(|cx| {
            // Asked first: how far the command would come before it notices depends on the machine.
            let is_given_up = || self.traps.inbox.deadly().is_some() || self.traps.inbox.is_interrupted();
            if is_given_up() {
                return Poll::Ready(None);
            }
            if let Poll::Ready(ended) = ended.as_mut().poll(cx) {
                if has_listened {
                    self.traps.inbox.leave(cx.waker());
                }
                return Poll::Ready(Some(ended));
            }
            has_listened = true;
            self.traps.inbox.listen(cx.waker());
            if is_given_up() {
                schedule::goes_on();
                return Poll::Ready(None);
            }
            Poll::Pending
        })
        .await
    }

    /// What is told that a command wrote more than `ulimit -f` allows, where there is such a limit.
    fn limited_output(&self) -> Option<Arc<AtomicBool>> {
        let is_limited = |fd: &Fd| matches!(fd, Fd::File(file) if file.bytes_max.is_some());
        [1, 2].into_iter().any(|number| self.fds.get(number).is_some_and(is_limited)).then(Arc::default)
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
        self.results.limited.note(i32::from(report.outcome.exit_status()), self.frame.tested);
        self.complain(&format!("{name}: {text}")).await
    }

    /// Whether a file may be executed and begins as a module does: then the gate runs it, and nothing of it is parsed
    /// as a script.
    fn is_program(&self, word: &str) -> bool {
        let first = || -> Option<[u8; MAGIC.len()]> {
            let path = self.tree_path(word).ok()?;
            let how = OpenHow { read: true, ..OpenHow::default() };
            let file = self.shared.files.open(&path, how, false).ok()?;
            let mut bytes = [0; MAGIC.len()];
            file.read(&mut bytes).ok()?;
            Some(bytes)
        };
        self.is_executable(word) && first() == Some(MAGIC)
    }

    fn is_file(&self, word: &str) -> bool {
        let found = self.tree_path(word).ok().and_then(|it| self.shared.files.stat(&it, Follow::Yes).ok());
        found.is_some_and(|it| it.kind == FileKind::File)
    }
}

/// `NAME=value`, as bytes.
fn entry(name: &str, value: &str) -> Vec<u8> {
    let (name, value) = (text::to_bytes(name), text::to_bytes(value));
    [&*name, b"=", &*value].concat()
}

fn is_cancelled(report: &RunReport) -> bool {
    matches!(report.outcome, Outcome::Cancelled | Outcome::TimedOut)
}

/// `is_shared` if others have the descriptor too.
fn input(fd: Option<Fd>, is_shared: bool) -> StageInput {
    StageInput::Shell(match fd {
        Some(Fd::PipeIn(reader)) if reader.is_empty() => Source::Empty,
        Some(Fd::PipeIn(reader)) => return StageInput::Pipe(reader),
        Some(Fd::PipeBoth(ends)) => return StageInput::Pipe(Arc::clone(&ends.0)),
        Some(Fd::File(file)) if file.readable && file.file.number().is_some() => {
            return StageInput::File(Arc::clone(&file.file));
        }
        None | Some(Fd::Null) => Source::Empty,
        Some(Fd::Input(input)) if input.is_empty() => Source::Empty,
        // A here-document nobody else holds is handed over whole.
        Some(Fd::Input(input)) if !is_shared && input.is_mine() => input.take(),
        Some(fd) => Source::Stream(Box::new(FdSource(fd))),
    })
}

fn output(fd: Option<Fd>, too_large: Option<&Arc<AtomicBool>>) -> StageOutput {
    match fd {
        None | Some(Fd::Null) => StageOutput::Discard,
        Some(Fd::PipeOut(writer)) => StageOutput::Pipe(writer),
        Some(Fd::PipeBoth(ends)) => StageOutput::Pipe(Arc::clone(&ends.1)),
        Some(Fd::File(file)) if file.writable && file.bytes_max.is_none() && file.file.number().is_some() => {
            StageOutput::File(Arc::clone(&file.file))
        }
        Some(fd) => StageOutput::Shell(match too_large {
            Some(told) if matches!(fd, Fd::File(_)) => ShellOutput::limited(fd, Arc::clone(told)),
            _ => ShellOutput::new(fd),
        }),
    }
}

/// What a command gets that opens `/dev/fd/3`. Others may read the same, so it gets what it asks for and no more.
fn by_number((number, fd): (u32, &Fd)) -> (u32, StageNumbered) {
    let is_read = match fd {
        Fd::Null | Fd::Input(_) | Fd::PipeIn(_) | Fd::PipeBoth(_) => true,
        Fd::File(file) => file.readable,
        Fd::Capture(_) | Fd::PipeOut(_) => false,
    };
    let fd = Some(fd.clone());
    let stream =
        if is_read { StageNumbered::Reads(input(fd, true)) } else { StageNumbered::Writes(output(fd, None)) };
    (number, stream)
}
