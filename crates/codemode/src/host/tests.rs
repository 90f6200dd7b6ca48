//! Proofs for the host's end: the reference's nine cases by their titles, and every rule about ids, junk
//! and limits.

use std::{
    collections::VecDeque,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use drydock_contract::{BoxFuture, FailureCode, Switch, ToolAnswer, ToolFailure, ToolRequest, Tools};
use parking_lot::Mutex;

use super::*;
use crate::{
    ExecuteResult, Time,
    protocol::{
        Done, Execute, Head, HostMessage, Json, RunnerMessage, RuntimeOptions, ToolCall, host_line,
        runner_message,
    },
    provider::Abandoned,
    testing::VirtualTime,
};

fn execute() -> Execute {
    let options = RuntimeOptions { timeout_ms: 1000.0, ..RuntimeOptions::default() };
    Execute { id: "exec-1".into(), code: "1".into(), options, providers: Arc::default(), args: None }
}

/// What a scripted runner does when it hears a message.
type Script = Box<dyn FnMut(&HostMessage, &mut VecDeque<Event>) -> Result<(), TransportError> + Send>;

#[derive(Default)]
struct Trace {
    sent: Vec<String>,
    terminated: usize,
    disposed: Vec<Option<FailureCode>>,
}

/// A transport whose other end is a script; it wakes nobody, so what it says it says at once.
struct Scripted {
    script: Script,
    events: VecDeque<Event>,
    trace: Arc<Mutex<Trace>>,
}

impl Transport for Scripted {
    fn send(&mut self, message: HostMessage) -> Result<(), TransportError> {
        let line = String::from_utf8(host_line(&message)).unwrap();
        self.trace.lock().sent.push(line.trim_end().to_owned());
        (self.script)(&message, &mut self.events)
    }

    fn poll_event(&mut self, _: &mut Context<'_>) -> Poll<Event> {
        self.events.pop_front().map_or(Poll::Pending, Poll::Ready)
    }

    fn terminate(&mut self) {
        self.trace.lock().terminated += 1;
    }

    fn dispose(&mut self, result: Option<&ExecuteResult>) {
        self.trace.lock().disposed.push(result.and_then(ExecuteResult::code));
    }
}

/// Tools by name: `echo` answers, `fail` fails, `hang` never ends and notes that it was dropped.
#[derive(Default)]
struct Few {
    begun: Mutex<usize>,
    dropped: Arc<Switch>,
}

struct OnDrop(Arc<Switch>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.trip();
    }
}

impl Tools for Few {
    fn call(&self, request: ToolRequest) -> BoxFuture<'_, ToolAnswer> {
        *self.begun.lock() += 1;
        let dropped = OnDrop(Arc::clone(&self.dropped));
        Box::pin(async move {
            match &*request.tool {
                "echo" => Ok(request.input.unwrap_or(Bytes::from_static(b"null"))),
                "fail" => Err(ToolFailure::new(FailureCode::ToolError, "no luck")),
                "big" => Ok(vec![b'1'; 100].into()),
                "junk" => Ok(Bytes::from_static(b"{")),
                _ => {
                    std::future::pending::<()>().await;
                    drop(dropped);
                    Ok(Bytes::new())
                }
            }
        })
    }
}

struct Ran {
    result: ExecuteResult,
    trace: Arc<Mutex<Trace>>,
    tools: Arc<Few>,
    took: Duration,
}

fn run_with(limits: HostLimits, signal: Option<Arc<Switch>>, script: Script) -> Ran {
    let (time, trace, tools) = (VirtualTime::default(), Arc::default(), Arc::new(Few::default()));
    let transport = Scripted { script, events: VecDeque::new(), trace: Arc::clone(&trace) };
    let with = Drive {
        execute: execute(),
        tools: Arc::clone(&tools) as _,
        time: Arc::new(time.clone()),
        signal,
        limits,
    };
    let result = time.run(drive(with, Box::new(transport)));
    Ran { result, trace, tools, took: time.now() }
}

