//! The guest of a shell: opened when a line needs one, called for each line, and opened anew after one that did not come
//! back.

use std::{future::poll_fn, sync::Arc, time::Duration};

use drydock_abi::shell::{
    Answer, LineReport, LineRequest, Opening, Plan, Request, ShellLimits, SyntaxError, TypedWords, encode,
};
use drydock_contract::{
    Artifact, Budget, Fault, LineWorld, LiveError, Meter, Outcome, ShellCall, ShellGuestSpec, Sink, Streams,
    exit, size_text,
};
use drydock_engine::ShellGuest;

use crate::{Dock, code::runtime};

/// As good as never: whoever runs a line ends it.
const NEVER: Duration = Duration::from_secs(365 * 86_400);

/// What reading a text may take, which is not run.
const EXPLAIN_WALL_MAX: Duration = Duration::from_secs(5);
const EXPLAIN_MEMORY_BYTES_MAX: u64 = 256 << 20;

/// The same for a text that is being typed: whoever types waits for it.
const WORDS_WALL_MAX: Duration = Duration::from_millis(500);

/// The module.
pub(crate) fn artifact() -> Result<Artifact, Fault> {
    runtime::artifact("shell")
}

/// The guest, and what another one would go on from.
pub(crate) struct Kept {
    /// None before the first line, and after one that did not end by itself.
    guest: Option<ShellGuest>,
    opening: Opening,
    /// What `$?` is for the next line, where something outside ended the last one.
    pub(crate) status: Option<i32>,
    pub(crate) cwd: String,
    pub(crate) names: Vec<String>,
}

/// One line.
pub(crate) struct LineCall {
    pub(crate) request: LineRequest,
    pub(crate) world: LineWorld,
    pub(crate) memory: Arc<Meter>,
    pub(crate) budget: Option<Arc<Budget>>,
}

impl Kept {
    pub(crate) fn new(opening: Opening) -> Self {
        let cwd = opening.cwd.clone();
        Self { guest: None, opening, status: None, cwd, names: Vec::new() }
    }

    /// What another guest would go on from.
    pub(crate) fn state(&self) -> Option<&[u8]> {
        self.opening.saved.as_deref()
    }

    /// Runs a line; of one that did not come back, how it was ended.
    pub(crate) async fn run(
        &mut self,
        dock: &Dock,
        spec: impl FnOnce() -> Result<ShellGuestSpec, Fault>,
        call: LineCall,
    ) -> (LineReport, Streams) {
        let LineCall { mut request, world, memory, budget } = call;
        request.status = self.status.take();
        let mut guest = match self.guest.take() {
            Some(guest) => guest,
            None => {
                request.opening = Some(Box::new(self.opening.clone()));
                let opened = match spec() {
                    Ok(spec) => dock.engine.open_shell(spec).await,
                    Err(fault) => Err(fault.into()),
                };
                match opened {
                    Ok(guest) => guest,
                    Err(error) => return self.ended(&error, world.streams).await,
                }
            }
        };
        let input = encode(&Request::Line(Box::new(request)));
        let (memory, world) = (Some(memory), Some(world));
        let (reply, streams) = guest.call(ShellCall { input, wall_max: NEVER, memory, budget, world }).await;
        // What pays for the reply is let go when all of it is read.
        let answer = reply.and_then(|mut it| {
            let (answer, saved_at) = Answer::decode(&it.bytes).map_err(|bad| broken(&bad))?;
            it.bytes.drain(..saved_at);
            Ok((answer, std::mem::take(&mut it.bytes)))
        });
        match answer {
            Ok((Answer::Line(answer), saved)) => {
                (self.cwd, self.names) = (answer.cwd, answer.names);
                if answer.saved_bytes.is_some() {
                    self.opening.saved = Some(saved);
                }
                self.guest = Some(guest);
                (answer.report, streams)
            }
            Ok((Answer::NotOpened(why), _)) => self.not_opened(&why, streams).await,
            Ok((Answer::Plan(_) | Answer::Words(_), _)) => self.ended(&broken(&"no line"), streams).await,
            Err(error) => self.ended(&error, streams).await,
        }
    }

    /// What was kept is nothing to go on from. It stays as it is, for whoever can read it.
    async fn not_opened(&mut self, why: &str, mut streams: Streams) -> (LineReport, Streams) {
        tell(&mut streams.stderr, &format!("{}: {why}\n", self.opening.name)).await;
        let (status, limit) = (i32::from(exit::LIMITED), Some(format!("not_restored: {why}")));
        (LineReport { status, limit, was_reset: true, ..LineReport::default() }, streams)
    }

