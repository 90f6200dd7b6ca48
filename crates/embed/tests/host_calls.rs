//! Host calls of core modules through the whole path: a map of commands, a session without `exec`, and guests that serve.
#![allow(clippy::unwrap_used)]

mod web_room;

use std::{net::SocketAddr, sync::Arc};

use drydock_abi::{
    broker::Blob,
    parallel::{MAP, MapRequest, encode_map},
};
use drydock_embed::{
    CLIENT_CALLS_MAX, Dock, DockSession, DockSettings, Network, Protocol, ServeHandler, ServeSetup, Served,
    Setup, WorkerProgram, command_handler,
    contract::{ArgMode, Call, Cap, GuestTime, Outcome, Sink, Source, Streams, Terms, Timestamp},
    egress::{QuotaLimits, Rules},
    gate::{Class, Grant, Profile},
    tape::{Deck, Player, RecordSettings, Recorder},
};
use drydock_testkit::guests;
use tempfile::TempDir;

struct Yard {
    dock: Dock,
    #[expect(dead_code, reason = "it is there as long as the dock")]
    folder: TempDir,
}

fn settings() -> DockSettings {
    let worker = WorkerProgram::new(env!("CARGO_BIN_EXE_drydock-compile-worker"), [""; 0]);
    DockSettings { worker: Some(worker), ..DockSettings::default() }
}

fn yard() -> Yard {
    yard_with(settings())
}

fn yard_with(settings: DockSettings) -> Yard {
    let folder = tempfile::tempdir().unwrap();
    Yard { dock: Dock::open_with(folder.path(), settings).unwrap(), folder }
}

