//! `kv get|put|rm|list|incr`: values that the host keeps for the tenant.

use options::{Item, Order};
use serde_json::{Map, Value, json};

use crate::{
    host::{Done, Failure, Host, Refusal, end, input, millis, number},
    value,
};

const HELP: &str = "Usage: kv COMMAND [OPTION]...
Values by key, kept for the tenant.

  kv get KEY                 print a value
  kv put KEY [VALUE]         keep VALUE, or standard input
        --ttl=SECONDS        for so long
        --if-version=N       only over this version; 0: only if there is none
  kv rm KEY...               remove; --if-version=N
  kv list [PREFIX]           print the keys that begin so; --limit=N, -l for sizes and versions
  kv incr KEY [N]            add N, or 1, and print the sum; --ttl=SECONDS
      --json                 print the host's answer as it is
      --help

Exit status: 0; 1 where there is no such key, or the host refuses; 2 for wrong usage.
";

struct Wanted {
    ttl_ms: Option<u64>,
    if_version: Option<u64>,
    limit: Option<u64>,
    long: bool,
    json: bool,
    words: Vec<String>,
}

struct Env;

#[cfg(target_os = "wasi")]
mod wasi {
    #[link(wasm_import_module = "env")]
    unsafe extern "C" {
        pub(super) fn host_kv_call(op: *const u8, op_len: usize, req: *const u8, req_len: usize) -> i32;
    }
}

impl Host for Env {
    fn ask(&self, operation: &str, request: &Value) -> Result<Value, Refusal> {
        #[cfg(target_os = "wasi")]
        return crate::host::wasi::ask(wasi::host_kv_call, operation, request);
        #[cfg(not(target_os = "wasi"))]
        return Err({
            let _ = (operation, request);
            crate::host::nobody()
        });
    }
}

/// Runs a command line, and answers its exit status.
pub fn run(args: &[String]) -> i32 {
    end("kv", done(args, &Env, input))
}

fn done(args: &[String], host: &dyn Host, stdin: impl FnOnce() -> Result<Vec<u8>, Failure>) -> Done {
    let table = ["ttl=", "if-version=", "limit=", "l,long", "json", "help"];
    let mut wanted =
        Wanted { ttl_ms: None, if_version: None, limit: None, long: false, json: false, words: Vec::new() };
    for item in options::parse(args, &table, Order::Numbers)? {
        match item {
            Item::Operand(word) => wanted.words.push(word),
            Item::Flag("ttl", value) => wanted.ttl_ms = Some(millis("--ttl", &value.unwrap_or_default())?),
            Item::Flag("if-version", value) => {
                wanted.if_version = Some(number("--if-version", &value.unwrap_or_default())?);
            }
            Item::Flag("limit", value) => wanted.limit = Some(number("--limit", &value.unwrap_or_default())?),
            Item::Flag("l", _) => wanted.long = true,
            Item::Flag("json", _) => wanted.json = true,
            Item::Flag(..) => return Ok((HELP.as_bytes().to_vec(), 0)),
        }
    }
    let Some((command, rest)) = wanted.words.split_first() else { return Err("there is no command".into()) };
    match (command.as_str(), rest) {
        ("get", [key]) => {
            let answer = host.ask("kv.get", &json!({ "key": key }))?;
            let bytes =
                if wanted.json { line(&answer) } else { value::bytes(&answer["value"]).unwrap_or_default() };
            Ok((bytes, 0))
        }
        ("put", [key, rest @ ..]) if rest.len() < 2 => {
            let bytes = match rest.first() {
                Some(text) => text.clone().into_bytes(),
                None => stdin()?,
            };
            let request = with(&wanted, json!({ "key": key, "value": value::of(&bytes) }));
            let answer = host.ask("kv.put", &request)?;
            Ok((if wanted.json { line(&answer) } else { Vec::new() }, 0))
        }
        ("rm" | "delete", keys @ [_, ..]) => remove(host, &wanted, keys),
        ("list" | "ls", prefix) if prefix.len() < 2 => {
            list(host, &wanted, prefix.first().map_or("", |it| it))
        }
        ("incr", [key, by @ ..]) if by.len() < 2 => {
            let by: i64 = match by.first() {
                Some(text) => text.parse().map_err(|_| format!("'{text}' is no whole number"))?,
                None => 1,
            };
            let answer = host.ask("kv.increment", &with(&wanted, json!({ "key": key, "by": by })))?;
            Ok((if wanted.json { line(&answer) } else { line(&answer["sum"]) }, 0))
        }
        (command, _) => Err(format!("'{command}' is no command, or its arguments are wrong").into()),
    }
}

/// With the options that were said.
fn with(wanted: &Wanted, mut request: Value) -> Value {
    let more = [("ttl_ms", wanted.ttl_ms), ("if_version", wanted.if_version)];
    if let Some(map) = request.as_object_mut() {
        map.extend(more.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))));
    }
    request
}

fn line(value: &Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}