    /// The report of a line whose guest is gone. It says so itself: nobody else can.
    async fn ended(&mut self, error: &LiveError, mut streams: Streams) -> (LineReport, Streams) {
        let status = match error {
            LiveError::Ended(outcome) => i32::from(outcome.exit_status()),
            _ => i32::from(exit::LIMITED),
        };
        let limit = match error {
            LiveError::Ended(Outcome::OutOfMemory) => {
                let max = size_text(self.opening.line_memory_bytes_max);
                format!("out_of_memory: the limit is {max} for the whole line; --line-memory allows more")
            }
            LiveError::Ended(Outcome::OutOfFuel) => "out_of_fuel: the session's budget is used up".to_owned(),
            LiveError::Ended(Outcome::Trapped(why)) => format!("the shell cannot go on: {why}"),
            other => other.to_string(),
        };
        tell(&mut streams.stderr, &format!("{}: limit: {limit}\n", self.opening.name)).await;
        self.status = Some(status);
        (LineReport { status, limit: Some(limit), was_reset: true, ..LineReport::default() }, streams)
    }
}

fn broken(why: &dyn std::fmt::Display) -> LiveError {
    LiveError::Contract { code: "malformed", reason: format!("the shell's guest answered {why}") }
}

async fn tell(sink: &mut Sink, text: &str) {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        match poll_fn(|cx| sink.poll_write(cx, rest)).await {
            Ok(count @ 1..) => rest = &rest[count.min(rest.len())..],
            // Nobody reads it.
            Ok(_) | Err(_) => return,
        }
    }
}

/// A text could not even be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// It is not in the language.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// Reading it took more than it may, or the guest failed.
    #[error("the text could not be read: {0}")]
    Guest(#[from] LiveError),
}

impl Dock {
    /// What a line or a script would do, without doing it.
    pub async fn explain(&self, text: &str, limits: &ShellLimits) -> Result<Plan, ExplainError> {
        let mut guest = self.open_reader().await?;
        let input = encode(&Request::Explain { text: text.to_owned(), limits: limits.clone() });
        let call = ShellCall { input, wall_max: EXPLAIN_WALL_MAX, memory: None, budget: None, world: None };
        let (reply, _) = guest.call(call).await;
        let reply = reply?;
        match Answer::decode(&reply.bytes).map_err(|bad| broken(&bad))?.0 {
            Answer::Plan(plan) => Ok(plan?),
            Answer::Line(_) | Answer::Words(_) | Answer::NotOpened(_) => Err(broken(&"no plan").into()),
        }
    }

    /// Whoever reads texts while they are typed.
    pub fn word_reader(&self) -> WordReader {
        WordReader { dock: self.clone(), guest: None }
    }

    /// A guest that reads texts and runs none.
    async fn open_reader(&self) -> Result<ShellGuest, LiveError> {
        let spec = ShellGuestSpec {
            artifact: artifact().map_err(LiveError::from)?,
            memory_bytes_max: EXPLAIN_MEMORY_BYTES_MAX,
            preparing: None,
            depth: 0,
            tenant: self.tenant.clone(),
        };
        self.engine.open_shell(spec).await
    }
}

/// Says what the words of a text are while somebody types it. The shell's guest reads it, one that stays for all texts:
/// what was pasted may have come from anywhere.
pub struct WordReader {
    dock: Dock,
    /// None before the first text, and after one that took too long.
    guest: Option<ShellGuest>,
}

impl WordReader {
    /// The words of a text. What they say of it is the guest's word: places may lie outside of the text.
    pub async fn read(&mut self, text: &str, limits: &ShellLimits) -> Result<TypedWords, LiveError> {
        let mut guest = match self.guest.take() {
            Some(guest) => guest,
            None => self.dock.open_reader().await?,
        };
        let input = encode(&Request::Words { text: text.to_owned(), limits: limits.clone() });
        let call = ShellCall { input, wall_max: WORDS_WALL_MAX, memory: None, budget: None, world: None };
        let (reply, _) = guest.call(call).await;
        match Answer::decode(&reply?.bytes).map_err(|bad| broken(&bad))?.0 {
            Answer::Words(words) => {
                self.guest = Some(guest);
                Ok(words)
            }
            Answer::Line(_) | Answer::Plan(_) | Answer::NotOpened(_) => Err(broken(&"no words")),
        }
    }
}
