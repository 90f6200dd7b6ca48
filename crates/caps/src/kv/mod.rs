//! `kv`: keeps values by key for the tenant, so that they outlive the instance. A grant names keys.
//!
//! Keys and values have bounds that are judged before anything is looked at; what only looking finds is an answer
//! (`not_found`, `conflict`) or, where there is no room, a denial like any other bound.

mod policy;
mod request;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use drydock_abi::{
    broker::{Answer, Failure},
    kv::{
        DELETE, Deleted, GET, INCREMENT, Key, Keys, KvRequest, KvValue, LIST, PUT, PUT_REQUEST_BYTES_MAX,
        REPLY_BYTES_MAX, REQUEST_BYTES_MAX, Sum, Value, Written,
    },
};
use drydock_contract::{
    CallError, Cap, Denial, Fault, Timestamp,
    port::{Clock, KeptValue, KeyChange, KeyChanged, KeyRefusal, KeyValues, LedgerError, ListedKey},
};
use drydock_gate::{
    Audited, CapSpec, Capability, Class, Import, NotAdmitted, Operation, Permit, Refused, Session,
};

pub use policy::Ready;
use policy::{INVALID_KEY, QUOTA_EXCEEDED, VALUE_TOO_LARGE};

use crate::broker::{Broker, Policy};

/// The power to keep values.
pub struct Kv {
    values: Arc<dyn KeyValues>,
    clock: Arc<dyn Clock>,
}

impl Kv {
    /// Over what keeps them; `clock` says when a value's time is over.
    pub fn new(values: Arc<dyn KeyValues>, clock: Arc<dyn Clock>) -> Self {
        Self { values, clock }
    }
}

const fn operation(name: &'static str, bytes_max: u64, audited: Audited, summary: &'static str) -> Operation {
    Operation {
        name,
        class: Class::Look,
        request_bytes_max: bytes_max,
        in_flight_max: None,
        audited,
        summary,
    }
}

impl Broker for Kv {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Kv,
        operations: &[
            operation(
                GET,
                REQUEST_BYTES_MAX,
                Audited::Denials,
                "The value of a key, as JSON. Subject: the key.",
            ),
            operation(
                PUT,
                PUT_REQUEST_BYTES_MAX,
                Audited::Everything,
                "Keeps a value under a key, if it has a version perhaps. Subject: the key.",
            ),
            operation(DELETE, REQUEST_BYTES_MAX, Audited::Everything, "Removes a key. Subject: the key."),
            operation(
                LIST,
                REQUEST_BYTES_MAX,
                Audited::Denials,
                "Keys that begin with a text. A grant admits it that admits every such key.",
            ),
            operation(
                INCREMENT,
                REQUEST_BYTES_MAX,
                Audited::Everything,
                "Adds to a number that a key holds. Subject: the key.",
            ),
        ],
        imports: &[
            Import {
                module: "env",
                name: "host_kv_put",
                signature: "(key: i32, key_len: i32, val: i32, val_len: i32) -> i32",
            },
            Import {
                module: "env",
                name: "host_kv_get",
                signature: "(key: i32, key_len: i32, out: i32, out_cap: i32) -> i32",
            },
            Import {
                module: "env",
                name: "host_kv_call",
                signature: "(op: i32, op_len: i32, req: i32, req_len: i32) -> i32",
            },
        ],
    };
    const REPLY_BYTES_MAX: u64 = REPLY_BYTES_MAX;
    const BOUNDS: &'static [&'static str] = &[INVALID_KEY, VALUE_TOO_LARGE, QUOTA_EXCEEDED];
    type Request = KvRequest;
    type Ready = Ready;
    type Value = KvValue;

    fn decode(operation: &str, payload: &[u8]) -> Result<KvRequest, Denial> {
        KvRequest::decode(operation, payload)
    }

    fn digested(request: &KvRequest) -> [&[u8]; 2] {
        request::digested(request)
    }

    fn digested_besides(request: &KvRequest) -> Vec<u8> {
        request::digested_besides(request)
    }

    fn subject(request: &KvRequest) -> &str {
        request::subject(request)
    }

    fn not_admitted(request: &KvRequest, why: NotAdmitted) -> Denial {
        request::not_admitted(request, why)
    }

    fn check(_: &Policy, _: &Session, request: KvRequest) -> Result<Ready, Refused> {
        policy::check(request)
    }

    fn label(ready: &Ready) -> Arc<str> {
        Arc::clone(&ready.label)
    }

    async fn act<C: Capability>(
        &self,
        permit: &Permit<'_, C>,
        ready: Ready,
    ) -> Result<Answer<KvValue>, CallError> {
        let (tenant, now) = (&permit.session().spec().tenant, self.clock.now());
        let until = |ttl_ms: Option<u64>| ttl_ms.map(|it| now.plus(std::time::Duration::from_millis(it)));
        let (key, change) = match ready.request {
            KvRequest::Get(get) => {
                let found = self.values.get(tenant, &get.key, now).await.map_err(broken)?;
                return Ok(found.map(value).ok_or_else(|| Failure::new("not_found", "the key has no value")));
            }
            KvRequest::List(list) => {
                // One more than is told says whether there is more.
                let (rows, after) = (list.limit as usize, list.after.as_deref());
                let listed = self.values.list(tenant, list.prefix(), after, rows + 1, now).await;
                return Ok(Ok(keys(listed.map_err(broken)?, rows)));
            }
            KvRequest::Put(put) => {
                let expires = until(put.ttl_ms);
                (put.key, KeyChange::Put { value: put.value.0, if_version: put.if_version, expires })
            }
            KvRequest::Delete(delete) => (delete.key, KeyChange::Delete { if_version: delete.if_version }),
            KvRequest::Increment(add) => (add.key, KeyChange::Add { by: add.by, expires: until(add.ttl_ms) }),
        };
        let is_delete = matches!(change, KeyChange::Delete { .. });
        match self.values.change(tenant, &key, change, now).await.map_err(broken)? {
            Ok(KeyChanged { existed, .. }) if is_delete => {
                Ok(Ok(KvValue::Deleted(Deleted { deleted: existed })))
            }
            Ok(KeyChanged { version, sum: Some(sum), .. }) => Ok(Ok(KvValue::Sum(Sum { sum, version }))),
            Ok(KeyChanged { version, .. }) => Ok(Ok(KvValue::Written(Written { version }))),
            Err(refusal) => refused(refusal),
        }
    }
}