fn remove(host: &dyn Host, wanted: &Wanted, keys: &[String]) -> Done {
    let (mut out, mut status) = (Vec::new(), 0);
    for key in keys {
        let answer = host.ask("kv.delete", &with(wanted, json!({ "key": key })))?;
        // One that was not there is gone too, and whoever asks is told so.
        status |= i32::from(answer["deleted"] == Value::Bool(false));
        if wanted.json {
            out.extend(line(&answer));
        }
    }
    Ok((out, status))
}

/// Page after page, as far as somebody wants.
fn list(host: &dyn Host, wanted: &Wanted, prefix: &str) -> Done {
    let (mut out, mut left, mut after) = (Vec::new(), wanted.limit, None::<String>);
    loop {
        let mut request = Map::new();
        request.insert("prefix".into(), prefix.into());
        if let Some(after) = after {
            request.insert("after".into(), after.into());
        }
        if let Some(left) = left {
            request.insert("limit".into(), left.clamp(1, 1000).into());
        }
        let answer = host.ask("kv.list", &request.into())?;
        let keys = answer["keys"].as_array().map_or(&[][..], Vec::as_slice);
        for key in keys.iter().take(left.map_or(usize::MAX, |it| it as usize)) {
            let name = key["key"].as_str().unwrap_or_default();
            match (wanted.json, wanted.long) {
                (true, _) => out.extend(line(key)),
                (false, true) => {
                    out.extend(format!("{}\t{}\t{name}\n", key["bytes"], key["version"]).into_bytes())
                }
                (false, false) => out.extend(format!("{name}\n").into_bytes()),
            }
        }
        left = left.map(|it| it.saturating_sub(keys.len() as u64));
        after = answer["next"].as_str().map(str::to_owned);
        if after.is_none() || left == Some(0) || keys.is_empty() {
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
        let told = match done(&args, &host, || Ok(b"\xffin".to_vec())) {
            Ok((bytes, status)) => Ok((String::from_utf8_lossy(&bytes).into_owned(), status)),
            Err(Failure::Usage(why)) => Err(why),
            Err(Failure::Refused(refusal)) => Err(refusal.code),
        };
        (told, host.asked.into_inner())
    }

    #[test]
    fn each_command_is_one_request() {
        for (line, answer, print, status, operation, request) in [
            ("get a", json!({"value":"x","version":1}), "x", 0, "kv.get", json!({"key":"a"})),
            ("--json get a", json!({"value":"x"}), "{\"value\":\"x\"}\n", 0, "kv.get", json!({"key":"a"})),
            (
                "put a b --ttl=1.5",
                json!({"version":1}),
                "",
                0,
                "kv.put",
                json!({"key":"a","value":"b","ttl_ms":1500}),
            ),
            (
                "put a --if-version 0",
                json!({}),
                "",
                0,
                "kv.put",
                json!({"key":"a","value":{"base64":"/2lu"},"if_version":0}),
            ),
            ("rm a", json!({"deleted":false}), "", 1, "kv.delete", json!({"key":"a"})),
            ("incr n -3", json!({"sum":-3}), "-3\n", 0, "kv.increment", json!({"key":"n","by":-3})),
            (
                "list p",
                json!({"keys":[{"key":"pa","bytes":1,"version":2}]}),
                "pa\n",
                0,
                "kv.list",
                json!({"prefix":"p"}),
            ),
            (
                "list -l",
                json!({"keys":[{"key":"a","bytes":1,"version":2}]}),
                "1\t2\ta\n",
                0,
                "kv.list",
                json!({"prefix":""}),
            ),
        ] {
            let (told, asked) = said(line, &[answer]);
            assert_eq!(told, Ok((print.to_owned(), status)), "{line}");
            assert_eq!(asked, [(operation.to_owned(), request)], "{line}");
        }
    }

    #[test]
    fn a_long_listing_is_asked_for_page_by_page() {
        let page = |key: &str, next: Value| json!({"keys":[{"key":key}],"next":next});
        let (told, asked) =
            said("list", &[page("a", json!("a")), page("b", json!("b")), page("c", Value::Null)]);
        assert_eq!(told, Ok(("a\nb\nc\n".to_owned(), 0)));
        assert_eq!(asked[2].1, json!({"prefix":"","after":"b"}));
        let (told, asked) = said("list --limit=2", &[page("a", json!("a")), page("b", json!("b"))]);
        assert_eq!((told, asked.len()), (Ok(("a\nb\n".to_owned(), 0)), 2));
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (line, want) in [
            ("get a", "not_found"),
            ("get", "'get' is no command, or its arguments are wrong"),
            ("put a b c", "'put' is no command, or its arguments are wrong"),
            ("incr a b", "'b' is no whole number"),
            ("put a b --ttl=-1", "invalid value '-1' for '--ttl'"),
            ("--nothing", "unrecognized option '--nothing'"),
        ] {
            assert_eq!(said(line, &[]).0, Err(want.to_owned()), "{line}");
        }
    }
}
