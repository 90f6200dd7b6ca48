//! `drydock mcp` as a client's pipe sees it: raw lines of JSON-RPC.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, ChildStdout},
    sync::mpsc,
    time::Duration,
};

use common::{
    Shell,
    web::{answer, serve},
};
use serde_json::{Value, json};

/// Only against hanging: cold compilations on a busy machine are slow.
const PATIENCE: Duration = Duration::from_secs(240);

struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: mpsc::Receiver<Value>,
    next: u64,
    /// What came that was no answer to the call that was waited for.
    others: Vec<Value>,
}

fn read(output: ChildStdout) -> mpsc::Receiver<Value> {
    let (send, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if send.send(serde_json::from_str(&line).unwrap()).is_err() {
                return;
            }
        }
    });
    lines
}

impl Client {
    /// A client that has sent nothing yet.
    fn raw(shell: &Shell, args: &[&str]) -> Self {
        let mut child = shell.command(&[&["mcp"], args].concat()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        Self { child, input, lines: read(output), next: 1, others: Vec::new() }
    }

    fn new(shell: &Shell, args: &[&str]) -> Self {
        let mut client = Self::raw(shell, args);
        assert_eq!(client.initialize("2025-06-18")["protocolVersion"], "2025-06-18");
        client
    }

    fn initialize(&mut self, version: &str) -> Value {
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let answer = self.ask("initialize", params);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer["result"].clone()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    fn post(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    fn next_line(&mut self) -> Value {
        self.lines.recv_timeout(PATIENCE).expect("an answer")
    }

    fn answer(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        if let Some(at) = self.others.iter().position(|it| it["id"] == id) {
            return self.others.remove(at);
        }
        loop {
            let line = self.next_line();
            if line.get("id") == Some(&id) {
                return line;
            }
            self.others.push(line);
        }
    }

    /// The refusal of something that has no id.
    fn refusal(&mut self) -> Value {
        loop {
            let line = self.next_line();
            if line.get("error").is_some() && line["id"].is_null() {
                return line["error"].clone();
            }
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.post(method, params);
        self.answer(id)
    }

    fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": name, "arguments": arguments }))["result"].clone()
    }

    fn refused(&mut self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments);
        assert_eq!(result["isError"], true, "{result}");
        assert_eq!(result.get("structuredContent"), None);
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Closes its end and waits for the process.
    fn leave(mut self) -> String {
        drop(self.input.take());
        self.ended()
    }

    fn ended(&mut self) -> String {
        let (send, done) = mpsc::channel();
        let mut stderr = self.child.stderr.take().unwrap();
        std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            let _ = send.send(text);
        });
        let text = done.recv_timeout(PATIENCE).expect("the server ends when its client is gone");
        assert!(self.child.wait().unwrap().success(), "{text}");
        text
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn project(shell: &Shell) -> String {
    let dir = shell.path("project");
    fs::create_dir_all(dir.join("src")).unwrap();
    fs::write(dir.join("a.txt"), "one\ntwo\n").unwrap();
    fs::write(dir.join("src/b.rs"), "fn main() {}\n").unwrap();
    fs::write(dir.join("x.bin"), [0xff, 0, 0xfe]).unwrap();
    dir.to_str().unwrap().to_owned()
}

#[test]
fn tools_are_listed_in_a_fixed_order_with_schemas_and_annotations() {
    let shell = Shell::sharing();
    let dir = project(&shell);
    let mut client = Client::new(&shell, &["--dir", &dir]);
    let listed = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let rows: Vec<String> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            let hints = &it["annotations"];
            assert_eq!(
                (&it["inputSchema"]["type"], &it["outputSchema"]["type"]),
                (&json!("object"), &json!("object"))
            );
            let required = it["inputSchema"]["required"].as_array().map_or(0, Vec::len);
            format!(
                "{} required={required} read_only={} destructive={}",
                it["name"], hints["readOnlyHint"], hints["destructiveHint"]
            )
        })
        .collect();
    insta::assert_snapshot!(rows.join("\n"), @r#"
    "sh" required=1 read_only=false destructive=false
    "run" required=1 read_only=false destructive=false
    "js" required=1 read_only=false destructive=false
    "py" required=1 read_only=false destructive=false
    "read_file" required=1 read_only=true destructive=false
    "write_file" required=1 read_only=false destructive=false
    "edit_file" required=3 read_only=false destructive=false
    "list_files" required=0 read_only=true destructive=false
    "search" required=1 read_only=true destructive=false
    "diff" required=0 read_only=true destructive=false
    "#);
    assert_eq!(client.leave(), "");
}

#[test]
fn tools_answer_text_and_structure() {
    let shell = Shell::sharing();
    let dir = project(&shell);
    let mut client = Client::new(&shell, &["--dir", &dir]);
    let done = client.call("sh", json!({ "script": "sort -r a.txt; echo no >&2; exit 3" }));
    assert_eq!(done["content"][0]["text"], "two\none\n[stderr]\nno\n[status 3]");
    let facts = &done["structuredContent"];
    assert_eq!(
        (&facts["status"], &facts["stdout"], &facts["stderr"]),
        (&json!(3), &json!("two\none\n"), &json!("no\n"))
    );
    assert_ne!(done["isError"], true);
    let done = client.call("sh", json!({ "script": "tr a-z A-Z", "stdin": "abc" }));
    assert_eq!(done["structuredContent"]["stdout"], "ABC");
    let done = client.call("run", json!({ "name": "jq", "args": ["-r", ".n"], "stdin": "{\"n\": 5}" }));
    assert_eq!(done["content"][0]["text"], "5\n");
    let done = client.call(
        "js",
        json!({ "code": "args.a + (await files.read({path: 'a.txt'})).length", "args": { "a": 1 } }),
    );
    assert_eq!((&done["structuredContent"]["result"], &done["content"][0]["text"]), (&json!(9), &json!("9")));
    let done = client.call("js", json!({ "code": "throw new Error('bad')" }));
    assert_eq!((&done["isError"], &done["content"][0]["text"]), (&json!(true), &json!("runtime_error: bad")));
    let done = client.call("list_files", json!({ "recursive": true }));
    assert_eq!(done["content"][0]["text"], "a.txt\nsrc/\nsrc/b.rs\nx.bin");
    let done = client.call("search", json!({ "pattern": "main", "glob": "*.rs" }));
    assert_eq!(done["content"][0]["text"], "/project/src/b.rs:1:fn main() {}");
    assert_eq!(client.ask("tools/call", json!({ "name": "reboot" }))["error"]["code"], -32602);
    assert!(client.refused("sh", json!({ "text": "ls" })).starts_with("bad_input: "));
}

#[test]
fn changes_are_shown_and_committed_only_where_that_was_allowed() {
    let shell = Shell::sharing();
    let dir = project(&shell);
    let mut client = Client::new(&shell, &["--dir", &dir]);
    client.call("edit_file", json!({ "path": "a.txt", "old_text": "two", "new_text": "2" }));
    let diff = client.call("diff", json!({}));
    insta::assert_snapshot!(diff["content"][0]["text"].as_str().unwrap(), @r"
    diff --git a/project/a.txt b/project/a.txt
    --- a/project/a.txt
    +++ b/project/a.txt
    @@ -1,2 +1,2 @@
     one
    -two
    +2
    ");
    assert!(client.refused("commit", json!({})).starts_with("tool_not_granted: "));
    assert_eq!(fs::read_to_string(shell.path("project/a.txt")).unwrap(), "one\ntwo\n");

    let name = format!("mcp-{}", std::process::id());
    let refused = shell.run(&["mcp", "--dir", &dir, "--allow-commit"]);
    assert!(
        refused.status != 0 && refused.stderr.contains("--allow-commit needs --workspace"),
        "{}",
        refused.stderr
    );
    let mut client = Client::new(&shell, &["--dir", &dir, "--workspace", &name, "--allow-commit"]);
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let last = tools.as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["name"], &last["annotations"]["destructiveHint"]), (&json!("commit"), &json!(true)));
    client.call("write_file", json!({ "path": "/project/new.txt", "text": "new\n" }));
    // The same file was changed by somebody else meanwhile: nothing is written.
    client.call("edit_file", json!({ "path": "/project/a.txt", "old_text": "two", "new_text": "2" }));
    fs::write(shell.path("project/a.txt"), "theirs\n").unwrap();
    assert!(client.refused("commit", json!({})).starts_with("conflict: "));
    assert!(!shell.path("project/new.txt").exists());
    let done = client.call("commit", json!({ "force": true }));
    assert_eq!(done["structuredContent"]["written"].as_array().unwrap().len(), 2, "{done}");
    assert_eq!(fs::read_to_string(shell.path("project/a.txt")).unwrap(), "one\n2\n");
    assert_eq!(fs::read_to_string(shell.path("project/new.txt")).unwrap(), "new\n");
    assert_eq!(client.call("diff", json!({}))["content"][0]["text"], "nothing changed");
}

#[test]
fn files_are_resources_and_a_binary_one_is_a_blob() {
    let shell = Shell::sharing();
    let dir = project(&shell);
    let mut client = Client::new(&shell, &["--dir", &dir]);
    let listed = client.ask("resources/list", json!({}))["result"]["resources"].clone();
    let uris: Vec<&str> = listed.as_array().unwrap().iter().map(|it| it["uri"].as_str().unwrap()).collect();
    assert_eq!(uris, ["drydock:///project/a.txt", "drydock:///project/src/b.rs", "drydock:///project/x.bin"]);
    let read = client.ask("resources/read", json!({ "uri": "drydock:///project/a.txt" }));
    assert_eq!(read["result"]["contents"][0]["text"], "one\ntwo\n");
    let read = client.ask("resources/read", json!({ "uri": "drydock:///project/x.bin" }));
    assert_eq!(read["result"]["contents"][0]["blob"], "/wD+");
    let read = client.call("read_file", json!({ "path": "x.bin" }));
    assert_eq!(read["content"][0]["resource"]["blob"], "/wD+");
    assert_eq!(read["structuredContent"]["base64"], "/wD+");
    for uri in
        ["file:///etc/passwd", "drydock:///../etc/passwd", "drydock:///project/%2e%2e/x", "drydock:///nope"]
    {
        assert!(client.ask("resources/read", json!({ "uri": uri })).get("error").is_some(), "{uri}");
    }
    let templates = client.ask("resources/templates/list", json!({}));
    assert_eq!(templates["result"]["resourceTemplates"][0]["uriTemplate"], "drydock:///{+path}");
}

#[test]
fn a_path_with_two_dots_is_refused_by_every_tool() {
    let shell = Shell::sharing();
    let dir = project(&shell);
    let mut client = Client::new(&shell, &["--dir", &dir]);
    for (name, mut input) in [
        ("read_file", json!({})),
        ("write_file", json!({ "text": "x" })),
        ("edit_file", json!({ "old_text": "a", "new_text": "b" })),
        ("list_files", json!({})),
        ("search", json!({ "pattern": "x" })),
    ] {
        for path in ["../secret", "/project/../../etc/passwd", "src/../../x"] {
            input["path"] = path.into();
            let told = client.refused(name, input.clone());
            assert!(told.starts_with("bad_path: "), "{name} {path}: {told}");
        }
    }
}

#[test]
fn old_and_new_revisions_are_spoken_and_an_unknown_one_gets_the_newest() {
    let shell = Shell::sharing();
    for (asked, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ] {
        let mut client = Client::raw(&shell, &[]);
        assert_eq!(client.initialize(asked)["protocolVersion"], answered, "{asked}");
        assert_eq!(client.call("sh", json!({ "script": "echo hi" }))["structuredContent"]["stdout"], "hi\n");
    }
    // 2026-07-28 has no handshake: every request says who asks and in which revision.
    let mut client = Client::raw(&shell, &[]);
    let meta = |version: &str| {
        json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        })
    };
    let found = client.ask("server/discover", json!({ "_meta": meta("2026-07-28") }))["result"].clone();
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")), "{found}");
    let params = json!({ "name": "sh", "arguments": { "script": "echo new" }, "_meta": meta("2026-07-28") });
    let done = client.ask("tools/call", params)["result"].clone();
    assert_eq!(
        (&done["structuredContent"]["stdout"], &done["resultType"]),
        (&json!("new\n"), &json!("complete"))
    );
    let refused = client.ask("tools/list", json!({ "_meta": meta("2099-01-01") }));
    assert!(
        refused["error"]["data"]["supported"].as_array().unwrap().contains(&json!("2026-07-28")),
        "{refused}"
    );
}

