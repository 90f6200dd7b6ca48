//! `queue publish|poll|lease|ack|nack|depth|peek|topics`: messages that the host passes on between guests of a tenant.

use options::{Item, Order};
use serde_json::{Map, Value, json};

use crate::{
    host::{Done, Failure, Host, Refusal, end, input, millis, number},
    value,
};

const HELP: &str = "Usage: queue COMMAND TOPIC [OPTION]...
Messages by topic, first in, first out, kept for the tenant.

  queue publish TOPIC [MESSAGE]...  add messages, or standard input as one
        --lines                     each line of standard input is one
  queue poll TOPIC                  take a message and print it; --max=N, one a line
        --wait=SECONDS              wait for one
  queue lease TOPIC                 take until acknowledged; prints JSON with a receipt
        --max=N --wait=SECONDS --visibility=SECONDS --attempts=N
  queue ack TOPIC RECEIPT...        it is done
  queue nack TOPIC RECEIPT...       give it back; --visibility=SECONDS from now
  queue depth TOPIC                 how many there are
  queue peek TOPIC                  look, and take none; --max=N
  queue topics [PREFIX]             which topics have messages
      --json                        print the host's answer as it is
      --help

Exit status: 0; 1 where there is no message, or the host refuses; 2 for wrong usage.
";

#[derive(Default)]
struct Wanted {
    options: Map<String, Value>,
    lines: bool,
    json: bool,
    words: Vec<String>,
}

struct Env;

#[cfg(target_os = "wasi")]
mod wasi {
    #[link(wasm_import_module = "env")]
    unsafe extern "C" {
        pub(super) fn host_queue_call(op: *const u8, op_len: usize, req: *const u8, req_len: usize) -> i32;
    }
}

impl Host for Env {
    fn ask(&self, operation: &str, request: &Value) -> Result<Value, Refusal> {
        #[cfg(target_os = "wasi")]
        return crate::host::wasi::ask(wasi::host_queue_call, operation, request);
        #[cfg(not(target_os = "wasi"))]
        return Err({
            let _ = (operation, request);
            crate::host::nobody()
        });
    }
}

/// Runs a command line, and answers its exit status.
pub fn run(args: &[String]) -> i32 {
    end("queue", done(args, &Env, input))
}

fn done(args: &[String], host: &dyn Host, stdin: impl FnOnce() -> Result<Vec<u8>, Failure>) -> Done {
    let table = ["max=", "wait=", "visibility=", "attempts=", "lines", "json", "help"];
    let mut wanted = Wanted::default();
    for item in options::parse(args, &table, Order::Anywhere)? {
        let (name, value) = match item {
            Item::Operand(word) => {
                wanted.words.push(word);
                continue;
            }
            Item::Flag(name, value) => (name, value.unwrap_or_default()),
        };
        let mut put = |name: &str, value: u64| drop(wanted.options.insert(name.to_owned(), value.into()));
        match name {
            "max" => put("max", number("--max", &value)?),
            "wait" => put("wait_ms", millis("--wait", &value)?),
            "visibility" => put("visibility_ms", millis("--visibility", &value)?),
            "attempts" => put("attempts_max", number("--attempts", &value)?),
            "lines" => wanted.lines = true,
            "json" => wanted.json = true,
            _ => return Ok((HELP.as_bytes().to_vec(), 0)),
        }
    }
    let Some((command, rest)) = wanted.words.split_first() else { return Err("there is no command".into()) };
    let asked = |topic: &str, more: Value| {
        let mut request = wanted.options.clone();
        request.insert("topic".into(), topic.into());
        request.extend(more.as_object().cloned().unwrap_or_default());
        Value::Object(request)
    };
    match (command.as_str(), rest) {
        ("publish", [topic, messages @ ..]) => {
            let messages: Vec<Value> = match messages {
                [] if wanted.lines => {
                    stdin()?.split(|it| *it == b'\n').filter(|it| !it.is_empty()).map(value::of).collect()
                }
                [] => vec![value::of(&stdin()?)],
                texts => texts.iter().map(|it| value::of(it.as_bytes())).collect(),
            };
            // As many at once as the host takes.
            let mut out = Vec::new();
            for batch in messages.chunks(BATCH) {
                let answer = host.ask("queue.publish", &asked(topic, json!({ "messages": batch })))?;
                if wanted.json {
                    out.extend(line(&answer));
                }
            }
            Ok((out, 0))
        }
        ("poll" | "peek", [topic]) => {
            let answer = host.ask(&format!("queue.{command}"), &asked(topic, json!({})))?;
            let many = wanted.options.contains_key("max");
            shown(&answer, wanted.json, many)
        }
        ("lease", [topic]) => shown(&host.ask("queue.lease", &asked(topic, json!({})))?, true, true),
        ("ack" | "nack", [topic, receipts @ ..]) if !receipts.is_empty() => {
            let answer =
                host.ask(&format!("queue.{command}"), &asked(topic, json!({ "receipts": receipts })))?;
            let unknown = answer["unknown"].as_array().is_some_and(|it| !it.is_empty());
            Ok((if wanted.json { line(&answer) } else { Vec::new() }, i32::from(unknown)))
        }
        ("depth", [topic]) => {
            let answer = host.ask("queue.depth", &asked(topic, json!({})))?;
            Ok((line(if wanted.json { &answer } else { &answer["depth"] }), 0))
        }
        ("topics", prefix) if prefix.len() < 2 => {
            topics(host, wanted.json, prefix.first().map_or("", |it| it))
        }
        (command, _) => Err(format!("'{command}' is no command, or its arguments are wrong").into()),
    }
}

