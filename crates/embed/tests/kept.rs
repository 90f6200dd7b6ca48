//! What guests keep: the imports that lead to `kv` and `queue`, from modules that use them as meant and as nobody should, and
//! the storage of handlers.
#![allow(clippy::unwrap_used)]

mod runner_room;

use std::{
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use drydock_embed::{
    CodeInput, Dock, DockSession, DockSettings, HANDLER_LIMITS, Setup, ShellSetup, WorkerProgram,
    contract::{ArgMode, Cap, Tenant, Terms},
    extension::runner::{FailureKind, Invoked},
    gate::{GateSettings, Grant},
    kv::{GET, Get, KvRequest, KvValue},
    program_tools,
    queue::{DEPTH, Depth, QueueRequest, QueueValue},
    store::{Filter, read_audit},
};
use runner_room::{Room, guest, kind, message, room};

/// Modules that were added, each under a name of its own.
static ADDED: AtomicUsize = AtomicUsize::new(0);

struct Yard {
    dock: Dock,
    _home: tempfile::TempDir,
}

fn yard() -> Yard {
    yard_with(GateSettings::default())
}

fn yard_with(gate: GateSettings) -> Yard {
    let home = tempfile::tempdir().unwrap();
    let worker = Some(WorkerProgram::new(env!("CARGO_BIN_EXE_drydock-compile-worker"), [""; 0]));
    let dock =
        Dock::open_with(home.path(), DockSettings { gate, worker, ..DockSettings::default() }).unwrap();
    Yard { dock, _home: home }
}

fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |mut all, byte| {
        write!(all, "\\{byte:02x}").unwrap();
        all
    })
}

