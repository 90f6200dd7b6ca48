//! What a module imports of `env` and is answered in the run itself: the time, the log, files; and `host_parallel_map` as far
//! as the engine carries it. Sane calls, and those nobody sane would make.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::{fmt::Write as _, sync::Arc};

use common::{request, run};
use drydock_abi::{
    broker::{Answer, Blob, Failure},
    parallel::{MAP, MapAnswer, MapRequest, Mapped, encode_map},
};
use drydock_contract::{
    BoxFuture, Call, CallError, Cap, CapSet, Denial, Dispatch, GuestTime, Limits, LiveKind, Outcome, Reply,
    RunRequest, Streams, Tenant, Timestamp,
};
use drydock_engine::{IMPORTS, OWN_IMPORTS, SERVING_IMPORTS};
use drydock_store::MemoryFiles;
use drydock_testkit::guests;
use proptest::prelude::*;

/// Name and type in the text format. All but `host_now` answer 32 bits.
const TYPES: [(&str, &str); 9] = [
    ("host_now", "(result i64)"),
    ("host_log", "(param i32 i32) (result i32)"),
    ("host_error", "(param i32 i32) (result i32)"),
    ("host_reply", "(param i32 i32) (result i32)"),
    ("host_vfs_write", "(param i32 i32 i32 i32) (result i32)"),
    ("host_vfs_read", "(param i32 i32 i32 i32) (result i32)"),
    ("host_parallel_map", "(param i32 i32 i32 i32) (result i32)"),
    ("host_parallel_status", "(param i32) (result i32)"),
    ("host_commands", "(param i32 i32) (result i32)"),
];

/// Where a guest has its data; its results are before.
const DATA: u32 = 4_096;
/// Its memory ends here.
const END: i64 = 2 << 16;

/// A guest that makes these calls and writes their results, 64 bits each, and then so many bytes at [`DATA`].
fn guest(data: &[(u32, &[u8])], calls: &[(&str, &[i64])], shown: u32) -> String {
    let mut wat = String::from(
        r#"(module (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))"#,
    );
    for (name, ty) in TYPES.iter().filter(|it| calls.iter().any(|call| call.0 == it.0)) {
        write!(wat, r#" (import "env" "{name}" (func ${name} {ty}))"#).unwrap();
    }
    wat.push_str(r#" (memory (export "memory") 2)"#);
    for (at, bytes) in data {
        let text: String = bytes.iter().map(|it| format!("\\{it:02x}")).collect();
        write!(wat, r#" (data (i32.const {at}) "{text}")"#).unwrap();
    }
    wat.push_str(r#" (func (export "_start")"#);
    for (index, (name, args)) in calls.iter().enumerate() {
        let args: String = args.iter().map(|it| format!("(i32.const {})", *it as u32 as i32)).collect();
        let call = format!("(call ${name} {args})");
        let call = if *name == "host_now" { call } else { format!("(i64.extend_i32_s {call})") };
        write!(wat, " (i64.store (i32.const {}) {call})", index * 8).unwrap();
    }
    let results = calls.len() * 8;
    write!(
        wat,
        " (i32.store (i32.const 4064) (i32.const 0)) (i32.store (i32.const 4068) (i32.const {results}))
          (i32.store (i32.const 4072) (i32.const {DATA})) (i32.store (i32.const 4076) (i32.const {shown}))
          (drop (call $fd_write (i32.const 1) (i32.const 4064) (i32.const 2) (i32.const 4080)))))"
    )
    .unwrap();
    wat
}

/// What a run of it gave: results, bytes, stderr.
async fn answers(it: RunRequest, count: usize) -> (Vec<i64>, Vec<u8>, String) {
    let (report, streams) = run(it).await.unwrap();
    assert_eq!(report.outcome, Outcome::Exited(0));
    let out = streams.stdout.into_captured();
    let (results, shown) = out.split_at(count * 8);
    let results = results.chunks(8).map(|it| i64::from_le_bytes(it.try_into().unwrap())).collect();
    (results, shown.to_vec(), String::from_utf8(streams.stderr.into_captured()).unwrap())
}

async fn results(data: &[(u32, &[u8])], calls: &[(&str, &[i64])], shown: u32) -> (Vec<i64>, String) {
    let (results, shown, _) = answers(request(&guest(data, calls, shown)), calls.len()).await;
    (results, String::from_utf8_lossy(&shown).into_owned())
}

#[tokio::test]
async fn what_no_power_is_needed_for_is_there_for_commands_and_files_only_where_granted() {
    for (space, name, _, cap) in OWN_IMPORTS {
        let ty = TYPES.iter().find(|it| it.0 == *name).unwrap().1;
        let wat = guests::importing(space, name, ty);
        for caps in [CapSet::EMPTY, CapSet::of(&[Cap::Vfs]), CapSet::of(&[Cap::Exec])] {
            let it = RunRequest { caps, ..request(&wat) };
            assert_eq!(run(it).await.is_ok(), cap.is_none_or(|it| caps.contains(it)), "{name} with {caps:?}");
        }
    }
    let handler = r#"(module (import "env" "host_now" (func (result i64))) (memory (export "memory") 1)
      (func (export "alloc") (param i32) (result i32) i32.const 0)
      (func (export "handler") (param i32 i32 i32) (result i32) i32.const 0))"#;
    let artifact = drydock_contract::Artifact::hash(wat::parse_str(handler).unwrap());
    let refused = common::engine().check_live(&artifact, &LiveKind::Handler, Tenant::default()).await;
    assert_eq!(refused.unwrap_err().code(), "import_not_granted", "a handler has `alga` and nothing else");
}

#[tokio::test]
async fn the_time_is_that_of_the_runs_own_clock() {
    let wat = guest(&[], &[("host_now", &[]), ("host_now", &[])], 0);
    let it = RunRequest { time: GuestTime::Fixed(Timestamp(1_700_000_000_123_000_000)), ..request(&wat) };
    let (times, _, _) = answers(it, 2).await;
    assert_eq!(times, [1_700_000_000_123, 1_700_000_000_123]);
    let (times, _, _) = answers(request(&wat), 2).await;
    assert!(times[0] > 1_600_000_000_000 && times[1] >= times[0]);
}

#[tokio::test]
async fn a_line_of_the_log_is_one_line_behind_a_prefix() {
    let text: &[u8] = b"two\nlines \x1b[31mred\xff";
    let long = vec![b'x'; 9_000];
    let calls: [(&str, &[i64]); 6] = [
        ("host_log", &[4_096, text.len() as i64]),
        ("host_log", &[0, 0]),
        ("host_log", &[8_192, 9_000]),
        ("host_log", &[END - 1, 2]),
        ("host_log", &[4_096, -1]),
        ("host_error", &[64, 64]),
    ];
    let it = request(&guest(&[(DATA, text), (8_192, &long)], &calls, 0));
    let (results, _, said) = answers(it, calls.len()).await;
    assert_eq!(results, [text.len() as i64, 0, 9_000, -1, -1, 11]);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 3, "{said}");
    assert!(lines.iter().all(|it| it.starts_with("[log] ")), "{said}");
    assert!(!said.contains('\x1b'), "{said}");
    assert!(lines[2].len() < 8_300 && lines[2].ends_with("[…]"));
}