/// Hands the map on its stdin to the host, writes what comes back, and exits with the status of the second task.
const MAPS: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (import "env" "host_parallel_map" (func $map (param i32 i32 i32 i32) (result i32)))
  (import "env" "host_parallel_status" (func $status (param i32) (result i32)))
  (memory (export "memory") 32)
  (func (export "_start")
    (i32.store (i32.const 0) (i32.const 16)) (i32.store (i32.const 4) (i32.const 1000000))
    (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
    (i32.store (i32.const 0) (i32.const 1048576))
    (i32.store (i32.const 4) (call $map (i32.const 16) (i32.load (i32.const 8)) (i32.const 1048576) (i32.const 1000000)))
    (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
    (call $proc_exit (call $status (i32.const 1)))))"#;

fn wire(command: &str, args: &[&str], inputs: &[&str]) -> Vec<u8> {
    let blobs = |parts: &[&str]| parts.iter().map(|it| Blob(it.as_bytes().to_vec())).collect();
    encode_map(&MapRequest { command: command.into(), args: blobs(args), inputs: blobs(inputs) }).unwrap()
}

fn maps(yard: &Yard, setup: Setup) -> DockSession {
    yard.dock.registry().add("maps", wat::parse_str(MAPS).unwrap(), ArgMode::Argv, None).unwrap();
    yard.dock.session("me", setup).unwrap()
}

#[tokio::test]
async fn a_core_module_maps_a_command_over_its_inputs() {
    let yard = yard();
    let session = maps(&yard, Setup::profile("posix"));
    let run = session.run("maps", &[], wire("grep", &["-o", "b.*"], &["abc", "xyz", "bb"])).await.unwrap();
    assert_eq!(run.outcome, Outcome::Exited(1), "what grep says where it finds nothing");
    assert_eq!(run.stdout, b"\x03\0\0\0\x03\0\0\0bc\n\0\0\0\0\x03\0\0\0bb\n");
    let run = session.run("maps", &[], wire("no-such", &[], &["a", "b"])).await.unwrap();
    assert_eq!(run.stdout, b"\x02\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff");
    let narrow = Setup { allow: Some(vec!["maps".parse().unwrap()]), ..Setup::profile("posix") };
    let narrow = yard.dock.session("narrow", narrow).unwrap();
    let run = narrow.run("maps", &[], wire("grep", &["x"], &["x"])).await.unwrap();
    assert_eq!(run.stdout, b"\x01\0\0\0\xff\xff\xff\xff", "each task needs the grant of exec");
    let minimal = yard.dock.session("minimal", Setup::profile("minimal")).unwrap();
    let refused = minimal.run("maps", &[], wire("grep", &["x"], &["x"])).await.unwrap_err();
    assert_eq!(refused.code(), "import_not_granted", "no profile but posix has it");
}

#[tokio::test]
async fn maps_within_maps_stop_at_the_depth_of_commands() {
    let yard = yard();
    let session = maps(&yard, Setup::profile("posix"));
    // Each map is two levels: its own call, and the command that it starts.
    for (nests, reached) in [(4, true), (5, false)] {
        let mut request = wire("upper", &[], &["deep"]);
        for _ in 1..nests {
            let (args, inputs) = (Vec::new(), vec![Blob(request)]);
            request = encode_map(&MapRequest { command: "maps".into(), args, inputs }).unwrap();
        }
        let run = session.run("maps", &[], request).await.unwrap();
        assert_eq!(run.stdout.windows(4).any(|it| it == b"DEEP"), reached, "{nests} maps");
    }
}

#[tokio::test]
async fn a_map_by_a_clock_of_its_own_is_the_same_again() {
    let yard = yard();
    let fixed = || Setup { time: GuestTime::Fixed(Timestamp(1_000_000_000)), ..Setup::profile("posix") };
    let mut seen = Vec::new();
    yard.dock.registry().add("maps", wat::parse_str(MAPS).unwrap(), ArgMode::Argv, None).unwrap();
    for _ in 0..3 {
        let session = yard.dock.session("me", fixed()).unwrap();
        let inputs: Vec<String> = (0..40).map(|it| it.to_string()).collect();
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let run = session.run("maps", &[], wire("date", &["+%s.%N"], &inputs)).await.unwrap();
        assert!(run.stdout.len() > 40 * 14, "{run:?}");
        seen.push(run.stdout);
    }
    assert!(seen.iter().all(|it| *it == seen[0]), "in the same order, at the same times");
}

#[tokio::test]
async fn a_program_maps_in_json() {
    let yard = yard();
    let session = yard.dock.session("me", Setup::profile("posix")).unwrap();
    let payload = br#"{"command": "tr", "args": ["a-z", "A-Z"], "inputs": ["ada", {"base64": "/w=="}]}"#;
    let call = Call::new(MAP, payload, Streams::default());
    let reply = yard.dock.gate().dispatch(session.inner(), call).await.unwrap();
    let text = String::from_utf8(reply.payload).unwrap();
    assert_eq!(text, r#"{"results":[{"status":0,"stdout":"ADA"},{"status":0,"stdout":{"base64":"/w=="}}]}"#);
}

/// Keeps a value, reads it, fetches a page, and answers with both.
fn keeps_and_fetches(url: &str) -> String {
    let length = url.len();
    format!(
        r#"(module
          (import "env" "host_kv_put" (func $put (param i32 i32 i32 i32) (result i32)))
          (import "env" "host_kv_get" (func $get (param i32 i32 i32 i32) (result i32)))
          (import "env" "host_http_get" (func $fetch (param i32 i32 i32 i32) (result i32)))
          (import "env" "host_response_set" (func $respond (param i32 i32) (result i32)))
          (memory (export "memory") 1)
          (data (i32.const 0) "key") (data (i32.const 16) "kept ") (data (i32.const 64) "{url}")
          (data (i32.const 1024) "200\n\n")
          (func (export "handle") (local $end i32)
            (drop (call $put (i32.const 0) (i32.const 3) (i32.const 16) (i32.const 5)))
            (local.set $end (i32.add (i32.const 1029)
              (call $get (i32.const 0) (i32.const 3) (i32.const 1029) (i32.const 64))))
            (local.set $end (i32.add (local.get $end)
              (call $fetch (i32.const 64) (i32.const {length}) (local.get $end) (i32.const 64))))
            (drop (call $respond (i32.const 1024) (i32.sub (local.get $end) (i32.const 1024))))))"#
    )
}

#[tokio::test]
async fn storage_or_network_without_exec_leaves_nothing_to_import_of_exec() {
    let server = web_room::serving("200 OK", "", "and fetched");
    let settings = DockSettings { egress: Some(web_room::local(QuotaLimits::default()).0), ..settings() };
    let yard = yard_with(settings);
    // The narrowest profile, and three powers that are granted by themselves.
    let grants = vec![
        Arc::new(Grant::of(Cap::Kv)),
        Arc::new(Grant::of(Cap::Serve).within(Terms::of(["http:127.0.0.1:1".parse().unwrap()]))),
    ];
    let rules = Rules::parse(&[], &[], &[server.address.to_string()]).unwrap();
    let network = Network { rules, injected: Vec::new() };
    let setup = Setup { profile: Profile::named("compute"), grants, network, ..Setup::default() };
    let session = yard.dock.session("me", setup).unwrap();
    let module = |wat: String| {
        let dock = yard.dock.clone();
        async move { ServeHandler::Module(dock.hand_over(wat::parse_str(wat).unwrap()).await) }
    };
    let served = served(&yard, &session, module(keeps_and_fetches(&server.url("/"))).await).await;
    let connection = served.accept(somebody()).await.unwrap();
    assert_eq!(connection.request("GET /\n\n".into()).await.unwrap().unwrap(), "200\n\nkept and fetched");
    drop((connection, served));
    let exec = r#"(import "env" "host_exec" (func (param i32 i32 i32 i32) (result i32)))"#;
    let exec = format!(r#"(module {exec} (memory (export "memory") 1) (func (export "handle")))"#);
    let setup = ServeSetup {
        protocol: Protocol::Http,
        address: SocketAddr::from(([127, 0, 0, 1], 1)),
        serve_id: "shop".into(),
        handler: module(exec).await,
        client_calls_max: 1,
    };
    let refused = yard.dock.serve_guest(&session, setup).await.map(drop).unwrap_err();
    assert_eq!(refused.code(), "import_not_granted");
}

fn may_serve(address: &str) -> Setup {
    let grant = Grant::of(Cap::Serve).within(Terms::of([address.parse().unwrap()]));
    Setup { grants: vec![Arc::new(grant)], ..Setup::profile("minimal") }
}

async fn served(yard: &Yard, session: &DockSession, handler: ServeHandler) -> Served {
    let setup = ServeSetup {
        protocol: Protocol::Http,
        address: SocketAddr::from(([127, 0, 0, 1], 1)),
        serve_id: "shop".into(),
        handler,
        client_calls_max: CLIENT_CALLS_MAX,
    };
    yard.dock.serve_guest(session, setup).await.unwrap()
}

fn somebody() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 9], 999))
}

