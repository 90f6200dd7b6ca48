//! MCP over streamable HTTP, as a client's socket sees it: `POST`, `GET` and `DELETE` of `/mcp`.
#![allow(clippy::panic, clippy::expect_used, reason = "helpers of a test may panic")]
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    io::{Read as _, Write as _},
    time::{Duration, Instant},
};

use common::{
    Shell,
    server::{Answer, Server, token},
};
use serde_json::{Value, json};

const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");
const JSON: (&str, &str) = ("content-type", "application/json");

/// A client with a protocol session.
struct Client<'s> {
    server: &'s Server,
    path: &'s str,
    bearer: Option<String>,
    session: String,
}

fn initialize(version: &str) -> Value {
    let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

fn post(server: &Server, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
    server.ask("POST", path, &[&[ACCEPT, JSON], headers].concat(), body.to_string().as_bytes())
}

/// The last message of an answer, be it JSON or events.
fn message(answer: &Answer) -> Value {
    let text = answer.text();
    let mut events = text.lines().filter_map(|it| it.strip_prefix("data:")).map(str::trim);
    let last = events.rfind(|it| !it.is_empty()).unwrap_or(&text);
    serde_json::from_str(last).unwrap_or_else(|_| panic!("{answer:?}"))
}

impl<'s> Client<'s> {
    fn new(server: &'s Server, path: &'s str, token: Option<&str>) -> Self {
        let bearer = token.map(|it| format!("Bearer {it}"));
        let mut client = Self { server, path, bearer, session: String::new() };
        let answer = client.post(&initialize("2025-06-18"));
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(message(&answer)["result"]["protocolVersion"], "2025-06-18");
        client.session = answer.header("mcp-session-id").unwrap().to_owned();
        let told = client.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        assert_eq!(told.status, 202);
        client
    }

    fn headers(&self) -> Vec<(&str, &str)> {
        let mut headers = Vec::new();
        if let Some(bearer) = &self.bearer {
            headers.push(("authorization", bearer.as_str()));
        }
        if !self.session.is_empty() {
            headers.push(("mcp-session-id", &self.session));
            headers.push(("mcp-protocol-version", "2025-06-18"));
        }
        headers
    }

    fn post(&self, body: &Value) -> Answer {
        post(self.server, self.path, &self.headers(), body)
    }

    fn ask(&self, method: &str, params: Value) -> Value {
        message(&self.post(&json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })))
    }

    fn sh(&self, script: &str) -> String {
        let done = self.ask("tools/call", json!({ "name": "sh", "arguments": { "script": script } }));
        done["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{done}")).to_owned()
    }
}

/// A request of the revision that has no handshake, with its headers.
fn stateless(server: &Server, path: &str, script: &str) -> Answer {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "sh", "arguments": { "script": script }, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "sh")];
    post(server, path, &headers, &body)
}

#[test]
fn a_session_over_http_has_the_tools_and_files_of_its_own_until_it_is_ended() {
    let shell = Shell::sharing();
    let server = Server::start(&shell, &[]);
    let client = Client::new(&server, "/mcp", None);
    let tools = client.ask("tools/list", json!({}));
    let names: Vec<_> = tools["result"]["tools"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert!(names.contains(&&json!("sh")) && !names.contains(&&json!("commit")), "{names:?}");
    assert_eq!(client.sh("echo mine > a.txt; cat a.txt"), "mine\n");
    assert_eq!(client.sh("cat a.txt"), "mine\n", "files stay for the session");
    let other = Client::new(&server, "/mcp", None);
    assert_ne!(other.session, client.session);
    assert!(other.sh("cat a.txt").contains("status 1"), "and are nobody else's");
    let ended = server.ask("DELETE", "/mcp", &client.headers(), b"");
    assert!((200..300).contains(&ended.status), "{ended:?}");
    assert_eq!(client.post(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })).status, 404);
    assert_eq!(other.sh("echo still here"), "still here\n");
}

#[test]
fn the_newest_revision_needs_no_session_and_a_workspace_keeps_its_files() {
    let shell = Shell::sharing();
    let server = Server::start(&shell, &[]);
    assert_eq!(server.ask("PUT", "/v1/workspaces/over-mcp", &[], b"").status, 200);
    let path = "/mcp?workspace=over-mcp";
    let done = stateless(&server, path, "echo kept > k.txt");
    assert_eq!((done.status, done.header("mcp-session-id")), (200, None), "{done:?}");
    assert_eq!(
        message(&stateless(&server, path, "cat k.txt"))["result"]["structuredContent"]["stdout"],
        "kept\n"
    );
    let session = Client::new(&server, path, None);
    assert_eq!(session.sh("cat k.txt"), "kept\n", "a session over the same workspace sees them");
    assert_eq!(stateless(&server, "/mcp?workspace=fresh", "true").status, 200, "made, as `/v1/sh` makes it");
    assert_eq!(stateless(&server, "/mcp?other=1", "true").code(), "bad_parameter");
}