#[tokio::test]
async fn a_million_lines_are_a_thousand_and_then_refusals() {
    let wat = r#"(module (import "env" "host_log" (func $log (param i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
      (memory (export "memory") 1) (data (i32.const 0) "again")
      (func (export "_start") (local $n i32) (local $refused i32)
        (loop $again
          (local.set $refused (i32.add (local.get $refused) (i32.lt_s (call $log (i32.const 0) (i32.const 5)) (i32.const 0))))
          (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 1000000))))
        (call $exit (i32.ne (local.get $refused) (i32.const 999000)))))"#;
    let (report, streams) = run(request(wat)).await.unwrap();
    assert_eq!(report.outcome, Outcome::Exited(0));
    assert_eq!(streams.stderr.into_captured().len(), 1_000 * "[log] again\n".len());
}

#[tokio::test]
async fn files_of_the_session_are_written_and_read_whole() {
    let calls: [(&str, &[i64]); 9] = [
        ("host_vfs_write", &[4_096, 7, 4_200, 5]),
        ("host_vfs_read", &[4_103, 8, 4_300, 5]),
        ("host_vfs_read", &[4_096, 7, 4_300, 4]),
        ("host_error", &[4_400, 64]),
        ("host_vfs_read", &[4_111, 4, 4_300, 64]),
        ("host_error", &[4_420, 64]),
        ("host_vfs_write", &[4_096, 7, 4_200, 2]),
        ("host_vfs_read", &[4_096, 7, 4_310, 64]),
        ("host_vfs_read", &[4_115, 2, 4_310, 64]),
    ];
    // The second name is the first one seen from the root.
    let data: [(u32, &[u8]); 2] = [(DATA, b"a/b.txt/a/b.txtnone/a"), (4_200, b"bytes")];
    let files = Arc::new(MemoryFiles::with(Arc::new(drydock_contract::Meter::new(1 << 20))));
    let it = RunRequest { files: Some(files), ..request(&guest(&data, &calls, 512)) };
    let (results, shown, _) = answers(it, calls.len()).await;
    assert_eq!(results, [0, 5, -1, 15, -1, 9, 0, 2, -1]);
    let at = |at: usize, count: usize| String::from_utf8_lossy(&shown[at - 4_096..][..count]).into_owned();
    assert_eq!((at(4_300, 5).as_str(), at(4_310, 2).as_str()), ("bytes", "by"));
    assert_eq!((at(4_400, 15).as_str(), at(4_420, 9).as_str()), ("reply_too_large", "not_found"));
}

