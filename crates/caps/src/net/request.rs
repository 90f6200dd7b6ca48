//! Which host a request is for. Nothing else of it is read: nobody sends it.

use drydock_contract::Denial;
use serde_json::Value;

/// A request of an extension.
#[derive(Debug)]
pub struct Fetch {
    host: String,
}

impl Fetch {
    /// `host:port`, in small letters.
    pub(super) fn host(&self) -> &str {
        &self.host
    }
}

pub(super) fn decode(payload: &[u8]) -> Result<Fetch, Denial> {
    let bad = |text: &str| Denial::Malformed(format!("no request of `http.fetch`: {text}"));
    let request: Value = serde_json::from_slice(payload).map_err(|error| bad(&error.to_string()))?;
    let url = request.get("url").and_then(Value::as_str).ok_or_else(|| bad("it has no `url`"))?;
    host_of(url).map(|host| Fetch { host }).ok_or_else(|| {
        bad("its `url` has no host that a grant could name: write http or https, a host in ASCII and no user")
    })
}

/// The host and the port of a URL, if there is no doubt about them.
fn host_of(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let usual = match scheme.to_ascii_lowercase().as_str() {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    // Some readers take a backslash for a slash: then it ends the host, and otherwise no host has one.
    let authority = &rest[..rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len())];
    let (host, port) = match authority.rsplit_once(':') {
        // A colon within brackets is part of an address.
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (authority, ""),
    };
    let port: u16 = match port {
        "" => usual,
        digits if digits.bytes().all(|b| b.is_ascii_digit()) => digits.parse().ok()?,
        _ => return None,
    };
    let inner = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let legal = match inner {
        // Of `core`, which knows addresses and no sockets.
        Some(address) => address.parse::<core::net::Ipv6Addr>().is_ok(),
        None => {
            let letter = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
            !host.is_empty() && host.bytes().all(letter)
        }
    };
    legal.then(|| format!("{}:{port}", host.to_ascii_lowercase()))
}