#[test]
fn a_line_of_100_mb_is_refused_and_the_connection_lives_on() {
    let shell = Shell::sharing();
    let mut client = Client::new(&shell, &[]);
    let long = "x".repeat(100_000_000);
    let message = json!({ "jsonrpc": "2.0", "method": "tools/call", "params": { "name": "sh", "arguments": { "script": long } }, "id": "big" });
    client.send(&message);
    let refused = client.answer("big");
    let why = refused["error"]["message"].as_str().unwrap();
    assert!(why.contains("is too long: at most 33554432"), "{why}");
    // One that is no JSON at all.
    client.write(&vec![b'y'; 40 << 20]);
    client.write(b"\n");
    assert!(client.refusal()["message"].as_str().unwrap().contains("is too long"));
    client.write(b"{ half\n[1]\n");
    assert_eq!(client.refusal()["code"], -32700);
    assert_eq!(client.refusal()["code"], -32600);
    assert_eq!(
        client.call("sh", json!({ "script": "echo still here" }))["structuredContent"]["stdout"],
        "still here\n"
    );
    // What was thrown away was not held.
    let status = fs::read_to_string(format!("/proc/{}/status", client.child.id())).unwrap();
    let peak = status.lines().find_map(|it| it.strip_prefix("VmHWM:")).unwrap();
    let kib: u64 = peak.trim().trim_end_matches(" kB").trim().parse().unwrap();
    assert!(kib < 400 << 10, "{peak}");
}

