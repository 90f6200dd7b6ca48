//! A server of the real binary on a free port, and a client that sends what it is told to, byte for byte.
#![allow(dead_code)]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, ChildStdout, Stdio},
    time::Duration,
};

use serde_json::Value;

use super::Shell;

/// A server that runs until it is dropped.
pub struct Server {
    child: Child,
    _stdout: BufReader<ChildStdout>,
    pub port: u16,
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    pub fn all(&self, name: &str) -> Vec<&str> {
        self.headers.iter().filter(|(it, _)| it == name).map(|(_, value)| value.as_str()).collect()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The code of an error, or nothing.
    pub fn code(&self) -> String {
        serde_json::from_slice::<Value>(&self.body)
            .ok()
            .and_then(|it| Some(it["error"]["code"].as_str()?.to_owned()))
            .unwrap_or_default()
    }
}

impl Server {
    pub fn start(shell: &Shell, more: &[&str]) -> Self {
        Self::start_as(shell, &["serve", "--listen", "0"], more)
    }

    pub fn start_as(shell: &Shell, command: &[&str], more: &[&str]) -> Self {
        Self::start_telling(shell, command, more, Stdio::inherit())
    }

    /// The same, with its stderr somewhere.
    pub fn start_telling(shell: &Shell, command: &[&str], more: &[&str], stderr: Stdio) -> Self {
        let args: Vec<&str> = command.iter().chain(more).copied().collect();
        Self::of(shell.command(&args).stderr(stderr))
    }

    /// A server that this command starts.
    pub fn of(command: &mut std::process::Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let port = line.trim().rsplit(':').next().and_then(|it| it.parse().ok());
        let port = port.unwrap_or_else(|| panic!("it says no port: {line:?}"));
        Self { child, _stdout: stdout, port }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    /// One request on a connection of its own.
    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut stream = self.connect();
        stream.write_all(&self.head(method, path, headers, Some(body.len()))).unwrap();
        // A server that refuses early may close before all of it is sent.
        let _ = stream.write_all(body);
        let answer = if method == "HEAD" { read_head(&mut stream) } else { read(&mut stream) };
        answer.unwrap_or_else(|| panic!("{method} {path}: no answer"))
    }

    pub fn head(&self, method: &str, path: &str, headers: &[(&str, &str)], length: Option<usize>) -> Vec<u8> {
        let mut text = format!("{method} {path} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            text += &format!("host: 127.0.0.1:{}\r\n", self.port);
        }
        for (name, value) in headers {
            text += &format!("{name}: {value}\r\n");
        }
        if let Some(length) = length.filter(|it| *it > 0 || method != "GET") {
            text += &format!("content-length: {length}\r\n");
        }
        (text + "connection: close\r\n\r\n").into_bytes()
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], b"")
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path, &[("content-type", "application/json")], body.to_string().as_bytes())
    }

    /// The same with a token.
    pub fn ask_as(&self, token: &str, method: &str, path: &str, body: &[u8]) -> Answer {
        let bearer = format!("Bearer {token}");
        self.ask(method, path, &[("authorization", &bearer), ("content-type", "application/json")], body)
    }

    pub fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(std::process::Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    /// How it ended.
    pub fn wait(&mut self) -> i32 {
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads one answer; nothing where the connection was closed before.
pub fn read(stream: &mut TcpStream) -> Option<Answer> {
    let mut reader = BufReader::new(stream);
    let mut answer = head_of(&mut reader)?;
    answer.body = body_of(&mut reader, &answer)?;
    Some(answer)
}

/// Reads an answer that has no body, whatever it says of one.
fn read_head(stream: &mut TcpStream) -> Option<Answer> {
    head_of(&mut BufReader::new(stream))
}

fn head_of(reader: &mut BufReader<&mut TcpStream>) -> Option<Answer> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|it| *it > 0)?;
    let status = line.split(' ').nth(1)?.parse().ok()?;
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Some(Answer { status, headers, body: Vec::new() })
}

