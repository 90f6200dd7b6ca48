//! How a shell writes, and how it says what went wrong. Only the first line of what it says begins at the margin,
//! so that no word of a line can imitate a message.

use std::borrow::Cow;

use super::{
    builtin::nested,
    exec::{FILE_TOO_LARGE, SIGXFSZ},
    fd::Fd,
    state::{Env, Eval, Flow},
};

/// What messages begin with that are the shell's own.
const OURS: &str = "drydock";

impl Env {
    /// Writes to a descriptor. Nobody reading is the end of this shell, as SIGPIPE is, and so is a file that gets longer
    /// than `ulimit -f` allows, as SIGXFSZ is.
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
                    return Err(self.abort(format!(
                        "a command substitution gave more than {max} bytes; --line-memory allows more"
                    )));
                }
                let is_limited = matches!(&fd, Fd::File(file) if file.bytes_max.is_some());
                if is_limited && !self.traps.has("XFSZ") {
                    Box::pin(self.complain("File size limit exceeded")).await?;
                    return Err(Flow::Exit(FILE_TOO_LARGE));
                }
                if is_limited {
                    self.traps.inbox.send(SIGXFSZ);
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
        let line = format!("{}: line {}: {text}", self.speaker(), self.trace.line.max(1));
        self.write_error(&line).await
    }

    /// Whose line it is: the file being sourced, the script, or `$0`. A shell that was given no name has
    /// ours: there is no bash here to blame.
    fn speaker(&self) -> Cow<'_, str> {
        let name = match self.frame.sources.last() {
            Some(file) => file,
            None if nested::NAMES.contains(&&*self.identity.name) => return Cow::Borrowed(OURS),
            None => &self.identity.name,
        };
        // A script whose name begins as our messages do is quoted: the line is its own.
        let imitates = name.strip_prefix(OURS).is_some_and(|rest| rest.starts_with(':'));
        if imitates { Cow::Owned(format!("'{name}'")) } else { Cow::Borrowed(name) }
    }

    /// The same for what no line of the text is to blame for.
    pub(crate) async fn announce(&mut self, text: &str) -> Eval<()> {
        self.write_error(&format!("{OURS}: {text}")).await
    }

    /// Words of the line are in most messages, and any text can be in a word.
    async fn write_error(&mut self, text: &str) -> Eval<()> {
        let line = drydock_contract::text::message(text) + "\n";
        let bytes = super::text::to_bytes(&line).into_owned();
        match self.write(2, &bytes).await {
            Ok(_) | Err(Flow::Exit(141)) => Ok(()),
            Err(flow) => Err(flow),
        }
    }
}
