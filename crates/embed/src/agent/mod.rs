//! Runs of agents over a dock: opened, driven, resumed after a restart or a kill, cancelled, forked, shown and answered for.
//!
//! Whose turn it is, what a tool may do and what is written down is decided elsewhere: by the room `agent`, by the gate and
//! by whoever keeps runs. Here a run gets its session, its files and what stands behind its tools, and whoever wants to
//! know of it hears of it. Front ends only spell what is here.

mod child;
mod drive;
mod error;
mod folders;
mod fork;
mod furnish;
mod heard;
mod host;
mod house;
mod issues;
mod keeper;
mod open;
mod place;
mod powers;
mod preview;
mod record;
mod replay;
mod replay_store;
mod reviews;
mod snapshots;
mod spec;
mod spent;
mod toolkits;
pub mod tools;
mod trace;
mod waits;

pub use drive::{AgentRun, Driven};
pub use error::AgentError;
pub use folders::{ReadFolderError, read_definition, read_folder};
pub use heard::OnEvent;
pub use house::{AgentSettings, Definitions, DockAgents};
pub use place::run_of_workspace;
pub use record::RunRecord;
pub use replay::ReplayedRun;
pub use snapshots::SnapshotQuota;
pub use spec::{AgentChanges, AgentFiles, AgentPowers, AgentSpec, ChildOf};
pub use toolkits::{LoadToolkitError, ToolkitFiles, ToolkitPlaces};

/// The tools of agents, as models see them.
pub use drydock_agent::tools as catalogue;
/// What happens in a run, and what it may be told.
pub use drydock_agent::{
    AtLimit, BadOptions, CallOutcome, DriveError, Event, OnDenial, Purse, RunEnd, RunOptions,
    SESSION_STEPS_MAX, STEPS_MAX, Spent, TOOL_OUTPUT_BYTES, TOOL_WALL_MS, UnknownTool,
};
pub use drydock_agent::{definition, prompt, skill, text, toolkit};
