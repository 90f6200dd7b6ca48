//! Powers as namespaces of programs: `kv.get({key})` is the operation `kv.get` at the gate, with the JSON that stands in the
//! list of operations. What a session was granted nothing of is no namespace of its programs.

use std::sync::Arc;

use drydock_abi::broker::{self, OperationText};
use drydock_codemode::provider::{BadProvider, Provider, Providers, Tool, ToolError};
use drydock_contract::{Call, CallError, CallId, Cap, CapSet, Streams};
use serde_json::Value;
use tokio::sync::Semaphore;

use super::{BadCommandTools, command_tools, file_tools, file_tools::vfs_tools};
use crate::{Dock, DockSession, SPECS, Setup, ShellSetup, empty_tree, process_tools};

/// Answers of one program that are being made at once. A program pays for an answer once it is there, so this bounds what
/// it has not paid for. The others wait in the order in which they were asked for.
const ANSWERS_MAX: usize = 8;

/// All that a program of this setup has beside its language: commands, files, and what the setup's grants add.
pub fn program_tools(
    dock: &Arc<Dock>,
    principal: &str,
    setup: &Setup,
    shell: &ShellSetup,
) -> Result<Providers, BadCommandTools> {
    let mut setup = setup.clone();
    let memory = setup.builtin_memory();
    let files = Arc::clone(setup.files.get_or_insert_with(|| empty_tree(memory)));
    let clock = setup.one_clock();
    let mut all = vec![
        command_tools(dock, principal, &setup, shell)?,
        file_tools(&files, &shell.cwd, &clock)?,
        vfs_tools(&files, &shell.cwd, &clock)?,
    ];
    all.extend(process_tools(dock, principal, &setup, shell)?);
    let session = dock.session_beside(principal, setup)?;
    all.extend(broker_tools(&session)?);
    Ok(Providers::new(all)?)
}

/// The namespaces of the powers that the session holds.
fn broker_tools(session: &DockSession) -> Result<Vec<Provider>, BadProvider> {
    let held = session.inner().grants().caps();
    let turns = Arc::new(Semaphore::new(ANSWERS_MAX));
    let mut spaces: Vec<(&'static str, Vec<Tool>)> = Vec::new();
    let offered =
        broker::all().filter_map(|it| Some((it, power_of(it.name).filter(|cap| held.contains(*cap))?)));
    for (operation, cap) in offered {
        let space = namespace(cap);
        let tool = tool(session, cap, operation, &turns);
        match spaces.iter_mut().find(|(name, _)| *name == space) {
            Some((_, tools)) => tools.push(tool),
            None => spaces.push((space, vec![tool])),
        }
    }
    spaces.into_iter().map(|(space, tools)| Provider::compiled_late(space, tools)).collect()
}

/// The names of the namespaces that a program of whoever holds these powers has.
pub(crate) fn power_namespaces(held: CapSet) -> impl Iterator<Item = &'static str> {
    let powers = broker::all().filter_map(|it| power_of(it.name)).filter(move |cap| held.contains(*cap));
    powers.map(namespace)
}

/// A power's own name, but for that of HTTP.
fn namespace(cap: Cap) -> &'static str {
    match cap {
        Cap::Net => "http",
        other => other.as_str(),
    }
}

/// The power behind an operation.
pub(crate) fn power_of(operation: &str) -> Option<Cap> {
    let spec = SPECS.iter().find(|spec| spec.operations.iter().any(|it| it.name == operation))?;
    Some(spec.cap)
}

fn tool(session: &DockSession, cap: Cap, operation: &'static OperationText, turns: &Arc<Semaphore>) -> Tool {
    let (session, turns) = (session.clone(), Arc::clone(turns));
    Tool::new(operation.verb(), move |input, context| {
        let session = session.at(CallId(context.span), context.depth);
        let turns = Arc::clone(&turns);
        async move {
            let _turn = match takes_turns(cap, &input) {
                true => turns.acquire().await.ok(),
                false => None,
            };
            Ok(ask(&session, operation.name, &input).await?)
        }
    })
    .describe(operation.description)
    .input((operation.input)())
    .output((operation.output)())
}

/// Whether a call waits for its turn. What may itself wait for another call of the program, such as for its message or for
/// the other end of a connection, does not: they would wait for each other.
fn takes_turns(cap: Cap, input: &Value) -> bool {
    match cap {
        Cap::Kv | Cap::Secrets | Cap::Browse | Cap::Search => true,
        Cap::Queue => input["wait_ms"].as_u64().unwrap_or(0) == 0,
        _ => false,
    }
}

/// Why there is no value.
pub(crate) enum NoValue {
    /// It was refused, or broke.
    Call(CallError),
    /// It was allowed, and could not be had: code and message.
    Lacks(String, String),
}

impl NoValue {
    /// Code and message in one sentence: all that an error of a program carries.
    fn told(self) -> String {
        match self {
            Self::Call(error) if error.to_string().starts_with(error.code()) => error.to_string(),
            Self::Call(error) => format!("{}: {error}", error.code()),
            Self::Lacks(code, message) => format!("{code}: {message}"),
        }
    }
}

/// Asks at the gate in the session's name.
pub(crate) async fn ask(session: &DockSession, operation: &str, input: &Value) -> Result<Value, NoValue> {
    let payload = match input {
        Value::Null => "{}".to_owned(),
        other => other.to_string(),
    };
    let call = Call::new(operation, payload.as_bytes(), Streams::default());
    let reply = session.dispatch(call).await.map_err(NoValue::Call)?;
    let value: Value = serde_json::from_slice(&reply.payload).unwrap_or_default();
    match value.get("error").filter(|_| value.as_object().is_some_and(|it| it.len() == 1)) {
        None => Ok(value),
        Some(error) => {
            let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
            Err(NoValue::Lacks(text("code"), text("message")))
        }
    }
}

impl From<NoValue> for ToolError {
    fn from(error: NoValue) -> Self {
        Self::Message(error.told())
    }
}
