//! Drydock over HTTP: one server for extensions, commands, programs and workspaces of many tenants.
//!
//! A spelling, and no power: a request becomes calls of a tenant's dock, and the gate behind that decides. What this room
//! decides is who asks: the tenant comes from the bearer token alone. Over HTTP nothing of the host can be named, neither
//! a path nor a variable nor a directory.
//!
//! Everything is bounded: connections, headers, bodies, the time to read both, requests in flight and in line for each
//! tenant, memory for bodies, remembered answers. The listener comes from whoever starts the server; nothing here binds,
//! dials, or reads a file or the environment.

mod agents;
mod app;
mod ask;
mod body;
mod caller;
mod cross;
mod door;
mod enter;
mod error;
mod guest;
mod header;
mod held;
mod idempotency;
mod installed;
mod json;
mod listen;
mod local;
mod log;
mod mcp;
mod metrics;
mod openapi;
mod pace;
mod pieces;
mod queue;
mod route;
mod sse;
mod telemetry;
mod tls;

pub use app::{App, Bounds, Reach, ServeSettings};
pub use guest::{GuestBounds, GuestCounts, GuestEnd, serve_guest};
pub use listen::{Drained, serve};
pub use local::serve_local;
pub use openapi::document as openapi;
pub use route::router;
pub use telemetry::{BadTelemetry, Telemetry};
pub use tls::{BadTls, Tls};
