//! MCP over streamable HTTP: one [`HttpServer`] for whoever may use the same sandbox, so for one caller of a server of
//! many. The protocol is the SDK's; ours is how many protocol sessions there are and how long they may idle.
//!
//! Revisions with a handshake have protocol sessions, each with a sandbox of its own where the caller wants that; the
//! newest has none, and its requests share one. Who asks, by which name and from which page, was judged before: nothing
//! here looks at a token, a host or an origin.

use std::{collections::HashMap, convert::Infallible, fmt::Display, sync::Arc, time::Duration};

use bytes::Bytes;
use drydock_embed::Sandbox;
use futures_core::Stream;
use http::{Method, Request, Response};
use http_body::Body;
use parking_lot::Mutex;
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_server::{
        SessionId, SessionManager, StreamableHttpServerConfig, StreamableHttpService,
        session::{
            ServerSseMessage,
            local::{LocalSessionManager, LocalSessionManagerError},
        },
    },
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    agent::AgentDoor,
    line::LINE_BYTES_MAX,
    server::{OpenSandbox, Server, tools},
};

/// How much of it there may be.
#[derive(Debug, Clone, Copy)]
pub struct HttpBounds {
    /// Protocol sessions of one caller at once.
    pub sessions_max: usize,
    /// How long a protocol session lives without a message, either way.
    pub idle_max: Duration,
}

impl Default for HttpBounds {
    fn default() -> Self {
        Self { sessions_max: 64, idle_max: Duration::from_secs(10 * 60) }
    }
}

/// How many protocol sessions all callers together may have. Clones count the same ones.
#[derive(Debug, Clone)]
pub struct HttpSessions(Arc<Semaphore>);

impl HttpSessions {
    /// So many at once.
    pub fn new(sessions_max: usize) -> Self {
        Self(Arc::new(Semaphore::new(sessions_max)))
    }
}

/// MCP for one caller.
pub struct HttpServer {
    service: StreamableHttpService<Server, Bounded>,
    sessions: Arc<Bounded>,
}

impl HttpServer {
    /// Over a sandbox that all requests share, but those of a protocol session where `open` makes it one of its own.
    pub fn new(
        shared: Arc<Sandbox>,
        open: Option<OpenSandbox>,
        agents: Option<Arc<dyn AgentDoor>>,
        all: &HttpSessions,
        bounds: HttpBounds,
    ) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(bounds.idle_max);
        let sessions = Arc::new(Bounded {
            local,
            all: Arc::clone(&all.0),
            own: Arc::new(Semaphore::new(bounds.sessions_max)),
            held: Mutex::default(),
        });
        let config = StreamableHttpServerConfig::default()
            // Whoever mounts this has judged both.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_json_response(true)
            .with_max_request_body_bytes(LINE_BYTES_MAX);
        let (tools, open): (_, Option<OpenSandbox>) = (tools(&shared, agents.is_some()), open);
        let made =
            move || Ok(Server::new(Arc::clone(&shared), Arc::clone(&tools), open.clone(), agents.clone()));
        Self { service: StreamableHttpService::new(made, Arc::clone(&sessions), config), sessions }
    }

    /// Answers one request. What it answers may be a stream that goes on for long.
    pub async fn answer<B>(
        &self,
        request: Request<B>,
    ) -> Response<impl Body<Data = Bytes, Error = Infallible> + Send + use<B>>
    where
        B: Body + Send + 'static,
        B::Error: Display,
    {
        self.service.handle(request).await
    }

    /// Whether there is room for the protocol session that a request opens, if it opens one.
    pub fn has_room_for(&self, method: &Method, in_session: bool, body: &[u8]) -> bool {
        let opens = method == Method::POST && !in_session && is_initialize(body);
        !opens || self.sessions.has_room()
    }

    /// Whether anybody has a protocol session.
    pub fn is_idle(&self) -> bool {
        self.sessions.held.lock().is_empty()
    }

    /// Ends all streams that wait for something, so that a server can end.
    pub fn end(&self) {
        self.service.config.cancellation_token.cancel();
    }
}

/// The longest handshake that is looked at before the SDK does.
const HANDSHAKE_BYTES_MAX: usize = 64 << 10;

/// Whether a message begins a protocol session. Only for the right words: what is wrong here meets the bound itself.
fn is_initialize(body: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Named<'m> {
        method: std::borrow::Cow<'m, str>,
    }
    body.len() <= HANDSHAKE_BYTES_MAX
        && serde_json::from_slice::<Named<'_>>(body).is_ok_and(|it| it.method == "initialize")
}

/// Protocol sessions, of which there are no more than may be.
struct Bounded {
    local: LocalSessionManager,
    all: Arc<Semaphore>,
    own: Arc<Semaphore>,
    held: Mutex<HashMap<SessionId, [OwnedSemaphorePermit; 2]>>,
}

/// There is no such protocol session, or no room for one more.
#[derive(Debug, thiserror::Error)]
enum SessionsError {
    #[error("as many protocol sessions are open as may be")]
    Full,
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

impl Bounded {
    fn has_room(&self) -> bool {
        self.all.available_permits() > 0 && self.own.available_permits() > 0
    }
}

impl SessionManager for Bounded {
    type Error = SessionsError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionsError> {
        let place = |of: &Arc<Semaphore>| Arc::clone(of).try_acquire_owned().map_err(|_| SessionsError::Full);
        let places = [place(&self.own)?, place(&self.all)?];
        let (id, transport) = self.local.create_session().await?;
        self.held.lock().insert(id.clone(), places);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionsError> {
        Ok(self.local.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionsError> {
        Ok(self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionsError> {
        let closed = self.local.close_session(id).await;
        self.held.lock().remove(id);
        Ok(closed?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        Ok(self.local.create_stream(id, message).await?)
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionsError> {
        Ok(self.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        Ok(self.local.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        Ok(self.local.resume(id, last_event_id).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_handshake_opens_a_protocol_session() {
        for (body, want) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#, true),
            (r#"{"method":"initi\u0061lize"}"#, true),
            (r#"{"method":"tools/list"}"#, false),
            (r#"{"method":1}"#, false),
            ("[]", false),
            ("", false),
        ] {
            assert_eq!(is_initialize(body.as_bytes()), want, "{body}");
        }
    }

    #[tokio::test]
    async fn there_are_no_more_protocol_sessions_than_may_be() {
        let all = HttpSessions::new(3);
        let bounded = |own| Bounded {
            local: LocalSessionManager::default(),
            all: Arc::clone(&all.0),
            own: Arc::new(Semaphore::new(own)),
            held: Mutex::default(),
        };
        let (one, other) = (bounded(2), bounded(2));
        let (first, _one) = one.create_session().await.unwrap();
        let (_, _two) = one.create_session().await.unwrap();
        assert!(!one.has_room() && other.has_room());
        assert!(matches!(one.create_session().await, Err(SessionsError::Full)));
        let (_, _three) = other.create_session().await.unwrap();
        assert!(!other.has_room(), "all callers together have as many as may be");
        one.close_session(&first).await.unwrap();
        assert!(one.has_room() && other.has_room());
    }
}