#[test]
fn tokens_and_tenants_hold_for_mcp_as_they_do_for_v1() {
    let shell = Shell::new();
    let server = Server::start(&shell, &[]);
    let (ada, bob) = (token(&shell, "ada", &[]), token(&shell, "bob", &[]));
    let looks = token(&shell, "ada", &["--power", "audit"]);
    assert_eq!(post(&server, "/mcp", &[], &initialize("2025-06-18")).status, 401);
    let refused = server.ask("POST", "/mcp", &[("authorization", &format!("Bearer {looks}"))], b"{}");
    assert_eq!((refused.status, refused.code().as_str()), (403, "beyond_ceiling"));
    let ours = Client::new(&server, "/mcp", Some(&ada));
    assert_eq!(ours.sh("echo a"), "a\n");
    let session = ours.session.clone();
    let stolen = Client { session, ..Client::new(&server, "/mcp", Some(&bob)) };
    let answer = stolen.post(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
    assert_eq!(answer.status, 404, "whose session it is follows from the token");
    let gone = shell.run(&["token", "list", "--json"]);
    assert_eq!(gone.status, 0, "{}", gone.stderr);
}

#[test]
fn pages_of_other_origins_other_names_and_what_is_no_message_are_refused() {
    let shell = Shell::sharing();
    let server = Server::start(&shell, &[]);
    let own = format!("http://127.0.0.1:{}", server.port);
    let begin = initialize("2025-06-18");
    for (headers, status) in [
        (vec![("origin", "http://evil.test")], 403),
        (vec![("origin", "null")], 403),
        (vec![("sec-fetch-site", "cross-site")], 403),
        (vec![("host", "evil.test")], 421),
        (vec![("origin", own.as_str())], 200),
        (vec![("mcp-protocol-version", "1999-01-01")], 400),
        (vec![("mcp-session-id", "00000000-0000-0000-0000-000000000000")], 404),
    ] {
        assert_eq!(post(&server, "/mcp", &headers, &begin).status, status, "{headers:?}");
    }
    let raw = |headers: &[(&str, &str)], body: &[u8]| server.ask("POST", "/mcp", headers, body).status;
    assert!((400..500).contains(&raw(&[ACCEPT, JSON], b"{")));
    assert!((400..500).contains(&raw(&[ACCEPT, JSON], "[".repeat(100_000).as_bytes())));
    assert!((400..500).contains(&raw(&[ACCEPT, JSON], b"")));
    assert!((400..500).contains(&raw(&[ACCEPT, JSON], br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)));
    assert_eq!(raw(&[JSON], begin.to_string().as_bytes()), 406);
    assert_eq!(raw(&[ACCEPT], begin.to_string().as_bytes()), 415);
    assert_eq!(server.ask("PUT", "/mcp", &[], b"").status, 405);
    let mut stream = server.connect();
    stream.write_all(&server.head("POST", "/mcp", &[ACCEPT, JSON], Some(1 << 30))).unwrap();
    let mut told = String::new();
    stream.read_to_string(&mut told).unwrap();
    assert!(told.starts_with("HTTP/1.1 413"), "{told}");
    assert_eq!(Client::new(&server, "/mcp", None).sh("echo on"), "on\n", "and the server goes on");
}

#[test]
fn a_caller_has_so_many_sessions_and_an_ended_one_makes_room() {
    let shell = Shell::sharing();
    let server = Server::start(&shell, &[]);
    let clients: Vec<Client<'_>> = (0..64).map(|_| Client::new(&server, "/mcp", None)).collect();
    let refused = post(&server, "/mcp", &[], &initialize("2025-06-18"));
    assert_eq!((refused.status, refused.code().as_str()), (429, "too_many_sessions"));
    assert_eq!(clients[63].sh("echo fine"), "fine\n");
    server.ask("DELETE", "/mcp", &clients[0].headers(), b"");
    let began = Instant::now();
    while post(&server, "/mcp", &[], &initialize("2025-06-18")).status != 200 {
        assert!(began.elapsed() < Duration::from_secs(60), "an ended session gives its place back");
    }
}

#[test]
fn a_client_that_listens_does_not_keep_the_server_from_ending() {
    let shell = Shell::sharing();
    let mut server = Server::start(&shell, &["--drain", "300s"]);
    let session = Client::new(&server, "/mcp", None).session;
    let mut listening = server.connect();
    let headers = [("accept", "text/event-stream"), ("mcp-session-id", session.as_str())];
    listening.write_all(&server.head("GET", "/mcp", &headers, None)).unwrap();
    let mut first = [0; 12];
    listening.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    server.signal("-TERM");
    assert_eq!(server.wait(), 0);
}

#[test]
fn a_turn_ends_with_its_tool_though_its_client_reads_nothing() {
    let shell = Shell::sharing();
    let server = Server::start(&shell, &["--tenant-in-flight", "1", "--answer-timeout", "60s"]);
    let client = Client::new(&server, "/mcp", None);
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": { "name": "sh", "arguments": { "script": "seq 1 140000" } } })
    .to_string();
    let mut unread = server.connect();
    let headers = [&[ACCEPT, JSON], &client.headers()[..]].concat();
    unread.write_all(&server.head("POST", "/mcp", &headers, Some(call.len()))).unwrap();
    unread.write_all(call.as_bytes()).unwrap();
    // Its answer has begun, so the turn was its.
    unread.read_exact(&mut [0]).unwrap();
    let run = server.post("/v1/run", &json!({ "name": "upper", "stdin": "next" }));
    assert_eq!((run.status, &run.json()["stdout"]), (200, &json!("NEXT")), "{}", run.text());
    // And it has all of it when it reads.
    let mut rest = String::new();
    unread.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("140000"), "{}", rest.len());
}
