//! Commands that are Rust closures of the embedder: a name of a shell's line or of a program's `commands`
//! like any other, behind the same gate. They run with the embedder's own rights, outside any sandbox; what
//! a guest may hand to one is its arguments and its input, both bounded by the session's limits.
//!
//! A registered command of the same name wins, so a closure replaces no built-in.

use std::{collections::BTreeMap, future::poll_fn, io, sync::Arc};

use drydock_contract::{BoxFuture, CommandName, Outcome, Sink, Source, Streams};
use drydock_gate::{Inside, InsideCommand};

/// The most input a closure is handed.
const STDIN_BYTES_MAX: usize = 64 << 20;

/// What a closure is called with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostInput {
    /// Its arguments, without its name.
    pub args: Vec<String>,
    /// Everything on its stdin.
    pub stdin: Vec<u8>,
    /// `NAME=value` entries of its environment.
    pub env: Vec<String>,
}

/// What a closure answers. The default is success without a word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostOutput {
    /// The exit status.
    pub status: u8,
    /// For its stdout.
    pub stdout: Vec<u8>,
    /// For its stderr.
    pub stderr: Vec<u8>,
}

impl<T: Into<Vec<u8>>> From<T> for HostOutput {
    fn from(stdout: T) -> Self {
        Self { stdout: stdout.into(), ..Self::default() }
    }
}

pub(crate) type Body = dyn Fn(HostInput) -> BoxFuture<'static, HostOutput> + Send + Sync;

/// Closures by name.
#[derive(Clone, Default)]
pub struct HostCommands(BTreeMap<CommandName, Arc<Body>>);

impl HostCommands {
    /// Adds one; the last of a name counts.
    pub fn insert<F, R>(&mut self, name: CommandName, body: F)
    where
        F: Fn(HostInput) -> R + Send + Sync + 'static,
        R: Future<Output = HostOutput> + Send + 'static,
    {
        self.0.insert(name, Arc::new(move |input| Box::pin(body(input))));
    }

    /// Whether there is one of that name.
    pub fn has(&self, name: &str) -> bool {
        self.0.keys().any(|it| it.as_str() == name)
    }

    /// Their names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &CommandName> {
        self.0.keys()
    }

    /// The same names with other bodies.
    pub(crate) fn around(&self, body: impl Fn(&CommandName, Arc<Body>) -> Arc<Body>) -> Self {
        Self(self.0.iter().map(|(name, own)| (name.clone(), body(name, Arc::clone(own)))).collect())
    }

    /// These behind what the front end answers itself.
    pub(crate) fn within(&self, other: Option<Arc<dyn Inside>>) -> Option<Arc<dyn Inside>> {
        if self.0.is_empty() {
            return other;
        }
        Some(Arc::new(Both { own: self.clone(), other }))
    }
}

impl std::fmt::Debug for HostCommands {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

struct Both {
    own: HostCommands,
    other: Option<Arc<dyn Inside>>,
}

impl Inside for Both {
    fn offers(&self, name: &str) -> bool {
        self.own.has(name) || self.other.as_ref().is_some_and(|it| it.offers(name))
    }

    fn run(&self, command: InsideCommand) -> BoxFuture<'static, (Outcome, Streams)> {
        let found = self.own.0.iter().find(|it| it.0.as_str() == command.name).map(|it| Arc::clone(it.1));
        match (found, &self.other) {
            (Some(body), _) => Box::pin(answer(body, command)),
            (None, Some(other)) => other.run(command),
            (None, None) => Box::pin(async move { (Outcome::Exited(127), command.streams) }),
        }
    }
}

async fn answer(body: Arc<Body>, command: InsideCommand) -> (Outcome, Streams) {
    let InsideCommand { args, env, wall_max, mut streams, .. } = command;
    let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
    let called = async {
        let Some(stdin) = read(&mut streams.stdin).await else { return Outcome::InputLimit };
        let input =
            HostInput { args: args.iter().map(text).collect(), stdin, env: env.iter().map(text).collect() };
        let output = body(input).await;
        // A reader that went away is nobody's error.
        let _ = write(&mut streams.stdout, &output.stdout).await;
        let _ = write(&mut streams.stderr, &output.stderr).await;
        Outcome::Exited(output.status.into())
    };
    let outcome = match wall_max {
        Some(wall) => tokio::time::timeout(wall, called).await.unwrap_or(Outcome::TimedOut),
        None => called.await,
    };
    (outcome, streams)
}

/// All there is, or nothing if it is too much.
async fn read(source: &mut Source) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match poll_fn(|cx| source.poll_read(cx, &mut buffer)).await {
            Ok(0) | Err(_) => return Some(all),
            Ok(count) if all.len() + count > STDIN_BYTES_MAX => return None,
            Ok(count) => all.extend_from_slice(buffer.get(..count).unwrap_or_default()),
        }
    }
}

async fn write(sink: &mut Sink, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = poll_fn(|cx| sink.poll_write(cx, bytes)).await?;
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = bytes.get(count..).unwrap_or_default();
    }
    poll_fn(|cx| sink.poll_flush(cx)).await
}
