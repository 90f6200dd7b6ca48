//! A line in one line: `dock.exec("sort | uniq -c").stdin("b\na\n").await?`.
//!
//! Each line has a shell, files and limits of its own; nothing stays for the next one unless the files were
//! handed over. It runs under the profile `minimal`, where every command may run, unless a [`Setup`] says
//! otherwise.

use std::{future::IntoFuture, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use drydock_abi::shell::LineReport;
use drydock_contract::{CommandName, Limits, Sink, Source, Streams, Switch, port::Files};
use drydock_gate::DefaultLimits;

use crate::{
    BadSetup, Dock, ExecStream, HostInput, HostOutput, LineRefused, OutputStream, Setup, ShellSetup,
    output::{OutputListener, Outputs, Overheard},
};

/// What a line did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Executed {
    /// The exit status, as a shell's user knows it.
    pub status: i32,
    /// What it wrote to stdout; nothing if that was streamed.
    pub stdout: Vec<u8>,
    /// What it wrote to stderr; nothing if that was streamed.
    pub stderr: Vec<u8>,
    /// The limit that ended it, if one did.
    pub limit: Option<String>,
    /// Everything that is known of it, stage by stage.
    pub report: LineReport,
}

impl Executed {
    /// Whether it exited with 0.
    pub fn success(&self) -> bool {
        self.status == 0
    }

    /// Stdout as text, with what is no UTF-8 replaced.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.stdout)
    }
}

/// A line did not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// It cannot be set up like this.
    #[error(transparent)]
    Setup(#[from] BadSetup),
    /// The gate refuses.
    #[error(transparent)]
    Refused(#[from] LineRefused),
}

/// A line that is about to run: await it, or [`stream`](Exec::stream) it.
#[must_use = "a line runs when it is awaited"]
pub struct Exec<'a> {
    dock: &'a Dock,
    script: String,
    pub(crate) principal: String,
    pub(crate) setup: Setup,
    pub(crate) shell: ShellSetup,
    stdin: Source,
    cancel: Option<Arc<Switch>>,
    listener: Option<OutputListener>,
    broken: Option<BadSetup>,
}

/// The limits of a line where nobody says otherwise; the memory is the profile's.
pub fn line_limits() -> Limits {
    Limits {
        wall_max: Duration::from_secs(120),
        fuel_max: 100_000_000_000,
        stdout_bytes_max: 64 << 20,
        stderr_bytes_max: 64 << 20,
        ..Limits::default()
    }
}

impl Dock {
    /// A line or a whole script in bash's language, to be awaited for its stdout, stderr and status.
    pub fn exec(&self, script: impl Into<String>) -> Exec<'_> {
        let mut setup = Setup::profile("minimal");
        setup.limits = Some(Limits { memory_bytes_max: setup.profile.memory_bytes_max, ..line_limits() });
        setup.default_limits = Some(DefaultLimits::ALL);
        Exec {
            dock: self,
            script: script.into(),
            principal: "embedder".into(),
            setup,
            shell: ShellSetup::default(),
            stdin: Source::Empty,
            cancel: None,
            listener: None,
            broken: None,
        }
    }
}

impl<'a> Exec<'a> {
    /// With this on its stdin.
    pub fn stdin(mut self, bytes: impl Into<Bytes>) -> Self {
        self.stdin = Source::Bytes(bytes.into());
        self
    }

    /// With these files in its working directory, or where their paths say.
    pub fn files<P: AsRef<str>, T: AsRef<[u8]>>(mut self, files: impl IntoIterator<Item = (P, T)>) -> Self {
        match crate::tree::with_files(&self.shell.cwd, files) {
            Ok(tree) => self.setup.files = Some(tree),
            Err(bad) => self.broken = Some(bad),
        }
        self
    }

    /// In this tree, which keeps what the line does to it.
    pub fn tree(mut self, files: Arc<dyn Files>) -> Self {
        self.setup.files = Some(files);
        self
    }

    /// With these limits, for all its stages together.
    pub fn limits(mut self, limits: Limits) -> Self {
        (self.setup.limits, self.setup.default_limits) = (Some(limits), None);
        self
    }

    /// With this much time.
    pub fn timeout(mut self, wall_max: Duration) -> Self {
        let limits = self.setup.limits.unwrap_or_else(line_limits);
        let defaults = DefaultLimits { wall: false, ..self.setup.default_limits() };
        self.setup.limits = Some(Limits { wall_max, ..limits });
        self.setup.default_limits = Some(defaults);
        self
    }