fn value(it: KeptValue) -> KvValue {
    KvValue::Value(Value {
        value: it.value.into(),
        version: it.version,
        expires_ms: it.expires.map(Timestamp::as_millis),
    })
}

fn keys(mut listed: Vec<ListedKey>, rows: usize) -> KvValue {
    let more = listed.len() > rows;
    listed.truncate(rows);
    let next = listed.last().filter(|_| more).map(|it| it.key.clone());
    let keys = listed.into_iter().map(|it| Key {
        key: it.key,
        bytes: it.bytes,
        version: it.version,
        expires_ms: it.expires.map(Timestamp::as_millis),
    });
    KvValue::Keys(Keys { keys: keys.collect(), next })
}

/// What only looking found.
fn refused(refusal: KeyRefusal) -> Result<Answer<KvValue>, CallError> {
    let failure = |code, message: String| Ok(Err(Failure::new(code, message)));
    let over = |why| Err(policy::bound(QUOTA_EXCEEDED, why).into());
    match refusal {
        KeyRefusal::Conflict { version: 0 } => failure("conflict", "the key has no value".into()),
        KeyRefusal::Conflict { version } => failure("conflict", format!("the key has version {version}")),
        KeyRefusal::NotANumber => {
            failure("not_a_number", "what the key holds is no whole number of 64 bits".into())
        }
        KeyRefusal::Overflow => failure("overflow", "the sum would be more than 64 bits hold".into()),
        KeyRefusal::TooManyKeys { max } => {
            over(format!("the tenant has {max} keys, the most there may be; delete some"))
        }
        KeyRefusal::NoRoom { bytes_max } => {
            let mib = bytes_max >> 20;
            over(format!("the values of the tenant take {mib} MiB, the most they may; delete some"))
        }
    }
}

/// What keeps them cannot be asked.
pub(crate) fn broken(error: LedgerError) -> CallError {
    let problem = match &error.cause {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    };
    Fault::Ledger { code: error.code, problem }.into()
}
