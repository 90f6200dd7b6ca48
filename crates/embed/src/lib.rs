//! Drydock as a library: open a [`Dock`] and run lines, commands and programs.
//!
//! ```
//! use drydock_embed::Dock;
//!
//! # let home = tempfile::tempdir()?;
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
//! # runtime.block_on(async {
//! let dock = Dock::open(home.path())?;
//! let done = dock.exec("upper | rev").stdin("abc").await?;
//! assert_eq!((done.status, done.text().trim_end()), (0, "CBA"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! With a session of one's own, only what was granted runs:
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

pub mod agent;
mod clock;
mod code;
mod connect;
mod desk;
mod dock;
mod dock_shell;
mod download;
mod exec;
mod grants;
mod host_command;
mod installation;
mod instance;
mod kept;
mod keys;
mod lembeh;
mod line;
mod models;
mod mount;
mod network;
mod output;
pub mod packages;
mod pip;
mod places;
mod processes;
mod provide;
mod revocations;
mod sandbox;
mod searches;
mod served;
mod session;
mod setup;
mod shell_guest;
mod shell_session;
mod shipping;
mod snapshot;
pub mod tape;
mod tree;
mod wiring;
mod worker;
mod workspace;

pub use clock::SystemClock;
pub use code::{
    BadCommandTools, ChangeLog, ChangedFile, ChildRunner, CodeInput, CodeResult, DockCode, DockPy, JsGuest,
    Language, OpenPyError, Position, PyGuest, PyInput, PyResult, SITE_PACKAGES, TokioTime, command_tools,
    file_tools, program_tools,
};
pub use connect::ConnectError;
pub use dock::{Dock, DockSettings, OpenDockError};
pub use dock_shell::{DockShell, LineRefused, ShellSetup, empty_tree};
pub use download::{DownloadError, DownloadLimits, Seen};
pub use drydock_contract::port::CompileLimits;
pub use exec::{Exec, ExecError, Executed, line_limits};
pub use grants::{StoredGrant, StoredGrants, StoredGrantsError};
pub use host_command::{HostCommands, HostInput, HostOutput};
pub use installation::{
    BadSecretHeader, BadSecretRef, ENTRIES_MAX, ExtensionCode, ExtensionSettings, HostEntry,
    INSTALLATIONS_MAX, InstallError, Installation, InstallationLimits, InstallationSettings, Installations,
    Installed, PrivateEntry, SecretHeader, SecretName, SecretRef, SecretSource, StoredSecret, StoredSecrets,
    UrlEntry,
};
pub use instance::{DockKernel, HANDLER_LIMITS, HandedOver, KERNEL_LIMITS, KernelError};
pub use keys::{BadKeyRef, KeyReader, KeyRef};
pub use lembeh::{LEMBEH_LIMITS, LembehError, LembehRun, LembehSetup};
pub use models::{BadModel, ModelDialect, ModelPrice, ModelSettings};
pub use mount::{BadMount, Mount, OpenTreeError, Room, Tree, overlap};
pub use network::Network;
pub use output::{ExecEvent, ExecStream, OutputListener, OutputStream};
pub use processes::{DockProcesses, NewProcess, ProcessError, ProcessPiece, process_limits};
pub use provide::{InstallTime, Provider, StandIn};
pub use sandbox::{Base, Effect, Operation, Sandbox, SandboxError, SandboxSetup, Watch, process_tools};
pub use searches::{BadSearch, SearchSettings};
pub use served::{
    CLIENT_CALLS_MAX, CONNECTION_WALL_MAX, CONNECTIONS_MAX, DISPATCH_WALL_MAX, GAP, Protocol,
    RESPONSE_BYTES_MAX, SERVED_REQUEST_BYTES_MAX, ServeHandler, ServeSetup, Served, ServedConnection,
    TextRequest, TextResponse, command_handler, decode_response, encode_request, serve_subject,
};
pub use session::{DockSession, Run};
pub use setup::{BadSetup, Setup, ordinary_variables};
pub use shell_guest::{ExplainError, WordReader};
pub use shell_session::SessionError;
pub use shipping::{BuiltInCode, built_in_code};
pub use snapshot::SnapshotCommandError;
pub use worker::{Confinement, WorkerProgram, serve_compile_worker};
pub use workspace::{DockWorkspace, WorkspaceError};

pub use drydock_codemode as codemode;
pub use drydock_contract as contract;
pub use drydock_egress as egress;
pub use drydock_engine as engine;
pub use drydock_extension as extension;
pub use drydock_gate as gate;
pub use drydock_lembeh::{LembehPolicy, policy as lembeh_policy, specimen};
pub use drydock_store as store;

/// What a line is made of and what it did.
pub use drydock_abi::shell;
/// What a connection of a session is.
pub use drydock_abi::tcp::{ConnectFailure, Connected};
/// What changes of secrets are called on record. They are made by people and hosts alone.
pub mod change {
    /// A value is kept.
    pub const KEEP: &str = "secret.keep";
    /// A key pair is made and kept.
    pub const GENERATE: &str = "secret.generate";
    /// A secret is referred to.
    pub const REFER: &str = "secret.refer";
    /// A secret is forgotten.
    pub const REMOVE: &str = "secret.remove";
}

/// Requests and answers of brokers: values by key, and messages.
pub use drydock_abi::{broker, kv, listing, queue};
/// Models, as whoever knows them says what they are.
pub use drydock_caps::llm::{Model, ModelSource};
pub use drydock_caps::search::{Provider as SearchProvider, ProviderKind, SearchSource};
/// Names that people type and that are no command here.
pub use drydock_commands::catalog;

/// The names of the powers behind the gate, for the reference.
pub use drydock_caps::{SPECS, judge_terms, tool::pattern as tool_pattern};

/// README's own block for whoever embeds Drydock: it compiles, or `cargo test` fails.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