    /// With a closure as one more command.
    pub fn command<F, R>(mut self, name: &str, body: F) -> Self
    where
        F: Fn(HostInput) -> R + Send + Sync + 'static,
        R: Future<Output = HostOutput> + Send + 'static,
    {
        match name.parse::<CommandName>() {
            Ok(name) => self.setup.host_commands.insert(name, body),
            Err(bad) => self.broken = Some(bad.into()),
        }
        self
    }

    /// As this principal instead of `embedder`, with these powers and limits.
    pub fn with(mut self, principal: &str, setup: Setup) -> Self {
        self.principal = principal.to_owned();
        self.setup = setup;
        self
    }

    /// In a shell that starts so.
    pub fn shell(mut self, shell: ShellSetup) -> Self {
        self.shell = shell;
        self
    }

    /// Ended when this is tripped.
    pub fn until(mut self, cancel: Arc<Switch>) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// With somebody who is told of what it writes while it runs; it is captured all the same.
    pub fn overheard_by(mut self, listener: OutputListener) -> Self {
        self.listener = Some(listener);
        self
    }

    /// Starts it and tells what it writes as it writes it. It goes on while the stream is polled, and waits
    /// while nobody takes its output.
    pub fn stream(self) -> Result<ExecStream, ExecError> {
        let outputs = Outputs::new();
        let streams = Streams {
            stdin: Source::Empty,
            stdout: outputs.sink(OutputStream::Stdout),
            stderr: outputs.sink(OutputStream::Stderr),
            ..Streams::default()
        };
        let running = self.start(streams)?;
        let running = async move { running.await.map(|it| it.0) };
        Ok(ExecStream { running: Some(Box::pin(running)), outputs, end: None })
    }

    /// The line over these streams, its stdin excepted. The future owns all it needs.
    fn start(
        self,
        streams: Streams,
    ) -> Result<impl Future<Output = Result<(Executed, Streams), ExecError>> + Send + use<>, ExecError> {
        if let Some(bad) = self.broken {
            return Err(bad.into());
        }
        let mut shell = self.dock.shell(&self.principal, self.setup, self.shell)?;
        let (script, cancel) = (self.script, self.cancel);
        let streams = Streams { stdin: self.stdin, ..streams };
        Ok(async move {
            let end = shell.canceller();
            let mut running = std::pin::pin!(shell.run(&script, streams));
            let done = match cancel {
                None => running.await,
                Some(cancel) => tokio::select! {
                    biased;
                    done = &mut running => done,
                    () = tripped(&cancel) => {
                        end();
                        running.await
                    }
                },
            };
            let (report, streams) = done?;
            let executed = Executed {
                status: report.status,
                limit: report.limit.clone(),
                report,
                ..Executed::default()
            };
            Ok((executed, streams))
        })
    }
}

/// Waits until the switch is thrown.
pub(crate) async fn tripped(switch: &Switch) {
    loop {
        let listener = switch.listen();
        if switch.is_tripped() {
            return;
        }
        listener.await;
    }
}

impl<'a> IntoFuture for Exec<'a> {
    type Output = Result<Executed, ExecError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(mut self) -> Self::IntoFuture {
        Box::pin(async move {
            let Some(listener) = self.listener.take() else {
                let streams = Streams {
                    stdin: Source::Empty,
                    stdout: Sink::capture(),
                    stderr: Sink::capture(),
                    ..Streams::default()
                };
                let (executed, streams) = self.start(streams)?.await?;
                return Ok(Executed {
                    stdout: streams.stdout.into_captured(),
                    stderr: streams.stderr.into_captured(),
                    ..executed
                });
            };
            let kept = [Arc::default(), Arc::default()];
            let sink = |kept: &Arc<_>, stream| {
                let listener = Arc::clone(&listener);
                Sink::Stream(Box::new(Overheard { kept: Arc::clone(kept), stream, listener }))
            };
            let streams = Streams {
                stdin: Source::Empty,
                stdout: sink(&kept[0], OutputStream::Stdout),
                stderr: sink(&kept[1], OutputStream::Stderr),
                ..Streams::default()
            };
            let (executed, _) = self.start(streams)?.await?;
            let [stdout, stderr] = kept.map(|it| std::mem::take(&mut *it.lock()));
            Ok(Executed { stdout, stderr, ..executed })
        })
    }
}
