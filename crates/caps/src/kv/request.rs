//! What a request is about: one key, or all that begin with a text.

use drydock_abi::kv::{Delete, Get, Increment, KvRequest, Put};
use drydock_contract::{Cap, Denial, port::Subjects};
use drydock_gate::NotAdmitted;

/// The key.
pub(super) fn subject(request: &KvRequest) -> &str {
    match request {
        KvRequest::Get(Get { key })
        | KvRequest::Put(Put { key, .. })
        | KvRequest::Delete(Delete { key, .. })
        | KvRequest::Increment(Increment { key, .. }) => key,
        KvRequest::List(listing) => listing.subject(),
    }
}

pub(super) fn digested(request: &KvRequest) -> [&[u8]; 2] {
    let rest: &[u8] = match request {
        KvRequest::Put(put) => &put.value.0,
        KvRequest::List(list) => list.after.as_deref().unwrap_or_default().as_bytes(),
        KvRequest::Get(_) | KvRequest::Delete(_) | KvRequest::Increment(_) => &[],
    };
    [subject(request).as_bytes(), rest]
}

/// Versions, times and bounds. A value shows its length there, and no more.
pub(super) fn digested_besides(request: &KvRequest) -> Vec<u8> {
    match request {
        KvRequest::Get(_) | KvRequest::Put(Put { if_version: None, ttl_ms: None, .. }) => Vec::new(),
        other => format!("{other:?}").into_bytes(),
    }
}

pub(super) fn not_admitted(request: &KvRequest, why: NotAdmitted) -> Denial {
    let why = match (request, why) {
        (KvRequest::List(_), _) => ": no grant admits all keys that begin so",
        (_, NotAdmitted::ByName) => ": no grant names this key",
        (_, NotAdmitted::ByTerms) => " with these arguments",
    };
    Denial::NotGranted { cap: Cap::Kv, subjects: Subjects::cut(subject(request)), why }
}
