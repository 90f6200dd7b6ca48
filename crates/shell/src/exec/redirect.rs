//! Redirections: what a descriptor stands for while a command runs. Files are the workspace's.

use std::{future::poll_fn, sync::Arc, task::Poll};

use drydock_contract::{
    SharedSource,
    port::{FileError, FileKind, Follow, Mode, OpenHow, TreePath},
    schedule,
};

use super::file_error;
use crate::{
    fd::{Fd, FileEnd},
    state::{Env, Eval},
    syntax::ast::{FdName, Piece, Redirect, RedirectKind, Word},
    text,
};

/// The highest descriptor a script may name, and the first that `{name}>` gets.
pub(crate) const FD_MAX: u32 = 1023;
const FD_FREE: u32 = 10;

impl Env {
    /// Carries redirections out in order; false, and a message, if one cannot be.
    pub(crate) async fn redirect_all(&mut self, redirects: &[Redirect]) -> Eval<bool> {
        for redirect in redirects {
            if let Err(error) = self.redirect_one(redirect).await? {
                self.complain(&error).await?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn redirect_one(&mut self, redirect: &Redirect) -> Eval<Result<(), String>> {
        let number = match self.redirected(redirect) {
            Ok(Some(number)) => number,
            Ok(None) => return Ok(Ok(())),
            Err(error) => return Ok(Err(error)),
        };
        let new = if self.options.noclobber { Open::New } else { Open::Write };
        let opened = match &redirect.kind {
            RedirectKind::Read(word) => self.open_word(word, Open::Read).await?,
            RedirectKind::Write { target, clobber } => {
                self.open_word(target, if *clobber { Open::Write } else { new }).await?
            }
            RedirectKind::Append(word) => self.open_word(word, Open::Append).await?,
            RedirectKind::ReadWrite(word) => self.open_word(word, Open::ReadWrite).await?,
            RedirectKind::Both { target, append } => {
                let opened = self.open_word(target, if *append { Open::Append } else { new }).await?;
                opened.inspect(|fd| self.fds.insert(2, fd.clone()))
            }
            RedirectKind::DupIn(word) | RedirectKind::DupOut(word) => {
                let mut words = Vec::new();
                self.expand_into(word, &mut words).await?;
                let [target] = words.as_slice() else {
                    return Ok(Err(format!("{}: ambiguous redirect", words.join(" "))));
                };
                let target = target.clone();
                let digits = target.strip_suffix('-').unwrap_or(&target);
                let is_file = matches!(redirect.kind, RedirectKind::DupOut(_))
                    && number == 1
                    && !target.is_empty()
                    && !digits.bytes().all(|it| it.is_ascii_digit());
                if !is_file {
                    return Ok(self.duplicate(&target, number));
                }
                // `>&$file`: a name, and so both outputs.
                let opened = self.open_waiting(&target, new).await?;
                opened.inspect(|fd| self.fds.insert(2, fd.clone()))
            }
            RedirectKind::Here(body) => {
                let text = match body.get() {
                    Some(here) => self.expand_one(&here.word).await?,
                    None => String::new(),
                };
                Ok(bytes_fd(&text))
            }
            RedirectKind::HereString(word) => {
                let mut text = self.expand_one(word).await?;
                text.push('\n');
                Ok(bytes_fd(&text))
            }
        };
        Ok(opened.map(|fd| self.fds.insert(number, fd)))
    }

    /// The descriptor a redirection is about; none if it was `{name}>&-`, which is done with that.
    fn redirected(&mut self, redirect: &Redirect) -> Result<Option<u32>, String> {
        let number = match &redirect.fd {
            None => match &redirect.kind {
                RedirectKind::Read(_)
                | RedirectKind::ReadWrite(_)
                | RedirectKind::DupIn(_)
                | RedirectKind::Here(_)
                | RedirectKind::HereString(_) => 0,
                _ => 1,
            },
            Some(FdName::Number(number)) => *number,
            Some(FdName::Variable(name)) => {
                if let RedirectKind::DupIn(word) | RedirectKind::DupOut(word) = &redirect.kind
                    && word.bare() == Some("-")
                {
                    // `{name}>&-` closes what the variable says.
                    let number = self.vars.get(name).and_then(|it| it.parse().ok()).unwrap_or(FD_MAX);
                    self.fds.remove_named(number);
                    return Ok(None);
                }
                let free = (FD_FREE..=FD_MAX).find(|it| self.fds.get(*it).is_none()).unwrap_or(FD_MAX);
                self.vars.set(name, free.to_string()).map_err(|error| error.to_string())?;
                self.fds.name(free);
                free
            }
        };
        match number {
            _ if self.rlimits.descriptors_max().is_some_and(|max| u64::from(number) >= max) => {
                Err(format!("{number}: Bad file descriptor"))
            }
            0..=FD_MAX => Ok(Some(number)),
            _ => Err(format!("{number}: bad file descriptor")),
        }
    }

    /// `2>&1`, `3<&0`, `1>&-`, `4>&3-`.
    fn duplicate(&mut self, target: &str, number: u32) -> Result<(), String> {
        if target == "-" {
            self.fds.remove(number);
            return Ok(());
        }
        let (digits, moves) = match target.strip_suffix('-') {
            Some(digits) => (digits, true),
            None => (target, false),
        };
        let from: u32 = digits.parse().map_err(|_| format!("{target}: ambiguous redirect"))?;
        let fd = self.fd(from).ok_or_else(|| format!("{from}: Bad file descriptor"))?;
        self.fds.insert(number, fd);
        if moves && from != number {
            self.fds.remove(from);
        }
        Ok(())
    }

    async fn open_word(&mut self, word: &Word, how: Open) -> Eval<Result<Fd, String>> {
        if let [Piece::Process { script, writes }] = word.pieces.as_slice() {
            return self.process_target(script, *writes).map(Ok);
        }
        let mut names = Vec::new();
        self.expand_into(word, &mut names).await?;
        let [name] = names.as_slice() else {
            return Ok(Err(format!("{}: ambiguous redirect", names.join(" "))));
        };
        self.open_waiting(name, how).await
    }

    /// Opens a name, and waits for somebody at the other side of a pipe that has one. A stream that is open already, which is
    /// a device's name, has them.
    async fn open_waiting(&mut self, name: &str, how: Open) -> Eval<Result<Fd, String>> {
        let opened = self.open(name, how).map_err(|error| format!("{name}: {error}"));
        if let Ok(fd @ (Fd::PipeIn(_) | Fd::PipeOut(_))) = &opened
            && !name.starts_with("/dev/")
        {
            self.wait_opened(fd).await?;
        }
        Ok(opened)
    }

    /// Nothing is read or written, but somebody is there who could.
    async fn wait_opened(&mut self, fd: &Fd) -> Eval<()> {
        let has_come = poll_fn(|cx| {
            let polled = match fd {
                Fd::PipeIn(_) => fd.poll_read(cx, &mut []),
                _ => fd.poll_write(cx, &[]),
            };
            if polled.is_ready() {
                self.traps.inbox.leave(cx.waker());
                return Poll::Ready(true);
            }
            self.traps.inbox.listen(cx.waker());
            if self.traps.inbox.any() {
                schedule::goes_on();
                return Poll::Ready(false);
            }
            Poll::Pending
        })
        .await;
        self.check_expired()?;
        if has_come { Ok(()) } else { self.take_signals().await }
    }

    pub(crate) fn open_for_reading(&self, name: &str) -> Result<Fd, String> {
        self.open(name, Open::Read)
    }

    fn open(&self, name: &str, how: Open) -> Result<Fd, String> {
        let standard = match name {
            "/dev/null" => return Ok(Fd::Null),
            "/dev/stdin" => Some(0),
            "/dev/stdout" => Some(1),
            "/dev/stderr" => Some(2),
            other => match other.strip_prefix("/dev/fd/") {
                Some(digits) => digits.parse().ok(),
                None => None,
            },
        };
        if let Some(number) = standard {
            return self.fd(number).ok_or_else(|| "No such file or directory".into());
        }
        if how == Open::Read
            && let Some(source) = self.device(name)
        {
            return Ok(Fd::Input(SharedSource::new(source)));
        }
        if name.starts_with("/dev/tcp/") || name.starts_with("/dev/udp/") {
            return Err("refused: a shell here has no network".into());
        }
        if name.is_empty() {
            return Err("No such file or directory".into());
        }
        let path = self.tree_path(name)?;
        let writes = how != Open::Read;
        if writes && name.ends_with('/') {
            return Err("Is a directory".into());
        }
        let open = OpenHow {
            read: matches!(how, Open::Read | Open::ReadWrite),
            write: writes,
            create: writes,
            exclusive: false,
            truncate: matches!(how, Open::Write | Open::New),
            nofollow: false,
            mode: Mode::new(0o666).masked(Mode::new(self.dirs.umask)),
        };
        if how == Open::New
            && self.shared.files.stat(&path, Follow::Yes).is_ok_and(|stat| stat.kind == FileKind::File)
        {
            return Err("cannot overwrite existing file".into());
        }
        let is_appended = how == Open::Append;
        let file = self.shared.files.open(&path, open, is_appended).map_err(file_error)?;
        if let Some(ends) = file.pipe() {
            return match (ends.reader, ends.writer) {
                (Some(reader), Some(writer)) => Ok(Fd::PipeBoth(Arc::new((reader, writer)))),
                (Some(reader), None) => Ok(Fd::PipeIn(reader)),
                (None, Some(writer)) => Ok(Fd::PipeOut(writer)),
                (None, None) => Err(file_error(FileError::Io)),
            };
        }
        let bytes_max = self.rlimits.file_bytes_max();
        let (readable, writable) = (open.read, writes);
        Ok(Fd::File(Arc::new(FileEnd { file, path, is_appended, readable, writable, bytes_max })))
    }

    /// All of a file, up to what a text may have.
    pub(crate) fn file_bytes(&self, name: &str) -> Result<Vec<u8>, String> {
        let how = OpenHow { read: true, ..OpenHow::default() };
        let path = self.tree_path(name)?;
        let file = self.shared.files.open(&path, how, false).map_err(file_error)?;
        let max = self.shared.limits.text_bytes_max;
        let (mut all, mut buffer) = (Vec::new(), vec![0; 16 << 10]);
        while all.len() <= max {
            match file.read(&mut buffer).map_err(file_error)? {
                0 => return Ok(all),
                count => all.extend_from_slice(&buffer[..count]),
            }
        }
        Err(format!("the file has more than {max} bytes"))
    }

    /// Writes a file anew, or adds to it.
    pub(crate) fn file_write(&self, name: &str, bytes: &[u8], append: bool) -> Result<(), String> {
        let how = OpenHow {
            write: true,
            create: true,
            truncate: !append,
            mode: Mode::new(0o600),
            ..OpenHow::default()
        };
        let path = self.tree_path(name)?;
        let file = self.shared.files.open(&path, how, append).map_err(file_error)?;
        file.write(bytes).map_err(file_error)
    }

    /// A name as a path of the tree, if it lies where this shell may look.
    pub(crate) fn tree_path(&self, name: &str) -> Result<TreePath, String> {
        let full = self.absolute(name);
        let roots = &self.shared.roots;
        let inside = |root: &String| {
            let root = root.trim_end_matches('/');
            full.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        // A directory on the way to a root may be looked at.
        let above = |root: &String| full == "/" || root.starts_with(&format!("{full}/"));
        let path = TreePath::new(full.trim_start_matches('/')).map_err(file_error)?;
        if roots.is_empty() || roots.iter().any(|root| inside(root) || above(root)) || self.is_made(&full) {
            return Ok(path);
        }
        Err("outside_sandbox".into())
    }

    /// Whether a command of this session made the directory at the top: `mkdir /app` does where the tree lets it, and
    /// then the shell sees what the commands see.
    fn is_made(&self, full: &str) -> bool {
        let top = full.trim_start_matches('/').split('/').next().unwrap_or_default();
        let stat = TreePath::new(top).map(|top| self.shared.files.stat(&top, Follow::No));
        matches!(stat, Ok(Ok(stat)) if stat.kind == FileKind::Directory)
    }

    /// The name seen from the root, `.` and `..` worked out as text.
    pub(crate) fn absolute(&self, name: &str) -> String {
        let mut parts: Vec<&str> = Vec::new();
        let base = if name.starts_with('/') { "" } else { &*self.dirs.cwd };
        for part in base.split('/').chain(name.split('/')) {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop();
                }
                other => parts.push(other),
            }
        }
        format!("/{}", parts.join("/"))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Read,
    Write,
    New,
    Append,
    ReadWrite,
}

fn bytes_fd(text: &str) -> Fd {
    Fd::Input(SharedSource::new(text::to_bytes(text).into_owned().into()))
}
