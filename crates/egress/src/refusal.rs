//! Why a request goes nowhere: the URL, the rules, the look-up or an address said no. Nothing was dialled.
//!
//! The codes are a closed list, and a message names the rule that would have helped. No message holds a path or a query.

use std::net::{IpAddr, SocketAddr};

use hyper::Method;

use crate::{
    address::Forbidden,
    host::{Host, HostName},
    rule::Fit,
    target::{ParseUrlError, Scheme, Target},
};

/// How a caller is told of a failure that has many codes: the return codes of the Runner ABI, and why there are six.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Policy said no.
    Denied,
    /// The request itself is no good.
    Invalid,
    /// Name server, network or server failed.
    Transport,
    /// More bytes than the caller may send or get.
    TooLarge,
    /// Time was up.
    Timeout,
    /// The principal has used up what it has.
    Quota,
}

/// Decided before anything was dialled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The URL cannot be fetched.
    #[error(transparent)]
    Url(#[from] ParseUrlError),
    /// A method that proxies and debuggers use.
    #[error("the method {method} is not sent")]
    Method {
        /// The method.
        method: Method,
    },
    /// No rule names the host.
    #[error("no rule admits {host}: it would take --allow-host {wanted}", wanted = wanted(host, *port))]
    HostNotGranted {
        /// The host.
        host: Host,
        /// The port.
        port: u16,
    },
    /// A rule names the host, and not this port.
    #[error("no rule admits port {port} of {host}: it would take --allow-host {host}:{port}")]
    PortNotGranted {
        /// The host.
        host: Host,
        /// The port.
        port: u16,
    },
    /// A rule names the host under another scheme.
    #[error("no rule admits {scheme} to {host}: it would take --allow-host {scheme}://{host}:{port}")]
    SchemeNotGranted {
        /// The scheme.
        scheme: Scheme,
        /// The host.
        host: Host,
        /// The port.
        port: u16,
    },
    /// A rule names other paths of the host.
    #[error("no rule admits this path of {host}")]
    PathNotGranted {
        /// The host.
        host: Host,
    },
    /// A rule names this path for other methods.
    #[error("no rule admits {method} to this path of {host}")]
    MethodNotGranted {
        /// The method.
        method: Method,
        /// The host.
        host: Host,
    },
    /// The operator's own list lacks it.
    #[error("{host}:{port} is not in the list of hosts that this installation allows at all")]
    BeyondCeiling {
        /// The host.
        host: Host,
        /// The port.
        port: u16,
    },
    /// The name server knows nothing, or failed.
    #[error("{host} does not resolve: {why}")]
    Unresolved {
        /// The name.
        host: HostName,
        /// What the resolver says.
        why: String,
    },
    /// The resolver took too long.
    #[error("{host} did not resolve in time")]
    ResolveTimeout {
        /// The name.
        host: HostName,
    },
    /// More addresses than anybody needs to reach a host.
    #[error("{host} has more than {addresses_max} addresses, and none is dialled before all are judged")]
    TooManyAddresses {
        /// The name.
        host: HostName,
        /// How many are judged.
        addresses_max: usize,
    },
    /// An address of the host is not public.
    #[error(
        "{address} is in {block} ({purpose}) and is not dialled: only --allow-private {opening} opens it",
        block = forbidden.block,
        purpose = forbidden.purpose,
        opening = SocketAddr::new(*address, *port)
    )]
    AddressForbidden {
        /// The host it was found for.
        host: Host,
        /// The address.
        address: IpAddr,
        /// The port.
        port: u16,
        /// The block that it is in.
        forbidden: Forbidden,
    },
}

fn wanted(host: &Host, port: u16) -> String {
    if crate::rule::USUAL_PORTS.contains(&port) { host.to_string() } else { format!("{host}:{port}") }
}

impl Refusal {
    /// The refusal for the rule that came nearest.
    pub(crate) fn of_fit(nearest: Fit, method: &Method, target: &Target) -> Self {
        let (host, port, method) = (target.host().clone(), target.port(), method.clone());
        match nearest {
            // A rule that admits does not refuse; whoever asks all the same gets the widest of refusals.
            Fit::OtherHost | Fit::Admitted => Self::HostNotGranted { host, port },
            Fit::OtherPort => Self::PortNotGranted { host, port },
            Fit::OtherScheme => Self::SchemeNotGranted { scheme: target.scheme(), host, port },
            Fit::OtherPath => Self::PathNotGranted { host },
            Fit::OtherMethod => Self::MethodNotGranted { method, host },
        }
    }

    /// The stable code that guests, logs and tests match on.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Url(error) => error.code(),
            Self::Method { .. } => "method_refused",
            Self::HostNotGranted { .. } => "host_not_granted",
            Self::PortNotGranted { .. } => "port_not_granted",
            Self::SchemeNotGranted { .. } => "scheme_not_granted",
            Self::PathNotGranted { .. } => "path_not_granted",
            Self::MethodNotGranted { .. } => "method_not_granted",
            Self::BeyondCeiling { .. } => "beyond_ceiling",
            Self::Unresolved { .. } => "name_unresolved",
            Self::ResolveTimeout { .. } => "resolve_timeout",
            Self::TooManyAddresses { .. } => "too_many_addresses",
            Self::AddressForbidden { .. } => "address_forbidden",
        }
    }

    /// What kind of failure it is to a caller.
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::Url(ParseUrlError::Userinfo | ParseUrlError::Scheme { .. }) => FailureKind::Denied,
            Self::Url(_) => FailureKind::Invalid,
            Self::Unresolved { .. } => FailureKind::Transport,
            Self::ResolveTimeout { .. } => FailureKind::Timeout,
            _ => FailureKind::Denied,
        }
    }
}
