//! Which function a vector is about.

use drydock_abi::lembeh::{
    CapSelector, Envelope, Hopper, Malformed, Source, Trace, config,
    ctl::{
        decode_caps, decode_description, decode_hub_opened, decode_operation, decode_request, decode_response,
    },
    decode_envelope, decode_refusal, decode_source,
    exec::{self, Started, Status},
    files, net,
    zax::{Command, CommandIds, Event, HEADER_BYTES, Header, decode_command, encode_command, next_event},
};
use drydock_lembeh::{
    Powers as _,
    ctl::{self, Answer},
};
use serde_json::{Map, Value, json};

use super::{Outcome, Verdict, policy::Policy, seen, session};

pub(crate) struct About<'a> {
    pub(crate) name: &'a str,
    pub(crate) layer: &'a str,
    pub(crate) bytes: &'a [u8],
    pub(crate) given: &'a Map<String, Value>,
    pub(crate) policy: &'a Policy,
}

impl About<'_> {
    pub(crate) fn judge(&self) -> Result<Verdict, String> {
        let bytes = self.bytes;
        match self.layer {
            "hopper" => self.hopper(),
            "zcl1.request" => self.ctl_request(),
            "zcl1.response" => Ok(guest(ctl_response(bytes))),
            "zax1.command" => {
                let verdict = session::command(bytes, self.given, self.policy)?;
                Ok(Verdict { decoded: command_fields(bytes), ..verdict })
            }
            "zax1.event" => Ok(Verdict { consumed: Some(bytes.len() as u64), ..guest(self.event()) }),
            "async.source" => self.source(),
            "async.future_fail" => Ok(guest(decode_envelope(bytes).map(|it| seen::envelope(&it)))),
            "async.fail" | "async.join_limit" => {
                Ok(guest(decode_refusal(bytes).map(|(code, msg)| json!({ "code": code, "msg": msg }))))
            }
            layer => match layer.rsplit_once('.') {
                Some((selector, "params")) if is_selector(selector) => self.params(selector),
                Some((selector, "value")) if is_selector(selector) => Ok(guest(self.value(selector, bytes))),
                _ => Err(format!("the layer `{layer}` is not known")),
            },
        }
    }

    /// Which field it is stands in the vector's name.
    fn hopper(&self) -> Result<Verdict, String> {
        let field = self.name.split('.').nth(1).unwrap_or_default();
        let mut hopper = Hopper::new(self.bytes);
        let length = |bytes: &[u8]| bytes.len();
        let decoded = match field {
            "h1" => hopper.h1("it").map(|it| json!({ "h1": it })),
            "h2" => hopper.h2("it").map(|it| json!({ "h2": it })),
            "h4" => hopper.h4("it").map(|it| json!({ "h4": it })),
            "h8" => hopper.h8("it").map(|it| json!({ "h8": it })),
            "hstr" => hopper.hstr("it").map(|it| json!({ "hstr": it, "byte_len": length(it.as_bytes()) })),
            "hbytes" => hopper.hbytes("it").map(|it| {
                let hex = seen::hex(it);
                json!({ "hbytes": hex, "hbytes_hex": hex, "byte_len": length(it) })
            }),
            _ => return Err(format!("the field `{field}` is not known")),
        };
        Ok(guest(decoded.and_then(|decoded| hopper.end().map(|()| decoded))))
    }

    fn ctl_request(&self) -> Result<Verdict, String> {
        let buffer = self.number("resp_cap", usize::MAX as u64)? as usize;
        let answer = match ctl::judge(self.bytes, &self.policy.own.listed()) {
            Answer::OpenHub { rid, .. } => ctl::opened(rid, 3, &self.policy.own.hub),
            answer => answer,
        };
        let decoded = decode_request(self.bytes, u32::MAX).map(|it| {
            let operation = decode_operation(&it).ok();
            seen::ctl_request(&it, operation.as_ref())
        });
        let decoded = decoded.unwrap_or_default();
        let Some(response) = answer.fitting(buffer) else {
            return Ok(Verdict { outcome: Outcome::Returned(-1), decoded, ..Verdict::default() });
        };
        let response = decode_response(response).map_err(|why| why.to_string())?;
        let echo = (u16::from_le_bytes([self.bytes[6], self.bytes[7]]), &self.bytes[8..12]);
        if (response.op, &response.rid.to_le_bytes()[..]) != echo {
            return Err("the answer does not echo the request".to_owned());
        }
        Ok(match response.result {
            Ok(_) => Verdict { decoded, ..Verdict::default() },
            Err(Envelope { trace, .. }) => {
                let trace = Trace::named(trace).map(Trace::code);
                Verdict { outcome: Outcome::Refused, trace, decoded, ..Verdict::default() }
            }
        })
    }

    /// A source is judged by the hub, as that of a future that is new.
    fn source(&self) -> Result<Verdict, String> {
        let mut frame = Vec::new();
        let ids = CommandIds { req_id: 1, future_id: 1, ..CommandIds::default() };
        encode_command(&mut frame, &ids, &Command::Register { source: self.bytes }).unwrap();
        let mut verdict = session::command(&frame, self.given, self.policy)?;
        if let Outcome::Events(events) = &mut verdict.outcome {
            events.retain(|event| *event != "ACK");
            if events[..] == ["FUTURE"] {
                verdict.outcome = Outcome::Valid;
            }
        }
        let decoded = decode_source(self.bytes).map_or_else(|_| Value::default(), |it| seen::source(&it));
        Ok(Verdict { decoded, consumed: None, closed: None, ..verdict })
    }

    fn params(&self, selector: &str) -> Result<Verdict, String> {
        if let Some(unknown) = self.given.keys().find(|key| *key != "policy") {
            return Err(format!("the condition `{unknown}` is not known"));
        }
        let (kind, name) = capability(selector);
        let call = CapSelector { kind, name, selector, params: self.bytes };
        let judges = session::Judges { policy: self.policy };
        let judged = judges.offer(kind, name, selector).and_then(|_| judges.judge(&call));
        let decoded = seen::params(selector, self.bytes);
        Ok(match judged {
            Ok(()) => Verdict { decoded, ..Verdict::default() },
            Err(trace) => Verdict {
                outcome: Outcome::Events(vec!["FUTURE_FAIL"]),
                trace: Some(trace.code()),
                decoded,
                ..Verdict::default()
            },
        })
    }

    /// A guest reads an event, and its value as that of the selector that the vector is about.
    fn event(&self) -> Result<Value, String> {
        let read = next_event(self.bytes).map_err(|why| why.to_string())?;
        let (event, length) = read.ok_or("the frame is cut")?;
        if length != self.bytes.len() {
            return Err(format!("{} bytes follow the frame", self.bytes.len() - length));
        }
        let mut again = Vec::new();
        event.put(&mut again).map_err(|why| why.to_string())?;
        if again[HEADER_BYTES..] != self.bytes[HEADER_BYTES..] {
            return Err("the event is written otherwise than it was read".to_owned());
        }
        let header = Header::decode(self.bytes).ok_or("no header")?;
        let mut fields = seen::header(&header);
        seen::merge(&mut fields, seen::event(&event));
        if let (Event::FutureOk { value, .. }, Some(selector)) = (&event, self.selector()) {
            seen::merge(&mut fields, self.value(selector, value)?);
        }
        Ok(fields)
    }

    /// What the future of an event was registered with: said, or to be seen from the vector's name.
    fn selector(&self) -> Option<&str> {
        if let Some(said) = self.given.get("selector") {
            return said.as_str();
        }
        let names = [
            ("exec.start", exec::START),
            ("exec.ok", exec::START),
            ("exec.status", exec::STATUS),
            ("files.list", files::LIST),
            ("files.open", files::OPEN),
            ("net.connect", net::CONNECT),
            ("net.tcp", net::CONNECT),
            ("config_get", config::GET),
            ("config.get", config::GET),
            ("config_list", config::LIST),
            ("config.list", config::LIST),
        ];
        names.iter().find(|(start, _)| self.name.starts_with(start)).map(|(_, selector)| *selector)
    }

    fn value(&self, selector: &str, bytes: &[u8]) -> Result<Value, String> {
        let value = match selector {
            exec::START => Started::decode(bytes, self.wants()?).map(|it| seen::started(&it)),
            exec::STATUS => Status::decode(bytes).map(|it| seen::status(&it)),
            files::LIST => files::decode_entries(bytes).map(|it| seen::entries(&it)),
            files::OPEN => files::decode_opened(bytes).map(|it| seen::opened(&it)),
            net::CONNECT => net::decode_connected(bytes).map(|it| seen::opened(&it)),
            config::GET => config::decode_value(bytes).map(seen::config_value),
            config::LIST => config::decode_keys(bytes).map(|it| seen::keys(&it)),
            _ => return Err(format!("the selector `{selector}` is not known")),
        };
        value.map_err(|why| why.to_string())
    }

    /// The streams that were asked for: as is given, else those of the document's example, or all of them where a vector
    /// calls itself full.
    fn wants(&self) -> Result<u32, String> {
        let usual = if self.name.contains("full") { 7 } else { 6 };
        let usual = self.number("flags", usual)?;
        let mut wants = 0;
        for (bit, key) in ["want_stdin", "want_stdout", "want_stderr"].into_iter().enumerate() {
            wants |= (self.number(key, usual >> bit & 1)? as u32 & 1) << bit;
        }
        Ok(wants)
    }

    fn number(&self, key: &str, otherwise: u64) -> Result<u64, String> {
        let known = [
            "resp_cap",
            "flags",
            "want_stdin",
            "want_stdout",
            "want_stderr",
            "selector",
            "policy",
            "pending_futures",
        ];
        if let Some(unknown) = self.given.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(format!("the condition `{unknown}` is not known"));
        }
        match self.given.get(key) {
            None => Ok(otherwise),
            Some(Value::Bool(it)) => Ok(u64::from(*it)),
            Some(value) => value.as_u64().ok_or_else(|| format!("{key}: {value}")),
        }
    }
}

