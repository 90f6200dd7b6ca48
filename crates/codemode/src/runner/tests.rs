//! Proofs for the runner's end, with guests that follow a script and hosts that are lists of lines.

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use drydock_contract::{BoxFuture, ByteSink, ByteSource, FailureCode, Switch, ToolRequest, Tools};
use parking_lot::Mutex;
use proptest::prelude::*;

use super::*;
use crate::{
    Time,
    protocol::{Failure, Json, Lines, RuntimeOptions},
    testing::VirtualTime,
};

/// Understands a few words instead of JavaScript.
struct Words(VirtualTime);

impl Guest for Words {
    fn run(&self, program: Program, tools: Arc<dyn Tools>, cancel: Arc<Switch>) -> BoxFuture<'_, Finished> {
        Box::pin(async move {
            let ok = |text: &str| Ok(Some(Json::parse(text.to_owned()).unwrap()));
            let call = |tool: &str, input: Option<&str>| {
                let input = input.map(|text| Bytes::copy_from_slice(text.as_bytes()));
                tools.call(ToolRequest { provider: "p".into(), tool: tool.into(), input, span: 0, depth: 0 })
            };
            let mut logs = vec!["began".to_owned()];
            let outcome = match &*program.code {
                "one" => ok("1"),
                "nothing" => Ok(None),
                "throw" => Err(Failure::new(FailureCode::RuntimeError, "thrown")),
                "echo" => call("echo", Some("[1]")).await.map(|it| Some(Json::parse(it).unwrap())),
                "undefined" => call("echo", None).await.map(|it| Some(Json::parse(it).unwrap())),
                "catch" => ok(&format!("{:?}", call("echo", Some("1")).await.unwrap_err().message)),
                "again" => {
                    let first = call("echo", Some("1")).await;
                    let second = call("echo", Some("2")).await;
                    ok(&format!("[{},{}]", first.is_ok(), second.is_ok()))
                }
                "unawaited" => {
                    drop(call("echo", Some("1")));
                    ok("2")
                }
                "hang" => std::future::pending().await,
                "obey" => {
                    while !cancel.is_tripped() {
                        cancel.listen().await;
                    }
                    logs.push("cancelled".into());
                    Err(Failure::new(FailureCode::Timeout, "Execution timed out"))
                }
                "sleep" => {
                    self.0.sleep(Duration::from_millis(30)).await;
                    ok("3")
                }
                "panic" => panic!("a guest broke"),
                "deep" => ok(&format!("{}{}", "[".repeat(5_000), "]".repeat(5_000))),
                "args" => Ok(program.args),
                "chatty" => {
                    logs = vec!["ab😀cd".to_owned(); 3];
                    Ok(None)
                }
                many if many.starts_with("many") => {
                    let calls = (0..12).map(|_| call("hang", Some("1")));
                    let all = futures_util::future::join_all(calls).await;
                    let refused = all.into_iter().filter_map(Result::err).map(|it| it.message);
                    ok(&format!("{:?}", refused.collect::<Vec<_>>()))
                }
                other => panic!("no such word: {other}"),
            };
            Finished { outcome, logs, logs_cut: false }
        })
    }
}

/// What a host says: a line, or nothing for a while.
enum Say {
    Line(String),
    /// Until the runner has said so many lines.
    Heard(usize),
    Wait(u64),
}

fn line(text: &str) -> Say {
    Say::Line(format!("{text}\n"))
}

fn execute(id: &str, code: &str) -> Say {
    execute_for(id, code, 1000)
}

fn execute_for(id: &str, code: &str, timeout: u64) -> Say {
    line(&format!(
        r#"{{"type":"execute","id":"{id}","code":"{code}","options":{{"timeoutMs":{timeout},"memoryLimitBytes":1,"maxLogLines":2,"maxLogChars":9}},"providers":[]}}"#
    ))
}

