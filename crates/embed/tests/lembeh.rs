//! cap.exec.v1 and its siblings through the whole path: a guest, the engine, the hub, the gate, and commands behind it.
#![allow(clippy::unwrap_used)]

mod lembeh_room;

use std::{
    task::{Context, Poll},
    time::Duration,
};

use drydock_abi::lembeh::{
    exec::encode_start,
    net::{Connect, encode_connect},
};
use drydock_embed::{
    LEMBEH_LIMITS, LembehPolicy, LembehSetup,
    contract::{
        ByteSource, Cap, Digest, Limits, Outcome, Source, Timestamp,
        port::{OpenHow, TreePath},
    },
    gate::Class,
};
use lembeh_room::{FILTER, LembehRoom, PROBE, VIEW, hex, last, policy, with_input};

#[test]
fn the_example_guests_are_built_from_these_sources() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guests/lembeh");
    let mut files = vec!["Cargo.toml".to_owned(), "build.rs".to_owned()];
    for folder in ["src", "src/bin"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".rs") {
                files.push(format!("{folder}/{name}"));
            }
        }
    }
    files.sort();
    let line = |file: &String| format!("{}  {file}\n", Digest::of(&std::fs::read(root.join(file)).unwrap()));
    let sources = Digest::of(files.iter().map(line).collect::<String>().as_bytes()).to_string();
    let lock: serde_json::Value =
        serde_json::from_str(include_str!("lembeh_guests/guests.lock.json")).unwrap();
    assert_eq!(lock["sources_sha256"], sources, "run guests/lembeh/build.sh");
    for (name, bytes) in [("probe", PROBE), ("filter", FILTER), ("view", VIEW)] {
        assert_eq!(lock["guests"][name], Digest::of(bytes).to_string(), "{name}");
    }
}

#[tokio::test]
async fn a_program_is_started_read_and_asked_about() {
    let room = LembehRoom::new();
    let told = room
        .probe(
            &policy(""),
            "hub\nstart tools/echo 6 echo hi\nall 4\nread 4\nall 5\nwait 1\nstatus 1\nstart tools/false 0 false\nwait 2",
        )
        .await;
    let want = "hub: 3\nstart: 1 at 0 4 5\nall: 3 hi\n\nread: 0 \nall: 0 \nwait: 1 0\nstatus: 1 0\nstart: 2 at 0 0 0\nwait: 1 1\n";
    assert_eq!(told, want);
}

#[tokio::test]
async fn stdin_is_written_ended_and_closed_and_every_stream_has_its_direction() {
    let room = LembehRoom::new();
    let told = room
        .probe(
            &policy(""),
            "hub\nstart tools/cat 7 cat\nwrite 4 hello\nread 4\nwrite 5 x\nwrite 6 x\nend 5\nend 6\nend 4\nend 4\nwrite 4 x\n\
             all 5\nall 6\nread 5\nwait 1\nwrite 4 x\nread 9\nwrite 9 x\nend 9\nread -1\nwrite 0 x\nread 1\nread 2",
        )
        .await;
    let want = "hub: 3\nstart: 1 at 4 5 6\nwrite: 5\nread: -1\nwrite: -1\nwrite: -1\nend: ended\nend: ended\nend: ended\n\
                end: ended\nwrite: -1\nall: 5 hello\nall: 0 \nread: 0 \nwait: 1 0\nwrite: -1\nread: -1\nwrite: -1\nend: ended\n\
                read: -1\nwrite: -1\nread: -1\nread: -1\n";
    assert_eq!(told, want);
}

#[tokio::test]
async fn a_process_has_the_arguments_and_variables_it_was_given_in_their_order_and_no_others() {
    let room = LembehRoom::new();
    let script = "hub\nstart tools/env 2 env $Z=1 $A=2\nall 4\nstart tools/pwd 2 pwd\nall 5\nstart tools/echo 2 echo c a b\nall 6\n\
                  start tools/shout 3 shout\nwrite 7 loud\nend 7\nall 8";
    let told = room.probe(&policy(""), script).await;
    assert!(told.contains("all: 8 Z=1\nA=2\n\n"), "{told}");
    assert!(told.contains("all: 2 /\n\n"), "{told}");
    assert!(told.contains("all: 6 c a b\n\n"), "{told}");
    assert!(told.contains("all: 4 LOUD\n"), "an alias may have arguments of its own: {told}");
}

