//! `python3` of a line and of `drydock run` at a server on loopback: the standard library's requests reach what was granted.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::Command,
    thread,
};

use super::py_cases::said;

/// More than is held of an answer at a time, and than an answer of a tool may have.
const LARGE_BYTES: usize = 9 << 20;

/// A program, what it prints, and what must be in its stderr; `URL` and `PLACE` are the server's.
const CASES: &[(&str, &str, &str)] = &[
    (
        "import urllib.request as u\nwith u.urlopen('URL/a?b=1', timeout=9) as r: print(r.status, r.headers['X-Kind'], r.read().decode())",
        "200 plain GET /a?b=1 0\n",
        "",
    ),
    (
        "import urllib.request as u\nprint(u.urlopen(u.Request('URL/p', b'body', {'X-A': '1'})).read().decode())",
        "POST /p 4\n",
        "",
    ),
    ("import urllib.request as u\nprint(u.urlopen('URL/moved').read().decode())", "GET /a 0\n", ""),
    ("import urllib.request as u\nprint(len(u.urlopen('URL/large').read()))", "9437184\n", ""),
    (
        "import urllib.request as u, urllib.error\ntry: u.urlopen('URL/none')\nexcept urllib.error.HTTPError as e: print(e.code)",
        "404\n",
        "",
    ),
    (
        "import http.client as h\nc = h.HTTPConnection('PLACE')\nc.request('PUT', '/x', b'123')\nr = c.getresponse()\nprint(r.status, r.read().decode())",
        "200 PUT /x 3\n",
        "",
    ),
    (
        "import requests\nr = requests.post('URL/j', json={'a': 1}, timeout=9)\nprint(r.status_code, r.text, r.ok)",
        "200 POST /j 8 True\n",
        "",
    ),
    // Credentials stay behind where another origin is pointed to. The standard library's own are sent along, as everywhere.
    (
        "import requests\nprint(requests.get('URL/away', headers={'Authorization': 'Bearer a', 'Cookie': 'c=1'}).text)",
        "auth none, cookie none\n",
        "",
    ),
    (
        "import requests\nprint(requests.get('URL/home', headers={'Authorization': 'Bearer a', 'Cookie': 'c=1'}).text)",
        "auth Bearer a, cookie c=1\n",
        "",
    ),
    (
        "import urllib.request as u\nprint(u.urlopen(u.Request('URL/away', headers={'Authorization': 'Bearer a'})).read().decode())",
        "auth Bearer a, cookie none\n",
        "",
    ),
    (
        "import requests\nfrom requests.exceptions import ConnectionError\ntry: requests.get('http://not-granted.test/')\nexcept ConnectionError as e: print('--allow-host not-granted.test' in str(e))",
        "True\n",
        "",
    ),
    (
        "import urllib.request as u\nu.urlopen('http://not-granted.test/')",
        "",
        "on drydock's command line grants it",
    ),
    ("import socket\nsocket.create_connection(('127.0.0.1', 1))", "", "there are no sockets here"),
];

/// Answers what went otherwise.
pub(super) fn run(binary: &Path, home: &Path) -> anyhow::Result<Vec<String>> {
    let elsewhere = serve(String::new())?;
    let place = serve(format!("http://{elsewhere}/who"))?;
    let folder = tempfile::tempdir()?;
    let mut failed = Vec::new();
    for (program, stdout, stderr_has) in CASES {
        let program = program.replace("URL", &format!("http://{place}")).replace("PLACE", &place);
        std::fs::write(folder.path().join("p.py"), &program)?;
        let allow = ["--allow-private", place.as_str(), "--allow-private", &elsewhere, "--dir", "."];
        // As a script of a line, and as a command by itself.
        for words in [&["sh", "-c", "python3 p.py"][..], &["run", "python3", "-c", &program]] {
            let mut command = Command::new(binary);
            command.arg(words[0]).args(allow).args(&words[1..]);
            command.env("DRYDOCK_HOME", home).current_dir(folder.path());
            let (out, err, status) = said(&mut command, "")?;
            let is_right =
                out == *stdout && (status == Some(0)) == stderr_has.is_empty() && err.contains(stderr_has);
            if !is_right {
                failed.push(format!("{program:?} by `{}`: status {status:?}, {out:?}, {err:?}", words[0]));
            }
        }
    }
    println!(
        "{} programs of a line asked for the network, {} otherwise than they should",
        CASES.len(),
        failed.len()
    );
    Ok(failed)
}

/// Listens until the process ends, and answers where. `away` is what `/away` points to.
fn serve(away: String) -> anyhow::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let place = listener.local_addr()?.to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let away = away.clone();
            thread::spawn(move || answer(&stream, &away));
        }
    });
    Ok(place)
}

/// One request: what it was, in the body.
fn answer(mut stream: &TcpStream, away: &str) {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    if reader.read_line(&mut first).is_err() {
        return;
    }
    let (mut auth, mut cookie) = ("none".to_owned(), "none".to_owned());
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|it| it > 2) {
        let (name, value) = line.split_once(':').unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or_default(),
            "authorization" => value.trim().clone_into(&mut auth),
            "cookie" => value.trim().clone_into(&mut cookie),
            _ => {}
        }
        line.clear();
    }
    let mut body = vec![0; length];
    let _ = reader.read_exact(&mut body);
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (status, more, body) = match path {
        "/moved" => ("302 Found", "location: /a\r\n".to_owned(), Vec::new()),
        "/home" => ("302 Found", "location: /who\r\n".to_owned(), Vec::new()),
        "/away" => ("302 Found", format!("location: {away}\r\n"), Vec::new()),
        "/who" => ("200 OK", String::new(), format!("auth {auth}, cookie {cookie}").into_bytes()),
        "/none" => ("404 Not Found", String::new(), b"none".to_vec()),
        "/large" => ("200 OK", String::new(), vec![b'x'; LARGE_BYTES]),
        _ => ("200 OK", "x-kind: plain\r\n".to_owned(), format!("{method} {path} {length}").into_bytes()),
    };
    let head =
        format!("HTTP/1.1 {status}\r\n{more}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
    // Whoever went away needs no answer.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}
