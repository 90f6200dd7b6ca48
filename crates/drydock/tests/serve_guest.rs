//! `drydock serve-guest`: the host listens, the guest answers; over HTTP and with bytes, well behaved and not.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, TcpStream},
};

use common::{Shell, server::Server};
use drydock_testkit::guests;

/// Echoes, but for paths that begin with a letter: `/t` traps, `/l` loops, `/f` says that it failed, `/b` answers bytes
/// without a head, `/s` a status that is none.
fn moody() -> String {
    let on = |letter: char, then: &str| {
        let code = letter as u32;
        format!("(if (i32.eq (i32.load8_u (i32.const 4119)) (i32.const {code})) (then {then}))")
    };
    let cases = [
        on('t', "unreachable"),
        on('l', "(loop $again (br $again))"),
        on('f', "(return (i32.const 3))"),
        on('b', "(return (call $set (i32.const 5000000) (i32.const 8)))"),
        on('s', "(return (call $set (i32.const 5000008) (i32.const 9)))"),
    ];
    let body =
        format!("(drop (call $get (i32.const 4114) (i32.const 2000000))) {} (call $echo)", cases.concat());
    guests::serving(&body).replacen(
        "(func $echo",
        r#"(data (i32.const 5000000) "no\00\ffhead77\n\nfine\n") (func $echo"#,
        1,
    )
}

fn start(shell: &Shell, more: &[&str]) -> Server {
    Server::start_as(shell, &["serve-guest", "--listen", "0"], more)
}

#[test]
fn a_guest_answers_over_http_and_what_it_gets_wrong_is_a_502_and_nobody_elses_trouble() {
    let shell = Shell::new();
    let file = shell.file("shop.wat", moody());
    let mut server = start(&shell, &["--timeout", "300ms", &file]);
    let answer = server.ask("POST", "/x?y=1", &[("x-one", "1"), ("host", "a.test")], b"two\n\nthree");
    assert_eq!((answer.status, answer.header("x-guest")), (201, Some("yes")));
    let text = answer.text();
    assert!(text.starts_with("POST /x?y=1\n") && text.ends_with("\n\ntwo\n\nthree"), "{text}");
    assert!(text.contains("\nx-one: 1\n") && text.contains("\nhost: a.test\n"), "{text}");
    for path in ["/trap", "/loop", "/fail"] {
        let answer = server.get(path);
        assert_eq!((answer.status, answer.text().as_str()), (502, "guest handler error"), "{path}");
        assert_eq!(server.get("/x").status, 201);
    }
    let bytes = server.get("/bytes");
    assert_eq!((bytes.status, bytes.body.as_slice()), (200, &b"no\0\xffhead"[..]));
    let odd = server.get("/status");
    assert_eq!((odd.status, odd.text().as_str()), (200, "fine\n"));
    let large = vec![b'x'; (1 << 20) + 1];
    assert_eq!(server.ask("POST", "/x", &[], &large).status, 413);
    assert_eq!(server.get("/x").status, 201);
    server.signal("-INT");
    assert_eq!(server.wait(), 0);
    let audit = shell.run(&["audit"]).stdout;
    assert!(audit.contains("serve.listen") && audit.contains("serve.request"), "{audit}");
    assert!(audit.contains("too_large"), "{audit}");
}

fn exchange(server: &Server, sent: &[u8], shut: bool) -> Vec<u8> {
    let mut stream = server.connect();
    stream.write_all(sent).unwrap();
    if shut {
        stream.shutdown(Shutdown::Write).unwrap();
    }
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

#[test]
fn a_registered_command_answers_bytes_with_bytes() {
    let shell = Shell::new();
    let server = start(&shell, &["--tcp", "--command", "tr", "--", "a-z", "A-Z; rm -rf /"]);
    assert_eq!(exchange(&server, b"abc", true), b"ABC");
    assert_eq!(exchange(&server, b"a gap is an end", false), b"A GAP IS AN END");
    let binary: Vec<u8> = (128..=255).collect();
    assert_eq!(exchange(&server, &binary, true), binary);
    drop(server.connect());
    // Cut off in the middle of what is too much.
    let mut stream = server.connect();
    let _ = stream.write_all(&vec![b'x'; (1 << 20) + (64 << 10)]);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(answer.is_empty());
    assert_eq!(exchange(&server, b"still here", true), b"STILL HERE");
}

#[test]
fn ten_thousand_connections_hurt_nobody() {
    let shell = Shell::new();
    let file = shell.file("shop.wat", guests::serving_echo());
    let server = start(&shell, &[&file]);
    let mut held: Vec<TcpStream> = Vec::new();
    for number in 0..10_000 {
        let stream = server.connect();
        // A hundred of them stay, and say nothing.
        if number % 100 == 0 {
            held.push(stream);
        }
    }
    assert_eq!(server.get("/").status, 201, "beside {} that are open", held.len());
}

#[test]
fn a_client_has_its_rate_and_a_port_that_is_taken_is_said() {
    let shell = Shell::new();
    let file = shell.file("shop.wat", guests::serving_echo());
    let server = start(&shell, &["--client-calls", "2", &file]);
    let statuses = [0; 8].map(|_| server.get("/").status);
    assert_eq!(statuses[..2], [201, 201]);
    // A window may end in between, once.
    assert!(statuses.iter().filter(|it| **it == 429).count() >= 4, "{statuses:?}");
    assert!(statuses.iter().all(|it| matches!(it, 201 | 429)), "{statuses:?}");
    let port = server.port.to_string();
    let taken = shell.run(&["serve-guest", "--name", "other", "--listen", &port, &file]);
    assert_eq!(taken.status, 125, "{}", taken.all());
    assert!(taken.stderr.contains(&format!("could not listen on 127.0.0.1:{port}")), "{}", taken.all());
}

#[test]
fn a_guest_that_cannot_serve_never_listens() {
    let shell = Shell::new();
    let exec = r#"(module (import "env" "host_exec" (func (param i32 i32 i32 i32) (result i32)))
      (memory (export "memory") 1) (func (export "handle")))"#;
    let file = shell.file("exec.wat", exec);
    let said = shell.run(&["serve-guest", "--listen", "0", "--profile", "compute", &file]);
    assert!(
        said.status != 0 && said.stderr.contains("import_not_granted") && said.stdout.is_empty(),
        "{}",
        said.all()
    );
    let none = shell.file("none.wat", "(module (memory (export \"memory\") 1))");
    let said = shell.run(&["serve-guest", "--listen", "0", "--json", &none]);
    assert!(said.status != 0 && said.stdout.contains("bad_module"), "{}", said.all());
    let two = shell.run(&["serve-guest", &file, &none]);
    assert!(two.status != 0 && two.stderr.contains("--command"), "{}", two.all());
}

