//! A yard for runs of agents: a dock in a home of its own, and models that say what a test wrote.
#![allow(dead_code, clippy::unwrap_used)]

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex},
};

use drydock_embed::{
    Dock, DockSettings, ModelDialect, ModelSettings,
    agent::{AgentSpec, DockAgents, Event, RunOptions},
    contract::{
        AgentId, Review, ReviewAnswer,
        port::{FileError, Files, OpenHow, TreePath, Wanted},
    },
    egress::Egress,
};
use serde_json::{Value, json};

/// The scripts of models, by name.
pub(crate) type Scripts = Arc<Mutex<BTreeMap<String, String>>>;

pub(crate) struct Yard {
    pub(crate) home: tempfile::TempDir,
    pub(crate) scripts: Scripts,
    pub(crate) dock: Dock,
}

/// A dock over that home whose models are these scripts.
pub(crate) fn dock(home: &Path, scripts: &Scripts, egress: Option<Arc<Egress>>) -> Dock {
    let scripts = Arc::clone(scripts);
    let source = move |name: &str| {
        let Some(text) = scripts.lock().unwrap().get(name).cloned() else { return Ok(None) };
        let settings = ModelSettings {
            dialect: ModelDialect::Scripted,
            script: Some("script".into()),
            ..ModelSettings::default()
        };
        let opened = settings.open(name, None, |_| Ok(text));
        opened.map(|it| Some(Arc::new(it))).map_err(|error| error.to_string())
    };
    let settings = DockSettings { models: Some(Arc::new(source)), egress, ..DockSettings::default() };
    Dock::open_with(home, settings).unwrap()
}

pub(crate) fn yard() -> Yard {
    yard_over(None)
}

/// One with a way out of its own.
pub(crate) fn yard_over(egress: Option<Arc<Egress>>) -> Yard {
    let home = tempfile::tempdir().unwrap();
    let scripts = Scripts::default();
    let dock = dock(home.path(), &scripts, egress);
    Yard { home, scripts, dock }
}

impl Yard {
    /// The model of that name says this from now on.
    pub(crate) fn says(&self, model: &str, turns: &[Value]) {
        self.scripts.lock().unwrap().insert(model.into(), Value::from(turns.to_vec()).to_string());
    }

    pub(crate) fn agents(&self) -> DockAgents {
        self.dock.agents()
    }

    /// The same home in another process, as far as a test can have one.
    pub(crate) fn restarted(&self) -> Self {
        let (home, scripts) = (tempfile::tempdir().unwrap(), Arc::clone(&self.scripts));
        Self { dock: dock(self.home.path(), &scripts, None), home, scripts }
    }
}

/// A turn that calls tools.
pub(crate) fn calls(calls: &[(&str, Value)]) -> Value {
    let calls: Vec<Value> = calls.iter().map(|(name, it)| json!({ "name": name, "arguments": it })).collect();
    json!({ "tool_calls": calls, "usage": { "input_tokens": 100, "output_tokens": 10 } })
}

/// A turn that runs a line.
pub(crate) fn shell(line: &str) -> Value {
    calls(&[("shell", json!({ "pipeline": line }))])
}

/// A turn that ends the run.
pub(crate) fn says(text: &str) -> Value {
    json!({ "content": text })
}

pub(crate) fn options(model: &str) -> RunOptions {
    RunOptions { model: model.into(), ..RunOptions::default() }
}

pub(crate) fn session(model: &str) -> AgentSpec {
    AgentSpec::session("You are a clerk.", "Do it.", options(model))
}

/// The answers that the model read, with the names of their tools.
pub(crate) fn results(events: &[Event]) -> Vec<(String, String)> {
    events
        .iter()
        .filter_map(|it| match it {
            Event::Result { tool, output, .. } => Some((tool.clone(), output.clone())),
            _ => None,
        })
        .collect()
}

/// The names of the events.
pub(crate) fn names(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(Event::name).collect()
}

/// What a file of a run holds.
pub(crate) fn read(files: &dyn Files, path: &str) -> Result<String, FileError> {
    let how = OpenHow { read: true, ..OpenHow::default() };
    let file = files.open(&TreePath::new(path)?, how, drydock_embed::contract::Timestamp(0))?;
    let mut bytes = vec![0; usize::try_from(file.stat()?.size).unwrap()];
    let read = file.read_at(0, &mut bytes)?;
    bytes.truncate(read);
    Ok(String::from_utf8(bytes).unwrap())
}

/// The one review of a run that waits.
pub(crate) async fn waiting(agents: &DockAgents, run: &AgentId) -> Review {
    let mut all = agents.reviews(Some(run), Wanted::Pending, 10).await.unwrap();
    assert_eq!(all.len(), 1, "{all:#?}");
    all.remove(0)
}

pub(crate) async fn answer(agents: &DockAgents, run: &AgentId, answer: ReviewAnswer) -> Review {
    let review = waiting(agents, run).await;
    agents.answer(&review.id, answer, "ada").await.unwrap()
}
