//! What a caller hands in and gets back, and under whose name.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use drydock_contract::{Principal, Tenant};
use hyper::{HeaderMap, Method, StatusCode};

use crate::{
    body::Body,
    limits::Limits,
    observe::Observe,
    rule::Rules,
    secret::{InjectedHeader, Needles},
    target::Target,
};

/// Who asks, and who keeps the record of it.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Whose principal.
    pub tenant: Tenant,
    /// Whose quota.
    pub principal: Principal,
    /// Told of every attempt.
    pub observer: Arc<dyn Observe>,
}

/// What a caller may reach, and which credentials go where.
#[derive(Default)]
pub struct Policy {
    rules: Rules,
    injected: Arc<[InjectedHeader]>,
    needles: Option<Arc<Needles>>,
}

impl Policy {
    /// Secrets of all injected headers are taken out of every answer, whichever host it comes from.
    pub fn new(rules: Rules, injected: Vec<InjectedHeader>) -> Self {
        let needles = Needles::of(injected.iter().flat_map(InjectedHeader::secrets)).map(Arc::new);
        Self { rules, injected: injected.into(), needles }
    }

    /// The same credentials under other rules.
    #[must_use]
    pub fn under(&self, rules: Rules) -> Self {
        Self { rules, injected: Arc::clone(&self.injected), needles: self.needles.clone() }
    }

    /// What may be reached.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(crate) fn injected(&self) -> &[InjectedHeader] {
        &self.injected
    }

    pub(crate) fn needles(&self) -> Option<&Arc<Needles>> {
        self.needles.as_ref()
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy").field("rules", &self.rules).field("injected", &self.injected).finish()
    }
}

/// What to do with an answer that points elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Redirects {
    /// The caller sees the 3xx.
    #[default]
    Return,
    /// Each hop is judged like a first request; credentials stay behind where host, port or scheme change.
    Follow {
        /// How many.
        hops_max: u32,
    },
}

/// What to do with a body that is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Decoding {
    /// Nothing, unless secrets have to be looked for in it.
    #[default]
    AsSent,
    /// gzip and deflate are asked for and undone.
    Decode,
}

/// One request. No field of it may hold a secret of an installation: those are the policy's.
#[derive(Clone)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// Where to.
    pub target: Target,
    /// Headers of the guest; those that are not its own to write are dropped.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// What to do with an answer that points elsewhere.
    pub redirects: Redirects,
    /// What to do with a body that is encoded.
    pub decoding: Decoding,
    /// How much it may take.
    pub limits: Limits,
}

impl Request {
    /// A request without headers and body, under the default limits.
    pub fn new(method: Method, target: Target) -> Self {
        let (headers, body, limits) = (HeaderMap::new(), Bytes::new(), Limits::default());
        Self {
            method,
            target,
            headers,
            body,
            redirects: Redirects::Return,
            decoding: Decoding::AsSent,
            limits,
        }
    }
}

/// Without headers and body, which are the guest's.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({} {:?}, {} bytes)", self.method, self.target, self.body.len())
    }
}

/// The head of an answer, and what is left to read.
#[derive(Debug)]
pub struct Response {
    /// What the server says.
    pub status: StatusCode,
    /// Its headers, without those of the connection and without secrets.
    pub headers: HeaderMap,
    /// Whom the answer is from, after redirects.
    pub target: Target,
    /// How many redirects were followed.
    pub hops: u32,
    /// Its body.
    pub body: Body,
}
