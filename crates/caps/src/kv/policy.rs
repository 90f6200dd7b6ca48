//! Which keys there can be, and how long values are.

use std::sync::Arc;

use drydock_abi::{
    kv::{KEY_BYTES_MAX, KvRequest, VALUE_BYTES_MAX},
    listing::ROWS_MAX,
};
use drydock_contract::{Cap, Denial};
use drydock_gate::Refused;

use super::request::subject;
use crate::program::{all, short};

pub(super) const INVALID_KEY: &str = "invalid_key";
pub(super) const VALUE_TOO_LARGE: &str = "value_too_large";
pub(super) const QUOTA_EXCEEDED: &str = "quota_exceeded";

/// A request that may be carried out.
pub struct Ready {
    pub(super) request: KvRequest,
    pub(super) label: Arc<str>,
}

pub(super) fn bound(code: &'static str, why: String) -> Denial {
    Denial::ByPower { cap: Cap::Kv, code, why }
}

pub(super) fn check(request: KvRequest) -> Result<Ready, Refused> {
    let label = match &request {
        KvRequest::List(list) => all(list.prefix()),
        other => short(subject(other)),
    };
    match within_bounds(&request) {
        Ok(()) => Ok(Ready { request, label }),
        Err(denial) => Err(Refused { denial, subjects: label.into() }),
    }
}

fn within_bounds(request: &KvRequest) -> Result<(), Denial> {
    match request {
        KvRequest::List(list) if list.prefix().len() > KEY_BYTES_MAX => {
            Err(bad_key("a prefix", list.prefix().len()))
        }
        KvRequest::List(list) if list.limit == 0 || list.limit > ROWS_MAX => {
            Err(Denial::Malformed(format!("`limit` is 1 to {ROWS_MAX}")))
        }
        KvRequest::List(_) => Ok(()),
        other if !(1..=KEY_BYTES_MAX).contains(&subject(other).len()) => {
            Err(bad_key("a key", subject(other).len()))
        }
        KvRequest::Put(put) if put.value.0.len() > VALUE_BYTES_MAX => {
            let bytes = put.value.0.len();
            let why = format!("a value of {bytes} bytes exceeds the limit of {VALUE_BYTES_MAX}");
            Err(bound(VALUE_TOO_LARGE, why))
        }
        KvRequest::Put(put) => is_a_time(put.ttl_ms),
        KvRequest::Increment(add) => is_a_time(add.ttl_ms),
        KvRequest::Get(_) | KvRequest::Delete(_) => Ok(()),
    }
}

fn bad_key(what: &str, bytes: usize) -> Denial {
    let least = if what == "a key" { 1 } else { 0 };
    bound(INVALID_KEY, format!("{what} of {bytes} bytes is none; it has {least} to {KEY_BYTES_MAX}"))
}

/// What is gone at once was never there.
fn is_a_time(ttl_ms: Option<u64>) -> Result<(), Denial> {
    match ttl_ms {
        Some(0) => Err(Denial::Malformed("`ttl_ms` is at least 1".into())),
        _ => Ok(()),
    }
}