fn is_selector(text: &str) -> bool {
    let all = [exec::START, exec::STATUS, files::LIST, files::OPEN, net::CONNECT, config::GET, config::LIST];
    all.contains(&text)
}

/// Whose selector it is, for a vector that has its params alone.
fn capability(selector: &str) -> (&'static str, &'static str) {
    match selector {
        exec::START | exec::STATUS => (exec::KIND, exec::NAME),
        files::LIST | files::OPEN => (files::KIND, files::NAME),
        net::CONNECT => (net::KIND, net::NAME),
        _ => (config::KIND, config::NAME),
    }
}

/// What a guest makes of bytes: the fields, or that they are none.
fn guest<E: ToString>(decoded: Result<Value, E>) -> Verdict {
    match decoded {
        Ok(decoded) => Verdict { decoded, ..Verdict::default() },
        Err(why) => Verdict { outcome: Outcome::Invalid(why.to_string()), ..Verdict::default() },
    }
}

fn ctl_response(bytes: &[u8]) -> Result<Value, Malformed> {
    let response = decode_response(bytes)?;
    let mut fields = seen::ctl_response(bytes, &response);
    if let Ok(body) = response.result {
        let body = match response.op {
            drydock_abi::lembeh::ctl::CAPS_LIST => seen::caps(&decode_caps(body)?),
            drydock_abi::lembeh::ctl::CAPS_DESCRIBE => seen::description(&decode_description(body)?),
            drydock_abi::lembeh::ctl::CAPS_OPEN => {
                let (opened, meta) = decode_hub_opened(body)?;
                seen::hub_opened(&opened, meta.as_ref())
            }
            _ => json!({}),
        };
        seen::merge(&mut fields, body);
    }
    Ok(fields)
}

/// The fields of a command, as far as it reads.
fn command_fields(bytes: &[u8]) -> Value {
    let Some(header) = Header::decode(bytes) else { return Value::default() };
    let mut fields = seen::header(&header);
    let end = HEADER_BYTES as u64 + u64::from(header.payload_len);
    let Some(payload) = usize::try_from(end).ok().and_then(|end| bytes.get(HEADER_BYTES..end)) else {
        return fields;
    };
    let more = match decode_command(&header, payload) {
        Ok(Command::Register { source }) => match decode_source(source) {
            Ok(source) => json!({ "source": seen::source(&source) }),
            Err(_) => json!({}),
        },
        Ok(Command::Join { fuel }) => json!({ "fuel": fuel }),
        Ok(Command::Detach { owner }) => json!({ "owner": owner }),
        Ok(Command::Cancel) | Err(_) => json!({}),
    };
    seen::merge(&mut fields, more);
    fields
}

/// A selector's source, for the fields of [`seen`].
pub(crate) const fn selector_of<'a>(source: &Source<'a>) -> Option<CapSelector<'a>> {
    match source {
        Source::Selector(call) => Some(*call),
        Source::Opaque(_) => None,
    }
}