#[test]
fn flags_may_stand_behind_a_file_and_behind_a_command() {
    let shell = Shell::new();
    let file = shell.file("shop.wat", guests::serving_echo());
    let of_file = Server::start_as(&shell, &["serve-guest", &file, "--listen", "0"], &["--name", "mine"]);
    assert_eq!(of_file.get("/").status, 201);
    let of_command =
        Server::start_as(&shell, &["serve-guest", "--tcp", "--command", "rev"], &["--listen", "0"]);
    assert_eq!(exchange(&of_command, b"abc", true), b"cba");
    let words = &["--command", "grep", "--listen", "0", "--", "-c", "x"];
    let with_flags = Server::start_as(&shell, &["serve-guest", "--tcp"], words);
    assert_eq!(exchange(&with_flags, b"x\ny\nx\n", true), b"2\n");
}

#[test]
fn what_no_request_could_use_is_told_at_the_start() {
    let shell = Shell::new();
    let file = shell.file("shop.wat", guests::serving_echo());
    for (args, status, told) in [
        (&["--command", "nosuch"][..], 127, "unknown command `nosuch`"),
        (&["--command", "nosuch", "--json"], 127, "unknown_command"),
        (&["--command", "tr", "a-z", "A-Z"], 125, "--command tr -- a-z"),
        (&["--allow-secret", "NONE", &file], 125, "drydock secret keep NONE"),
        (&[&file, "--", "x"], 125, "--command"),
        (&[], 2, "FILE"),
    ] {
        let said = shell.run(&[&["serve-guest", "--listen", "0"], args].concat());
        assert!(said.status == status && said.all().contains(told), "{args:?}: {}", said.all());
        assert!(!said.stdout.contains("listening"), "{args:?}: {}", said.all());
    }
}

#[test]
fn revoking_it_closes_the_listener_and_every_connection() {
    let shell = Shell::new();
    let file = shell.file("shop.wat", guests::serving_echo());
    let mut server = start(&shell, &[&file]);
    let mut idle = server.connect();
    assert_eq!(server.get("/").status, 201);
    assert_eq!(shell.run(&["revoke", "shop"]).status, 0);
    let mut rest = Vec::new();
    let _ = idle.read_to_end(&mut rest);
    assert!(rest.is_empty());
    assert_eq!(server.wait(), 126);
    assert!(TcpStream::connect(("127.0.0.1", server.port)).is_err());
    let again = shell.run(&["serve-guest", "--listen", "0", &file]);
    assert_eq!(
        (again.status, again.stderr.contains("`drydock unrevoke shop`")),
        (126, true),
        "{}",
        again.all()
    );
}

#[test]
fn the_examples_of_both_sdks_serve() {
    let shell = Shell::new();
    for language in ["rust", "c"] {
        let module = format!("{}/../../sdk/modules/{language}-shout.wasm", env!("CARGO_MANIFEST_DIR"));
        let server = start(&shell, &["--profile", "compute", &module]);
        let answer = server.ask("POST", "/x?y", &[("x-a", "b")], b"hello\n\nthere");
        assert_eq!((answer.status, answer.text().as_str()), (200, "HELLO\n\nTHERE"), "{language}");
        assert!(answer.header("content-type").is_some_and(|it| it.starts_with("text/plain")), "{language}");
    }
}

#[test]
fn a_core_module_keeps_state_signs_and_serves() {
    let shell = Shell::new();
    assert_eq!(shell.pipe(&["secret", "keep", "COUNTER"], b"a-key-of-many-bytes").status, 0);
    for language in ["rust", "c"] {
        let module = format!("{}/../../sdk/modules/{language}-counter.wasm", env!("CARGO_MANIFEST_DIR"));
        let server = start(&shell, &["--name", language, "--allow-secret", "COUNTER", &module]);
        let (first, second) = (server.get("/shop"), server.get("/shop"));
        let number = |text: String| text.split(['\n', ' ']).next().and_then(|it| it.parse::<u64>().ok());
        let [one, two] = [number(first.text()), number(second.text())];
        assert_eq!((first.status, one.map(|it| it + 1)), (200, two), "{language}: what it keeps outlives it");
        let signatures = [&first, &second].map(|it| it.header("x-signature").unwrap_or_default().to_owned());
        assert!(signatures[0].len() == 64 && signatures[0] != signatures[1], "{language}: {signatures:?}");
    }
}
