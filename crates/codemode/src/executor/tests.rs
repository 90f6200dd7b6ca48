//! Proofs for the executors: the suite on each of them, with a guest that stands in for JavaScript.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use drydock_contract::{
    BoxFuture, ByteSink, ByteSource, Cap, FailureCode, Switch, Terms, ToolRequest, Tools,
};
use drydock_gate::{Gate, GateSettings, Grant, SessionSpec};
use drydock_testkit::{FixedClock, MemoryJournal, principal};
use parking_lot::Mutex;
use serde_json::json;

use super::*;
use crate::{
    Gated, Time,
    host::{Event, LineTransport, Transport, TransportError},
    protocol::{Failure, HostMessage, Json, Lines},
    provider::{Provider, Providers, Tool},
    runner::{Finished, Guest, LinePort, LogBuffer, Program, RunnerLimits, serve},
    suite::{self, Setup, programs},
    testing::VirtualTime,
};

/// Knows the suite's programs by heart.
struct StandIn(VirtualTime);

impl Guest for StandIn {
    fn run(&self, program: Program, tools: Arc<dyn Tools>, cancel: Arc<Switch>) -> BoxFuture<'_, Finished> {
        Box::pin(async move {
            let timed_out = || Failure::new(FailureCode::Timeout, "Execution timed out");
            let mut log = LogBuffer::new(&program.options);
            let body = Box::pin(perform(&program.code, &*tools, &mut log));
            let stop = Box::pin(async {
                let tripped = Box::pin(async {
                    while !cancel.is_tripped() {
                        cancel.listen().await;
                    }
                });
                futures_util::future::select(self.0.sleep(program.options.timeout()), tripped).await;
            });
            let outcome = match futures_util::future::select(body, stop).await {
                futures_util::future::Either::Left((outcome, _)) => outcome,
                futures_util::future::Either::Right(_) => Err(timed_out()),
            };
            Finished { outcome, logs_cut: log.is_cut(), logs: log.into_lines() }
        })
    }
}