/// Messages of one request.
const BATCH: usize = 256;

fn line(value: &Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}

/// One message as it is; several with a line each.
fn shown(answer: &Value, json: bool, many: bool) -> Done {
    let messages = answer["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let mut out = Vec::new();
    for message in messages {
        if json {
            out.extend(line(message));
            continue;
        }
        out.extend(value::bytes(&message["message"]).unwrap_or_default());
        if many {
            out.push(b'\n');
        }
    }
    Ok((out, i32::from(messages.is_empty())))
}

fn topics(host: &dyn Host, json: bool, prefix: &str) -> Done {
    let (mut out, mut after) = (Vec::new(), None::<String>);
    loop {
        let mut request = json!({ "prefix": prefix });
        if let (Some(after), Some(map)) = (after, request.as_object_mut()) {
            map.insert("after".into(), after.into());
        }
        let answer = host.ask("queue.topics", &request)?;
        for topic in answer["topics"].as_array().into_iter().flatten() {
            match json {
                true => out.extend(line(topic)),
                false => out.extend(
                    format!("{}\t{}\n", topic["depth"], topic["topic"].as_str().unwrap_or_default())
                        .into_bytes(),
                ),
            }
        }
        after = answer["next"].as_str().map(str::to_owned);
        if after.is_none() {
            return Ok((out, 0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{Asked, Script, Told};

    fn said(line: &str, answers: &[Value]) -> (Told, Asked) {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let host = Script::of(answers);
        let told = match done(&args, &host, || Ok(b"one\ntwo\n".to_vec())) {
            Ok((bytes, status)) => Ok((String::from_utf8_lossy(&bytes).into_owned(), status)),
            Err(Failure::Usage(why)) => Err(why),
            Err(Failure::Refused(refusal)) => Err(refusal.code),
        };
        (told, host.asked.into_inner())
    }

    #[test]
    fn each_command_is_one_request() {
        let two = json!({"messages":[{"message":"x","receipt":"1.1"},{"message":{"base64":"/w=="}}]});
        for (line, answer, print, status, operation, request) in [
            ("publish t a b", json!({}), "", 0, "queue.publish", json!({"topic":"t","messages":["a","b"]})),
            ("publish t", json!({}), "", 0, "queue.publish", json!({"topic":"t","messages":["one\ntwo\n"]})),
            (
                "publish --lines t",
                json!({}),
                "",
                0,
                "queue.publish",
                json!({"topic":"t","messages":["one","two"]}),
            ),
            (
                "poll t --wait=2",
                json!({"messages":[{"message":"x"}]}),
                "x",
                0,
                "queue.poll",
                json!({"topic":"t","wait_ms":2000}),
            ),
            ("poll t --max 2", two.clone(), "x\n\u{fffd}\n", 0, "queue.poll", json!({"topic":"t","max":2})),
            ("peek t", json!({"messages":[]}), "", 1, "queue.peek", json!({"topic":"t"})),
            (
                "lease t --visibility=1",
                json!({"messages":[{"receipt":"1.1"}]}),
                "{\"receipt\":\"1.1\"}\n",
                0,
                "queue.lease",
                json!({"topic":"t","visibility_ms":1000}),
            ),
            (
                "ack t 1.1",
                json!({"settled":1,"unknown":[]}),
                "",
                0,
                "queue.ack",
                json!({"topic":"t","receipts":["1.1"]}),
            ),
            (
                "nack t 1.1",
                json!({"settled":0,"unknown":["1.1"]}),
                "",
                1,
                "queue.nack",
                json!({"topic":"t","receipts":["1.1"]}),
            ),
            ("depth t", json!({"depth":3,"hidden":1}), "3\n", 0, "queue.depth", json!({"topic":"t"})),
            (
                "topics",
                json!({"topics":[{"topic":"t","depth":3}]}),
                "3\tt\n",
                0,
                "queue.topics",
                json!({"prefix":""}),
            ),
        ] {
            let (told, asked) = said(line, &[answer]);
            assert_eq!(told, Ok((print.to_owned(), status)), "{line}");
            assert_eq!(asked, [(operation.to_owned(), request)], "{line}");
        }
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (line, want) in [
            ("poll t", "not_found"),
            ("poll", "'poll' is no command, or its arguments are wrong"),
            ("ack t", "'ack' is no command, or its arguments are wrong"),
            ("poll t --wait=x", "invalid value 'x' for '--wait'"),
        ] {
            assert_eq!(said(line, &[]).0, Err(want.to_owned()), "{line}");
        }
    }
}
