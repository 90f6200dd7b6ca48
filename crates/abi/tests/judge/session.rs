//! A session as a vector finds it: the hub itself, and behind it what a session's policy offers and judges.

use drydock_abi::lembeh::{
    CapSelector, Source, Trace, config, encode_source,
    exec::Status,
    zax::{Command, CommandIds, Event, encode_command, next_event},
};
use drydock_lembeh::{
    Begun, Failure, Hub, Offer, Powers, Read,
    policy::{
        config::ConfigValue,
        exec::ExecLoad,
        files::{FilesPolicy, Seen},
        judge::Standing,
        net::NetLoad,
    },
};
use serde_json::{Map, Value};

use super::{Outcome, Verdict, policy::Policy};

/// A selector that does nothing, for futures that are given.
const IDLE: CapSelector<'_> = CapSelector { kind: "test", name: "given", selector: "idle.v1", params: b"" };

/// A session's powers, but for what they would begin.
pub(crate) struct Judges<'a> {
    pub(crate) policy: &'a Policy,
}

/// What a vector gives.
impl Standing for Judges<'_> {
    fn exec_load(&self) -> ExecLoad {
        self.policy.load
    }

    fn net_load(&self) -> NetLoad {
        NetLoad::default()
    }

    fn status(&self, exec_id: u32) -> Option<Status> {
        self.policy.find(exec_id)
    }

    fn files(&self, policy: &FilesPolicy) -> Vec<Seen> {
        policy.files.clone()
    }
}

impl Judges<'_> {
    /// What the session says to a request. A vector that says nothing of configuration asks for a key that is there.
    pub(crate) fn judge(&self, call: &CapSelector<'_>) -> Result<(), Trace> {
        let mut policy = self.policy.own.clone();
        if let (Some(config), true, Ok(key)) =
            (&mut policy.config, !self.policy.is_configured, config::decode_get(call.params))
        {
            config.values.insert(key.to_owned(), ConfigValue { value: Vec::new(), secret: false });
        }
        policy.judge(call, self).map(drop)
    }
}

impl Powers for Judges<'_> {
    fn offer(&self, kind: &str, name: &str, selector: &str) -> Result<Offer, Trace> {
        if (kind, name, selector) == (IDLE.kind, IDLE.name, IDLE.selector) {
            return Ok(Offer { value_bytes_max: 64 });
        }
        self.policy.own.offer(kind, name, selector)
    }

    fn start(&mut self, _: u64, call: &CapSelector<'_>, _: &mut Vec<u8>) -> Result<Begun, Failure> {
        if call.kind != IDLE.kind {
            self.judge(call)?;
        }
        Ok(Begun::Pending)
    }

    fn cancel(&mut self, _: u64) {}
}

/// Writes bytes to a hub that stands as is given, and tells what it says.
pub(crate) fn command(bytes: &[u8], given: &Map<String, Value>, policy: &Policy) -> Result<Verdict, String> {
    let mut judges = Judges { policy };
    let mut hub = Hub::new(policy.own.hub);
    prepare(&mut hub, &mut judges, given)?;
    let before = hub.pending_count();
    let taken = hub.write(bytes, 0, &mut judges).map_err(|_| "the hub is closed")?;
    let consumed = taken - hub.held_frame_bytes();
    let refused = hub.last_refusal();

    let wire = drain(&mut hub, &mut judges);
    let mut events = Vec::new();
    let mut trace = refused.map(Trace::code);
    let mut rest = &wire[..];
    while let Some((event, length)) = next_event(rest).map_err(|why| why.to_string())? {
        events.push(word(&event));
        if let Event::FutureFail { failure, .. } = event {
            trace = Trace::named(failure.trace).map(Trace::code);
        }
        rest = &rest[length..];
    }
    if hub.pending_count() > before {
        events.push("FUTURE");
    }
    if hub.waiting_joins() > 0 {
        events.push("JOIN");
    }
    if events.is_empty() {
        events.push(if consumed == 0 { "NEED_MORE" } else { "DROP" });
    }
    Ok(Verdict {
        outcome: Outcome::Events(events),
        trace,
        consumed: Some(consumed as u64),
        closed: Some(hub.is_broken()),
        ..Verdict::default()
    })
}

/// Registers, and ends, the futures that are given, with commands like any other.
fn prepare(hub: &mut Hub, judges: &mut Judges<'_>, given: &Map<String, Value>) -> Result<(), String> {
    let ids = |key: &str| -> Result<Vec<u64>, String> {
        let list = given.get(key).map(|it| it.as_array().cloned().ok_or("no list")).transpose()?;
        list.unwrap_or_default().iter().map(|it| it.as_u64().ok_or_else(|| format!("{key}: {it}"))).collect()
    };
    let known = ["pending_futures", "terminal_futures", "policy"];
    if let Some(unknown) = given.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(format!("the condition `{unknown}` is not known"));
    }
    let (pending, terminal) = (ids("pending_futures")?, ids("terminal_futures")?);
    for future_id in terminal.iter().chain(&pending).copied() {
        let source = encode_source(&Source::Selector(IDLE)).unwrap();
        let mut frame = Vec::new();
        let ids = CommandIds { future_id, ..CommandIds::default() };
        encode_command(&mut frame, &ids, &Command::Register { source: &source }).unwrap();
        let taken = hub.write(&frame, 0, judges).unwrap_or_default();
        if taken != frame.len() || hub.last_refusal().is_some() {
            return Err(format!("future {future_id} cannot be given"));
        }
        if terminal.contains(&future_id) {
            hub.complete(future_id, Ok(b""));
        }
    }
    drain(hub, judges);
    Ok(())
}

fn drain(hub: &mut Hub, judges: &mut Judges<'_>) -> Vec<u8> {
    let (mut all, mut piece) = (Vec::new(), [0; 1024]);
    while let Read::Bytes(count) = hub.read(&mut piece, 0, judges) {
        all.extend_from_slice(&piece[..count]);
    }
    all
}

const fn word(event: &Event<'_>) -> &'static str {
    match event {
        Event::Ack { .. } => "ACK",
        Event::Fail { .. } => "FAIL",
        Event::FutureOk { .. } => "FUTURE_OK",
        Event::FutureFail { .. } => "FUTURE_FAIL",
        Event::FutureCancelled { .. } => "FUTURE_CANCELLED",
        Event::JoinResult { .. } => "JOIN_RESULT",
        Event::JoinLimit { .. } => "JOIN_LIMIT",
        Event::Extension { .. } => "EXT_EVENT",
    }
}