async fn perform(code: &str, tools: &dyn Tools, log: &mut LogBuffer) -> Result<Option<Json>, Failure> {
    let ok = |value: serde_json::Value| Ok(Some(Json::of(&value)));
    let threw = |text: &str| Err(Failure::new(FailureCode::RuntimeError, text));
    let call = |tool: &str, input: &'static str| {
        let input = Some(Bytes::from_static(input.as_bytes()));
        tools.call(ToolRequest { provider: "tools".into(), tool: tool.into(), input, span: 0, depth: 0 })
    };
    let given = |bytes: Bytes| Some(Json::parse(bytes).unwrap());
    match code {
        "undefined" => Ok(None),
        programs::SIMPLE => ok(json!(2)),
        programs::CONSOLE => {
            log.push("hello {\"a\":1} undefined");
            log.push("careful");
            ok(json!(5))
        }
        programs::AMBIENT => ok(serde_json::Value::from(vec!["undefined"; 6])),
        programs::CALL => call("add", r#"{"x":2,"y":3}"#).await.map(given),
        programs::INVALID_CALL => call("add", r#"{"x":"two","y":3}"#).await.map(given),
        programs::FAILING_CALL => call("fail", "{}").await.map(given),
        programs::HANGING_CALL => call("hang", "{}").await.map(given),
        programs::LOOP => std::future::pending().await,
        programs::LOOKS_LIKE_TIMEOUT => threw("Execution timed out"),
        programs::LOOKS_LIKE_MEMORY => threw("out of memory"),
        programs::CLAIMS_CODE => threw("mine"),
        programs::CLAIMS_PLAINLY => threw("forged"),
        programs::FLOOD => {
            for n in 0..1000 {
                log.push(format!("line {n}"));
            }
            ok(json!("done"))
        }
        programs::UNSERIALIZABLE | programs::BIG_INTEGER => {
            let text = "Guest code returned a non-serializable value";
            Err(Failure::new(FailureCode::SerializationError, text))
        }
        programs::LEAVE => ok(json!("left")),
        programs::LOOK => ok(json!(["undefined", "undefined"])),
        "parallel" => {
            let all = futures_util::future::join_all((0..100).map(|_| call("add", r#"{"x":1,"y":1}"#))).await;
            ok(json!(all.into_iter().filter(Result::is_ok).count()))
        }
        other => panic!("the stand-in does not know {other:?}"),
    }
}

/// A stream of bytes in memory, handed on a few at a time.
#[derive(Clone, Default)]
struct Stream(Arc<Mutex<VecDeque<u8>>>, usize);

impl ByteSource for Stream {
    fn poll_read(&mut self, _: &mut Context<'_>, buffer: &mut [u8]) -> Poll<std::io::Result<usize>> {
        let mut bytes = self.0.lock();
        let count = bytes.len().min(self.1).min(buffer.len());
        if count == 0 {
            return Poll::Pending;
        }
        buffer.iter_mut().zip(bytes.drain(..count)).for_each(|(to, from)| *to = from);
        Poll::Ready(Ok(count))
    }
}

impl ByteSink for Stream {
    fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        let count = bytes.len().min(self.1);
        self.0.lock().extend(&bytes[..count]);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A runner program in all but the process: lines in, lines out, polled by whoever reads from it.
struct Child {
    lines: LineTransport,
    runner: BoxFuture<'static, ()>,
    streams: [Stream; 2],
    /// What a foreign runner does to a line of ours.
    foreign: Option<Foreign>,
}

/// Where the lines of the runner are before they are what the host reads.
struct Foreign {
    from: Stream,
    to: Stream,
    partial: Vec<u8>,
}

impl Foreign {
    /// No `started`, other spacing, more members, and noise in between.
    fn retell(&mut self) {
        for byte in self.from.0.lock().drain(..) {
            self.partial.push(byte);
            if byte != b'\n' {
                continue;
            }
            let line = String::from_utf8(std::mem::take(&mut self.partial)).unwrap();
            if line.contains(r#""type":"started""#) {
                continue;
            }
            let retold = line.trim_end().replacen('{', "{ \"vendor\" : {\"v\":[1]},\t", 1);
            let noise = "debugger attached\n{\"type\":\"log\",\"text\":\"x\"}\n\n";
            self.to.0.lock().extend(format!("{noise}{retold}\r\n").bytes());
        }
    }
}

impl Transport for Child {
    fn send(&mut self, message: HostMessage) -> Result<(), TransportError> {
        self.lines.send(message)
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        loop {
            if let Poll::Ready(event) = self.lines.poll_event(cx) {
                return Poll::Ready(event);
            }
            let _ = self.runner.as_mut().poll(cx);
            if let Some(foreign) = &mut self.foreign {
                foreign.retell();
            }
            if self.streams.iter().all(|it| it.0.lock().is_empty()) {
                return Poll::Pending;
            }
        }
    }

    fn terminate(&mut self) {
        self.lines.terminate();
    }

    fn dispose(&mut self, result: Option<&crate::ExecuteResult>) {
        self.lines.dispose(result);
    }
}

struct Launcher {
    time: VirtualTime,
    chunk: usize,
    foreign: bool,
    launched: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
    /// What the last runner writes to.
    last: Arc<Mutex<Option<Stream>>>,
}

impl Launcher {
    fn new(time: &VirtualTime, chunk: usize) -> Self {
        Self {
            time: time.clone(),
            chunk,
            foreign: false,
            launched: Arc::default(),
            ended: Arc::default(),
            last: Arc::default(),
        }
    }
}

impl Launch for Launcher {
    fn launch(&self) -> Result<Box<dyn Transport>, TransportError> {
        self.launched.fetch_add(1, Ordering::SeqCst);
        let stream = || Stream(Arc::default(), self.chunk);
        let (to_runner, to_host) = (stream(), stream());
        *self.last.lock() = Some(to_host.clone());
        let (from_runner, foreign) = match self.foreign {
            false => (to_host.clone(), None),
            true => {
                let from = stream();
                (from.clone(), Some(Foreign { from, to: to_host.clone(), partial: Vec::new() }))
            }
        };
        let mut port = LinePort::new(Box::new(to_runner.clone()), Box::new(from_runner), Lines::default());
        let time = self.time.clone();
        let runner = Box::pin(async move {
            serve(&mut port, &StandIn(time.clone()), &time, RunnerLimits::default()).await;
        });
        let (ended, mut once) = (Arc::clone(&self.ended), Some(()));
        let end = Box::new(move || {
            if once.take().is_some() {
                ended.fetch_add(1, Ordering::SeqCst);
            }
        });
        let lines =
            LineTransport::new(Box::new(to_host.clone()), Box::new(to_runner.clone()), Lines::default(), end);
        Ok(Box::new(Child { lines, runner, streams: [to_runner, to_host], foreign }))
    }
}

fn pool(time: &VirtualTime, launcher: Launcher, runners_max: usize) -> Pool {
    let settings = PoolSettings { runners_max, ..PoolSettings::default() };
    Pool::new(Arc::new(launcher), Arc::new(time.clone()), settings)
}

fn passes_the_suite(time: &VirtualTime, executor: &dyn Executor) {
    let setup = Setup { executor, time };
    for (title, case) in suite::CASES {
        println!("{title}");
        time.run(case(&setup));
    }
}

#[test]
fn the_suite_holds_in_process() {
    let time = VirtualTime::default();
    passes_the_suite(&time, &InProcess::new(Arc::new(StandIn(time.clone())), Arc::new(time.clone())));
}

#[test]
fn the_suite_holds_for_a_child_that_is_used_once() {
    for chunk in [1, 7, 4096] {
        let time = VirtualTime::default();
        let launcher = Launcher::new(&time, chunk);
        let (launched, ended) = (Arc::clone(&launcher.launched), Arc::clone(&launcher.ended));
        passes_the_suite(&time, &Remote::new(Arc::new(launcher), Arc::new(time.clone())));
        assert_eq!(launched.load(Ordering::SeqCst), ended.load(Ordering::SeqCst), "every child was ended");
    }
}

#[test]
fn the_suite_holds_for_a_child_that_lives_long() {
    let time = VirtualTime::default();
    let launcher = Launcher::new(&time, 4096);
    let launched = Arc::clone(&launcher.launched);
    let pool = pool(&time, launcher, 1);
    passes_the_suite(&time, &pool);
    let before = launched.load(Ordering::SeqCst);
    time.run(suite::keeps_nothing_between_runs(&pool, 500));
    assert_eq!(launched.load(Ordering::SeqCst), before, "a thousand executions on one runner");
}

#[test]
fn the_suite_holds_for_a_foreign_runner() {
    let time = VirtualTime::default();
    let launcher = Launcher { foreign: true, ..Launcher::new(&time, 13) };
    passes_the_suite(&time, &Remote::new(Arc::new(launcher), Arc::new(time.clone())));
}

#[test]
fn a_pool_lives_from_prewarm_to_close() {
    let time = VirtualTime::default();
    let launcher = Launcher::new(&time, 4096);
    let (launched, ended) = (Arc::clone(&launcher.launched), Arc::clone(&launcher.ended));
    time.run(suite::lives_from_prewarm_to_close(&pool(&time, launcher, 2)));
    assert_eq!((launched.load(Ordering::SeqCst), ended.load(Ordering::SeqCst)), (1, 1));
}

#[test]
fn a_runner_is_replaced_at_once_after_a_timeout_and_kept_after_a_tool_error() {
    let time = VirtualTime::default();
    let launcher = Launcher::new(&time, 4096);
    let (launched, ended) = (Arc::clone(&launcher.launched), Arc::clone(&launcher.ended));
    let pool = pool(&time, launcher, 1);
    let run = |code: &str| time.run(pool.execute(ExecuteRequest::new(code)));
    run(programs::LOOKS_LIKE_TIMEOUT);
    run(programs::UNSERIALIZABLE);
    assert_eq!((launched.load(Ordering::SeqCst), ended.load(Ordering::SeqCst)), (1, 0));
    run(programs::LOOP);
    assert_eq!((launched.load(Ordering::SeqCst), ended.load(Ordering::SeqCst)), (2, 1));
    assert_eq!(pool.idle(), 1, "the next caller finds one that is up already");
    run(programs::SIMPLE);
    assert_eq!(launched.load(Ordering::SeqCst), 2);
}

#[test]
fn a_pool_is_bounded_and_its_waiters_come_in_order() {
    let time = VirtualTime::default();
    let launcher = Launcher::new(&time, 4096);
    let launched = Arc::clone(&launcher.launched);
    let pool = pool(&time, launcher, 2);
    let order: Mutex<Vec<usize>> = Mutex::default();
    let clock = time.clone();
    let add = Tool::new("add", move |_, _| {
        let nap = clock.sleep(Duration::from_millis(10));
        async move {
            nap.await;
            Ok(json!(1))
        }
    });
    let providers = Arc::new(Providers::new([Provider::new("tools", vec![add]).unwrap()]).unwrap());
    let one = |index: usize| {
        let (pool, order) = (&pool, &order);
        let request = ExecuteRequest::new(programs::CALL).with(&providers);
        async move {
            let result = pool.execute(request).await;
            assert!(result.outcome.is_ok());
            order.lock().push(index);
        }
    };
    time.run(futures_util::future::join_all((0..10).map(one)));
    assert_eq!(launched.load(Ordering::SeqCst), 2);
    assert_eq!(*order.lock(), (0..10).collect::<Vec<_>>());
}

#[test]
fn who_waits_for_a_runner_may_give_up() {
    let time = VirtualTime::default();
    let pool = pool(&time, Launcher::new(&time, 4096), 1);
    let signal = Arc::new(Switch::default());
    let waiting =
        ExecuteRequest { signal: Some(Arc::clone(&signal)), ..ExecuteRequest::new(programs::SIMPLE) };
    let (busy, waited, ()) = time.run(async {
        let busy = pool.execute(ExecuteRequest::new(programs::LOOP));
        let trip = async {
            time.sleep(Duration::from_millis(10)).await;
            signal.trip();
        };
        futures_util::future::join3(busy, pool.execute(waiting), trip).await
    });
    assert_eq!((busy.code(), waited.code()), (Some(FailureCode::Timeout), Some(FailureCode::Timeout)));
}

#[test]
fn idle_runners_are_ended_after_a_while() {
    let time = VirtualTime::default();
    let launcher = Launcher::new(&time, 4096);
    let ended = Arc::clone(&launcher.ended);
    let pool = pool(&time, launcher, 1);
    time.run(pool.execute(ExecuteRequest::new(programs::SIMPLE)));
    time.pass(Duration::from_secs(29));
    pool.sweep();
    assert_eq!(pool.idle(), 1);
    time.pass(Duration::from_secs(1));
    pool.sweep();
    assert_eq!((pool.idle(), ended.load(Ordering::SeqCst)), (0, 1));
}

#[test]
fn a_runner_that_left_or_spoke_while_it_was_idle_is_not_used_again() {
    let time = VirtualTime::default();
    let launcher = Launcher::new(&time, 4096);
    let (launched, last) = (Arc::clone(&launcher.launched), Arc::clone(&launcher.last));
    let pool = pool(&time, launcher, 1);
    let run = || time.run(pool.execute(ExecuteRequest::new(programs::SIMPLE))).outcome;
    assert!(run().is_ok());
    let say = |text: &str| last.lock().as_ref().unwrap().0.lock().extend(text.bytes());
    say("just noise\n");
    assert!(run().is_ok());
    assert_eq!(launched.load(Ordering::SeqCst), 1, "noise is no reason");
    say("{\"type\":\"tool_call\",\"callId\":\"x\",\"providerName\":\"p\",\"safeToolName\":\"t\"}\n");
    assert!(run().is_ok());
    assert_eq!(launched.load(Ordering::SeqCst), 2, "a call of nobody's is");
}

#[test]
fn s16_no_runner_is_started_for_a_caller_that_gave_up_already_and_s17_one_is_ended_once_on_abort() {
    let time = VirtualTime::default();
    let launcher = Launcher::new(&time, 64);
    let (launched, ended) = (Arc::clone(&launcher.launched), Arc::clone(&launcher.ended));
    let remote = Remote::new(Arc::new(launcher), Arc::new(time.clone()));
    let signal = Arc::new(Switch::default());
    let request = ExecuteRequest { signal: Some(Arc::clone(&signal)), ..ExecuteRequest::new(programs::LOOP) };
    let later = async {
        time.sleep(Duration::from_millis(10)).await;
        signal.trip();
    };
    let (first, ()) = time.run(futures_util::future::join(remote.execute(request.clone()), later));
    assert_eq!(first.code(), Some(FailureCode::Timeout));
    assert_eq!((launched.load(Ordering::SeqCst), ended.load(Ordering::SeqCst)), (1, 1));
    assert_eq!(time.run(remote.execute(request)).code(), Some(FailureCode::Timeout));
    assert_eq!(launched.load(Ordering::SeqCst), 1);
}

#[test]
fn a_runner_that_cannot_be_started_is_an_internal_error() {
    struct Broken;
    impl Launch for Broken {
        fn launch(&self) -> Result<Box<dyn Transport>, TransportError> {
            Err(TransportError("no such program".into()))
        }
    }
    let time = VirtualTime::default();
    let remote = Remote::new(Arc::new(Broken), Arc::new(time.clone()));
    let result = time.run(remote.execute(ExecuteRequest::new("1")));
    let failure = result.outcome.unwrap_err();
    assert_eq!(
        (failure.code, &*failure.message),
        (FailureCode::InternalError, "could not start a runner: no such program")
    );
}

#[test]
fn a_program_that_is_too_long_is_not_even_sent() {
    let time = VirtualTime::default();
    let launcher = Launcher::new(&time, 1);
    let launched = Arc::clone(&launcher.launched);
    let remote = Remote::new(Arc::new(launcher), Arc::new(time.clone()));
    let result = time.run(remote.execute(ExecuteRequest::new("x".repeat(10 << 20))));
    let failure = result.outcome.unwrap_err();
    assert_eq!(failure.message, "program of 10485760 bytes exceeds the limit of 8388608");
    assert_eq!(launched.load(Ordering::SeqCst), 0);
}

#[test]
fn a_hundred_calls_at_once_are_all_answered() {
    let time = VirtualTime::default();
    let add = Tool::new("add", |_, _| async { Ok(json!(1)) });
    let providers = Arc::new(Providers::new([Provider::new("tools", vec![add]).unwrap()]).unwrap());
    let executor = InProcess::new(Arc::new(StandIn(time.clone())), Arc::new(time.clone()));
    let result = time.run(executor.execute(ExecuteRequest::new("parallel").with(&providers)));
    assert_eq!(result.outcome.unwrap().unwrap().as_str(), "100");
}

#[test]
fn calls_that_wait_run_together_up_to_the_limit_and_all_are_answered() {
    let time = VirtualTime::default();
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (clock, now, peak) = (time.clone(), Arc::clone(&running), Arc::clone(&most));
    let add = Tool::new("add", move |_, _| {
        let (nap, now, peak) = (clock.sleep(Duration::from_millis(10)), Arc::clone(&now), Arc::clone(&peak));
        async move {
            peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            nap.await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(json!(1))
        }
    });
    let providers = Arc::new(Providers::new([Provider::new("tools", vec![add]).unwrap()]).unwrap());
    let mut executor = InProcess::new(Arc::new(StandIn(time.clone())), Arc::new(time.clone()));
    executor.host_limits.calls_running_max = 30;
    let began = time.now();
    let result = time.run(executor.execute(ExecuteRequest::new("parallel").with(&providers)));
    assert_eq!(result.outcome.unwrap().unwrap().as_str(), "100");
    assert_eq!((most.load(Ordering::SeqCst), running.load(Ordering::SeqCst)), (30, 0));
    assert_eq!(time.now() - began, Duration::from_millis(40), "four turns of ten milliseconds");
}

#[test]
fn in_process_the_limits_of_both_ends_hold() {
    let time = VirtualTime::default();
    let add = Tool::new("add", |_, _| async { Ok(json!([[[1]]])) });
    let providers = Arc::new(Providers::new([Provider::new("tools", vec![add]).unwrap()]).unwrap());
    let run = |limit: fn(&mut InProcess), code: &str| {
        let mut executor = InProcess::new(Arc::new(StandIn(time.clone())), Arc::new(time.clone()));
        limit(&mut executor);
        time.run(executor.execute(ExecuteRequest::new(code).with(&providers))).outcome
    };
    let answered = |limit| run(limit, "parallel").unwrap().unwrap().as_str().to_owned();
    assert_eq!(answered(|it| it.host_limits.calls_max = 7), "7");
    assert_eq!(answered(|it| it.runner_limits.pending_bytes_max = 12), "0");
    let text = |limit| run(limit, programs::CALL).unwrap_err().message;
    for (limit, want) in [
        (
            (|it| it.host_limits.tool_result_bytes_max = 6) as fn(&mut InProcess),
            "tool result of 7 bytes exceeds the limit of 6",
        ),
        (|it| it.host_limits.tool_input_bytes_max = 12, "tool input of 13 bytes exceeds the limit of 12"),
        (|it| it.runner_limits.depth_max = 0, "tool input is nested 1 levels deep; the limit is 0"),
        (|it| it.runner_limits.depth_max = 2, "result is nested 3 levels deep; the limit is 2"),
        (|it| it.runner_limits.result_bytes_max = 6, "result of 7 bytes exceeds the limit of 6"),
        (|it| it.runner_limits.code_bytes_max = 1, "program of 46 bytes exceeds the limit of 1"),
    ] {
        assert_eq!(text(limit), want);
    }
}

#[test]
fn calls_through_the_gate_need_a_grant_and_leave_a_record() {
    let time = VirtualTime::default();
    let add = |name: &str| Tool::new(name, |_, _| async { Ok(json!({"sum": 5})) });
    let provider = Provider::new("tools", vec![add("add"), add("fail")]).unwrap();
    let providers = Arc::new(Providers::new([provider]).unwrap());
    let journal = Arc::new(MemoryJournal::default());
    let gate = Gate::new(GateSettings::default(), Arc::new(FixedClock::default()), Arc::clone(&journal) as _);
    let gate = Arc::new(gate.with(drydock_caps::tool::Tool));
    let terms = Terms::of(["tools.add".parse().unwrap()]);
    let session = gate
        .open(SessionSpec {
            grants: [Grant::of(Cap::Tool).within(terms)].into_iter().collect(),
            tools: Some(Arc::clone(&providers) as _),
            ..SessionSpec::new(principal("me"))
        })
        .unwrap();
    let gated: Arc<dyn Tools> = Arc::new(Gated::new(Arc::clone(&gate), session));
    let executor = InProcess::new(Arc::new(StandIn(time.clone())), Arc::new(time.clone()));
    let run = |code: &str| {
        let request = ExecuteRequest::new(code).with(&providers).through(Arc::clone(&gated));
        drydock_testkit::block_on(executor.execute(request))
    };
    assert_eq!(run(programs::CALL).outcome.unwrap().unwrap().as_str(), r#"{"sum":5}"#);
    let failure = run(programs::FAILING_CALL).outcome.unwrap_err();
    assert_eq!(
        (failure.code, &*failure.message),
        (FailureCode::ToolError, "tool `tools.fail` is not granted")
    );
    gate.flush().unwrap();
    let records: Vec<_> =
        journal.records().iter().map(|it| format!("{} {}", it.call.subjects.first(), it.event)).collect();
    assert_eq!(records, ["tools.add begun", "tools.add ended done", "tools.fail denied tool_not_granted"]);
}

#[test]
fn the_result_as_json_is_the_protocols() {
    let result = crate::ExecuteResult {
        outcome: Ok(Some(Json::null())),
        logs: vec!["a".into()],
        logs_cut: false,
        duration_ms: 1.5,
    };
    assert_eq!(result.to_json(), r#"{"ok":true,"durationMs":1.5,"logs":["a"],"result":null}"#);
    let cut = crate::ExecuteResult { logs_cut: true, ..result };
    assert_eq!(cut.to_json(), r#"{"ok":true,"durationMs":1.5,"logs":["a"],"result":null,"logsCut":true}"#);
    let failed = crate::ExecuteResult::failed(Failure::new(FailureCode::ToolError, "x"), 0.0);
    assert_eq!(
        failed.to_json(),
        r#"{"ok":false,"durationMs":0,"logs":[],"error":{"code":"tool_error","message":"x"}}"#
    );
}
