//! Connections for whoever embeds Drydock and speaks a protocol of their own: in a session's name, judged and recorded like
//! what its guests send, and ended with the session and with the grant.

use drydock_abi::{
    tcp::{self, ConnectAnswer, ConnectFailure, ConnectRequest, Connected},
    tls,
};
use drydock_contract::{Call, CallError, Fault, Streams};

use crate::DockSession;

/// Nobody waits longer for a connection.
const CONNECT_MS_MAX: u64 = 10_000;

/// There is no connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The gate refused it, or something of ours failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The session is recorded or replayed: what comes over a connection of its host's own would be on no tape.
    #[error("a connection is on no tape: connect in a session that is not recorded")]
    NotTaped,
    /// It was allowed, and nobody took it, or not in time.
    #[error("no connection to {host}:{port}: {}", match failure {
        ConnectFailure::Unreachable => "nobody takes it, or its certificate is refused",
        ConnectFailure::TimedOut => "it took too long",
        ConnectFailure::Quota => "the principal has as many as it may",
    })]
    Failed {
        /// Whom to.
        host: String,
        /// Its port.
        port: u16,
        /// Why not.
        failure: ConnectFailure,
    },
}

impl DockSession {
    /// Connects to a host and port that a grant of `tcp` names.
    pub async fn connect_tcp(&self, host: &str, port: u16) -> Result<Connected, ConnectError> {
        self.connect(tcp::CONNECT, host, port).await
    }

    /// Connects over TLS to a host and port that a grant of `tls` names. The certificate is verified for the host's name.
    pub async fn connect_tls(&self, host: &str, port: u16) -> Result<Connected, ConnectError> {
        self.connect(tls::CONNECT, host, port).await
    }

    async fn connect(
        &self,
        operation: &'static str,
        host: &str,
        port: u16,
    ) -> Result<Connected, ConnectError> {
        if self.inner().spec().tape.is_some() {
            return Err(ConnectError::NotTaped);
        }
        let request =
            ConnectRequest { host: host.into(), port, prefer_ipv6: false, timeout_ms: CONNECT_MS_MAX };
        let call = Call::typed(operation, request, host.len() as u64, Streams::default());
        let mut reply = self.gate.dispatch(self.inner(), call).await?;
        let answer: ConnectAnswer = reply
            .value()
            .ok_or_else(|| CallError::from(Fault::Internal("the gate answered in another form".into())))?;
        answer.map_err(|failure| ConnectError::Failed { host: host.into(), port, failure })
    }
}