#[test]
fn of_two_edits_of_one_file_at_once_the_loser_is_told() {
    let shell = Shell::sharing();
    let dir = project(&shell);
    let mut client = Client::new(&shell, &["--dir", &dir]);
    let edit = |new: &str| json!({ "name": "edit_file", "arguments": { "path": "a.txt", "old_text": "one", "new_text": new } });
    let ids = [client.post("tools/call", edit("1")), client.post("tools/call", edit("eins"))];
    let answers = ids.map(|id| client.answer(id)["result"].clone());
    let lost: Vec<&Value> = answers.iter().filter(|it| it["isError"] == true).collect();
    assert_eq!(lost.len(), 1, "{answers:?}");
    assert!(lost[0]["content"][0]["text"].as_str().unwrap().contains("read it again"));
    let read = client.call("read_file", json!({ "path": "a.txt" }));
    let text = read["structuredContent"]["text"].as_str().unwrap();
    assert!(text == "1\ntwo\n" || text == "eins\ntwo\n", "{text}");
    let stale = json!({ "path": "a.txt", "text": "x", "if_sha256": "0".repeat(64) });
    assert!(client.refused("write_file", stale).starts_with("conflict: "));
}

#[test]
fn a_cancelled_call_ends_its_guest_and_the_next_call_is_fine() {
    let shell = Shell::sharing();
    let mut client = Client::new(&shell, &["--timeout", "1000s"]);
    // Warm, so that the loop below is really a guest's.
    client.call("sh", json!({ "script": "yes | head -n 1" }));
    let params = json!({ "name": "sh", "arguments": { "script": "yes > /dev/null" }, "_meta": { "progressToken": "p" } });
    let id = client.post("tools/call", params);
    // The first report says that it runs.
    while client.next_line()["method"] != "notifications/progress" {}
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id, "reason": "enough" } }));
    assert_eq!(client.call("sh", json!({ "script": "echo next" }))["structuredContent"]["stdout"], "next\n");
    assert!(client.others.iter().all(|it| it["id"] != id), "a cancelled call is not answered");
    // An idle process burns nothing.
    let ticks = |client: &Client| -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", client.child.id())).unwrap();
        stat.rsplit(')')
            .next()
            .unwrap()
            .split_whitespace()
            .skip(11)
            .take(2)
            .map(|it| it.parse::<u64>().unwrap())
            .sum()
    };
    let idle = (0..100).any(|_| {
        let before = ticks(&client);
        std::thread::sleep(Duration::from_millis(300));
        ticks(&client) - before <= 5
    });
    assert!(idle, "the guest still runs");
}

