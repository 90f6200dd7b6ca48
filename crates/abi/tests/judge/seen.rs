//! What was decoded, in the words of the vectors.

use drydock_abi::lembeh::{
    Envelope, Opened, Source,
    config::{self, Key},
    ctl::{Capability, Description, HubMeta, Operation, Request, Response, decode_hub_params},
    exec::{self, StartParams, Started, Status},
    files::{self, Entry},
    net,
    zax::{Event, Header},
};
use serde_json::{Value, json};

use super::layer::selector_of;

/// Every field of `want` is in `got` and the same; what else is there does not matter.
pub(crate) fn compare(path: &str, want: &Value, got: &Value) -> Result<(), String> {
    let missing = || format!("{path}: expects {want}, got {got}");
    match (want, got) {
        (Value::Null, _) => Ok(()),
        (Value::Object(fields), _) => fields.iter().try_for_each(|(key, want)| match got.get(key) {
            Some(got) => compare(&format!("{path}.{key}"), want, got),
            None => Err(format!("{path}.{key} is not known")),
        }),
        (Value::Array(wants), Value::Array(gots)) if wants.len() == gots.len() => {
            wants.iter().zip(gots).try_for_each(|(want, got)| compare(path, want, got))
        }
        (want, got) if want == got => Ok(()),
        _ => Err(missing()),
    }
}

