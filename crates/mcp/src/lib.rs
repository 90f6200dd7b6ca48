//! MCP over two streams of bytes or over HTTP: a [`Sandbox`]'s operations as tools, its files as resources. And the
//! same operations as plain JSON lines, for our clients in other languages ([`clients`]).
//!
//! This room only spells: what a tool may do, see and spend was decided when the sandbox was opened, and every
//! call is the gate's to judge. The protocol itself is the official SDK's; ours is how messages are cut out of
//! the stream, because a line of any length must be answered and must not cost its length in memory.

mod agent;
mod answer;
pub mod clients;
mod http;
mod line;
mod resource;
mod server;
mod transport;

use std::sync::Arc;

use drydock_embed::Sandbox;
use rmcp::ServiceExt as _;
use tokio::io::{AsyncRead, AsyncWrite};

pub use agent::{AgentDoor, AgentWanted, SYSTEM};
pub use http::{HttpBounds, HttpServer, HttpSessions};
pub use line::{LINE_BYTES_MAX, Line, Lines};
use server::Server;
use transport::{LineTransport, writer};

/// The connection could not be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// What came first was no beginning.
    #[error("the client did not begin as MCP does: {0}")]
    Beginning(String),
    /// A task of ours broke.
    #[error("serving broke: {0}")]
    Broken(#[from] tokio::task::JoinError),
}

/// Serves one client until it goes away, with runs of agents where there is a door to them. Calls in flight are cancelled then, and their guests ended.
pub async fn serve<R, W>(
    sandbox: Arc<Sandbox>,
    agents: Option<Arc<dyn AgentDoor>>,
    read: R,
    write: W,
) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (out, written) = writer(write);
    let tools = server::tools(&sandbox, agents.is_some());
    let server = Server::new(sandbox, tools, None, agents);
    let began = server.serve(LineTransport::new(read, out)).await;
    let running = match began {
        Ok(running) => running,
        // A client that only looked and left has done nothing wrong.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Beginning(error.to_string())),
    };
    running.waiting().await?;
    // What was answered before the end is written, unless nobody reads.
    let _ = tokio::time::timeout(std::time::Duration::from_secs(1), written).await;
    Ok(())
}

/// Serves whoever started this process, on its stdin and stdout.
pub async fn serve_stdio(
    sandbox: Arc<Sandbox>,
    agents: Option<Arc<dyn AgentDoor>>,
) -> Result<(), ServeError> {
    let (read, write) = rmcp::transport::stdio_pipes();
    serve(sandbox, agents, read, write).await
}

/// The parser of foreign bytes, for the fuzzers and nobody else.
#[doc(hidden)]
pub mod foreign {
    /// The id of a message that is too long to be kept.
    pub fn id_of(line: &[u8]) -> Option<serde_json::Value> {
        let mut scan = crate::line::IdScan::default();
        scan.feed(line);
        scan.id()
    }
}