fn answer(call: &str, result: &str) -> Say {
    line(&format!(r#"{{"type":"tool_result","callId":"{call}","ok":true,"result":{result}}}"#))
}

fn cancel(id: &str) -> Say {
    line(&format!(r#"{{"type":"cancel","id":"{id}"}}"#))
}

type Written = Arc<Mutex<Vec<u8>>>;

/// The host's end of the streams.
struct Script {
    says: std::vec::IntoIter<Say>,
    pending: Vec<u8>,
    waiting: Option<Wait>,
    chunk: usize,
    time: VirtualTime,
    output: Written,
}

enum Wait {
    Sleep(BoxFuture<'static, ()>),
    Heard(usize),
}

impl ByteSource for Script {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<std::io::Result<usize>> {
        loop {
            if !self.pending.is_empty() {
                let count = self.pending.len().min(self.chunk).min(buffer.len());
                buffer[..count].copy_from_slice(&self.pending[..count]);
                self.pending.drain(..count);
                return Poll::Ready(Ok(count));
            }
            let waits = match &mut self.waiting {
                Some(Wait::Sleep(sleep)) => sleep.as_mut().poll(cx).is_pending(),
                Some(Wait::Heard(count)) => {
                    let heard = self.output.lock().iter().filter(|byte| **byte == b'\n').count();
                    // The runner will say more, or time will pass: look again then.
                    heard < *count && self.time.sleep(Duration::from_millis(1)).as_mut().poll(cx).is_pending()
                }
                None => false,
            };
            if waits {
                return Poll::Pending;
            }
            self.waiting = None;
            match self.says.next() {
                None => return Poll::Ready(Ok(0)),
                Some(Say::Line(text)) => self.pending = text.into_bytes(),
                Some(Say::Heard(count)) => self.waiting = Some(Wait::Heard(count)),
                Some(Say::Wait(ms)) => {
                    self.waiting = Some(Wait::Sleep(self.time.sleep(Duration::from_millis(ms))))
                }
            }
        }
    }
}

/// Takes a few bytes at a time.
struct Sink(Written, usize);

impl ByteSink for Sink {
    fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        let count = bytes.len().min(self.1);
        self.0.lock().extend_from_slice(&bytes[..count]);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn talk_with(limits: RunnerLimits, lines: Lines, chunk: usize, says: Vec<Say>) -> Vec<String> {
    let (time, output) = (VirtualTime::default(), Written::default());
    let script = Script {
        says: says.into_iter(),
        pending: Vec::new(),
        waiting: None,
        chunk,
        time: time.clone(),
        output: Arc::clone(&output),
    };
    let mut port = LinePort::new(Box::new(script), Box::new(Sink(Arc::clone(&output), chunk)), lines);
    let guest = Words(time.clone());
    time.run(serve(&mut port, &guest, &time, limits));
    let text = String::from_utf8(output.lock().clone()).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Talks, and leaves once the runner has said `count` lines.
fn talk(mut says: Vec<Say>, count: usize) -> Vec<String> {
    says.push(Say::Heard(count));
    talk_with(RunnerLimits::default(), Lines::default(), usize::MAX, says)
}

fn done(id: &str, rest: &str) -> String {
    format!(r#"{{"type":"done","id":"{id}",{rest}}}"#)
}

fn started(id: &str) -> String {
    format!(r#"{{"type":"started","id":"{id}"}}"#)
}

fn tool_call(number: u64, input: &str) -> String {
    let input = if input.is_empty() { String::new() } else { format!(r#","input":{input}"#) };
    format!(
        r#"{{"type":"tool_call","callId":"call-{number}","providerName":"p","safeToolName":"echo"{input}}}"#
    )
}

const BEGAN: &str = r#""durationMs":0,"logs":["began"]"#;
const TIMEOUT: &str = r#""error":{"code":"timeout","message":"Execution timed out"}"#;

#[test]
fn s10_emits_started_and_done() {
    let want = [started("a"), done("a", &format!(r#""ok":true,{BEGAN},"result":1"#))];
    assert_eq!(talk(vec![execute("a", "one")], 2), want);
    let want = done("a", &format!(r#""ok":true,{BEGAN}"#));
    assert_eq!(talk(vec![execute("a", "nothing")], 2)[1], want, "undefined is no member, not null");
    let thrown = r#""error":{"code":"runtime_error","message":"thrown"}"#;
    let want = done("a", &format!(r#""ok":false,{BEGAN},{thrown}"#));
    assert_eq!(talk(vec![execute("a", "throw")], 2)[1], want);
}

#[test]
fn s11_round_trips_a_tool_result() {
    let said = talk(vec![execute("a", "echo"), Say::Heard(2), answer("call-1", r#"{"x":[null]}"#)], 3);
    let want = done("a", &format!(r#""ok":true,{BEGAN},"result":{{"x":[null]}}"#));
    assert_eq!(said, [started("a"), tool_call(1, "[1]"), want]);
}

#[test]
fn s12_ignores_malformed_dispatcher_messages_without_starting() {
    let junk = [
        "",
        "{",
        "null",
        r#"{"type":"execute","id":"a"}"#,
        r#"{"type":"execute","id":"a","code":"one","options":{},"providers":[]}"#,
        r#"{"type":"launch","id":"a"}"#,
        r#"{"type":"started","id":"a"}"#,
        r#"{"type":"tool_result","callId":"call-1","ok":true}"#,
        "\u{0}",
    ];
    let mut says: Vec<Say> = junk.iter().map(|it| line(it)).collect();
    assert!(talk_with(RunnerLimits::default(), Lines::default(), 7, says).is_empty(), "not a word");
    says = junk.iter().map(|it| line(it)).collect();
    says.push(execute("a", "one"));
    assert_eq!(talk(says, 2).len(), 2, "and it works all the same");
}

#[test]
fn an_undefined_input_is_left_out() {
    let said = talk(vec![execute("a", "undefined"), Say::Heard(2), answer("call-1", "null")], 3);
    assert_eq!(said[1], tool_call(1, ""));
    assert!(said[2].ends_with(r#""result":null}"#));
}

#[test]
fn a_second_execute_is_refused_and_the_first_goes_on() {
    let said = talk(
        vec![
            execute("a", "echo"),
            Say::Heard(2),
            execute("b", "one"),
            execute("a", "one"),
            Say::Heard(3),
            answer("call-1", "5"),
        ],
        4,
    );
    let busy = r#""error":{"code":"internal_error","message":"the runner already has an active execution"}"#;
    assert_eq!(said[2], done("b", &format!(r#""ok":false,"durationMs":0,"logs":[],{busy}"#)));
    assert_eq!(said[3], done("a", r#""ok":true,"durationMs":0,"logs":["began"],"result":5"#));
}

#[test]
fn executions_follow_each_other_and_share_nothing() {
    let mut says = Vec::new();
    for round in 0..1000 {
        says.push(execute(&format!("e{round}"), if round % 3 == 0 { "throw" } else { "one" }));
        says.push(Say::Heard((round + 1) * 2));
    }
    let said = talk(says, 2000);
    assert_eq!(said.len(), 2000);
    assert!(
        said[1999].contains(r#""id":"e999","ok":false,"durationMs":0,"logs":["began"]"#),
        "{}",
        said[1999]
    );
}

#[test]
fn call_ids_are_never_used_twice() {
    let two = vec![
        execute("a", "echo"),
        Say::Heard(2),
        answer("call-1", "1"),
        Say::Heard(3),
        execute("b", "echo"),
        Say::Heard(5),
        answer("call-1", "1"),
        answer("call-2", "2"),
    ];
    let said = talk(two, 6);
    assert_eq!(said[4], tool_call(2, "[1]"));
    assert!(said[5].contains(r#""id":"b","ok":true"#) && said[5].ends_with(r#""result":2}"#), "{}", said[5]);
}

#[test]
fn foreign_repeated_and_late_tool_results_are_ignored() {
    let said = talk(
        vec![
            execute("a", "again"),
            Say::Heard(2),
            answer("nobody", "0"),
            answer("call-1", "1"),
            answer("call-1", "9"),
            Say::Heard(3),
            answer("call-1", "9"),
            answer("call-2", "2"),
            Say::Heard(4),
            answer("call-2", "9"),
        ],
        4,
    );
    assert_eq!(said.len(), 4);
    assert!(said[3].ends_with(r#""result":[true,true]}"#), "{}", said[3]);
}

#[test]
fn cancel_rejects_what_is_pending_and_whatever_is_called_after() {
    let said = talk(vec![execute("a", "again"), Say::Heard(2), cancel("a"), cancel("a")], 3);
    assert!(
        said[2].contains(r#""ok":true"#) && said[2].ends_with(r#""result":[false,false]}"#),
        "{}",
        said[2]
    );
    let said = talk(vec![execute("a", "catch"), Say::Heard(2), cancel("a")], 3);
    assert!(said[2].ends_with(r#""result":"Execution timed out"}"#), "a program may catch it: {}", said[2]);
    let said = talk(vec![execute("a", "echo"), Say::Heard(2), cancel("a")], 3);
    assert!(said[2].ends_with(&format!("{TIMEOUT}}}")), "uncaught it is the result: {}", said[2]);
}

#[test]
fn cancel_before_started_twice_or_of_another_id_is_harmless() {
    let said = talk(vec![cancel("a"), cancel("a"), execute("a", "sleep"), cancel("b"), cancel("")], 2);
    assert!(said[1].ends_with(r#""result":3}"#), "{}", said[1]);
    let said = talk(vec![execute("a", "one"), Say::Heard(2), cancel("a"), execute("b", "one")], 4);
    assert!(said[3].contains(r#""id":"b","ok":true"#), "{}", said[3]);
}

#[test]
fn a_guest_that_obeys_a_cancel_keeps_its_logs_and_one_that_does_not_is_dropped() {
    let said = talk(vec![execute("a", "obey"), Say::Heard(1), Say::Wait(5), cancel("a")], 2);
    assert!(said[1].contains(r#""logs":["began","canc"]"#) && said[1].contains(TIMEOUT), "{}", said[1]);
    let said = talk(
        vec![
            execute("a", "hang"),
            Say::Heard(1),
            Say::Wait(5),
            cancel("a"),
            Say::Heard(2),
            execute("b", "one"),
        ],
        4,
    );
    assert!(said[1].contains(TIMEOUT), "{}", said[1]);
    assert!(said[3].contains(r#""id":"b","ok":true"#), "the runner lives on");
}

#[test]
fn a_guest_that_does_not_end_in_its_time_is_dropped_soon_after() {
    let said = talk(vec![execute_for("a", "hang", 200)], 2);
    assert_eq!(said[1], done("a", &format!(r#""ok":false,"durationMs":250,"logs":[],{TIMEOUT}"#)));
    let said = talk(vec![execute_for("a", "one", 0)], 2);
    assert_eq!(said, [started("a"), done("a", &format!(r#""ok":false,"durationMs":0,"logs":[],{TIMEOUT}"#))]);
}

#[test]
fn calls_nobody_waits_for_are_sent_before_done() {
    let said = talk(vec![execute("a", "unawaited"), Say::Heard(3), answer("call-1", "1")], 3);
    assert_eq!(said[1], tool_call(1, "1"));
    assert!(said[2].ends_with(r#""result":2}"#));
}

#[test]
fn a_guest_that_panics_is_an_internal_error_and_the_runner_lives_on() {
    let said = talk(vec![execute("a", "panic"), Say::Heard(2), execute("b", "one")], 4);
    assert!(said[1].contains(r#""code":"internal_error","message":"the guest broke""#), "{}", said[1]);
    assert!(said[3].contains(r#""ok":true"#));
}

#[test]
fn a_result_too_deep_or_too_large_is_a_serialization_error() {
    let said = talk(vec![execute("a", "deep")], 2);
    let text = "result is nested 5000 levels deep; the limit is 1000";
    assert!(said[1].contains(&format!(r#""code":"serialization_error","message":"{text}""#)), "{}", said[1]);
    let limits = RunnerLimits { result_bytes_max: 0, tool_input_bytes_max: 2, ..RunnerLimits::default() };
    let says = vec![execute("a", "one"), Say::Heard(2), execute("b", "echo"), Say::Heard(4)];
    let said = talk_with(limits, Lines::default(), 100, says);
    assert!(said[1].contains("result of 1 bytes exceeds the limit of 0"), "{}", said[1]);
    assert!(said[3].contains("tool input of 3 bytes exceeds the limit of 2"), "{}", said[3]);
}

#[test]
fn pending_calls_are_capped() {
    let limits = RunnerLimits { calls_pending_max: 10, ..RunnerLimits::default() };
    let mut says = vec![execute("a", "many"), Say::Heard(11), Say::Wait(5)];
    says.extend((1..=10).map(|number| answer(&format!("call-{number}"), "0")));
    says.push(Say::Heard(12));
    let said = talk_with(limits, Lines::default(), usize::MAX, says);
    let text = r#""10 tool calls are pending already", "10 tool calls are pending already""#;
    assert!(said[11].contains(text), "{}", said[11]);
}

#[test]
fn a_program_too_long_or_a_namespace_that_breaks_the_guest_is_refused() {
    let limits = RunnerLimits { code_bytes_max: 3, ..RunnerLimits::default() };
    let said = talk_with(limits, Lines::default(), 9, vec![execute("a", "long"), Say::Heard(1)]);
    assert!(said[0].contains(r#""message":"program of 4 bytes exceeds the limit of 3""#), "{}", said[0]);
    let with = |names: &[&str]| {
        let one = |name: &&str| format!(r#"{{"name":"{name}","types":"","tools":{{}}}}"#);
        let list = names.iter().map(one).collect::<Vec<_>>().join(",");
        let Say::Line(text) = execute("a", "one") else { panic!() };
        talk(vec![Say::Line(text.replace(r#""providers":[]"#, &format!(r#""providers":[{list}]"#)))], 1)
    };
    assert!(with(&["JSON"])[0].contains("Invalid provider namespace: JSON"));
    assert!(with(&["a", "a"])[0].contains("Duplicate provider namespace: a"));
}

#[test]
fn a_message_too_long_to_read_fails_what_it_was_about() {
    let Say::Line(long) = execute("b", &"x".repeat(400)) else { panic!() };
    let says = vec![
        Say::Line(long),
        Say::Heard(1),
        execute("a", "catch"),
        Say::Heard(3),
        answer("call-1", &format!("\"{}\"", "y".repeat(400))),
        Say::Heard(4),
    ];
    let said = talk_with(RunnerLimits::default(), Lines::at_most(300), 50, says);
    let text = "message exceeds the limit of 300 bytes";
    assert!(said[0].contains(r#""id":"b""#) && said[0].contains(text), "{}", said[0]);
    assert!(said[3].ends_with(&format!(r#""result":"{text}"}}"#)), "{}", said[3]);
}

#[test]
fn the_runner_leaves_when_the_host_does() {
    for code in ["hang", "echo", "one"] {
        let said = talk_with(RunnerLimits::default(), Lines::default(), 5, vec![execute("a", code)]);
        assert!(said.len() <= 2, "{code}: {said:?}");
    }
    let said =
        talk_with(RunnerLimits::default(), Lines::default(), 5, vec![Say::Line("{\"type\":\"exec".into())]);
    assert!(said.is_empty(), "half a line is no message");
}

#[test]
fn a_host_that_is_split_and_joined_at_every_byte_is_understood_alike() {
    let says = || vec![execute("a", "echo"), Say::Heard(2), answer("call-1", "[{}]"), Say::Heard(3)];
    let whole = talk_with(RunnerLimits::default(), Lines::default(), usize::MAX, says());
    for chunk in 1..200 {
        assert_eq!(talk_with(RunnerLimits::default(), Lines::default(), chunk, says()), whole, "{chunk}");
    }
    // Everything in one write: the answer is there before the question, so it is nobody's.
    let text: String = says()
        .into_iter()
        .filter_map(|it| if let Say::Line(text) = it { Some(text) } else { None })
        .collect();
    let said = talk_with(
        RunnerLimits::default(),
        Lines::default(),
        usize::MAX,
        vec![Say::Line(text), Say::Heard(2), answer("call-1", "[{}]"), Say::Heard(3)],
    );
    assert_eq!(said.last(), whole.last());
}

#[test]
fn the_door_of_a_guest_leads_to_its_tools_and_nowhere_else() {
    struct Echo;
    impl Tools for Echo {
        fn call(&self, request: ToolRequest) -> BoxFuture<'_, drydock_contract::ToolAnswer> {
            Box::pin(async move { Ok(request.input.unwrap()) })
        }
    }
    let door = ToolDoor::new(Arc::new(Echo));
    let ask = |operation: &str, payload: &[u8]| {
        let call = drydock_contract::Call::new(operation, payload, drydock_contract::Streams::default());
        let reply = VirtualTime::default().run(drydock_contract::Dispatch::dispatch(&door, call));
        reply.map(|it| it.payload).map_err(|error| error.code())
    };
    assert_eq!(ask("tool.call", br#"{"provider":"p","tool":"t","input":[1]}"#), Ok(b"[1]".to_vec()));
    assert_eq!(ask("tool.call", b"{}"), Err("malformed"));
    assert_eq!(ask("tool.call", &vec![b' '; 9 << 20]), Err("too_large"));
    assert_eq!(ask("exec.start", b""), Err("unknown_operation"));
}

#[test]
fn args_reach_the_program() {
    let Say::Line(text) = execute("a", "args") else { panic!() };
    let with = text.replacen(r#""providers""#, r#""args":{"n":1},"providers""#, 1);
    assert!(talk(vec![Say::Line(with)], 2)[1].ends_with(r#""result":{"n":1}}"#));
}

#[test]
fn logs_are_cut_in_utf16_units_and_a_split_pair_is_replaced() {
    let keep = |lines: &[&str], lines_max: f64, chars_max: f64| {
        let options = RuntimeOptions {
            max_log_lines: lines_max,
            max_log_chars: chars_max,
            ..RuntimeOptions::default()
        };
        truncate_logs(lines.iter().map(|it| (*it).to_owned()).collect(), &options).into_lines().join("|")
    };
    for (lines, lines_max, chars_max, want) in [
        (&["a", "b", "c"][..], 2.0, 100.0, "a|b"),
        (&["abc", "def"], 9.0, 4.0, "abc|d"),
        (&["abc", "def"], 9.0, 3.0, "abc"),
        (&["", "", "x"], 9.0, 1.0, "||x"),
        (&["ab😀cd"], 9.0, 3.0, "ab\u{fffd}"),
        (&["ab😀cd"], 9.0, 4.0, "ab😀"),
        (&["ab😀cd"], 9.0, 5.0, "ab😀c"),
        (&["éé"], 9.0, 2.0, "éé"),
        (&["a"], 0.0, 9.0, ""),
        (&["a"], 9.0, 0.0, ""),
        (&["a", "b"], 1.9, 9.0, "a"),
    ] {
        assert_eq!(keep(lines, lines_max, chars_max), want, "{lines:?} {lines_max} {chars_max}");
    }
    let said = talk(vec![execute("a", "chatty")], 2);
    assert!(
        said[1].contains(r#""logs":["ab😀cd","ab\ufffd"]"#) || said[1].contains("\"ab😀cd\",\"ab\u{fffd}\""),
        "{}",
        said[1]
    );
}

proptest! {
    #[test]
    fn a_log_kept_short_while_it_grows_is_the_log_cut_at_the_end(
        lines in proptest::collection::vec("[a😀é]{0,6}", 0..8), lines_max in 0_u8..8, chars_max in 0_u8..30,
    ) {
        let options = RuntimeOptions {
            max_log_lines: f64::from(lines_max),
            max_log_chars: f64::from(chars_max),
            ..RuntimeOptions::default()
        };
        // As the reference has it: first the lines, then the units of those that are left.
        let mut left = usize::from(chars_max);
        let mut want = Vec::new();
        for line in lines.iter().take(usize::from(lines_max)) {
            if left == 0 {
                break;
            }
            let units: Vec<u16> = line.encode_utf16().take(left).collect();
            left -= units.len();
            want.push(String::from_utf16_lossy(&units));
        }
        let mut growing = LogBuffer::new(&options);
        for line in &lines {
            growing.push(line.clone());
        }
        prop_assert_eq!(growing.into_lines(), want.clone());
        let kept = truncate_logs(lines.clone(), &options);
        prop_assert_eq!(kept.is_cut(), lines != want);
        prop_assert_eq!(kept.into_lines(), want);
    }

    #[test]
    fn no_bytes_upset_the_runner(bytes: Vec<u8>, chunk in 1_usize..9) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let says = vec![Say::Line(text), Say::Line("\n".into()), execute("a", "one"), Say::Heard(2)];
        let said = talk_with(RunnerLimits::default(), Lines::default(), chunk, says);
        prop_assert_eq!(said.len(), 2);
    }
}