/// A program that has `data` at 1024. `$say` writes a number and a blank, `$why` the code of the last refusal.
fn program(imports: &str, data: &str, body: &str) -> Vec<u8> {
    let text = format!(
        r#"(module {imports}
          (import "env" "host_error" (func $error (param i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
          (memory (export "memory") 40)
          (data (i32.const 1024) "{}")
          (func $out (param $at i32) (param $len i32)
            (i32.store (i32.const 0) (local.get $at)) (i32.store (i32.const 4) (local.get $len))
            (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
            (i32.store8 (i32.const 16) (i32.const 32))
            (i32.store (i32.const 0) (i32.const 16)) (i32.store (i32.const 4) (i32.const 1))
            (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))
          (func $tell (param $n i32)
            (if (i32.lt_s (local.get $n) (i32.const 0))
              (then (call $out (i32.const 512) (call $error (i32.const 512) (i32.const 64))))
              (else (call $out (i32.const 65536) (local.get $n)))))
          (func (export "_start") {body}))"#,
        escaped(data)
    );
    wat::parse_str(&text).unwrap()
}

impl Yard {
    /// What a module writes, or why it does not run.
    async fn run(&self, setup: Setup, module: Vec<u8>) -> Result<String, String> {
        self.run_as(&self.dock, setup, module).await
    }

    async fn run_as(&self, dock: &Dock, setup: Setup, module: Vec<u8>) -> Result<String, String> {
        let name = format!("m{}", ADDED.fetch_add(1, Ordering::Relaxed));
        dock.registry().add(&name, module, ArgMode::Argv, None).unwrap();
        let session = dock.session("me", setup).unwrap();
        let run = session.run(&name, &[], "").await.map_err(|error| error.to_string())?;
        Ok(String::from_utf8(run.stdout).unwrap().trim_end().to_owned())
    }

    fn kept(&self) -> DockSession {
        self.dock.kept("person").unwrap()
    }
}

const KV: &str = r#"
  (import "env" "host_kv_put" (func $put (param i32 i32 i32 i32) (result i32)))
  (import "env" "host_kv_get" (func $get (param i32 i32 i32 i32) (result i32)))"#;
const QUEUE: &str = r#"
  (import "env" "host_publish" (func $publish (param i32 i32 i32 i32) (result i32)))
  (import "env" "host_poll" (func $poll (param i32 i32 i32 i32) (result i32)))"#;

fn with_queue() -> Setup {
    Setup { grants: vec![Arc::new(Grant::of(Cap::Queue))], ..Setup::profile("minimal") }
}

#[tokio::test]
async fn a_core_module_keeps_a_value_that_another_run_and_a_person_read() {
    let yard = yard();
    let put = program(
        KV,
        "keyvalue",
        "(call $tell (call $put (i32.const 1024) (i32.const 3) (i32.const 1027) (i32.const 5)))",
    );
    assert_eq!(yard.run(Setup::profile("minimal"), put.clone()).await.unwrap(), "");
    let get = program(
        KV,
        "key",
        "(call $tell (call $get (i32.const 1024) (i32.const 3) (i32.const 65536) (i32.const 99)))",
    );
    assert_eq!(yard.run(Setup::profile("minimal"), get.clone()).await.unwrap(), "value");
    let told = yard.kept().ask_kv(GET, KvRequest::Get(Get { key: "key".into() })).await.unwrap().unwrap();
    let KvValue::Value(value) = told else { panic!("{told:?}") };
    assert_eq!(value.value.0, b"value");
    let other = yard.dock.for_tenant("other".parse::<Tenant>().unwrap());
    let theirs = yard.run_as(&other, Setup::profile("minimal"), get).await.unwrap();
    assert_eq!(theirs, "not_found", "the same key is another one's of another tenant");
}

#[tokio::test]
async fn a_power_that_was_not_granted_is_no_import_and_one_that_only_may_be_imported_is_denied() {
    let yard = yard();
    let get = || {
        program(
            KV,
            "k",
            "(call $tell (call $get (i32.const 1024) (i32.const 1) (i32.const 0) (i32.const 9)))",
        )
    };
    let without = Setup { grants: vec![Arc::new(Grant::of(Cap::Exec))], ..Setup::default() };
    let refused = yard.run(without, get()).await.unwrap_err();
    assert!(
        refused.contains("env.host_kv_put") && refused.contains("needs the capability `kv`"),
        "{refused}"
    );
    let poll = program(
        QUEUE,
        "t",
        "(call $tell (call $poll (i32.const 1024) (i32.const 1) (i32.const 0) (i32.const 9)))",
    );
    assert_eq!(yard.run(Setup::profile("minimal"), poll).await.unwrap(), "denied");
}

#[tokio::test]
async fn bad_pointers_and_bad_requests_are_codes_and_nothing_is_kept() {
    let yard = yard();
    let cases = [
        ("(call $put (i32.const -1) (i32.const 3) (i32.const 1024) (i32.const 1))", "bad_pointer"),
        ("(call $put (i32.const 1024) (i32.const 3) (i32.const 2621430) (i32.const 11))", "bad_pointer"),
        ("(call $put (i32.const 1024) (i32.const -1) (i32.const 1024) (i32.const 1))", "too_large"),
        ("(call $put (i32.const 1024) (i32.const 0) (i32.const 1024) (i32.const 1))", "invalid_key"),
        ("(call $put (i32.const 1024) (i32.const 600) (i32.const 1024) (i32.const 1))", "invalid_key"),
        (
            "(call $put (i32.const 1024) (i32.const 1) (i32.const 1024) (i32.const 1048577))",
            "value_too_large",
        ),
        ("(call $put (i32.const 1028) (i32.const 1) (i32.const 1024) (i32.const 1))", "malformed"),
        ("(call $get (i32.const 1024) (i32.const 1) (i32.const 0) (i32.const 9))", "not_found"),
    ];
    for (call, code) in cases {
        let module = program(KV, "keys\u{fffd}", &format!("(call $tell {call})"));
        assert_eq!(yard.run(Setup::profile("minimal"), module).await.unwrap(), code, "{call}");
    }
    let tight = program(
        KV,
        "keyvalue",
        "(drop (call $put (i32.const 1024) (i32.const 3) (i32.const 1027) (i32.const 5)))
         (call $tell (call $get (i32.const 1024) (i32.const 3) (i32.const 65536) (i32.const 4)))
         (call $tell (call $get (i32.const 1024) (i32.const 3) (i32.const -1) (i32.const 5)))
         (call $tell (call $get (i32.const 1024) (i32.const 3) (i32.const 65536) (i32.const 5)))",
    );
    let told = yard.run(Setup::profile("minimal"), tight).await.unwrap();
    assert_eq!(told, "reply_too_large bad_pointer value");
}

#[tokio::test]
async fn a_guest_that_asks_in_a_loop_is_refused_by_its_rate_and_nobody_else_is() {
    let yard = yard_with(GateSettings { calls_max: 100, ..GateSettings::default() });
    let asks = program(
        KV,
        "keyvalue",
        "(local $left i32) (local $n i32) (local.set $left (i32.const 5000))
         (loop $again
           (local.set $n (call $put (i32.const 1024) (i32.const 3) (i32.const 1027) (i32.const 5)))
           (local.set $left (i32.sub (local.get $left) (i32.const 1)))
           (br_if $again (i32.ge_s (local.get $n) (i32.const 0))))
         (loop $on
           (local.set $n (call $get (i32.const 1024) (i32.const 3) (i32.const 65536) (i32.const 9)))
           (local.set $left (i32.sub (local.get $left) (i32.const 1)))
           (br_if $on (local.get $left)))
         (call $tell (local.get $n))",
    );
    assert_eq!(yard.run(Setup::profile("minimal"), asks).await.unwrap(), "rate_limited");
    let told = yard.kept().ask_kv(GET, KvRequest::Get(Get { key: "key".into() })).await.unwrap().unwrap();
    let KvValue::Value(value) = told else { panic!("{told:?}") };
    assert_eq!(value.value.0, b"value", "what was answered is kept, and a neighbour reads it");
    yard.dock.gate().flush().unwrap();
    let tenant = yard.dock.home().tenant(yard.dock.tenant());
    let denied = read_audit(&tenant, Filter::default()).unwrap().map(Result::unwrap);
    let denied = denied.filter(|it| it.principal == "me" && it.operation == "kv.get").count();
    assert!((1..100).contains(&denied), "{denied}: the same denial again and again is a count");
}

#[tokio::test]
async fn a_message_that_does_not_fit_stays_in_the_queue() {
    let yard = yard();
    let module = program(
        QUEUE,
        "tfirstsecond",
        "(call $tell (call $poll (i32.const 1024) (i32.const 1) (i32.const 65536) (i32.const 99)))
         (drop (call $publish (i32.const 1024) (i32.const 1) (i32.const 1025) (i32.const 5)))
         (drop (call $publish (i32.const 1024) (i32.const 1) (i32.const 1030) (i32.const 6)))
         (call $tell (call $poll (i32.const 1024) (i32.const 1) (i32.const 65536) (i32.const 4)))
         (call $tell (call $poll (i32.const 1024) (i32.const 1) (i32.const -1) (i32.const 99)))
         (call $tell (call $poll (i32.const 1024) (i32.const 1) (i32.const 65536) (i32.const 5)))
         (call $tell (call $publish (i32.const 1024) (i32.const 1) (i32.const 0) (i32.const 262145)))",
    );
    let told = yard.run(with_queue(), module).await.unwrap();
    assert_eq!(told, "empty reply_too_large bad_pointer first message_too_large");
    let depth = QueueRequest::Depth(Depth { topic: "t".into() });
    let QueueValue::Depth(deep) = yard.kept().ask_queue(DEPTH, depth).await.unwrap().unwrap() else {
        panic!()
    };
    assert_eq!((deep.depth, deep.hidden), (1, 0));
    yard.dock.gate().flush().unwrap();
    let records: Vec<_> =
        read_audit(&yard.dock.home().tenant(&Tenant::default()), Filter { denied_only: true, limit: None })
            .unwrap()
            .map(Result::unwrap)
            .collect();
    assert!(records.iter().any(|it| it.operation == "queue.publish" && it.subject == "t"));
}

/// A handler that calls a function of `alga` with this request, and answers what that placed.
fn stores(calls: &[(&str, &str)]) -> String {
    let mut imports = String::new();
    let (mut data, mut body, mut at) = (String::new(), String::new(), 1024);
    for (n, (name, request)) in calls.iter().enumerate() {
        write!(imports, r#"(import "alga" "{name}" (func $f{n} (param i32 i32 i32) (result i32)))"#).unwrap();
        write!(data, r#"(data (i32.const {at}) "{}")"#, escaped(request)).unwrap();
        let len = request.len();
        write!(body, "(local.set $i (call $f{n} (i32.const {at}) (i32.const {len}) (local.get $out)))")
            .unwrap();
        at += len;
    }
    guest(&imports, &data, &format!("{body} (i32.const 0)"))
}

/// What the last call placed, which is no response and so is told in the error.
async fn stored(room: &Room, session: &DockSession, calls: &[(&str, &str)]) -> Invoked {
    room.invoke_in(session, &wat::parse_str(stores(calls)).unwrap(), "{}").await
}

#[tokio::test]
async fn a_handler_that_holds_kv_has_storage_and_one_that_does_not_cannot_import_it() {
    let room = room();
    let invoked = stored(&room, &room.session, &[("storage_get", "{}")]).await;
    assert_eq!(kind(&invoked), Some(FailureKind::Link));
    assert!(message(&invoked).contains("storage_get"), "{}", message(&invoked));
    let mut setup = Setup::instances(HANDLER_LIMITS);
    setup.grants.push(Arc::new(Grant::of(Cap::Kv)));
    let session = room.dock.session("me", setup).unwrap();
    let response = r#"{"status":207,"headers":{},"body_b64":null}"#;
    // The value that a handler stores is the response that it answers with afterwards.
    let put = format!(r#"{{"key":"app/r","value":"{}"}}"#, response.replace('"', "\\\""));
    let calls = [("storage_put", put.as_str()), ("storage_list", r#"{"prefix":"app/"}"#)];
    let invoked = stored(&room, &session, &calls).await;
    assert_ne!(kind(&invoked), Some(FailureKind::Link), "{}", message(&invoked));
    let kept = room.dock.kept("person").unwrap();
    let get = |key: &str| kept.ask_kv(GET, KvRequest::Get(Get { key: key.into() }));
    let Ok(KvValue::Value(value)) = get("app/r").await.unwrap() else { panic!() };
    assert_eq!(value.value.0, response.as_bytes());
    stored(&room, &session, &[("storage_delete", r#"{"key":"app/r"}"#)]).await;
    assert_eq!(get("app/r").await.unwrap().unwrap_err().code, "not_found");
}

#[tokio::test]
async fn storage_answers_with_its_code_and_a_breach_of_memory_ends_the_handler() {
    let room = room();
    let mut setup = Setup::instances(HANDLER_LIMITS);
    setup.grants.push(Arc::new(Grant::of(Cap::Kv).within(Terms::of(["app/*".parse().unwrap()]))));
    let session = room.dock.session("me", setup).unwrap();
    // The handler answers its code, so that it is seen: 0 would be a response.
    let coded = |name: &str, request: &str| {
        let import = format!(r#"(import "alga" "{name}" (func $f (param i32 i32 i32) (result i32)))"#);
        let data = format!(r#"(data (i32.const 1024) "{}")"#, escaped(request));
        let len = request.len();
        let call =
            format!("(i32.add (i32.const 10) (call $f (i32.const 1024) (i32.const {len}) (local.get $out)))");
        wat::parse_str(guest(&import, &data, &call)).unwrap()
    };
    for (name, request, code) in [
        ("storage_put", r#"{"key":"app/a","value":"1"}"#, "10"),
        ("storage_get", r#"{"key":"app/a"}"#, "10"),
        ("storage_get", r#"{"key":"app/b"}"#, "11"),
        ("storage_get", r#"{"key":"other"}"#, "11"),
        ("storage_list", "{}", "11"),
        ("storage_list", "no json", "11"),
    ] {
        let invoked = room.invoke_in(&session, &coded(name, request), "{}").await;
        let error = invoked.envelope.error.as_ref().unwrap();
        assert_eq!(serde_json::to_string(&error.code).unwrap(), code, "{name} {request}: {}", error.message);
    }
    let wild = guest(
        r#"(import "alga" "storage_get" (func $f (param i32 i32 i32) (result i32)))"#,
        "",
        "(call $f (i32.const -8) (i32.const 9) (local.get $out))",
    );
    let invoked = room.invoke_in(&session, &wat::parse_str(wild).unwrap(), "{}").await;
    assert_eq!(kind(&invoked), Some(FailureKind::Trap), "{}", message(&invoked));
}

#[tokio::test]
async fn a_program_has_what_it_was_granted_as_namespaces_and_is_told_the_code_of_what_it_was_not() {
    let yard = yard();
    let dock = Arc::new(yard.dock.clone());
    let setup = Setup {
        grants: vec![Arc::new(Grant::of(Cap::Queue).within(Terms::of(["jobs".parse().unwrap()])))],
        ..Setup::profile("minimal")
    };
    let tools = program_tools(&dock, "me", &setup, &ShellSetup::default()).unwrap();
    let programs = dock.code("me", setup, tools).unwrap();
    let script = r#"
        await kv.put({ key: "a", value: "x" });
        const { version } = await kv.get({ key: "a" });
        const stale = await kv.put({ key: "a", value: "y", if_version: version + 9 }).catch((it) => it.message);
        await queue.publish({ topic: "jobs", messages: ["1", "2"] });
        const { messages } = await queue.lease({ topic: "jobs", max: 2 });
        const done = await queue.ack({ topic: "jobs", receipts: messages.map((it) => it.receipt) });
        const other = await queue.publish({ topic: "other", message: "" }).catch((it) => it.message);
        [stale, done.settled, other, (await kv.increment({ key: "n", by: 2 })).sum]
    "#;
    let result = programs.execute(script, CodeInput::default()).await;
    let told = result.outcome.unwrap().unwrap();
    let told: serde_json::Value = serde_json::from_str(told.as_str()).unwrap();
    assert!(told[0].as_str().unwrap().starts_with("conflict: "), "{told}");
    assert_eq!((&told[1], &told[3]), (&2.into(), &2.into()), "{told}");
    assert!(told[2].as_str().unwrap().starts_with("denied: "), "{told}");
}
