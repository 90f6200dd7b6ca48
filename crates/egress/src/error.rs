//! Why a fetch failed. The codes are a closed list; six kinds of them are what a guest is told.

use std::io;

use crate::{
    host::Host,
    observe::NotRecorded,
    quota::QuotaError,
    refusal::{FailureKind, Refusal},
};

/// A fetch that brought nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// Refused before anything was dialled, or a hop of a redirect was.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The principal has had what it may have.
    #[error(transparent)]
    Quota(#[from] QuotaError),
    /// What cannot be recorded is not done.
    #[error(transparent)]
    NotRecorded(#[from] NotRecorded),
    /// More is to be sent than may be.
    #[error("the request's {what} exceed {bytes_max} bytes")]
    RequestTooLarge {
        /// `headers` or `body bytes`.
        what: &'static str,
        /// How many there may be.
        bytes_max: u64,
    },
    /// An injected secret does not go over the wire in the clear.
    #[error("the secret for {host} goes over https only")]
    SecretNeedsTls {
        /// Whom it is for.
        host: Host,
    },
    /// None of the addresses answered.
    #[error("could not connect to {host}")]
    Connect {
        /// Whom to.
        host: Host,
        /// What the last address said.
        #[source]
        cause: io::Error,
    },
    /// There is no socket for datagrams.
    #[error("could not open a socket to {host}")]
    Open {
        /// Whom to.
        host: Host,
        /// What the machine says.
        #[source]
        cause: io::Error,
    },
    /// A datagram could not be sent.
    #[error("could not send to {host}")]
    Send {
        /// Whom to.
        host: Host,
        /// What the machine says.
        #[source]
        cause: io::Error,
    },
    /// The connection broke before anything came, or a datagram was answered by nobody.
    #[error("{host} answered nothing")]
    Receive {
        /// Who.
        host: Host,
        /// What the machine says.
        #[source]
        cause: io::Error,
    },
    /// The machine's trust store is of no use.
    #[error("there is no certificate to trust: {why}")]
    TrustStore {
        /// What is wrong with it.
        why: String,
    },
    /// The server is not who it should be.
    #[error("the certificate of {host} is refused: {why}")]
    Certificate {
        /// Who it should be.
        host: Host,
        /// What is wrong with it.
        why: &'static str,
    },
    /// TLS failed for another reason.
    #[error("no TLS with {host}")]
    Tls {
        /// Whom with.
        host: Host,
        /// What the library says.
        #[source]
        cause: io::Error,
    },
    /// What the server sent is not HTTP, or it stopped in the middle.
    #[error("{host} sent no proper answer")]
    Protocol {
        /// Who.
        host: Host,
        /// What the library says.
        #[source]
        cause: hyper::Error,
    },
    /// The server closed the connection before it said anything.
    #[error("{host} closed the connection without an answer")]
    NoAnswer {
        /// Who.
        host: Host,
    },
    /// The server wants to speak something else.
    #[error("{host} wants to switch protocols")]
    Upgrade {
        /// Who.
        host: Host,
    },
    /// More headers than an answer may have.
    #[error("the headers of the answer exceed {bytes_max} bytes or are too many")]
    HeadersTooLarge {
        /// How many bytes there may be.
        bytes_max: usize,
    },
    /// A longer body than an answer may have.
    #[error("the body of the answer exceeds {bytes_max} bytes")]
    BodyTooLarge {
        /// How many there may be.
        bytes_max: u64,
    },
    /// A body that grows past what an answer may have when it is decoded.
    #[error("the decoded body of the answer exceeds {bytes_max} bytes")]
    DecodedTooLarge {
        /// How many there may be.
        bytes_max: u64,
    },
    /// A body that is not what its encoding says.
    #[error("the body of the answer is not {encoding}")]
    BadEncoding {
        /// What it should be.
        encoding: &'static str,
    },
    /// An encoding that cannot be read, in an answer that must be.
    #[error("the encoding of the answer cannot be read, and must be: only gzip and deflate are")]
    UnknownEncoding,
    /// A chain of redirects that does not end.
    #[error("more than {hops_max} redirects")]
    TooManyRedirects {
        /// How many are followed.
        hops_max: u32,
    },
    /// Time was up.
    #[error("the request took longer than it may")]
    Timeout,
}

/// Every code that a fetch or a connection can end with.
const CODES: &[&str] = &[
    "ok",
    "abandoned",
    "url_too_long",
    "url_malformed",
    "url_scheme",
    "url_userinfo",
    "url_host",
    "quota_in_flight",
    "quota_requests",
    "quota_bytes",
    "method_refused",
    "host_not_granted",
    "port_not_granted",
    "scheme_not_granted",
    "path_not_granted",
    "method_not_granted",
    "beyond_ceiling",
    "name_unresolved",
    "resolve_timeout",
    "too_many_addresses",
    "address_forbidden",
    "audit_unavailable",
    "request_too_large",
    "secret_needs_tls",
    "connect_failed",
    "open_failed",
    "send_failed",
    "recv_failed",
    "no_trust_store",
    "certificate_refused",
    "tls_failed",
    "protocol_error",
    "no_answer",
    "upgrade_refused",
    "headers_too_large",
    "body_too_large",
    "decoded_too_large",
    "bad_encoding",
    "unknown_encoding",
    "too_many_redirects",
    "timeout",
    "internal_error",
    "denied",
    "unknown",
];

/// The code of that spelling, for whoever kept one; `unknown` for what is none.
pub fn known_code(text: &str) -> &'static str {
    CODES.iter().copied().find(|it| *it == text).unwrap_or("unknown")
}