#[tokio::test]
async fn a_path_begins_at_the_working_directory_and_leads_nowhere_else() {
    let data: [(u32, &[u8]); 3] =
        [(DATA, b"x.txt../../../x.txt/dev/fd/0\xff"), (4_200, b"here"), (4_210, b"/w/d/x.txt")];
    let calls: [(&str, &[i64]); 5] = [
        ("host_vfs_write", &[4_096, 5, 4_200, 4]),
        ("host_vfs_read", &[4_210, 10, 4_300, 64]),
        ("host_vfs_read", &[4_115, 9, 4_310, 64]),
        ("host_vfs_write", &[4_115, 9, 4_200, 4]),
        ("host_vfs_read", &[4_124, 1, 4_310, 64]),
    ];
    let it = RunRequest { env: Arc::new([b"PWD=/w/d".to_vec()]), ..request(&guest(&data, &calls, 256)) };
    let (results, shown, _) = answers(it, calls.len()).await;
    assert_eq!(results, [0, 4, -1, -1, -1], "a stream is no file, and a name is text");
    assert_eq!(&shown[204..208], b"here");
    let out: [(&str, &[i64]); 1] = [("host_vfs_write", &[4_101, 14, 4_200, 4])];
    let (results, _) = self::results(&data, &out, 0).await;
    assert!(results[0] <= 0, "above the root is the root, or nothing");
}

#[tokio::test]
async fn a_file_limit_is_a_refusal_and_told_of_the_run() {
    let wat = r#"(module (import "env" "host_vfs_write" (func $write (param i32 i32 i32 i32) (result i32)))
      (import "env" "host_error" (func $error (param i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
      (memory (export "memory") 64) (data (i32.const 0) "big")
      (func (export "_start") (local $n i32)
        (loop $again
          (i32.store8 (i32.const 2) (i32.add (i32.const 33) (local.get $n)))
          (if (i32.lt_s (call $write (i32.const 0) (i32.const 3) (i32.const 64) (i32.const 4000000)) (i32.const 0))
            (then (call $exit (call $error (i32.const 16) (i32.const 64)))))
          (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 90))))))"#;
    let limits = Limits { memory_bytes_max: 16 << 20, ..Limits::default() };
    let (report, _) = run(RunRequest { limits, ..request(wat) }).await.unwrap();
    assert_eq!(report.outcome, Outcome::Exited("quota_exceeded".len() as i32));
    assert!(report.quota.is_some());
}

/// Answers a map as it was told to, and remembers whether it was asked in bytes.
struct Map(fn(MapRequest) -> Result<Answer<MapAnswer>, CallError>);

impl Dispatch for Map {
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async move {
            assert_eq!(call.operation, MAP);
            let Some(typed) = call.typed else { return Err(Denial::Malformed("in bytes".into()).into()) };
            let request = typed.value.downcast::<MapRequest>().unwrap();
            self.0(*request).map(|answer| Reply::of_value(answer, Streams::default()))
        })
    }
}

async fn mapped(
    wire: &[u8],
    cap: i64,
    answer: fn(MapRequest) -> Result<Answer<MapAnswer>, CallError>,
) -> (Vec<i64>, Vec<u8>) {
    let calls: [(&str, &[i64]); 5] = [
        ("host_parallel_map", &[8_192, wire.len() as i64, 4_096, cap]),
        ("host_parallel_status", &[0]),
        ("host_parallel_status", &[1]),
        ("host_parallel_status", &[2]),
        ("host_error", &[4_096 + 128, 64]),
    ];
    let it = RunRequest {
        caps: CapSet::of(&[Cap::Vfs, Cap::Parallel]),
        door: Arc::new(Map(answer)),
        ..request(&guest(&[(8_192, wire)], &calls, 192))
    };
    let (results, shown, _) = answers(it, calls.len()).await;
    (results, shown)
}

