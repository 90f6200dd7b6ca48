//! From a target to addresses that were judged: rules first, then one look-up, then every address.
//!
//! Judging a name and dialling the name again would let DNS answer twice. So a name is resolved once, each of its addresses is judged,
//! one bad address refuses them all, and what can be dialled is a [`Pinned`], which only this module makes.

use std::{fmt, net::IpAddr, net::SocketAddr, time::Duration};

use hyper::Method;

use crate::{
    address::{self, Forbidden},
    host::Host,
    refusal::Refusal,
    resolve::{self, Resolve},
    rule::Rules,
    target::Target,
};

/// An address and a port that were judged for one request. It cannot be built any other way.
///
/// ```compile_fail
/// let forged = drydock_egress::Pinned { address: "169.254.169.254:80".parse().unwrap(), opened: false };
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Pinned {
    address: SocketAddr,
    opened: bool,
}

impl Pinned {
    /// Where to connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether the address is one that only `--allow-private` opened.
    pub fn opened(&self) -> bool {
        self.opened
    }
}

impl fmt::Debug for Pinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pinned({})", self.address)
    }
}

/// What was found about one address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judged {
    pub(crate) address: IpAddr,
    pub(crate) forbidden: Option<Forbidden>,
    pub(crate) opened: bool,
}

/// A request's way, as far as it got: what `explain` shows and `fetch` follows.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// The rule that admitted the target.
    pub(crate) rule: Option<String>,
    /// Every address, in the resolver's order.
    pub(crate) judged: Vec<Judged>,
}

/// How far a look-up may go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LookUp<'a> {
    pub(crate) resolver: &'a dyn Resolve,
    pub(crate) addresses_max: usize,
    pub(crate) time_max: Duration,
}

/// Methods that ask a server to be something else than a server.
const METHODS_REFUSED: [Method; 2] = [Method::CONNECT, Method::TRACE];

/// Judges the request, and gives the addresses that may be dialled for it, the preferred one first.
pub(crate) async fn pin(
    rules: &Rules,
    method: &Method,
    target: &Target,
    look_up: LookUp<'_>,
    findings: &mut Findings,
) -> Result<Vec<Pinned>, Refusal> {
    if METHODS_REFUSED.contains(method) {
        return Err(Refusal::Method { method: method.clone() });
    }
    findings.rule = Some(rules.admit(method, target)?);
    let addresses = match target.host() {
        Host::Address(address) => vec![*address],
        Host::Name(name) => {
            resolve::resolve(look_up.resolver, name, look_up.addresses_max, look_up.time_max).await?
        }
    };
    let port = target.port();
    findings.judged = addresses.into_iter().map(|address| judge(rules, address, port)).collect();
    let pinned = findings.judged.iter().map(|judged| match judged.forbidden {
        Some(forbidden) if !judged.opened => {
            let (host, address) = (target.host().clone(), judged.address);
            Err(Refusal::AddressForbidden { host, address, port, forbidden })
        }
        _ => Ok(Pinned { address: SocketAddr::new(judged.address, port), opened: judged.opened }),
    });
    pinned.collect()
}

fn judge(rules: &Rules, address: IpAddr, port: u16) -> Judged {
    let forbidden = address::judge(address).err();
    Judged { address, forbidden, opened: rules.opens(address, port) }
}
