//! `search`: asks the web in words. Who answers is a provider that the host configured (`provider`), with the host's key: a
//! guest chooses the words and nothing else, and no import leads here. Programs that were granted it ask as JSON, and the
//! host's tools in a session's name.
//!
//! What comes back is foreign text, bounded and taken apart here; nobody follows its addresses.

mod policy;
mod request;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use drydock_abi::broker::{Answer, Failure};
pub use drydock_abi::search::{
    Found, Hit, QUERY_BYTES_MAX, Query, RESULTS_MAX, RESULTS_USUAL, SEARCH, SEARCH_BYTES_MAX,
};
use drydock_contract::{CallError, Cap, Denial};
use drydock_egress::Egress;
use drydock_gate::{Audited, CapSpec, Capability, Class, Operation, Permit, Refused, Session};

pub use crate::provider::{Provider, ProviderKind, SearchSource, foreign_answer};
use crate::{
    broker::{Broker, Policy},
    provider,
};

/// What a grant names: there is one provider, and whoever may ask it may ask it anything.
pub const SUBJECT: &str = "web";

/// Searches of one principal in flight.
const IN_FLIGHT_MAX: u32 = 16;

/// Whoever knows the provider, and the way to it.
pub struct Search {
    egress: Arc<Egress>,
    source: Arc<SearchSource>,
}

impl Search {
    /// Over a way out, and whoever knows the provider.
    pub fn new(egress: Arc<Egress>, source: Arc<SearchSource>) -> Self {
        Self { egress, source }
    }
}

impl Broker for Search {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Search,
        operations: &[Operation {
            name: SEARCH,
            class: Class::Fetch,
            request_bytes_max: SEARCH_BYTES_MAX,
            in_flight_max: Some(IN_FLIGHT_MAX),
            audited: Audited::Everything,
            summary: "Titles, addresses and snippets for words, as JSON with a `query`. Subject: `web`.",
        }],
        imports: &[],
    };
    const REPLY_BYTES_MAX: u64 = provider::ANSWER_BYTES_MAX;
    const BOUNDS: &'static [&'static str] = &[];
    type Request = Query;
    type Ready = Query;
    type Value = Found;

    fn decode(_: &str, payload: &[u8]) -> Result<Query, Denial> {
        request::decode(payload)
    }

    fn digested(request: &Query) -> [&[u8]; 2] {
        [SEARCH.as_bytes(), request.query.as_bytes()]
    }

    fn digested_besides(request: &Query) -> Vec<u8> {
        request.count.map_or_else(Vec::new, |it| it.to_le_bytes().to_vec())
    }

    fn subject(_: &Query) -> &str {
        SUBJECT
    }

    fn check(_: &Policy, _: &Session, request: Query) -> Result<Query, Refused> {
        policy::check(request)
    }

    fn label(_: &Query) -> Arc<str> {
        SUBJECT.into()
    }

    async fn act<C: Capability>(
        &self,
        permit: &Permit<'_, C>,
        ready: Query,
    ) -> Result<Answer<Found>, CallError> {
        match (self.source)() {
            Ok(Some(provider)) => provider::ask(&self.egress, &provider, permit, &ready).await,
            Ok(None) => Ok(Err(Failure::new(
                "no_search_provider",
                "no search of the web is configured here: it wants a table [search] in the user's drydock.toml, with \
                 `provider` (brave, searxng or tavily), `base-url`, and `key` where the provider wants one",
            ))),
            Err(why) => Ok(Err(Failure::new("search_config", why))),
        }
    }
}