impl FetchError {
    /// The stable code that guests, logs and tests match on.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.code(),
            Self::Quota(quota) => quota.code(),
            Self::NotRecorded(_) => "audit_unavailable",
            Self::RequestTooLarge { .. } => "request_too_large",
            Self::SecretNeedsTls { .. } => "secret_needs_tls",
            Self::Connect { .. } => "connect_failed",
            Self::Open { .. } => "open_failed",
            Self::Send { .. } => "send_failed",
            Self::Receive { .. } => "recv_failed",
            Self::TrustStore { .. } => "no_trust_store",
            Self::Certificate { .. } => "certificate_refused",
            Self::Tls { .. } => "tls_failed",
            Self::Protocol { .. } => "protocol_error",
            Self::NoAnswer { .. } => "no_answer",
            Self::Upgrade { .. } => "upgrade_refused",
            Self::HeadersTooLarge { .. } => "headers_too_large",
            Self::BodyTooLarge { .. } => "body_too_large",
            Self::DecodedTooLarge { .. } => "decoded_too_large",
            Self::BadEncoding { .. } => "bad_encoding",
            Self::UnknownEncoding => "unknown_encoding",
            Self::TooManyRedirects { .. } => "too_many_redirects",
            Self::Timeout => "timeout",
        }
    }

    /// What kind of failure it is to a caller.
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::Refused(refusal) => refusal.kind(),
            Self::Quota(_) => FailureKind::Quota,
            Self::NotRecorded(_) | Self::SecretNeedsTls { .. } => FailureKind::Denied,
            Self::RequestTooLarge { .. }
            | Self::HeadersTooLarge { .. }
            | Self::BodyTooLarge { .. }
            | Self::DecodedTooLarge { .. } => FailureKind::TooLarge,
            Self::Timeout => FailureKind::Timeout,
            Self::Connect { cause, .. } if cause.kind() == io::ErrorKind::TimedOut => FailureKind::Timeout,
            Self::Connect { .. }
            | Self::Open { .. }
            | Self::Send { .. }
            | Self::Receive { .. }
            | Self::TrustStore { .. }
            | Self::Certificate { .. }
            | Self::Tls { .. }
            | Self::Protocol { .. }
            | Self::NoAnswer { .. }
            | Self::Upgrade { .. }
            | Self::BadEncoding { .. }
            | Self::UnknownEncoding
            | Self::TooManyRedirects { .. } => FailureKind::Transport,
        }
    }
}

/// What a record or a tape kept is read by its code, so one that is not on the list would come back as another answer. Read
/// from the text, because the matches are whole and a list of examples need not be.
#[test]
fn every_code_that_there_is_is_known() {
    let sources = [
        include_str!("error.rs"),
        include_str!("refusal.rs"),
        include_str!("target.rs"),
        include_str!("quota.rs"),
    ];
    let mut found = Vec::new();
    for source in sources {
        let (_, rest) = source.split_once("fn code(&self) -> &'static str {").unwrap();
        let (body, _) = rest.split_once("\n    }\n").unwrap();
        found.extend(body.lines().filter_map(|line| line.trim().split_once("=> \"")?.1.strip_suffix("\",")));
    }
    let unknown: Vec<_> = found.iter().filter(|code| known_code(code) != **code).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    assert!(found.len() >= 36 && found.contains(&"no_answer"), "{found:?}");
    assert_eq!(known_code("something else"), "unknown");
}
