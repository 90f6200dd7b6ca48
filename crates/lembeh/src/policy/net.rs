//! cap.net.v1: where a session may connect to. Judged before anything is dialled; the default is nowhere.

use core::net::IpAddr;
use std::{fmt, str::FromStr};

use drydock_abi::lembeh::{
    Trace,
    net::{ALLOW_DNS, Connect, decode_connect},
};

/// A destination that is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// An address, or a name where DNS is allowed.
    pub host: String,
    /// Its port.
    pub port: u16,
}

/// The text names no destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no host:port")]
pub struct NotADestination;

impl FromStr for Destination {
    type Err = NotADestination;

    /// `host:port`; an address of IPv6 stands in brackets.
    fn from_str(text: &str) -> Result<Self, NotADestination> {
        let (host, port) = text.rsplit_once(':').ok_or(NotADestination)?;
        let inner = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        let host = inner.unwrap_or(host);
        let port = port.parse().ok().filter(|it| *it != 0).ok_or(NotADestination)?;
        let is_bare_v6 = inner.is_none() && host.contains(':');
        if host.is_empty() || is_bare_v6 || host.chars().any(|it| it.is_whitespace() || it.is_control()) {
            return Err(NotADestination);
        }
        Ok(Self { host: host.to_owned(), port })
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

/// Where a session may connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetPolicy {
    /// The allowlist.
    pub allow: Vec<Destination>,
    /// Whether names are looked up.
    pub dns_allowed: bool,
    /// The longest host.
    pub host_bytes_max: u32,
    /// How many connections may be open at once.
    pub connections_max: u32,
    /// How many may be on their way at once.
    pub in_flight_max: u32,
    /// How long one may take to be made.
    pub connect_timeout_ms: u64,
}

impl Default for NetPolicy {
    fn default() -> Self {
        Self {
            allow: Vec::new(),
            dns_allowed: false,
            host_bytes_max: 253,
            connections_max: 8,
            in_flight_max: 4,
            connect_timeout_ms: 10_000,
        }
    }
}

/// What the session has open now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NetLoad {
    /// Connections that stand.
    pub open: u32,
    /// Connections on their way.
    pub connecting: u32,
}

impl NetPolicy {
    /// Judges the params of `net.tcp.connect.v1`. A wish for no delay is never refused.
    pub fn judge_connect<'a>(&self, params: &'a [u8], load: &NetLoad) -> Result<Connect<'a>, Trace> {
        let connect = decode_connect(params).map_err(|_| Trace::AsyncBadParams)?;
        if connect.host.len() as u64 > u64::from(self.host_bytes_max) {
            return Err(Trace::AsyncBadParams);
        }
        let asks_dns = connect.effective_flags() & ALLOW_DNS != 0;
        let is_name = address(connect.host).is_none();
        if (asks_dns && !self.dns_allowed) || (is_name && !asks_dns) {
            return Err(Trace::NetDenied);
        }
        let allowed = |it: &Destination| it.port == connect.port && same_host(&it.host, connect.host);
        if !self.allow.iter().any(allowed) {
            return Err(Trace::NetDenied);
        }
        let all = load.open.saturating_add(load.connecting);
        if all >= self.connections_max || load.connecting >= self.in_flight_max {
            return Err(Trace::AsyncOverflow);
        }
        Ok(connect)
    }
}

/// Addresses are compared as addresses, because each has many spellings; names without regard to case.
fn same_host(a: &str, b: &str) -> bool {
    match (address(a), address(b)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => a.eq_ignore_ascii_case(b),
        _ => false,
    }
}

fn address(host: &str) -> Option<IpAddr> {
    let inner = host.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(host);
    inner.parse::<IpAddr>().ok().map(|it| it.to_canonical())
}

#[cfg(test)]
mod tests {
    use drydock_abi::lembeh::net::{NODELAY, encode_connect};

    use super::*;

    #[test]
    fn only_what_is_listed_is_reached_and_names_only_with_dns() {
        let allow = |host: &str, port| Destination { host: host.to_owned(), port };
        let closed = NetPolicy {
            allow: vec![allow("127.0.0.1", 80), allow("::1", 80), allow("Example.org", 443)],
            ..NetPolicy::default()
        };
        let open = NetPolicy { dns_allowed: true, ..closed.clone() };
        let cases = [
            (&closed, "127.0.0.1", 80, 0, "ok"),
            (&closed, "127.0.0.1", 80, NODELAY | 0xf0, "ok"),
            (&closed, "::ffff:127.0.0.1", 80, 0, "ok"),
            (&closed, "[0:0::1]", 80, 0, "ok"),
            (&closed, "127.0.0.1", 81, 0, "t_net_denied"),
            (&closed, "10.0.0.1", 80, 0, "t_net_denied"),
            (&closed, "127.0.0.1", 80, ALLOW_DNS, "t_net_denied"),
            (&closed, "example.org", 443, 0, "t_net_denied"),
            (&open, "example.org", 443, 0, "t_net_denied"),
            (&open, "example.org", 443, ALLOW_DNS, "ok"),
            (&open, "evil-example.org", 443, ALLOW_DNS, "t_net_denied"),
            (&open, "", 443, ALLOW_DNS, "t_async_bad_params"),
            (&open, "a", 0, ALLOW_DNS, "t_async_bad_params"),
        ];
        for (policy, host, port, connect_flags, want) in cases {
            let wire = encode_connect(&Connect { host, port, connect_flags }).unwrap();
            let got = policy.judge_connect(&wire, &NetLoad::default()).map_or_else(Trace::code, |_| "ok");
            assert_eq!(got, want, "{host}:{port} {connect_flags}");
        }
        let long = "a".repeat(254);
        let wire = encode_connect(&Connect { host: &long, port: 1, connect_flags: ALLOW_DNS }).unwrap();
        assert_eq!(open.judge_connect(&wire, &NetLoad::default()), Err(Trace::AsyncBadParams));
    }

    #[test]
    fn connections_are_bounded_and_so_are_those_on_their_way() {
        let allow = vec![Destination { host: "127.0.0.1".into(), port: 80 }];
        let policy = NetPolicy { allow, connections_max: 3, in_flight_max: 2, ..NetPolicy::default() };
        let wire = |port| encode_connect(&Connect { host: "127.0.0.1", port, connect_flags: 0 }).unwrap();
        let cases = [
            (80, 0, 0, "ok"),
            (80, 2, 0, "ok"),
            (80, 1, 1, "ok"),
            (80, 3, 0, "t_async_overflow"),
            (80, 2, 1, "t_async_overflow"),
            (80, 0, 2, "t_async_overflow"),
            // Where nobody may connect to is told first.
            (81, 3, 2, "t_net_denied"),
        ];
        for (port, open, connecting, want) in cases {
            let wire = wire(port);
            let got = policy.judge_connect(&wire, &NetLoad { open, connecting });
            assert_eq!(got.map_or_else(Trace::code, |_| "ok"), want, "{port} {open} {connecting}");
        }
    }
}