fn run(script: impl FnMut(&HostMessage, &mut VecDeque<Event>) + Send + 'static) -> Ran {
    let mut script = script;
    run_with(
        HostLimits::default(),
        None,
        Box::new(move |message, events| {
            script(message, events);
            Ok(())
        }),
    )
}

fn say(line: &str) -> Event {
    runner_message(line.as_bytes()).map_or(Event::Junk, Event::Message)
}

fn call(id: &str, tool: &str, input: &str) -> Event {
    say(&format!(
        r#"{{"type":"tool_call","callId":"{id}","providerName":"tools","safeToolName":"{tool}","input":{input}}}"#
    ))
}

fn done(id: &str) -> Event {
    say(&format!(r#"{{"type":"done","id":"{id}","ok":true,"durationMs":7,"logs":["hi"],"result":42}}"#))
}

fn is_execute(message: &HostMessage) -> bool {
    matches!(message, HostMessage::Execute(_))
}

fn is_result(message: &HostMessage) -> bool {
    matches!(message, HostMessage::ToolResult(_))
}

fn timeout(result: &ExecuteResult) -> bool {
    let failure = result.outcome.as_ref().unwrap_err();
    failure.code == FailureCode::Timeout && failure.message == "Execution timed out" && result.logs.is_empty()
}

#[test]
fn s1_routes_tool_calls_and_returns_what_done_says() {
    let ran = run(|message, events| {
        if is_execute(message) {
            events.extend([say(r#"{"type":"started","id":"exec-1"}"#), call("c1", "echo", r#"{"a":1}"#)]);
        } else if is_result(message) {
            events.push_back(done("exec-1"));
        }
    });
    assert_eq!(ran.result.outcome, Ok(Some(Json::parse("42").unwrap())));
    assert_eq!((ran.result.logs, ran.result.duration_ms), (vec!["hi".to_owned()], 7.0));
    assert_eq!(
        ran.trace.lock().sent[1],
        r#"{"type":"tool_result","callId":"c1","ok":true,"result":{"a":1}}"#
    );
    assert_eq!(ran.trace.lock().disposed, [None]);
}

#[test]
fn s2_times_out_even_when_the_runner_never_starts() {
    let ran = run(|_, _| {});
    assert!(timeout(&ran.result), "{:?}", ran.result);
    let trace = ran.trace.lock();
    assert_eq!(trace.sent[1], r#"{"type":"cancel","id":"exec-1"}"#);
    assert_eq!((trace.sent.len(), trace.terminated), (2, 1));
    assert_eq!(ran.took, Duration::from_millis(1125), "its time, the backstop and the grace");
}

#[test]
fn s3_keeps_timeout_when_the_transport_closes_afterwards() {
    let ran = run(|message, events| {
        if matches!(message, HostMessage::Cancel { .. }) {
            events.push_back(Event::Closed("gone".into()));
        }
    });
    assert!(timeout(&ran.result));
    assert_eq!(ran.trace.lock().terminated, 0, "there is nobody to end");
}

#[test]
fn s4_times_out_promptly_on_caller_abort_with_a_silent_transport() {
    let signal = Arc::new(Switch::default());
    let trip = Arc::clone(&signal);
    let script: Script = Box::new(move |message, _| {
        if is_execute(message) {
            trip.trip();
        }
        Ok(())
    });
    let ran = run_with(HostLimits::default(), Some(signal), script);
    assert!(timeout(&ran.result));
    assert_eq!(ran.took, Duration::from_millis(25), "the grace and nothing else");
    assert_eq!(ran.trace.lock().terminated, 1);
}

#[test]
fn s5_keeps_timeout_when_closing_after_caller_abort() {
    let signal = Arc::new(Switch::default());
    let trip = Arc::clone(&signal);
    let script: Script = Box::new(move |message, events| {
        match message {
            HostMessage::Execute(_) => trip.trip(),
            _ => events.push_back(Event::Closed("gone".into())),
        }
        Ok(())
    });
    let ran = run_with(HostLimits::default(), Some(signal), script);
    assert!(timeout(&ran.result));
    assert_eq!(ran.took, Duration::ZERO);
}

#[test]
fn s6_returns_the_close_reason_before_a_timeout() {
    let ran = run(|_, events| events.push_back(Event::Closed("the runner has ended".into())));
    let failure = ran.result.outcome.unwrap_err();
    assert_eq!((failure.code, &*failure.message), (FailureCode::InternalError, "the runner has ended"));
    assert_eq!(ran.trace.lock().sent.len(), 1, "no cancel for nobody");
}

#[test]
fn s7_send_failures_are_internal_errors() {
    let ran =
        run_with(HostLimits::default(), None, Box::new(|_, _| Err(TransportError("broken pipe".into()))));
    let failure = ran.result.outcome.unwrap_err();
    assert_eq!((failure.code, &*failure.message), (FailureCode::InternalError, "broken pipe"));
    assert_eq!(ran.trace.lock().disposed, [Some(FailureCode::InternalError)]);
}

#[test]
fn s8_tool_dispatcher_failures_become_tool_result_errors() {
    let ran = run(|message, events| {
        if is_execute(message) {
            events.push_back(call("c1", "fail", "1"));
        } else {
            events.push_back(done("exec-1"));
        }
    });
    assert_eq!(
        ran.trace.lock().sent[1],
        r#"{"type":"tool_result","callId":"c1","ok":false,"error":{"code":"tool_error","message":"no luck"}}"#
    );
}

#[test]
fn s9_always_disposes_of_the_transport() {
    let (time, trace) = (VirtualTime::default(), Arc::<Mutex<Trace>>::default());
    let transport =
        Scripted { script: Box::new(|_, _| Ok(())), events: VecDeque::new(), trace: Arc::clone(&trace) };
    let with = Drive {
        execute: execute(),
        tools: Arc::new(Few::default()),
        time: Arc::new(time.clone()),
        signal: None,
        limits: HostLimits::default(),
    };
    let mut abandoned = Box::pin(drive(with, Box::new(transport)));
    let polled = time.run(std::future::poll_fn(|cx| Poll::Ready(abandoned.as_mut().poll(cx).is_pending())));
    assert!(polled);
    drop(abandoned);
    assert_eq!(trace.lock().disposed.len(), 1, "also when nobody waits for the end");
}

#[test]
fn s18_does_not_start_new_host_tool_work_after_the_execution_has_been_aborted() {
    let ran = run(|message, events| {
        if matches!(message, HostMessage::Cancel { .. }) {
            events.push_back(call("late", "echo", "1"));
        } else if is_result(message) {
            events.push_back(done("exec-1"));
        }
    });
    assert_eq!(*ran.tools.begun.lock(), 0);
    assert!(ran.trace.lock().sent[2].contains(r#""code":"timeout","message":"Execution timed out""#));
    assert!(ran.result.outcome.is_ok(), "a done within the grace is the result as it is");
}

#[test]
fn a_done_within_the_grace_counts_as_it_is() {
    let ran = run(|message, events| {
        if matches!(message, HostMessage::Cancel { .. }) {
            events.push_back(done("exec-1"));
        }
    });
    assert_eq!((ran.result.outcome.is_ok(), ran.result.logs.len()), (true, 1));
    assert_eq!(ran.trace.lock().terminated, 0);
}

#[test]
fn tools_in_flight_are_abandoned_on_timeout_and_also_on_success() {
    for succeed in [false, true] {
        let ran = run(move |message, events| {
            if is_execute(message) {
                events.push_back(call("c1", "hang", "1"));
                if succeed {
                    events.push_back(done("exec-1"));
                }
            }
        });
        assert_eq!(ran.result.outcome.is_ok(), succeed);
        assert!(ran.tools.dropped.is_tripped(), "succeed={succeed}");
        assert!(!ran.trace.lock().sent.iter().any(|it| it.contains("tool_result")), "no late result");
    }
}

#[test]
fn messages_of_another_execution_are_ignored() {
    let ran = run(|message, events| {
        if is_execute(message) {
            events.extend([
                done("exec-2"),
                say(r#"{"type":"started","id":"x"}"#),
                Event::Junk,
                done("exec-1"),
            ]);
        }
    });
    assert_eq!(ran.result.duration_ms, 7.0);
}

#[test]
fn started_is_not_needed_and_may_come_twice() {
    let started = || say(r#"{"type":"started","id":"exec-1"}"#);
    let ran = run(move |message, events| {
        if is_execute(message) {
            events.extend([call("c", "echo", "1"), started(), started(), done("exec-1")]);
        }
    });
    assert!(ran.result.outcome.is_ok());
}

#[test]
fn one_call_id_is_one_call() {
    let mut results = 0;
    let ran = run(move |message, events| {
        if is_execute(message) {
            events.extend([call("c1", "echo", "1"), call("c1", "echo", "2")]);
        } else if is_result(message) {
            results += 1;
            match results {
                1 => events.extend([call("c1", "echo", "3"), call("c2", "echo", "4")]),
                _ => events.push_back(done("exec-1")),
            }
        }
    });
    assert_eq!(*ran.tools.begun.lock(), 2, "c1 once, c2 once");
}

#[test]
fn a_missing_input_is_null_to_a_tool() {
    let ran = run(|message, events| {
        if is_execute(message) {
            let line = r#"{"type":"tool_call","callId":"c","providerName":"p","safeToolName":"echo"}"#;
            events.push_back(say(line));
        } else {
            events.push_back(done("exec-1"));
        }
    });
    assert!(ran.trace.lock().sent[1].ends_with(r#""ok":true,"result":null}"#));
}

#[test]
fn calls_wait_for_their_turn_and_too_many_are_refused() {
    let limits =
        HostLimits { calls_running_max: 2, calls_pending_max: 3, calls_max: 5, ..HostLimits::default() };
    let mut session = HostSession::begin(execute(), limits, Duration::ZERO);
    let called = |session: &mut HostSession, id: &str| {
        let Event::Message(message) = call(id, "t", "1") else { panic!() };
        session.on(Input::Message(message), Duration::ZERO);
        let mut seen = Vec::new();
        while let Some(output) = session.next_output() {
            match output {
                Output::Dispatch(call) => seen.push(format!("dispatch {}", call.call_id)),
                Output::Send(HostMessage::ToolResult(it)) => {
                    seen.push(it.answer.map_or_else(|it| it.message, |_| format!("sent {}", it.call_id)));
                }
                _ => {}
            }
        }
        seen.join(", ")
    };
    assert_eq!(called(&mut session, "1"), "dispatch 1");
    assert_eq!(called(&mut session, "2"), "dispatch 2");
    assert_eq!(called(&mut session, "3"), "", "waits");
    assert_eq!(called(&mut session, "4"), "3 tool calls are pending already");
    session.on(
        Input::ToolFinished { call_id: "1".into(), answer: Ok(Bytes::from_static(b"1")) },
        Duration::ZERO,
    );
    assert_eq!(called(&mut session, "5"), "sent 1, dispatch 3");
    assert_eq!(called(&mut session, "6"), "one execution may call tools 5 times");
}

#[test]
fn of_a_hundred_thousand_calls_at_once_ten_thousand_are_kept_and_the_rest_refused() {
    let mut session = HostSession::begin(execute(), HostLimits::default(), Duration::ZERO);
    let (mut dispatched, mut refused) = (0, 0);
    for number in 0..110_000 {
        let call_id = format!("c{number}").into();
        let call = ToolCall { call_id, provider_name: "p".into(), safe_tool_name: "t".into(), input: None };
        session.on(Input::Message(RunnerMessage::ToolCall(call)), Duration::ZERO);
        while let Some(output) = session.next_output() {
            match output {
                Output::Dispatch(_) => dispatched += 1,
                Output::Send(HostMessage::ToolResult(it)) => refused += usize::from(it.answer.is_err()),
                _ => {}
            }
        }
    }
    assert_eq!((dispatched, refused), (64, 100_000));
}

#[test]
fn sizes_are_capped_each_with_its_own_error() {
    let limits = HostLimits {
        tool_input_bytes_max: 10,
        tool_result_bytes_max: 50,
        result_bytes_max: 1,
        ..HostLimits::default()
    };
    let script: Script = Box::new(|message, events| {
        match message {
            HostMessage::Execute(_) => events.push_back(call("a", "echo", "\"0123456789\"")),
            HostMessage::ToolResult(it) if &*it.call_id == "a" => events.push_back(call("b", "big", "1")),
            HostMessage::ToolResult(it) if &*it.call_id == "b" => events.push_back(call("c", "junk", "1")),
            _ => events.push_back(done("exec-1")),
        }
        Ok(())
    });
    let ran = run_with(limits, None, script);
    let sent = ran.trace.lock().sent[1..].join("\n");
    assert!(sent.contains("tool input of 12 bytes exceeds the limit of 10"), "{sent}");
    assert!(sent.contains("tool result of 100 bytes exceeds the limit of 50"), "{sent}");
    assert!(sent.contains("the tool returned a value that is not JSON"), "{sent}");
    let failure = ran.result.outcome.unwrap_err();
    assert_eq!(failure.message, "Guest code returned a value of 2 bytes; the limit is 1");
    assert_eq!(failure.code, FailureCode::SerializationError);
    assert_eq!(ran.result.logs, ["hi"]);
}

#[test]
fn a_message_that_is_too_long_fails_what_it_was_about() {
    let head = |kind: &str, id: Option<&str>, call_id: Option<&str>| Head {
        kind: Some(kind.into()),
        id: id.map(Into::into),
        call_id: call_id.map(Into::into),
    };
    let mut round = 0;
    let ran = run(move |_, events| {
        round += 1;
        match round {
            1 => events.extend([
                Event::TooLong(head("done", Some("other"), None), 9),
                Event::TooLong(head("tool_call", None, Some("c1")), 9),
            ]),
            _ => events.push_back(Event::TooLong(head("done", Some("exec-1"), None), 9)),
        }
    });
    assert!(ran.trace.lock().sent[1].contains("message exceeds the limit of 9 bytes"));
    assert_eq!(ran.result.code(), Some(FailureCode::SerializationError));
}

#[test]
fn a_runner_that_never_stops_talking_still_times_out() {
    struct Babbler(Arc<VirtualTime>);
    impl Transport for Babbler {
        fn send(&mut self, _: HostMessage) -> Result<(), TransportError> {
            Ok(())
        }
        fn poll_event(&mut self, _: &mut Context<'_>) -> Poll<Event> {
            // Talking takes time, too.
            self.0.pass(Duration::from_micros(50));
            Poll::Ready(Event::Junk)
        }
        fn terminate(&mut self) {}
        fn dispose(&mut self, _: Option<&ExecuteResult>) {}
    }
    let time = Arc::new(VirtualTime::default());
    let with = Drive {
        execute: execute(),
        tools: Arc::new(Few::default()),
        time: Arc::clone(&time) as _,
        signal: None,
        limits: HostLimits::default(),
    };
    let result = time.run(drive(with, Box::new(Babbler(Arc::clone(&time)))));
    assert!(timeout(&result));
}

#[test]
fn nothing_follows_a_settled_session() {
    let mut session = HostSession::begin(execute(), HostLimits::default(), Duration::ZERO);
    let finished = Done { id: "exec-1".into(), outcome: Ok(None), duration_ms: 1.0, logs: vec![] };
    session.on(Input::Message(RunnerMessage::Done(finished.clone())), Duration::ZERO);
    let count =
        std::iter::from_fn(|| session.next_output()).filter(|it| matches!(it, Output::Settle(_))).count();
    assert_eq!(count, 1);
    let call =
        ToolCall { call_id: "c".into(), provider_name: "p".into(), safe_tool_name: "t".into(), input: None };
    for input in [
        Input::Message(RunnerMessage::Done(finished)),
        Input::Message(RunnerMessage::ToolCall(call)),
        Input::Closed("x".into()),
        Input::SendFailed("x".into()),
        Input::TimeUp(Alarm::Backstop),
        Input::TimeUp(Alarm::Grace),
        Input::Abort,
    ] {
        session.on(input, Duration::ZERO);
        assert_eq!(session.next_output(), None);
    }
}

#[test]
fn a_log_that_is_longer_than_asked_for_is_cut_here_too() {
    let ran = run(|message, events| {
        if is_execute(message) {
            let logs = vec!["x".to_owned(); 500];
            let done = Done { id: "exec-1".into(), outcome: Ok(None), duration_ms: 1.0, logs };
            events.push_back(Event::Message(RunnerMessage::Done(done)));
        }
    });
    assert_eq!(ran.result.logs.len(), 100);
}

#[test]
fn an_abandoned_call_can_be_waited_for() {
    let switch = Arc::new(Switch::default());
    let signal = Abandoned(Arc::clone(&switch));
    switch.trip();
    VirtualTime::default().run(signal.tripped());
}

/// A stream of a few pieces, and how it ends.
struct Pieces(VecDeque<std::io::Result<Vec<u8>>>);

impl drydock_contract::ByteSource for Pieces {
    fn poll_read(&mut self, _: &mut Context<'_>, buffer: &mut [u8]) -> Poll<std::io::Result<usize>> {
        match self.0.pop_front() {
            None => Poll::Pending,
            Some(Err(error)) => Poll::Ready(Err(error)),
            Some(Ok(bytes)) => {
                buffer[..bytes.len()].copy_from_slice(&bytes);
                Poll::Ready(Ok(bytes.len()))
            }
        }
    }
}

/// Takes what it is given, until it does not.
struct Pit {
    taken: usize,
    room: usize,
    then: fn() -> Poll<std::io::Result<usize>>,
}

impl drydock_contract::ByteSink for Pit {
    fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        if self.taken >= self.room {
            return (self.then)();
        }
        self.taken += bytes.len();
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn over_lines(pieces: Vec<std::io::Result<Vec<u8>>>, pit: Pit, ended: &Arc<Mutex<usize>>) -> ExecuteResult {
    let time = VirtualTime::default();
    let count = Arc::clone(ended);
    let end = Box::new(move || *count.lock() += 1);
    let lines = crate::protocol::Lines::at_most(1_000);
    let transport = LineTransport::new(Box::new(Pieces(pieces.into())), Box::new(pit), lines, end);
    let with = Drive {
        execute: execute(),
        tools: Arc::new(Few::default()),
        time: Arc::new(time.clone()),
        signal: None,
        limits: HostLimits::default(),
    };
    time.run(drive(with, Box::new(transport)))
}

#[test]
fn s13_a_runner_that_exits_first_is_an_internal_error() {
    let pit = || Pit { taken: 0, room: usize::MAX, then: || Poll::Pending };
    let broken = || Err(std::io::Error::other("cable cut"));
    for (pieces, want) in [
        (vec![Ok(vec![])], "the runner has ended"),
        (vec![Ok(b"{\"type\":\"done\",\"id\"".to_vec()), Ok(vec![])], "the runner has ended"),
        (vec![broken()], "could not read from the runner: cable cut"),
    ] {
        let ended = Arc::default();
        let failure = over_lines(pieces, pit(), &ended).outcome.unwrap_err();
        assert_eq!((failure.code, &*failure.message), (FailureCode::InternalError, want));
        assert_eq!(*ended.lock(), 1, "disposed of once");
    }
}

#[test]
fn a_done_before_the_end_counts_also_without_its_newline() {
    let line = br#"{"type":"done","id":"exec-1","ok":true,"durationMs":1,"logs":[]}"#.to_vec();
    let pit = Pit { taken: 0, room: usize::MAX, then: || Poll::Pending };
    assert_eq!(over_lines(vec![Ok(line), Ok(vec![])], pit, &Arc::default()).outcome, Ok(None));
}

#[test]
fn a_runner_that_cannot_be_written_to_is_an_internal_error() {
    let broken: fn() -> Poll<std::io::Result<usize>> =
        || Poll::Ready(Err(std::io::ErrorKind::BrokenPipe.into()));
    for (room, then) in [(0, broken), (0, || Poll::Ready(Ok(0)))] {
        let failure = over_lines(vec![], Pit { taken: 0, room, then }, &Arc::default()).outcome.unwrap_err();
        assert_eq!(failure.code, FailureCode::InternalError);
        assert!(failure.message.starts_with("could not write to the runner: "), "{failure:?}");
    }
}

#[test]
fn a_runner_that_asks_and_does_not_listen_gets_no_more_answers_than_are_kept_for_it() {
    struct Large(Mutex<usize>);
    impl Tools for Large {
        fn call(&self, _: ToolRequest) -> BoxFuture<'_, ToolAnswer> {
            Box::pin(async {
                *self.0.lock() += 1;
                Ok(vec![b'1'; 16 << 20].into())
            })
        }
    }
    let time = VirtualTime::default();
    let tools = Arc::new(Large(Mutex::default()));
    let calls = (0..40).map(|n| {
        format!(
            "{{\"type\":\"tool_call\",\"callId\":\"{n}\",\"providerName\":\"p\",\"safeToolName\":\"t\"}}\n"
        )
    });
    let pieces = calls.map(|it| Ok(it.into_bytes())).collect();
    let pit = Pit { taken: 0, room: 1, then: || Poll::Pending };
    let lines = crate::protocol::Lines::default();
    let transport = LineTransport::new(Box::new(Pieces(pieces)), Box::new(pit), lines, Box::new(|| {}));
    let with = Drive {
        execute: execute(),
        tools: Arc::clone(&tools) as _,
        time: Arc::new(time.clone()),
        signal: None,
        limits: HostLimits::default(),
    };
    assert!(timeout(&time.run(drive(with, Box::new(transport)))));
    assert!((4..=6).contains(&*tools.0.lock()), "{} answers of 16 MiB", tools.0.lock());
}

#[test]
fn inputs_that_wait_are_bounded_together() {
    let limits = HostLimits { pending_bytes_max: 10, ..HostLimits::default() };
    let mut session = HostSession::begin(execute(), limits, Duration::ZERO);
    let mut refused = |id: &str, finished: Option<&str>| {
        if let Some(call_id) = finished {
            session.on(
                Input::ToolFinished { call_id: call_id.into(), answer: Ok(Bytes::from_static(b"1")) },
                Duration::ZERO,
            );
        }
        let Event::Message(message) = call(id, "t", "\"1234\"") else { panic!() };
        session.on(Input::Message(message), Duration::ZERO);
        std::iter::from_fn(|| session.next_output())
            .filter_map(|it| {
                if let Output::Send(HostMessage::ToolResult(it)) = it { it.answer.err() } else { None }
            })
            .map(|it| it.message)
            .next()
    };
    assert_eq!(refused("a", None), None);
    let text = "the inputs of pending tool calls exceed 10 bytes";
    assert_eq!(refused("b", None).as_deref(), Some(text));
    assert_eq!(refused("c", Some("a")), None, "what has ended does not count");
}

#[test]
fn s15_a_silent_runner_that_does_not_even_read_is_ended_on_timeout() {
    let ended = Arc::default();
    let result = over_lines(vec![], Pit { taken: 0, room: 0, then: || Poll::Pending }, &ended);
    assert!(timeout(&result));
    assert!(*ended.lock() >= 1);
}
