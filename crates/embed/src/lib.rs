//! Drydock as a library: open a [`Dock`], open a session, run commands.
//!
//! ```
//! use drydock_embed::{Dock, Setup};
//!
//! # let home = tempfile::tempdir()?;
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
//! # runtime.block_on(async {
//! let dock = Dock::open(home.path())?;
//! let session = dock.session("me", Setup::allowing(["upper"])?)?;
//! let run = session.run("upper", &[], "every command is a fresh wasm instance").await?;
//! assert_eq!(run.stdout, b"EVERY COMMAND IS A FRESH WASM INSTANCE");
//! assert_eq!(session.run("jq", &["."], "{}").await.unwrap_err().code(), "command_not_granted");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Runs happen on the thread that awaits them, inside a tokio runtime with its timer enabled. This
//! crate wires the rooms together and decides nothing.

mod clock;
mod code;
mod dock;
mod dock_shell;
mod line;
mod session;
mod setup;
mod wiring;

pub use clock::SystemClock;
pub use code::{ChildRunner, CodeInput, DockCode, JsGuest, Position, TokioTime, command_tools, file_tools};
pub use dock::{Dock, DockSettings, OpenDockError};
pub use dock_shell::{DockShell, LineRefused, ShellSetup, empty_tree};
pub use session::{DockSession, Run};
pub use setup::{BadSetup, Setup};

pub use drydock_codemode as codemode;
pub use drydock_contract as contract;
pub use drydock_engine as engine;
pub use drydock_gate as gate;
pub use drydock_store as store;

/// What a line is made of and what it did.
pub use drydock_commands::{catalog, shell};

/// The names of the powers behind the gate, for the reference.
pub use drydock_caps::SPECS;