#[test]
fn progress_is_told_to_whoever_asked() {
    let shell = Shell::sharing();
    let mut client = Client::new(&shell, &[]);
    let call = |script: &str| json!({ "name": "sh", "arguments": { "script": script }, "_meta": { "progressToken": 7 } });
    let done = client.ask("tools/call", call("echo one; sleep 1.2; echo two"));
    assert_eq!(done["result"]["structuredContent"]["stdout"], "one\ntwo\n");
    let told: Vec<f64> = client
        .others
        .iter()
        .filter(|it| it["method"] == "notifications/progress" && it["params"]["progressToken"] == 7)
        .map(|it| it["params"]["progress"].as_f64().unwrap())
        .collect();
    assert!(told.len() >= 3 && told.is_sorted_by(|one, two| one < two), "{told:?}");
    client.others.clear();
    client.call("sh", json!({ "script": "echo quiet" }));
    assert!(client.others.is_empty());
}

#[test]
fn a_client_that_goes_away_in_the_middle_of_a_call_ends_guest_and_process() {
    let shell = Shell::sharing();
    let mut client = Client::new(&shell, &["--timeout", "1000s"]);
    client.call("sh", json!({ "script": "yes | head -n 1" }));
    let params = json!({ "name": "sh", "arguments": { "script": "yes > /dev/null" }, "_meta": { "progressToken": "p" } });
    client.post("tools/call", params);
    while client.next_line()["method"] != "notifications/progress" {}
    client.leave();
}

