//! Which headers are between two neighbours only.

use axum::http::{HeaderMap, HeaderName, header};

/// Whether a header says something about this connection, or about the message as this server sends it, and so ends here.
pub(crate) fn is_hop_by_hop(name: &HeaderName) -> bool {
    matches!(
        name.as_str(),
        "connection"
            | "keep-alive"
            | "proxy-authenticate"
            | "proxy-authorization"
            | "proxy-connection"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
            | "content-length"
    )
}

/// Names that a message itself says are between two neighbours only.
pub(crate) fn named_by_connection(headers: &HeaderMap) -> Vec<HeaderName> {
    let values = headers.get_all(header::CONNECTION).iter().filter_map(|it| it.to_str().ok());
    values.flat_map(|it| it.split(',')).filter_map(|it| it.trim().parse().ok()).collect()
}
