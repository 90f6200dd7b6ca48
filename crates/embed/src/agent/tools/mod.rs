//! What stands behind the tools of an agent: the provider `agent` of its session's power `tool`.
//!
//! The gate has let a call through before it comes here, and what a tool does beyond the run's own files it asks at the gate
//! again, in the name of the same session, as a part of that call: grants decide, and the record shows what hung from what.
//! Dropping a call ends what it began. None of the tools runs native code but the three in [`exec`], which take no word of
//! an agent for a program, an argument or a place.

mod child;
mod code;
pub mod exec;
mod failed;
mod file;
mod issue;
mod search;
mod shell;
mod toolkit;
mod web;

use std::sync::Arc;

use drydock_agent::{
    toolkit::ToolkitSet,
    tools::{
        AGENT, AgentArguments, DONE, DoneArguments, EditFileArguments, FetchArguments, FileIssueArguments,
        GitArguments, ImageArguments, PROVIDER, PublishArguments, RunCodeArguments, SearchArguments,
        ShellArguments, ToolOutput, VfsReadArguments, VfsWriteArguments, WbArguments, WebSearchArguments,
        decode,
    },
};
use drydock_contract::{
    AgentId, BoxFuture, CallId, FailureCode, ToolAnswer, ToolFailure, ToolRequest, Tools,
    port::{Agents, Clock},
};
use drydock_gate::{DefaultLimits, DenialLog};
use drydock_store::FullText;
use parking_lot::Mutex;
use serde::de::DeserializeOwned;

pub use child::{SubAgents, SubCall};
pub use failed::ToolError;

use crate::{
    BadSetup, ChangeLog, Dock, DockSession, Setup, ShellSetup, contract::Limits, exec::line_limits,
    sandbox::files::Door,
};
use exec::Exec;

/// The most that one line or program writes for a model.
const OUTPUT_BYTES_MAX: u64 = 4 << 20;

/// What the tools of one run are made of.
pub struct ToolParts {
    /// The machine.
    pub dock: Arc<Dock>,
    /// Who acts.
    pub principal: String,
    /// What the run's own session is opened with. Its grants are held in common ([`Setup::hold`]), so that what the run is
    /// given its tools have.
    pub setup: Setup,
    /// Where its shell begins, and paths of its files start.
    pub shell: ShellSetup,
    /// Which run.
    pub run: AgentId,
    /// Who keeps the issues that it files.
    pub issues: Arc<dyn Agents>,
    /// What its `wb` shows.
    pub toolkits: Arc<ToolkitSet>,
    /// Who runs its sub-agents, if it may have any.
    pub children: Option<Arc<dyn SubAgents>>,
    /// The trusted tools, if a person gave the run a working directory for them.
    pub exec: Option<Exec>,
}

/// The tools of one run.
pub struct AgentTools {
    dock: Arc<Dock>,
    principal: String,
    /// Its files are those that `changes` looks at.
    setup: Setup,
    limits: Limits,
    shell: ShellSetup,
    run: AgentId,
    session: DockSession,
    files: Arc<Door>,
    changes: ChangeLog,
    clock: Arc<dyn Clock>,
    kept_shell: tokio::sync::Mutex<shell::KeptShell>,
    index: Arc<FullText>,
    issues: Arc<dyn Agents>,
    toolkits: Arc<ToolkitSet>,
    children: Option<Arc<dyn SubAgents>>,
    exec: Option<Exec>,
}

impl AgentTools {
    /// Opens them. The run's session is then opened with `setup` and with these as its tools.
    pub fn new(parts: ToolParts) -> Result<Self, BadSetup> {
        let ToolParts { dock, principal, mut setup, shell, run, issues, toolkits, children, exec } = parts;
        if setup.limits.is_none() {
            // A line of an agent has the time that a line has anywhere, and not that of one command.
            setup.limits = Some(Limits { memory_bytes_max: setup.profile.memory_bytes_max, ..line_limits() });
            setup.default_limits.get_or_insert(DefaultLimits::ALL);
        }
        let limits = setup.change_limits(|it| {
            it.stdout_bytes_max = it.stdout_bytes_max.min(OUTPUT_BYTES_MAX);
            it.stderr_bytes_max = it.stderr_bytes_max.min(OUTPUT_BYTES_MAX);
        });
        setup.hold();
        let memory = setup.builtin_memory();
        let files = Arc::clone(setup.files.get_or_insert_with(|| crate::empty_tree(memory)));
        let (watched, changes) = ChangeLog::of(&files);
        setup.files = Some(Arc::clone(&watched));
        let clock = setup.one_clock();
        let door = Door {
            files: watched,
            cwd: shell.cwd.clone(),
            bases: Vec::new(),
            clock: Arc::clone(&clock),
            edits: Mutex::default(),
        };
        let session = dock.session_beside(&principal, setup.clone())?;
        Ok(Self {
            dock,
            principal,
            setup,
            limits,
            shell,
            run,
            session,
            files: Arc::new(door),
            changes,
            clock,
            kept_shell: tokio::sync::Mutex::default(),
            index: Arc::new(search::index()),
            issues,
            toolkits,
            children,
            exec,
        })
    }