#[test]
fn grants_and_limits_come_from_the_flags_of_sh() {
    let shell = Shell::sharing();
    let mut client =
        Client::new(&shell, &["--allow", "cat,sleep", "--timeout", "300ms", "--env", "CITY=Paris"]);
    assert!(client.refused("run", json!({ "name": "wc" })).starts_with("command_not_granted: "));
    let late = client.call("sh", json!({ "script": "sleep 100" }))["structuredContent"].clone();
    assert_eq!((&late["status"], &late["limit"]), (&json!(124), &json!("timed_out")));
    // A call may ask for less time, and not for more.
    let late = client.call("run", json!({ "name": "sleep", "args": ["100"], "timeout_ms": 999_999_999 }));
    assert_eq!(late["structuredContent"]["limit"], "timed_out");
    let done = client.call("sh", json!({ "script": "echo $CITY; curl x" }))["structuredContent"].clone();
    assert_eq!((&done["stdout"], &done["status"]), (&json!("Paris\n"), &json!(126)));
    client.leave();
    let audited = shell.run(&["audit", "--denied", "--json"]);
    assert!(audited.stdout.contains("\"mcp\"") && audited.stdout.contains("wc"), "{}", audited.stdout);
}

#[test]
fn what_a_file_of_grants_names_is_listed_and_answered_and_what_it_does_not_is_not_there() {
    let shell = Shell::sharing();
    let names = |client: &mut Client| -> Vec<String> {
        let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        tools.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    let mut plain = Client::new(&shell, &[]);
    assert!(!names(&mut plain).iter().any(|it| it.starts_with("kv_")), "nobody granted it by name");
    plain.leave();
    let key = format!("mcp-{}/", std::process::id());
    let grants = json!({ "grants": [{ "cap": "kv", "subjects": [format!("{key}*")] }] });
    let file = shell.file("grants.json", grants.to_string());
    let mut client = Client::new(&shell, &["--grants", &file]);
    let listed = names(&mut client);
    let kv: Vec<&str> = listed.iter().map(String::as_str).filter(|it| it.starts_with("kv_")).collect();
    assert_eq!(kv, ["kv_get", "kv_put", "kv_delete", "kv_list", "kv_increment"]);
    assert!(!listed.iter().any(|it| it.starts_with("queue_")), "{listed:?}");
    let key = format!("{key}n");
    let sum = client.call("kv_increment", json!({ "key": key, "by": 2 }))["structuredContent"].clone();
    assert_eq!(sum["sum"], 2, "{sum}");
    assert!(client.refused("kv_get", json!({ "key": "elsewhere" })).starts_with("denied: "));
    client.call("kv_delete", json!({ "key": key }));
    client.leave();
}

#[test]
fn hosts_come_from_the_flags_of_sh_and_a_refusal_names_the_flag() {
    let shell = Shell::sharing();
    let site = serve(|_, to| answer(to, "200 OK", "", "fetched\n"));
    let (url, place, named) = (site.url("/"), site.place(), format!("localhost:{}", site.address.port()));
    let tried = |flags: &[&str], script: &str| {
        let mut client = Client::new(&shell, flags);
        let done = client.call("sh", json!({ "script": script }))["structuredContent"].clone();
        client.leave();
        done
    };
    let curl = format!("curl -sS {url}");
    assert_eq!(tried(&["--allow-private", &place], &curl)["stdout"], "fetched\n");
    // By a name it takes both: a name opens no address, and an address no name.
    let by_name = format!("curl -sS http://{named}/");
    let both = ["--allow-host", &named, "--allow-private", &place];
    assert_eq!(tried(&both, &by_name)["stdout"], "fetched\n");
    for (flags, line, flag) in [
        (&[][..], &curl, format!("--allow-private {place}")),
        (&both[..2], &by_name, format!("--allow-private {place}")),
        (&both[2..], &by_name, format!("--allow-host {named}")),
    ] {
        let done = tried(flags, line);
        assert_eq!(done["stdout"], "", "{flags:?}: {done}");
        assert!(done["stderr"].as_str().unwrap().contains(&flag), "{flags:?}: {done}");
    }
    assert_eq!(site.heads().len(), 2, "nobody else got there");
}

#[test]
fn a_project_gives_mcp_its_defaults_and_can_only_narrow() {
    let shell = Shell::sharing();
    let dir = project(&shell);
    let text = "[mcp]\ndir = [\"project\"]\nallow = [\"cat\"]\nworkspace = \"notes\"\nallow-commit = true\n";
    fs::write(shell.path("drydock.toml"), text).unwrap();
    let mut client = Client::new(&shell, &[]);
    assert_eq!(
        client.call("sh", json!({ "script": "cat a.txt" }))["structuredContent"]["stdout"],
        "one\ntwo\n"
    );
    assert!(client.refused("run", json!({ "name": "wc" })).starts_with("command_not_granted: "));
    assert!(client.refused("commit", json!({})).starts_with("tool_not_granted: "));
    drop(client);
    let mut client = Client::new(&shell, &["--allow", "wc", "--dir", &dir]);
    assert_eq!(
        client.call("run", json!({ "name": "wc", "args": ["-l"], "stdin": "x\n" }))["structuredContent"]["stdout"],
        "1\n"
    );
    fs::write(shell.path("drydock.toml"), "[mcp\n").unwrap();
    let refused = shell.run(&["mcp"]);
    assert!(refused.status != 0 && refused.stderr.contains("drydock.toml"), "{}", refused.stderr);
}
