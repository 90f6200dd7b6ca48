//! What the loop asks of whoever holds a run: its files, its session's grants and budget, and those who watch it.

use std::sync::Arc;

use drydock_abi::llm::{Deltas, ToolCall};
use drydock_agent::{Event, Given, Host, Purse, Spent};
use drydock_contract::{
    AgentHead, AgentId, BoxFuture, Budget, Timestamp, Unit,
    port::{Clock, FileError, FileResult, Files, Mode, OpenHow, TreePath},
};
use serde_json::Value;

use super::{
    DockAgents, heard::Heard, preview::preview, reviews::new_id, snapshots::Snapshots, spent::SpendBook,
};
use crate::{DockSession, instance::off_thread};

/// Where outputs are kept whole that a model sees cut, below the run's own directory.
const OUTPUTS: &str = "workspace/.drydock";

/// Stands behind a run while it is driven.
pub(super) struct RunHost {
    pub(super) agents: DockAgents,
    pub(super) files: Arc<dyn Files>,
    pub(super) cwd: String,
    pub(super) session: DockSession,
    pub(super) budget: Option<Arc<Budget>>,
    pub(super) book: Option<Arc<SpendBook>>,
    pub(super) run: AgentId,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) snapshots: Option<Snapshots>,
    pub(super) heard: Arc<Heard>,
    pub(super) deltas: Option<Deltas>,
    /// Ids of a replay, the next one last.
    pub(super) ids: parking_lot::Mutex<Vec<AgentId>>,
    /// On a tape nothing happens beside the run.
    pub(super) is_taped: bool,
}

impl Host for RunHost {
    fn fresh_id(&self) -> AgentId {
        // Without randomness there is no id that nobody has; the store takes none twice.
        self.ids.lock().pop().or_else(|| new_id().ok()).unwrap_or_else(|| AgentId::of(0))
    }

    fn keep_output<'a>(&'a self, step: u64, place: usize, output: &'a str) -> BoxFuture<'a, Option<String>> {
        let path = format!("{OUTPUTS}/{step}-{place}.txt");
        let (files, now) = (Arc::clone(&self.files), self.clock.now());
        Box::pin(async move {
            let kept = match self.is_taped {
                true => put(&*files, &path, output.as_bytes(), now),
                false => {
                    let (path, output) = (path.clone(), output.to_owned());
                    off_thread(move || put(&*files, &path, output.as_bytes(), now)).await
                }
            };
            // A full disk: the model is told that the rest is nowhere.
            kept.ok().map(|()| format!("/{path}"))
        })
    }

    fn snapshot(&self, step: u64) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.heard.write().await;
            let Some(snapshots) = self.snapshots.clone() else { return };
            let kept = off_thread(move || snapshots.keep(step)).await;
            if let Err(error) = kept {
                tracing::warn!("no snapshot after turn {step} of an agent's run: {error}");
            }
        })
    }

    fn give<'a>(&'a self, given: &'a Given) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let grant = self.agents.grant_of(&given.grant, &given.review, given.uses);
            let grant = grant.map_err(|error| error.to_string())?;
            let grant = grant.ok_or("it hangs from another grant, and would be wider without it")?;
            self.session.inner().give(grant).map_err(|denial| denial.to_string())
        })
    }

    fn more(&self, purse: Purse, amount: u64) {
        if let Some(budget) = &self.budget {
            budget.add(unit(purse), amount);
        }
        if let Some(book) = &self.book {
            book.more(purse, amount);
        }
    }

    fn spent(&self) -> BoxFuture<'_, Option<Spent>> {
        Box::pin(async move {
            let spent = self.book.as_ref()?.spent(&self.agents, &self.run).await;
            spent.inspect_err(|error| tracing::warn!("what an agent's run spent is not known: {error}")).ok()
        })
    }

    fn preview<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Option<Value>> {
        let (files, cwd, call) = (Arc::clone(&self.files), self.cwd.clone(), call.clone());
        Box::pin(async move {
            match self.is_taped {
                true => preview(&*files, &cwd, &call),
                false => off_thread(move || preview(&*files, &cwd, &call)).await,
            }
        })
    }

    fn on_events(&self, at: u64, events: &[Event], _: &AgentHead) {
        if let Some(book) = &self.book {
            book.on_events(events);
        }
        self.heard.on_events(at, events);
        if !self.heard.holds_much() {
            return;
        }
        match self.is_taped {
            true => self.heard.write_here(),
            false => {
                let heard = Arc::clone(&self.heard);
                tokio::task::spawn_blocking(move || heard.write_here());
            }
        }
    }

    fn deltas(&self) -> Option<Deltas> {
        self.deltas.clone()
    }
}

/// What a budget counts a purse in.
pub(super) const fn unit(purse: Purse) -> Unit {
    match purse {
        Purse::Tokens => Unit::Tokens,
        Purse::CostMicros => Unit::CostMicros,
    }
}

/// Writes a file whole, making the directory above it.
fn put(files: &dyn Files, path: &str, bytes: &[u8], now: Timestamp) -> FileResult<()> {
    match files.create_dir(&TreePath::new(OUTPUTS)?, Mode::DIRECTORY, now) {
        Ok(()) | Err(FileError::Exists) => {}
        Err(error) => return Err(error),
    }
    let how = OpenHow {
        write: true,
        create: true,
        truncate: true,
        nofollow: true,
        mode: Mode::FILE,
        ..OpenHow::NONE
    };
    files.open(&TreePath::new(path)?, how, now)?.write_at(0, bytes, now)
}