#[tokio::test]
async fn twenty_requests_at_once_have_an_instance_each() {
    let yard = yard();
    let session = yard.dock.session("shop", may_serve("http:127.0.0.1:1")).unwrap();
    let module = yard.dock.hand_over(wat::parse_str(guests::serving_echo()).unwrap()).await;
    let served = Arc::new(served(&yard, &session, ServeHandler::Module(module)).await);
    let asking = (0..20).map(|number| {
        let served = Arc::clone(&served);
        tokio::spawn(async move {
            let connection = served.accept(somebody()).await.unwrap();
            let text = format!("GET /{number}\n\n");
            let answer = connection.request(text.clone().into()).await.unwrap().unwrap();
            assert_eq!(answer, format!("201\nx-guest: yes\n\n{text}"));
        })
    });
    for it in asking.collect::<Vec<_>>() {
        it.await.unwrap();
    }
    assert_eq!(session.inner().own_in_flight(Class::Connection), 1, "the listener alone");
    drop(served);
    assert_eq!(session.inner().own_in_flight(Class::Connection), 0);
}

#[tokio::test]
async fn a_request_of_a_guest_that_loops_ends_with_its_revocation() {
    let yard = yard();
    let session = yard.dock.session("shop", may_serve("http:127.0.0.1:1")).unwrap();
    let module = yard
        .dock
        .hand_over(wat::parse_str(guests::serving("(loop $again (br $again)) (i32.const 0)")).unwrap())
        .await;
    let served = Arc::new(served(&yard, &session, ServeHandler::Module(module)).await);
    let asking = tokio::spawn({
        let served = Arc::clone(&served);
        async move {
            let connection = served.accept(somebody()).await.unwrap();
            connection
                .request("GET /\n\n".into())
                .await
                .map(|answer| answer.map_err(|it| it.code.into_owned()))
        }
    });
    while session.inner().in_flight() == 0 {
        tokio::task::yield_now().await;
    }
    yard.dock.revoke("shop").unwrap();
    served.ended().await;
    match asking.await.unwrap() {
        Ok(answer) => assert_eq!(answer, Err("cancelled".to_owned())),
        Err(error) => assert_eq!(error.code(), "revoked"),
    }
    assert_eq!(served.accept(somebody()).await.map(drop).unwrap_err().code(), "revoked");
    assert_eq!(session.inner().in_flight(), 0);
}

