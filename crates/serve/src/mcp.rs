//! Servers of MCP, one for each caller and workspace: as many as may be, and none longer than somebody uses it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::http::StatusCode;
use drydock_contract::Tenant;
use drydock_mcp::{HttpBounds, HttpServer, HttpSessions};

use crate::{
    app::{Bounds, Locked},
    error::ApiError,
};

/// Servers that are kept at once.
const SERVERS_MAX: usize = 1_024;

/// Whose server, and over which files.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Whose {
    pub(crate) tenant: Tenant,
    pub(crate) principal: Arc<str>,
    pub(crate) workspace: Option<String>,
}

/// All of them.
pub(crate) struct McpServers {
    kept: Locked<Whose, Kept>,
    sessions: HttpSessions,
    bounds: HttpBounds,
}

struct Kept {
    server: Arc<HttpServer>,
    used: Instant,
}

impl Kept {
    fn is_over(&self, now: Instant, idle_max: Duration) -> bool {
        self.server.is_idle()
            && Arc::strong_count(&self.server) == 1
            && now.saturating_duration_since(self.used) >= idle_max
    }
}

impl McpServers {
    pub(crate) fn new(bounds: &Bounds) -> Self {
        let Bounds { mcp_sessions_max, mcp_caller_sessions_max, mcp_idle_max, .. } = *bounds;
        Self {
            kept: Locked::default(),
            sessions: HttpSessions::new(mcp_sessions_max),
            bounds: HttpBounds { sessions_max: mcp_caller_sessions_max, idle_max: mcp_idle_max },
        }
    }

    /// What protocol sessions are bounded by: all of them together, and those of one server.
    pub(crate) fn bounds(&self) -> (&HttpSessions, HttpBounds) {
        (&self.sessions, self.bounds)
    }

    /// The one that is there.
    pub(crate) fn find(&self, whose: &Whose) -> Option<Arc<HttpServer>> {
        let mut kept = self.kept.lock();
        let found = kept.get_mut(whose)?;
        found.used = Instant::now();
        Some(Arc::clone(&found.server))
    }

    /// Keeps one, unless somebody was faster: then theirs is the one.
    pub(crate) fn keep(&self, whose: Whose, made: HttpServer) -> Result<Arc<HttpServer>, ApiError> {
        let now = Instant::now();
        let mut kept = self.kept.lock();
        kept.retain(|_, it| !it.is_over(now, self.bounds.idle_max));
        if kept.len() >= SERVERS_MAX && !kept.contains_key(&whose) {
            return Err(too_many());
        }
        let made = || Kept { server: Arc::new(made), used: now };
        Ok(Arc::clone(&kept.entry(whose).or_insert_with(made).server))
    }

    /// Ends what streams still wait for, so that the server can end.
    pub(crate) fn end(&self) {
        self.kept.lock().values().for_each(|it| it.server.end());
    }
}

/// There is no room for one more.
pub(crate) fn too_many() -> ApiError {
    let text = "as many sessions of MCP are open as may be; end one (DELETE /mcp), or try again in a moment";
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_sessions", text)
}