pub(crate) fn merge(into: &mut Value, more: Value) {
    if let (Value::Object(into), Value::Object(more)) = (into, more) {
        into.extend(more);
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes as text where they are some, else as hex.
fn shown(bytes: &[u8]) -> String {
    std::str::from_utf8(bytes).map_or_else(|_| hex(bytes), str::to_owned)
}

pub(crate) fn envelope(it: &Envelope<'_>) -> Value {
    json!({ "trace": it.trace, "msg": it.msg, "cause_hex": hex(it.cause) })
}

pub(crate) fn ctl_request(request: &Request<'_>, operation: Option<&Operation<'_>>) -> Value {
    // A request that reads has version 1 and no flags.
    let mut fields = json!({
        "version": 1, "op": request.op, "rid": request.rid, "timeout_ms": request.timeout_ms, "flags": 0,
        "payload_len": request.payload.len(),
    });
    let more = match operation {
        Some(Operation::Describe { kind, name }) => json!({ "kind": kind, "name": name }),
        Some(Operation::Open { kind, name, mode, params }) => {
            let (session_id, flags) = decode_hub_params(params).unwrap_or_default();
            json!({
                "kind": kind, "name": name, "mode": mode, "params_hex": hex(params),
                "session_id_hex": hex(session_id), "guest_flags": flags,
            })
        }
        Some(Operation::List) | None => json!({}),
    };
    merge(&mut fields, more);
    fields
}

pub(crate) fn ctl_response(bytes: &[u8], response: &Response<'_>) -> Value {
    let mut fields = json!({
        "version": 1, "op": response.op, "rid": response.rid, "flags": 0, "payload_len": bytes.len() - 20,
        "ok": u8::from(response.result.is_ok()),
    });
    if let Err(why) = &response.result {
        merge(&mut fields, envelope(why));
    }
    fields
}

pub(crate) fn caps(caps: &[Capability<'_>]) -> Value {
    let row = |it: &Capability<'_>| json!({ "kind": it.kind, "name": it.name, "cap_flags": it.cap_flags, "meta_hex": hex(it.meta) });
    json!({ "n": caps.len(), "caps": caps.iter().map(row).collect::<Vec<_>>() })
}

pub(crate) fn description(it: &Description<'_>) -> Value {
    json!({ "cap_flags": it.cap_flags, "schema": shown(it.schema) })
}

pub(crate) fn opened(it: &Opened<'_>) -> Value {
    json!({ "handle": it.handle, "hflags": it.hflags, "meta_hex": hex(it.meta) })
}

pub(crate) fn hub_opened(it: &Opened<'_>, meta: Option<&HubMeta>) -> Value {
    let mut fields = opened(it);
    if let Some(meta) = meta {
        let flags = it.meta.get(12..16).map_or(0, |it| u32::from_le_bytes([it[0], it[1], it[2], it[3]]));
        let meta = json!({
            "max_payload_bytes": meta.payload_bytes_max, "max_futures_per_handle": meta.futures_max,
            "max_event_queue_bytes": meta.event_queue_bytes_max, "flags": flags,
        });
        merge(&mut fields, json!({ "meta": meta }));
    }
    fields
}

pub(crate) fn header(it: &Header) -> Value {
    json!({
        "version": it.version, "kind": it.kind, "op": it.op, "flags": it.flags, "timeout_ms": it.flags,
        "req_id": it.req_id, "scope_id": it.scope_id, "task_id": it.task_id, "future_id": it.future_id,
        "payload_len": it.payload_len,
    })
}

pub(crate) fn event(event: &Event<'_>) -> Value {
    match event {
        Event::Fail { code, msg, .. } | Event::JoinLimit { code, msg, .. } => {
            json!({ "code": code, "msg": msg })
        }
        Event::FutureOk { value, .. } => {
            json!({ "value_len": value.len(), "value_hex": hex(value), "value": shown(value) })
        }
        Event::FutureFail { failure, .. } => envelope(failure),
        Event::Extension { payload, .. } => json!({ "payload_hex": hex(payload) }),
        Event::Ack { .. } | Event::FutureCancelled { .. } | Event::JoinResult { .. } => json!({}),
    }
}

pub(crate) fn source(source: &Source<'_>) -> Value {
    match (selector_of(source), source) {
        (Some(it), _) => json!({
            "src_kind": 2, "cap_kind": it.kind, "cap_name": it.name, "selector": it.selector,
            "params_hex": hex(it.params), "params": params(it.selector, it.params),
        }),
        (None, Source::Opaque(rest)) => {
            json!({ "src_kind": 1, "body_hex": hex(rest.get(4..).unwrap_or_default()) })
        }
        (None, Source::Selector(_)) => json!({}),
    }
}

/// The fields of params, or none if they do not read.
pub(crate) fn params(selector: &str, bytes: &[u8]) -> Value {
    let fields = match selector {
        exec::START => exec::decode_start(bytes).map(|it| start(&it)),
        exec::STATUS => exec::decode_status(bytes).map(|it| json!({ "exec_id": it })),
        files::LIST => files::decode_list(bytes).map(|it| json!({ "scope": it })),
        files::OPEN => {
            files::decode_open(bytes).map(|it| json!({ "id": shown(it), "id_hex": hex(it), "mode": 1 }))
        }
        net::CONNECT => net::decode_connect(bytes).map(|it| {
            json!({
                "host": it.host, "port": it.port, "connect_flags": it.connect_flags,
                "effective_flags": it.effective_flags(),
            })
        }),
        config::GET => config::decode_get(bytes).map(|it| json!({ "key": it })),
        config::LIST => config::decode_list(bytes).map(|it| json!({ "prefix": it })),
        _ => Ok(json!({})),
    };
    fields.unwrap_or_default()
}

fn start(it: &StartParams<'_>) -> Value {
    let want = |bit: u32| u8::from(it.wants & bit != 0);
    json!({
        "prog_id": it.prog_id, "flags": it.wants, "want_stdin": want(exec::WANT_STDIN),
        "want_stdout": want(exec::WANT_STDOUT), "want_stderr": want(exec::WANT_STDERR),
        "argc": it.args.count(), "envc": it.env_count(),
        "argv": it.args.iter().collect::<Vec<_>>(), "env": it.env().collect::<Vec<_>>(),
    })
}

pub(crate) fn started(it: &Started) -> Value {
    json!({
        "exec_id": it.exec_id, "status_flags": it.status_flags, "started": it.status_flags & 1,
        "detached": it.status_flags >> 1 & 1, "stdin_handle": it.stdin_handle, "stdout_handle": it.stdout_handle,
        "stderr_handle": it.stderr_handle,
    })
}

pub(crate) fn status(it: &Status) -> Value {
    json!({ "state": it.state.number(), "state_name": it.state.name(), "code": it.code })
}

pub(crate) fn entries(entries: &[Entry<'_>]) -> Value {
    let row = |it: &Entry<'_>| json!({ "id": shown(it.id), "id_hex": hex(it.id), "display": it.display, "flags": it.flags });
    json!({ "n": entries.len(), "entries": entries.iter().map(row).collect::<Vec<_>>() })
}

pub(crate) fn config_value(value: &[u8]) -> Value {
    json!({ "value": shown(value), "value_hex": hex(value) })
}

pub(crate) fn keys(keys: &[Key<'_>]) -> Value {
    let row = |it: &Key<'_>| {
        let (secret, readonly) = (it.flags & 1, it.flags >> 1);
        json!({ "key": it.key, "flags": it.flags, "secret": secret, "readonly": readonly })
    };
    let rows: Vec<Value> = keys.iter().map(row).collect();
    json!({ "n": keys.len(), "keys": rows, "entries": rows })
}