#[tokio::test]
async fn a_command_answers_where_it_is_granted() {
    let yard = yard();
    let session = yard.dock.session("shop", may_serve("http:127.0.0.1:1")).unwrap();
    let serving = served(&yard, &session, command_handler("rev", [""; 0])).await;
    let connection = serving.accept(somebody()).await.unwrap();
    let answer = connection.request("abc\n".into()).await.unwrap().unwrap();
    assert_eq!(answer, "cba\n");
    let long = connection.request(vec![b'x'; (1 << 20) + 1].into()).await.map(drop).unwrap_err();
    assert_eq!(long.code(), "too_large");
    drop((connection, serving));
    let serving = served(&yard, &session, command_handler("yes", [""; 0])).await;
    let connection = serving.accept(somebody()).await.unwrap();
    let flood = connection.request("".into()).await.unwrap().unwrap_err();
    assert_eq!(flood.code, "output_limit");
}

/// One run of `maps` on a deck: how it ended, and what it wrote.
async fn on_deck(dock: &Dock, deck: &dyn Deck, request: &[u8]) -> (Outcome, Vec<u8>) {
    let mut setup = Setup::profile("posix");
    deck.prepare(&mut setup);
    let session = dock.session("me", setup).unwrap();
    let stdin = deck.stream("stdin", &mut || Ok(Source::Bytes(request.to_vec().into()))).unwrap();
    let streams = Streams { stdin, stdout: Sink::capture(), stderr: Sink::capture(), ..Streams::default() };
    let (report, streams) = session.run_with("maps", &[""; 0], streams).await.unwrap();
    (report.outcome, streams.stdout.into_captured())
}

#[tokio::test]
async fn a_map_is_gone_through_again_from_its_tape() {
    let yard = yard();
    yard.dock.registry().add("maps", wat::parse_str(MAPS).unwrap(), ArgMode::Argv, None).unwrap();
    let request = wire("date", &["+%s.%N"], &["a", "b", "c", "d", "e"]);
    let recorder = Recorder::begin(RecordSettings::default());
    let told = on_deck(&yard.dock, &recorder, &request).await;
    let body = recorder.finish("ended", &[told.1.as_slice()]).unwrap();
    let player = Player::new(body.frames(), body.frames()).unwrap();
    let (dock, _) = yard.dock.replaying(&player);
    let again = on_deck(&dock, &player, b"another world").await;
    player.finish("ended", &[again.1.as_slice()]).unwrap();
    assert_eq!(told, again);
}