    /// The run's session: what holds its grants, and has these behind its power `tool`.
    pub fn session(self: &Arc<Self>) -> Result<DockSession, BadSetup> {
        self.dock.session_with(&self.principal, self.setup.clone(), Some(Arc::clone(self) as _))
    }

    /// What else is opened for the run: the same grants, files and limits.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    async fn answer(&self, request: &ToolRequest) -> Result<ToolOutput, ToolError> {
        let call = Called { id: CallId(request.span), depth: request.depth };
        let input = request.input.as_deref();
        tracing::trace!(target: "drydock::hop", "embed: the agent's tool `{}`", request.tool);
        match &*request.tool {
            "shell" => self.shell(call, read::<ShellArguments>(input)?).await,
            "search" => self.search(read::<SearchArguments>(input)?).await,
            "wb" => Ok(self.toolkit(&read::<WbArguments>(input)?)),
            "fetch" => self.fetch(call, read::<FetchArguments>(input)?).await,
            "web_search" => self.web_search(call, read::<WebSearchArguments>(input)?).await,
            "file_issue" => self.file_issue(read::<FileIssueArguments>(input)?).await,
            "vfs_write" => self.write_file(read::<VfsWriteArguments>(input)?).await,
            "vfs_read" => self.read_file(read::<VfsReadArguments>(input)?).await,
            "edit_file" => self.edit_file(read::<EditFileArguments>(input)?).await,
            "run_code" => self.run_code(call, read::<RunCodeArguments>(input)?).await,
            DONE => Ok(ToolOutput::text(read::<DoneArguments>(input)?.result)),
            AGENT => self.sub_agent(call, input, read::<AgentArguments>(input)?).await,
            "git" => self.git(read::<GitArguments>(input)?).await,
            "publish" => self.publish(read::<PublishArguments>(input)?).await,
            "image" => self.image(read::<ImageArguments>(input)?).await,
            other => Err(ToolError::new("unknown_tool", format!("there is no tool `{other}`"))),
        }
    }

    /// The trusted tools, if the run may use this one of them.
    fn trusted(&self, tool: &str) -> Result<&Exec, ToolError> {
        let is_granted = exec::is_trusted(&self.session.inner().grants(), tool, self.dock.gate.now());
        match &self.exec {
            Some(exec) if is_granted => Ok(exec),
            _ => {
                let why = format!("{tool} not permitted (no exec capability); a person grants it (--exec)");
                Err(ToolError::new("not_permitted", why))
            }
        }
    }

    async fn git(&self, GitArguments { message }: GitArguments) -> Result<ToolOutput, ToolError> {
        let exec = self.trusted("git")?;
        let mut told = exec.git(&message).await?;
        // As the seed has it: what is committed is published, where there is something to publish by.
        if exec.publishes()
            && let Ok(exec) = self.trusted("publish")
        {
            told.push('\n');
            told.push_str(&exec.publish(self.clock.now()).await?);
        }
        Ok(ToolOutput { files_changed: Some(false), ..ToolOutput::text(told) })
    }

    async fn publish(&self, PublishArguments {}: PublishArguments) -> Result<ToolOutput, ToolError> {
        let told = self.trusted("publish")?.publish(self.clock.now()).await?;
        Ok(ToolOutput::text(told))
    }

    async fn image(
        &self,
        ImageArguments { prompt, path, aspect }: ImageArguments,
    ) -> Result<ToolOutput, ToolError> {
        let exec = self.trusted("image")?;
        let at = self.files.path(&path)?;
        let drawn = exec.image((&self.dock, &self.principal), &prompt, aspect).await?;
        let (files, bytes) = (Arc::clone(&self.files), drawn.bytes.len());
        let shown = path.clone();
        off_thread(move || files.write_whole((&shown, &at), &drawn.bytes, None)).await?;
        let told = format!("image written to {path}: {}, {bytes} bytes", drawn.kind);
        Ok(ToolOutput { files_changed: Some(true), ..ToolOutput::text(told) })
    }

    /// The session as this call has it, and what is refused to it.
    fn session_of(&self, call: Called) -> (DockSession, Arc<DenialLog>) {
        let denials = Arc::<DenialLog>::default();
        (self.session.at(call.id, call.depth).telling(Some(Arc::clone(&denials))), denials)
    }
}

/// The gate's call that a tool answers.
#[derive(Debug, Clone, Copy)]
struct Called {
    id: CallId,
    depth: u32,
}

impl Tools for AgentTools {
    fn call(&self, request: ToolRequest) -> BoxFuture<'_, ToolAnswer> {
        Box::pin(async move {
            if &*request.provider != PROVIDER {
                let why = format!("Unknown tool {}", request.name());
                return Err(ToolFailure::new(FailureCode::InternalError, why));
            }
            match self.answer(&request).await {
                Ok(output) => Ok(output.to_json().into()),
                Err(error) => error.answer(),
            }
        })
    }
}

/// The arguments of a tool.
fn read<T: DeserializeOwned>(input: Option<&[u8]>) -> Result<T, ToolError> {
    decode(input).map_err(|bad| ToolError::new("bad_arguments", bad.to_string()))
}

/// Where one may wait for a disk. What has begun is done wholly, also if whoever asked is gone by then.
async fn off_thread<T: Send + 'static, E: Into<ToolError> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, ToolError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(Into::into),
        Err(error) => Err(ToolError::new("internal_error", error.to_string())),
    }
}
