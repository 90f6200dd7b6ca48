//! A dock with a run's session, whose tools are asked as the loop asks them: by `tool.call` at the gate.
#![allow(dead_code, clippy::unwrap_used)]

use std::{path::Path, sync::Arc};

use drydock_abi::tool::{decode_reply, encode_request};
use drydock_agent::tools::{PROVIDER, ToolOutput};
use drydock_embed::{
    Dock, DockSession, DockSettings, SearchSource, Setup, ShellSetup,
    agent::tools::{
        AgentTools, ToolParts,
        exec::{Exec, ExecSettings, exec_grant, workdir_files},
    },
    contract::{AgentId, Call, Cap, CapSet, Streams, Tenant, Terms, ToolRequest, port::Agents},
    egress::QuotaLimits,
    gate::Grant,
    store::{Mounts, Quota},
};
use drydock_testkit::MemoryAgents;
use serde_json::Value;

use crate::web_room;

/// A run's session and what stands behind it.
pub(crate) struct Room {
    pub(crate) dock: Arc<Dock>,
    pub(crate) tools: Arc<AgentTools>,
    pub(crate) session: DockSession,
    pub(crate) issues: MemoryAgents,
    home: tempfile::TempDir,
}

/// What a tool said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Told {
    /// It answered.
    Output(ToolOutput),
    /// It has no answer: the wire's code and its sentence.
    Failed(String, String),
    /// The gate refused the call itself.
    Refused(String),
}

impl Told {
    /// The answer's text; of anything else, what it is.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Output(output) => output.output.clone(),
            Self::Failed(code, message) => format!("failed {code}: {message}"),
            Self::Refused(code) => format!("refused {code}"),
        }
    }

    pub(crate) fn output(self) -> ToolOutput {
        match self {
            Self::Output(output) => output,
            other => unreachable!("{other:?}"),
        }
    }
}

pub(crate) fn grant(cap: Cap, subjects: &[&str]) -> Arc<Grant> {
    Arc::new(Grant::of(cap).within(Terms::of(subjects.iter().map(|it| it.parse().unwrap()))))
}

/// The setup that a run has where nobody says otherwise: every command and tool, programs, no network.
pub(crate) fn usual() -> Setup {
    let grants =
        vec![grant(Cap::Tool, &["agent.*", "commands.*", "files.*"]), Arc::new(Grant::of(Cap::Code))];
    let withheld = CapSet::of(&[Cap::Tool]);
    Setup { grants, withheld, ..Setup::profile("minimal") }
}

pub(crate) fn room() -> Room {
    room_with(usual(), |_| {})
}

pub(crate) fn room_with(setup: Setup, change: impl FnOnce(&mut ToolParts)) -> Room {
    room_at(tempfile::tempdir().unwrap(), setup, change)
}

pub(crate) fn room_at(home: tempfile::TempDir, setup: Setup, change: impl FnOnce(&mut ToolParts)) -> Room {
    room_over(home, setup, DockSettings::default(), change)
}

/// A room whose dock knows who searches the web.
pub(crate) fn room_searching(setup: Setup, search: Arc<SearchSource>) -> Room {
    let settings = DockSettings { search: Some(search), ..DockSettings::default() };
    room_over(tempfile::tempdir().unwrap(), setup, settings, |_| {})
}

fn room_over(
    home: tempfile::TempDir,
    setup: Setup,
    settings: DockSettings,
    change: impl FnOnce(&mut ToolParts),
) -> Room {
    let egress = Some(web_room::local(QuotaLimits::default()).0);
    let dock = Arc::new(Dock::open_with(home.path(), DockSettings { egress, ..settings }).unwrap());
    let issues = MemoryAgents::default();
    let mut parts = ToolParts {
        dock: Arc::clone(&dock),
        principal: "agent".into(),
        setup,
        shell: ShellSetup::default(),
        run: AgentId::of(7),
        issues: Arc::new(issues.clone()) as Arc<dyn Agents>,
        toolkits: Arc::default(),
        children: None,
        exec: None,
    };
    change(&mut parts);
    let tools = Arc::new(AgentTools::new(parts).unwrap());
    let session = tools.session().unwrap();
    Room { dock, tools, session, issues, home }
}

/// A room whose run works in a directory of the host and may use the trusted tools.
pub(crate) fn trusted(workdir: &Path, settings: &ExecSettings) -> Room {
    let home = tempfile::tempdir().unwrap();
    let exec = Exec::new(workdir, settings, None, home.path()).unwrap();
    let mut files = Mounts::over(drydock_embed::empty_tree(64 << 20));
    files.mount("workspace", workdir_files(workdir, Quota::default()).unwrap()).unwrap();
    let mut setup = Setup { files: Some(Arc::new(files)), ..usual() };
    setup.grants.push(Arc::new(exec_grant()));
    room_at(home, setup, |parts| parts.exec = Some(exec))
}

impl Room {
    pub(crate) async fn ask(&self, tool: &str, input: Value) -> Told {
        let request = ToolRequest {
            provider: PROVIDER.into(),
            tool: tool.into(),
            input: Some(input.to_string().into()),
            span: 0,
            depth: 0,
        };
        let wire = encode_request(&request);
        let call = Call::new("tool.call", &wire, Streams::default());
        match self.dock.gate().dispatch(self.session.inner(), call).await {
            Err(error) => Told::Refused(error.code().to_owned()),
            Ok(reply) => match decode_reply(reply.payload.into()).unwrap() {
                Ok(answer) => Told::Output(serde_json::from_slice(&answer).unwrap()),
                Err(failure) => Told::Failed(failure.code.to_string(), failure.message),
            },
        }
    }

    pub(crate) async fn text(&self, tool: &str, input: Value) -> String {
        self.ask(tool, input).await.text()
    }

    pub(crate) fn tenant(&self) -> Tenant {
        self.dock.tenant().clone()
    }
}