#[tokio::test]
async fn every_failure_of_a_start_is_produced_by_a_guest_under_a_policy() {
    let room = LembehRoom::new();
    let mut bad_text = encode_start("tools/echo", 0, &["a"], &[]).unwrap();
    let at = bad_text.iter().rposition(|byte| *byte == b'a').unwrap();
    bad_text[at] = 0xff;
    let bad_text = hex(&bad_text);
    let cases: &[(&str, String, String)] = &[
        ("t_cap_missing", "{}".into(), "start tools/echo 0 echo".into()),
        ("t_cap_denied", policy(r#""refused": ["exec"]"#), "start tools/echo 0 echo".into()),
        ("t_async_bad_params", policy(""), "call exec default exec.start.v1 00".into()),
        ("t_async_bad_params", policy(""), "start tools/echo 8 echo".into()),
        ("t_async_unknown_selector", policy(""), "call exec default exec.start.v2".into()),
        ("t_async_unsupported", policy(r#""disabled": ["exec.status.v1"]"#), "status 1".into()),
        ("t_exec_bad_encoding", policy(""), format!("call exec default exec.start.v1 {bad_text}")),
        ("t_exec_bad_prog", policy(""), "start tools/../sh 0 sh".into()),
        ("t_exec_bad_prog", policy(""), "start /bin/sh 0 sh".into()),
        ("t_exec_not_allowed", policy(""), "start tools/rm 0 rm".into()),
        ("t_exec_bad_args", policy(r#""max_args": 2"#), "start tools/echo 0 echo a b".into()),
        ("t_exec_bad_args", policy(r#""max_env": 1"#), "start tools/echo 0 echo $A=1 $B=2".into()),
        ("t_exec_bad_args", policy(r#""max_argv_bytes": 5"#), "start tools/echo 0 echo ab".into()),
        ("t_exec_tty_denied", policy(""), "start tools/top 0 top".into()),
        ("t_exec_too_many_handles", policy(r#""max_handles": 2"#), "start tools/cat 7 cat".into()),
        (
            "t_exec_limits",
            policy(r#""max_starts": 1"#),
            "start tools/echo 0 echo\nstart tools/echo 0 echo".into(),
        ),
        (
            "t_exec_busy",
            policy(r#""max_processes": 1"#),
            "start tools/cat 1 cat\nstart tools/echo 0 echo".into(),
        ),
        ("t_exec_not_found", r#"{"allowlist": ["tools/ghost"]}"#.into(), "start tools/ghost 0 ghost".into()),
        ("t_exec_not_found", r#"{"programs": {"a": "no-such-command"}}"#.into(), "start a 0 a".into()),
        ("t_ctl_timeout", policy(r#""start_timeout_ms": 0"#), "start tools/echo 0 echo".into()),
        ("t_cap_missing", "{}".into(), "status 1".into()),
        ("t_cap_denied", policy(r#""refused": ["exec"]"#), "status 1".into()),
        ("t_async_bad_params", policy(""), "call exec default exec.status.v1 0100000000".into()),
        ("t_exec_not_found", policy(""), "status 1".into()),
        (
            "t_exec_not_listable",
            policy(r#""status_listable": false"#),
            "start tools/echo 0 echo\nstatus 1".into(),
        ),
    ];
    for (want, policy, lines) in cases {
        let told = room.probe(policy, &format!("hub\n{lines}")).await;
        assert!(last(&told).ends_with(&format!(": {want}")), "{want} {policy} {lines}\n{told}");
    }
}

#[tokio::test]
async fn a_stream_that_the_guests_memory_does_not_pay_for_is_an_overflow() {
    let room = LembehRoom::new();
    let policy = policy(r#""hub": {"max_payload_bytes": 4096}"#);
    let run = room.run(PROBE, &policy, with_input("hub")).await.unwrap();
    let limits = Limits { memory_bytes_max: run.report.memory_bytes + (70 << 10), ..LEMBEH_LIMITS };
    let setup = LembehSetup { limits, ..with_input("hub\nstart tools/echo 6 echo\nstart tools/echo 2 echo") };
    let run = room.run(PROBE, &policy, setup).await.unwrap();
    let told = String::from_utf8(run.stdout).unwrap();
    assert_eq!(told, "hub: 3\nstart: t_async_overflow\nstart: 1 at 0 4 0\n", "nothing of the first is left");
}

#[tokio::test]
async fn limits_end_a_process_by_their_codes_and_close_its_streams() {
    let room = LembehRoom::new();
    let cases = [
        // Exactly as many bytes as there may be, and then the end.
        (
            r#""max_stdout_bytes": 10"#,
            "start tools/yes 2 yes\nall 4\nwait 1",
            "all: 10 y\ny\ny\ny\ny\n\nwait: 2 125\n",
        ),
        (r#""time_limit_ms": 60"#, "start tools/sleep 2 sleep 1000\nall 4\nwait 1", "all: 0 \nwait: 3 124\n"),
        (r#""cpu_time_ms": 1"#, "start tools/seq 0 seq 1 100000000\nwait 1", "wait: 2 125\n"),
        (r#""mem_limit_bytes": 65536"#, "start tools/cat 0 cat\nwait 1", "wait: 2 125\n"),
        // A reader that never comes: the producer waits until its time is over, and holds no more than its pipe, which the
        // guest can still read.
        (r#""time_limit_ms": 300"#, "start tools/yes 2 yes\nwait 1\nall 4", "wait: 3 124\nall: 65536 y\ny\n"),
        // No limit: more than there is room for anywhere goes through.
        (
            r#""max_stdin_bytes": 0"#,
            "start tools/wc 3 wc\nfill 4 17000000\nend 4\nall 5\nwait 1",
            "fill: 17000000\nend: ended\nall: 9 17000000\n\nwait: 1 0\n",
        ),
        (
            r#""max_stdin_bytes": 4"#,
            "start tools/cat 3 cat\nfill 4 10\nend 4\nall 5\nwait 1",
            "fill: 4 and -1\n",
        ),
        ("", "start tools/echo 1 echo\nwait 1\nwrite 4 x", "write: -1\n"),
    ];
    for (limit, script, want) in cases {
        let told = room.probe(&policy(limit), &format!("hub\n{script}")).await;
        assert!(told.contains(want), "{limit} {script}\n{told}");
    }
}

#[tokio::test]
async fn what_the_control_plane_tells_is_what_the_policy_has() {
    let room = LembehRoom::new();
    let none = room.probe("{}", "caps\ndescribe exec default").await;
    assert_eq!(none, "caps: async/default=13 \ndescribe: Trace(\"t_cap_missing\")\n");
    let all = policy(
        r#""files": {}, "hosts": ["127.0.0.1:9"], "config": {"a": "b"}, "refused": ["net"], "max_args": 7"#,
    );
    let told = room.probe(&all, "caps\ndescribe exec default\ndescribe net tcp").await;
    let mut lines = told.lines();
    assert_eq!(lines.next(), Some("caps: async/default=13 config/default=2 exec/default=12 file/view=12 "));
    let exec: serde_json::Value = serde_json::from_str(&lines.next().unwrap()["describe: ".len()..]).unwrap();
    assert_eq!((&exec["max_args"], &exec["flags"]), (&7.into(), &1.into()));
    assert_eq!(lines.next(), Some("describe: Trace(\"t_cap_missing\")"));
}

#[tokio::test]
async fn bad_frames_of_the_control_plane_get_their_answers_and_hubs_are_bounded() {
    let room = LembehRoom::new();
    let list = |magic: &str, version: &str, op: &str, flags: &str, length: &str| {
        format!("{magic}{version}{op}0900000000000000{flags}{length}")
    };
    let ok = list("5a434c31", "0100", "0100", "00000000", "00000000");
    let open = "5a434c310100030009000000000000000000000019000000050000006173796e630700000064656661756c740100000000000000";
    let open = open.replace("19000000050000006173", "1c000000050000006173");
    let cases = [
        (ok.clone(), 999, "ok"),
        (ok.clone(), 20, "-1"),
        (ok[..22].to_owned(), 999, "-1"),
        (ok[..24].to_owned(), 999, "t_ctl_bad_frame"),
        (list("5a434c32", "0100", "0100", "00000000", "00000000"), 999, "t_ctl_bad_frame"),
        (list("5a434c31", "0200", "0100", "00000000", "00000000"), 999, "t_ctl_bad_version"),
        (list("5a434c31", "0100", "0100", "01000000", "00000000"), 999, "t_ctl_bad_frame"),
        (list("5a434c31", "0100", "0100", "00000000", "ffffffff"), 999, "t_ctl_bad_frame"),
        (list("5a434c31", "0100", "0a00", "00000000", "00000000"), 999, "t_ctl_unknown_op"),
        (format!("{}00", list("5a434c31", "0100", "0100", "00000000", "01000000")), 999, "t_ctl_bad_params"),
    ];
    for (frame, most, want) in cases {
        let told = room.probe("{}", &format!("ctl {frame} {most}")).await;
        assert!(told.contains(want), "{frame} {want}: {told}");
    }
    let opens = format!("ctl {open} 20\n{}", format!("ctl {open} 999\n").repeat(9));
    let told = room.probe(r#"{"hub": {"max_payload_bytes": 4096}}"#, &opens).await;
    assert!(told.starts_with("ctl: -1\n"), "an answer without room opens nothing: {told}");
    assert_eq!(told.matches("ok 28 bytes").count(), 8, "{told}");
    assert!(told.ends_with("Trace(\"t_ctl_overflow\")\n"), "{told}");
}

#[tokio::test]
async fn frames_that_are_none_are_answered_and_the_guest_goes_on() {
    let room = LembehRoom::new();
    let header = |magic: &str, kind: &str, op: &str, request: &str, future: &str, length: &str| {
        format!(
            "{magic}0100{kind}{op}0000{request}00000000000000{zero}{zero}{future}00000000000000{length}",
            zero = "0000000000000000"
        )
    };
    let register = |future: &str, length: &str| header("5a415831", "0100", "0100", "07", future, length);
    let cases = [
        // Cut at every byte.
        (
            hex_bytes(&header("5a415831", "0100", "0200", "07", "01", "00000000"))
                .iter()
                .map(|it| format!("frame {it}\n"))
                .collect::<String>()
                + "next",
            "Fail(7, \"t_async_missing_future\")",
        ),
        (
            format!("frame {}\nnext", header("5a415831", "0200", "6500", "07", "00", "00000000")),
            "Fail(7, \"t_async_bad_frame\")",
        ),
        (
            format!("frame {}\nnext", header("5a415831", "0100", "0900", "07", "00", "00000000")),
            "Fail(7, \"t_async_unknown_op\")",
        ),
        (format!("frame {}\nnext", register("00", "00000000")), "Fail(7, \"t_async_bad_params\")"),
        // Four gigabytes: passed over, and never held.
        (format!("frame {}\nnext", register("01", "ffffffff")), "Fail(7, \"t_async_payload\")"),
        (format!("frame {}\nnext\nnext", register("01", "00000000")), "Failed(1, \"t_async_bad_params\")"),
        (
            format!(
                "frame {}\nnext\nread 3\nframe 00",
                header("00000000", "0100", "0100", "07", "01", "00000000")
            ),
            "read: 0 \nframe: -1",
        ),
        // Two in one write.
        (
            format!(
                "frame {}{}\nnext\nnext",
                header("5a415831", "0100", "0200", "07", "01", "00000000"),
                header("5a415831", "0100", "0200", "08", "02", "00000000")
            ),
            "Fail(8, \"t_async_missing_future\")",
        ),
        // Nothing can ever come.
        ("read 3".into(), "read: -1"),
        ("end 3\nend 3\nread 3\nframe 00".into(), "read: 0 \nframe: -1"),
    ];
    for (script, want) in cases {
        let told = room.probe(&policy(""), &format!("hub\n{script}")).await;
        assert!(told.contains(want), "{script}\n{told}");
    }
}

fn hex_bytes(hex: &str) -> Vec<String> {
    hex.as_bytes().chunks(2).map(|it| String::from_utf8(it.to_vec()).unwrap()).collect()
}

#[tokio::test]
async fn connections_are_judged_before_they_are_dialled_bounded_and_free_again_when_they_are_closed() {
    let room = LembehRoom::new();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let accepting = tokio::spawn(async move {
        use tokio::io::AsyncReadExt as _;
        let mut streams = tokio::task::JoinSet::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            streams.spawn(async move { stream.read_to_end(&mut Vec::new()).await });
        }
    });
    let wire = encode_connect(&Connect { host: "127.0.0.1", port, connect_flags: 0 }).unwrap();
    let call = format!("call net tcp net.tcp.connect.v1 {}", hex(&wire));
    let policy = format!(r#"{{"hosts": {{"allowlist": ["127.0.0.1:{port}"], "max_conns": 1}}}}"#);
    let told = room.probe(&policy, &format!("hub\n{call}\n{call}\nend 4\nall 4\n{call}")).await;
    let want = "hub: 3\ncall: 040000000700000000000000\ncall: t_async_overflow\nend: ended\nall: 0 \n\
                call: 050000000700000000000000\n";
    assert_eq!(told, want);
    let denied = room.probe(r#"{"hosts": ["127.0.0.1:9"]}"#, &format!("hub\n{call}")).await;
    assert!(denied.ends_with("t_net_denied\n"), "{denied}");
    accepting.abort();
    assert!(accepting.await.unwrap_err().is_cancelled());
    let gone = room.probe(&policy, &format!("hub\n{call}")).await;
    assert!(gone.ends_with("t_net_unreachable\n"), "{gone}");
}

#[tokio::test]
async fn what_a_guest_starts_has_no_network_wherever_the_guest_itself_may_connect_to() {
    let room = LembehRoom::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let programs = format!(
        r#""programs": {{"tools/send": "tcp-send 127.0.0.1 {port} hello", "tools/curl": "curl -s http://127.0.0.1:{port}/"}}"#
    );
    let hosts = format!(r#""hosts": ["127.0.0.1:{port}"]"#);
    let script = "hub\ndescribe exec default\nstart tools/send 6 send\nall 4\nall 5\nwait 1\nstart tools/curl 6 curl\nall 6\n\
                  all 7\nwait 2";
    for more in [hosts.clone(), format!(r#"{hosts}, "refused": ["net"]"#), r#""max_args": 9"#.to_owned()] {
        let told = room.probe(&format!("{{{programs}, {more}}}"), script).await;
        assert!(told.contains(r#""flags":1"#), "{more}: {told}");
        assert_eq!(told.matches("wait: ").count(), 2, "{more}: {told}");
        assert!(!told.contains("wait: 1 0"), "neither reached anybody: {more}: {told}");
        let nobody = listener.accept().unwrap_err();
        assert_eq!(nobody.kind(), std::io::ErrorKind::WouldBlock, "{more}: {told}");
    }
    // The guest itself does.
    let wire = encode_connect(&Connect { host: "127.0.0.1", port, connect_flags: 0 }).unwrap();
    let call = format!("hub\ncall net tcp net.tcp.connect.v1 {}", hex(&wire));
    let told = room.probe(&format!("{{{programs}, {hosts}}}"), &call).await;
    assert!(told.ends_with("call: 040000000700000000000000\n"), "{told}");
    listener.accept().unwrap();
    let refused = room.probe(&format!(r#"{{{hosts}, "refused": ["net"]}}"#), &call).await;
    assert!(refused.ends_with("call: t_cap_denied\n"), "{refused}");
}

#[tokio::test]
async fn a_connection_carries_bytes_both_ways_and_its_end_is_a_half_close() {
    let room = LembehRoom::new();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await.unwrap();
        all.reverse();
        stream.write_all(&all).await.unwrap();
    });
    let wire = encode_connect(&Connect { host: "127.0.0.1", port, connect_flags: 0xf0 }).unwrap();
    let policy = format!(r#"{{"hosts": ["127.0.0.1:{port}"]}}"#);
    let script = format!(
        "hub\ncall net tcp net.tcp.connect.v1 {}\nwrite 4 abc\nend 4\nend 4\nwrite 4 x\nall 4\nread 4",
        hex(&wire)
    );
    let told = room.probe(&policy, &script).await;
    let want =
        "call: 040000000700000000000000\nwrite: 3\nend: ended\nend: ended\nwrite: -1\nall: 3 cba\nread: 0 \n";
    assert!(told.ends_with(want), "{told}");
}

#[tokio::test]
async fn files_are_seen_read_only_and_the_configuration_is_read() {
    let room = LembehRoom::new();
    let tree = lembeh_room::tree();
    for (name, text) in [("b.txt", "bee\n"), ("a.txt", "ay\n"), ("c.bin", "no\n")] {
        let how = OpenHow { write: true, create: true, ..OpenHow::NONE };
        let file = tree.open(&TreePath::new(name).unwrap(), how, Timestamp(0)).unwrap();
        file.append(text.as_bytes(), Timestamp(0)).unwrap();
    }
    let policy = r#"{"files": {"extensions": [".txt"]}, "config": {"greeting": "hello\n"}}"#;
    let setup = || LembehSetup { files: Some(tree.clone()), ..LembehSetup::default() };
    let run = room.run(VIEW, policy, setup()).await.unwrap();
    assert_eq!(String::from_utf8(run.stdout).unwrap(), "a.txt:\nay\nb.txt:\nbee\nhello\n");
    let open = |name: &str| hex(&drydock_abi::lembeh::files::encode_open(name.as_bytes()).unwrap());
    let script = format!(
        "hub\ncall file view files.open.v1 {}\nwrite 4 x\nend 4\nread 4 2\nall 4\nread 4\ncall file view files.open.v1 {}\n\
         call file view files.list.v1 020000002e2e\ncall file view files.list.v1 0400000064656570",
        open("a.txt"),
        open("c.bin")
    );
    let setup = LembehSetup { files: Some(tree), ..with_input(&script) };
    let run = room.run(PROBE, policy, setup).await.unwrap();
    let want = "call: 040000000100000000000000\nwrite: -1\nend: ended\nread: 2 ay\nall: 1 \n\nread: 0 \ncall: t_file_not_found\n\
                call: t_async_bad_params\ncall: t_file_denied\n";
    assert_eq!(String::from_utf8(run.stdout).unwrap(), format!("hub: 3\n{want}"));
    // As long as describe says that a value may be, and one byte longer.
    let (fits, long) = ("f".repeat(32_764), "l".repeat(32_765));
    let policy = format!(r#"{{"config": {{"fits": "{fits}", "long": "{long}"}}}}"#);
    let get = |key: &str| hex(&drydock_abi::lembeh::config::encode_params(key).unwrap());
    let script = format!(
        "hub\ncall config default config.get.v1 {}\ncall config default config.get.v1 {}",
        get("fits"),
        get("long")
    );
    let told = room.probe(&policy, &script).await;
    assert!(told.contains("call: fc7f000066666666"), "{}", &told[..80]);
    assert!(told.ends_with("\ncall: t_async_overflow\n"), "{}", last(&told));
}

#[tokio::test]
async fn a_guest_passes_its_input_through_a_program() {
    let room = LembehRoom::new();
    let policy = r#"{"programs": {"tools/filter": "tr a-z A-Z"}}"#;
    let run = room.run(FILTER, policy, with_input("to be said\nloudly\n")).await.unwrap();
    assert_eq!(String::from_utf8(run.stdout).unwrap(), "TO BE SAID\nLOUDLY\n");
    assert_eq!(String::from_utf8(run.stderr).unwrap(), "filter: done\n");
    let run = room.run(FILTER, "{}", with_input("x")).await.unwrap();
    assert_eq!(String::from_utf8(run.stderr).unwrap(), "filter: t_cap_missing\n");
}

#[tokio::test]
async fn many_processes_leave_nothing_behind() {
    let room = LembehRoom::new();
    let script = "start tools/cat 1 cat\n".repeat(40);
    let told = room.probe(&policy(""), &format!("hub\n{script}")).await;
    assert_eq!(told.matches("t_exec_busy").count(), 8, "32 of them wait for input: {told}");
    // They ended with their guest: the next one has all the room again.
    let again = room.probe(&policy(""), &format!("hub\n{}", "start tools/cat 1 cat\n".repeat(32))).await;
    assert_eq!(again.matches("t_exec_busy").count(), 0, "{again}");
}

/// Input that never comes.
struct Never;

impl ByteSource for Never {
    fn poll_read(&mut self, _: &mut Context<'_>, _: &mut [u8]) -> Poll<std::io::Result<usize>> {
        Poll::Pending
    }
}

#[tokio::test]
async fn a_read_that_waits_is_ended_by_the_guests_own_deadline() {
    let room = LembehRoom::new();
    let limits = Limits { wall_max: Duration::from_millis(200), ..LEMBEH_LIMITS };
    let stdin = Source::Stream(Box::new(Never));
    let run = room.run(PROBE, "{}", LembehSetup { limits, stdin, ..LembehSetup::default() }).await.unwrap();
    assert_eq!((run.report.outcome, run.stdout), (Outcome::TimedOut, Vec::new()));
}

#[tokio::test]
async fn streams_of_a_process_are_two_and_each_is_in_its_order_however_it_is_read() {
    let room = LembehRoom::new();
    let both = "hub\nstart tools/cat 7 cat - /missing\nwrite 4 out\nend 4\nall 5\nall 6\nwait 1";
    let told = room.probe(&policy(""), both).await;
    assert!(told.contains("\nall: 3 out\nall: "), "{told}");
    let error = told.split("all: 3 out\n").nth(1).unwrap();
    assert!(
        error.contains("missing") && !error.contains("out\n") && error.ends_with("wait: 1 1\n"),
        "{told}"
    );
    // In pieces of lengths that fit nothing.
    let want: String = (1..=30_000).map(|it| format!("{it}\n")).collect();
    let reads: String = (0..2_500).map(|at| format!("read 4 {}\n", 1 + at * 37 % 191)).collect();
    let setup = with_input(&format!("hub\nstart tools/seq 2 seq 1 30000\n{reads}all 4"));
    let run = room.run(PROBE, &policy(""), setup).await.unwrap();
    let mut rest = run.stdout.splitn(3, |it| *it == b'\n').nth(2).unwrap();
    let mut got = Vec::new();
    while let Some(at) = rest.iter().position(|it| *it == b':') {
        // `read: COUNT BYTES` and the end of the line.
        let words = &rest[at + 2..];
        let space = words.iter().position(|it| *it == b' ').unwrap();
        let count: usize = std::str::from_utf8(&words[..space]).unwrap().parse().unwrap();
        got.extend_from_slice(&words[space + 1..space + 1 + count]);
        rest = &words[space + count + 2..];
    }
    assert_eq!(String::from_utf8(got).unwrap(), want);
}

#[tokio::test]
async fn a_process_sees_no_file_of_its_guest_and_none_of_the_host() {
    let room = LembehRoom::new();
    let tree = lembeh_room::tree();
    let how = OpenHow { write: true, create: true, ..OpenHow::NONE };
    let file = tree.open(&TreePath::new("seen.txt").unwrap(), how, Timestamp(0)).unwrap();
    file.append(b"the guest's", Timestamp(0)).unwrap();
    let policy = r#"{"programs": {"tools/ls": "ls", "tools/cat": "cat"}, "files": {}}"#;
    let script = "hub\ncall file view files.list.v1 00000000\nstart tools/ls 6 ls -a /\nall 4\nall 5\nwait 1\n\
                  start tools/cat 6 cat /seen.txt /etc/passwd /proc/self/environ\nall 6\nall 7\nwait 2";
    let setup = LembehSetup { files: Some(tree), ..with_input(script) };
    let run = room.run(PROBE, policy, setup).await.unwrap();
    let told = String::from_utf8(run.stdout).unwrap();
    let after = told.split("start: 1 at").nth(1).unwrap();
    let (listed, read) = after.split_once("start: 2 at").unwrap();
    assert!(listed.contains("all: ") && !listed.contains("seen") && !listed.contains("etc"), "{told}");
    assert!(read.contains("all: 0 \n") && read.ends_with("wait: 1 1\n"), "nothing is read: {told}");
}

#[tokio::test]
async fn a_process_that_loses_what_it_may_do_while_it_runs_is_told_as_killed() {
    let room = LembehRoom::new();
    let policy = LembehPolicy::parse(policy("").as_bytes()).unwrap();
    let session = room.dock.lembeh_session("me", &policy, None).unwrap();
    let module = room.dock.hand_over(PROBE.to_vec()).await;
    let script = "hub\nstart tools/sleep 2 sleep 1000\nall 4\nwait 1\nstatus 1";
    let setup = LembehSetup { policy, ..with_input(script) };
    let revoking = async {
        // The guest is a run, and so is its process once it is past the gate.
        while session.inner().own_in_flight(Class::Run) < 2 {
            tokio::task::yield_now().await;
        }
        for grant in session.inner().grants().iter().filter(|it| it.cap() == Cap::Exec) {
            grant.revoke();
        }
    };
    let run = async { tokio::join!(room.dock.run_lembeh(&session, &module, setup), revoking).0 };
    let run = tokio::time::timeout(lembeh_room::HANG, run).await.unwrap().unwrap();
    let told = String::from_utf8(run.stdout).unwrap();
    assert!(told.ends_with("all: 0 \nwait: 4 137\nstatus: 4 137\n"), "{told}");
    assert_eq!(session.inner().own_in_flight(Class::Process), 0);
}

#[tokio::test]
async fn nothing_of_arguments_variables_or_input_is_in_the_journal() {
    let room = LembehRoom::new();
    room.probe(
        &policy(""),
        "hub\nstart tools/cat 3 cat hunter2arg $KEY=hunter2env\nwrite 4 hunter2in\nend 4\nwait 1\n\
         start tools/rm 0 rm hunter2arg $KEY=hunter2env\nstart tools/top 0 top hunter2arg $KEY=hunter2env\n\
         start tools/none 0 none hunter2arg $KEY=hunter2env\nstart tools/false 0 false hunter2arg $KEY=hunter2env\nwait 2",
    )
    .await;
    // A start that the gate refuses, and one that fails.
    for limit in [r#""max_processes": 0"#, r#""mem_limit_bytes": 65536"#, r#""start_timeout_ms": 0"#] {
        room.probe(&policy(limit), "hub\nstart tools/cat 0 cat hunter2arg $KEY=hunter2env\nwait 1").await;
    }
    room.dock.gate().flush().unwrap();
    let mut folders = vec![room.dock.home().root().to_path_buf()];
    let mut found = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_none_or(|it| it != "cwasm") {
                found += 1;
                let bytes = std::fs::read(&path).unwrap();
                assert!(!String::from_utf8_lossy(&bytes).contains("hunter2"), "{}", path.display());
            }
        }
    }
    assert!(found > 0, "there is a journal");
}