#[tokio::test]
async fn a_map_goes_and_comes_in_the_wire_of_the_seed() {
    let blobs = |parts: &[&str]| parts.iter().map(|it| Blob(it.as_bytes().to_vec())).collect();
    let request = MapRequest { command: "upper".into(), args: blobs(&["-x"]), inputs: blobs(&["a", "b"]) };
    let wire = encode_map(&request).unwrap();
    let answer = |asked: MapRequest| {
        assert_eq!((asked.command.as_str(), asked.args.len(), asked.inputs.len()), ("upper", 1, 2));
        let exited = Mapped::Exited { status: 3, stdout: Blob(b"AA".to_vec()) };
        let failed = Mapped::Failed { error: Failure::new("trapped", "") };
        Ok(Ok(MapAnswer { results: vec![exited, failed] }))
    };
    let (results, shown) = mapped(&wire, 64, answer).await;
    assert_eq!(results, [14, 3, -1, -1, 0]);
    assert_eq!(&shown[..14], b"\x02\0\0\0\x02\0\0\0AA\xff\xff\xff\xff");
    let (results, shown) = mapped(&wire, 13, answer).await;
    assert_eq!(results, [-1, 3, -1, -1, 15], "a byte too little");
    assert_eq!(&shown[128..143], b"reply_too_large");
    let denied = |_| Err(Denial::Revoked.into());
    let (results, shown) = mapped(&wire, 64, denied).await;
    assert_eq!((results[0], &shown[128..135]), (-1, &b"revoked"[..]));
    let (results, shown) = mapped(b"\x05\0\0\0upper\xff\xff\xff\xff", 64, denied).await;
    assert_eq!((results[0], &shown[128..137]), (-1, &b"malformed"[..]), "the gate says so, for the record");
}

fn argument() -> impl Strategy<Value = i64> {
    prop_oneof![
        3 => 0_i64..64,
        3 => 4_090_i64..4_200,
        2 => END - 40..END + 8,
        1 => Just(-1_i64),
        1 => Just(i64::from(i32::MIN)),
        1 => any::<u32>().prop_map(i64::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_pointer_or_length_of_a_guest_upsets_the_host(
        calls in prop::collection::vec((1_usize..TYPES.len() - 1, prop::array::uniform4(argument())), 1..24),
    ) {
        let calls: Vec<(&str, Vec<i64>)> = calls
            .iter()
            .map(|(which, args)| {
                let (name, ty) = TYPES[*which];
                (name, args[..ty.matches("i32").count() - 1].to_vec())
            })
            .collect();
        let calls: Vec<(&str, &[i64])> = calls.iter().map(|(name, args)| (*name, args.as_slice())).collect();
        let it = RunRequest {
            caps: CapSet::of(&[Cap::Vfs, Cap::Parallel]),
            door: Arc::new(Map(|_| Ok(Ok(MapAnswer { results: Vec::new() })))),
            ..request(&guest(&[(DATA, b"\x01\0\0\0x\0\0\0\0\0\0\0\0/a/b")], &calls, 0))
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let (report, _) = runtime.block_on(run(it)).unwrap();
        let fine = matches!(report.outcome, Outcome::Exited(0) | Outcome::OutOfMemory | Outcome::Trapped(_));
        prop_assert!(fine, "{}", report.outcome);
    }
}

/// What neither SDK has, and why.
const NOT_FOR_SDKS: [(&str, &str); 7] = [
    ("host_command", "its child has the caller's own streams: for what starts commands as a shell does"),
    ("http_start", "answers come in frames as they are: `host_http` has them whole"),
    ("http_read", "as `http_start`"),
    ("http_close", "as `http_start`"),
    ("tool_start", "tools are for programs of code mode, whose guest is ours"),
    ("tool_next", "as `tool_start`"),
    ("tool_wait", "as `tool_start`"),
];

#[test]
fn both_sdks_have_every_import_or_it_is_said_why_not() {
    let raw = include_str!("../../../sdk/rust-host/src/raw.rs");
    let header = include_str!("../../../sdk/c/drydock_host.h");
    let own = OWN_IMPORTS.iter().map(|it| it.1).chain(SERVING_IMPORTS.iter().map(|it| it.1));
    let all: Vec<&str> = IMPORTS.iter().map(|it| it.1).chain(own).collect();
    for name in &all {
        let wanted = !NOT_FOR_SDKS.iter().any(|it| it.0 == *name);
        assert_eq!(raw.contains(&format!("    {name}(")), wanted, "{name} in raw.rs");
        assert_eq!(header.contains(&format!("DRYDOCK_IMPORT(\"{name}\")")), wanted, "{name} in the header");
    }
    assert!(NOT_FOR_SDKS.iter().all(|it| all.contains(&it.0)), "each is an import");
}
