//! `pip-run` with CPython: a wheel of an index on loopback, fetched by its hash, is a module of the program; nothing is had
//! where its host was not granted.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::Command,
    sync::Arc,
    thread,
};

use anyhow::ensure;

use super::py_cases::said;

/// A wheel, made by the commands there are: its bytes on stdout, and their hash on stderr.
const WHEEL: &str = "mkdir tiny tiny-1.2.dist-info && \
    printf 'import sys\\nx = 6\\ndef main():\\n    print(\"main\", *sys.argv[1:])\\n' > tiny/__init__.py && \
    echo 'import tiny; tiny.main()' > tiny/__main__.py && echo 'Name: tiny' > tiny-1.2.dist-info/METADATA && \
    zip -q -r w.whl tiny tiny-1.2.dist-info && sha256sum w.whl | cut -d' ' -f1 >&2; cat w.whl";

/// A line, what it prints, and what must be in its stderr.
const CASES: &[(&str, &str, &str)] = &[
    ("pip-run tiny -c 'import tiny; print(tiny.x * 7)'", "42\n", ""),
    ("pip-run tiny==1.2 one 'two words'", "main one two words\n", ""),
    ("pip-run tiny -c 'import sys; sys.exit(3)'; echo $?", "3\n", ""),
    ("pip-run missing -c 'print(1)'; echo $?", "1\n", "missing"),
];

/// The index.
struct Index {
    sha256: String,
    wheel: Vec<u8>,
}

/// Answers what went otherwise.
pub(super) fn run(binary: &Path, home: &Path) -> anyhow::Result<Vec<String>> {
    let made = Command::new(binary).args(["sh", "-c", WHEEL]).env("DRYDOCK_HOME", home).output()?;
    let sha256 = String::from_utf8_lossy(&made.stderr).trim().to_owned();
    ensure!(made.status.success() && sha256.len() == 64, "no wheel was made: {sha256}");
    let index = Arc::new(Index { sha256, wheel: made.stdout });
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let place = listener.local_addr()?.to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(&stream, &index);
        }
    });
    let mut failed = Vec::new();
    let line = |allow: &[&str], line: &str| {
        let line = format!("export PIP_INDEX_URL=http://{place}/simple; {line}");
        let mut command = Command::new(binary);
        said(command.arg("sh").args(allow).args(["-c", &line]).env("DRYDOCK_HOME", home), "")
    };
    for (text, stdout, stderr_has) in CASES {
        let (out, err, status) = line(&["--allow-private", &place], text)?;
        if out != *stdout || !err.contains(stderr_has) {
            failed.push(format!("{text}: status {status:?}, {out:?}, {err:?}"));
        }
    }
    let (out, err, _) = line(&[], "pip-run tiny -c 'print(1)'; echo $?")?;
    if out != "1\n" || !err.contains("--allow-private") {
        failed.push(format!("pip-run without a grant: {out:?}, {err:?}"));
    }
    println!("{} packages were run, {} otherwise than they should", CASES.len() + 1, failed.len());
    Ok(failed)
}

fn answer(mut stream: &TcpStream, index: &Index) {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let first = lines.next().unwrap_or_default();
    while lines.next().is_some_and(|it| !it.is_empty()) {}
    let (status, body) = match first.split(' ').nth(1).unwrap_or_default() {
        "/simple/tiny/" => {
            let hash = &index.sha256;
            let file = format!(
                r#"{{"filename":"tiny-1.2-py3-none-any.whl","url":"/files/w.whl","hashes":{{"sha256":"{hash}"}}}}"#
            );
            ("200 OK", format!(r#"{{"files":[{file}]}}"#).into_bytes())
        }
        "/files/w.whl" => ("200 OK", index.wheel.clone()),
        _ => ("404 Not Found", Vec::new()),
    };
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    // Whoever went away needs no answer.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}
