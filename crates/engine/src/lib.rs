//! Compiles, links, meters and runs guests. The only room that knows wasmtime.
//!
//! A run is a fresh instance on the calling thread: a slot of the pool, a copy-on-write image, a
//! store that is dropped at the end. Whatever the guest wants of the world goes through the
//! [`Dispatch`](drydock_contract::Dispatch) it was given; an import whose power was not granted is
//! not linked at all. This room opens no file and no socket, and judges nothing.

mod answer;
mod blocking;
mod burning;
mod compile;
mod compiling;
mod config;
mod engine;
mod entry;
mod features;
mod guest;
mod host;
mod lane;
mod limiter;
mod live;
mod loaded;
mod loads;
mod memory;
mod occupied;
mod outcome;
mod preview1;
mod run;
mod shell;
mod slots;
mod snapshot;
mod spending;
mod ticker;
mod wait;
mod wasi;

pub use compile::{Apart, CompileEvent};
pub use config::{Allocation, Cpu, Effort, EngineSettings, Facts, precompile};
pub use engine::Engine;
/// What a handler may log, for handlers that are no modules.
pub use entry::handler::{
    LINE_BYTES_MAX as HANDLER_LINE_BYTES_MAX, LINES_MAX as HANDLER_LINES_MAX, line as handler_line,
};
/// What serving guests import besides.
pub use entry::serving::SERVING_IMPORTS;
pub use features::needed_features;
pub use host::{IMPORTS, OWN_IMPORTS, OwnImport};
pub use lane::Lane;
pub use shell::{ShellGuest, ShellReply};
pub use snapshot::SnapshotError;