fn body_of(reader: &mut BufReader<&mut TcpStream>, answer: &Answer) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    match answer.header("content-length").and_then(|it| it.parse::<usize>().ok()) {
        Some(length) => {
            body.resize(length, 0);
            reader.read_exact(&mut body).ok()?;
        }
        None if answer.header("transfer-encoding").is_some() => loop {
            let mut size = String::new();
            reader.read_line(&mut size).ok()?;
            let size = usize::from_str_radix(size.trim(), 16).ok()?;
            let mut chunk = vec![0; size + 2];
            reader.read_exact(&mut chunk).ok()?;
            if size == 0 {
                break;
            }
            body.extend_from_slice(&chunk[..size]);
        },
        None => drop(reader.read_to_end(&mut body)),
    }
    Some(body)
}

/// Guests as text: an allocator, and a handler with this body. `$req`, `$len` and `$out` are what it was given.
pub fn guest(imports: &str, data: &str, body: &str) -> String {
    format!(
        r#"(module {imports} (memory (export "memory") 2) (global $next (mut i32) (i32.const 65536)) {data}
        (func $alloc (export "alloc") (param $n i32) (result i32) (local $at i32)
          (local.set $at (global.get $next))
          (global.set $next (i32.add (local.get $at) (i32.and (i32.add (local.get $n) (i32.const 15)) (i32.const -16))))
          (block $fits (loop $grow
            (br_if $fits (i32.le_u (global.get $next) (i32.mul (memory.size) (i32.const 65536))))
            (br_if $fits (i32.eq (memory.grow (i32.const 16)) (i32.const -1)))
            (br $grow)))
          (local.get $at))
        (func $answer (param $out i32) (param $at i32) (param $len i32)
          (i32.store (local.get $out) (local.get $at))
          (i32.store offset=4 (local.get $out) (local.get $len)))
        (func (export "handler") (param $req i32) (param $len i32) (param $out i32) (result i32)
          {body}))"#
    )
}

/// A guest that answers these bytes.
pub fn answers(bytes: &str) -> String {
    let data: String = bytes.bytes().map(|it| format!("\\{it:02x}")).collect();
    let body =
        format!("(call $answer (local.get $out) (i32.const 16) (i32.const {})) (i32.const 0)", bytes.len());
    guest("", &format!(r#"(data (i32.const 16) "{data}")"#), &body)
}

/// A guest that answers with the JSON it was shown, as a payload.
pub fn shows() -> String {
    // What is no object is a payload; an equals sign in front makes it one.
    let body = r#"(local $at i32)
      (local.set $at (call $alloc (i32.add (local.get $len) (i32.const 1))))
      (i32.store8 (local.get $at) (i32.const 61))
      (memory.copy (i32.add (local.get $at) (i32.const 1)) (local.get $req) (local.get $len))
      (call $answer (local.get $out) (local.get $at) (i32.add (local.get $len) (i32.const 1)))
      (i32.const 0)"#;
    guest("", "", body)
}

/// What such a guest was shown.
pub fn shown(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{answer:?}");
    serde_json::from_slice(&answer.body[1..]).unwrap()
}

/// Installs a guest that is text.
pub fn install(shell: &Shell, name: &str, wat: &str, more: &[&str]) {
    let file = shell.file(&format!("{name}.wat"), wat);
    let args: Vec<&str> = ["ext", "install", name, &file].iter().chain(more).copied().collect();
    let said = shell.run(&args);
    assert_eq!(said.status, 0, "{}", said.stderr);
}

/// A token for a tenant.
pub fn token(shell: &Shell, tenant: &str, more: &[&str]) -> String {
    let args: Vec<&str> = ["token", "add", tenant].iter().chain(more).copied().collect();
    let said = shell.run(&args);
    assert_eq!(said.status, 0, "{}", said.stderr);
    said.stdout.trim().to_owned()
}
