//! A door with a dozen commands behind it, in process: what a shell can be tested with, without wasm.
//!
//! Each behaves as the real one does for the options it takes, so that a script can be run under
//! bash and under the shell, and compared.

use std::{future::poll_fn, io, sync::Arc, time::Duration};

use drydock_abi::exec::{decode_command, encode_report};
use drydock_contract::{
    BoxFuture, Call, CallError, Denial, Dispatch, Numbered, Outcome, Reply, RunReport, Streams,
    port::{Files, OpenHow, TreePath},
};
use parking_lot::Mutex;

use crate::shell_applets::{self as applets, Applet};

/// The names it answers to.
pub const FAKE_COMMANDS: &[&str] = &[
    "args", "basename", "cat", "chmod", "cut", "dirname", "env", "fail", "grep", "head", "limit", "ln", "ls",
    "mkdir", "mv", "rev", "rm", "seq", "sleep", "sort", "tail", "tee", "touch", "tr", "trap-it", "uniq",
    "upper", "wc", "yes",
];

/// The door.
pub struct FakeDoor {
    files: Arc<dyn Files>,
    calls: Mutex<Vec<Vec<String>>>,
}

impl FakeDoor {
    pub fn new(files: Arc<dyn Files>) -> Self {
        Self { files, calls: Mutex::default() }
    }

    /// Every command line it was asked for.
    pub fn calls(&self) -> Vec<Vec<String>> {
        self.calls.lock().clone()
    }

    async fn run(&self, call: Call<'_>) -> Result<Reply, CallError> {
        let command = decode_command(call.payload).map_err(|bad| Denial::Malformed(bad.to_string()))?;
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let name = command.request.name.to_owned();
        let args: Vec<Vec<u8>> = command.request.args.iter().map(|arg| arg.to_vec()).collect();
        let mut line = vec![name.clone()];
        line.extend(args.iter().map(|arg| lossy(arg)));
        self.calls.lock().push(line.clone());
        match name.as_str() {
            "denied" => {
                return Err(Denial::CommandNotGranted {
                    command: "denied".into(),
                    why: "",
                    rules: Some([].into()),
                }
                .into());
            }
            name if !FAKE_COMMANDS.contains(&name) => return Err(Denial::UnknownCommand(name.into()).into()),
            _ => {}
        }
        let env: Vec<String> = command.env.iter().map(lossy).collect();
        let cwd = env.iter().find_map(|it| it.strip_prefix("PWD=")).unwrap_or("/").to_owned();
        let mut io = Io { streams: call.streams, files: Arc::clone(&self.files), cwd, read: 0, written: 0 };
        let outcome = match run(&mut io, &name, &line[1..], &args, &env).await {
            Ok(outcome) => outcome,
            // What a signal does to a real one.
            Err(_) => Outcome::Exited(1),
        };
        let report = RunReport {
            outcome,
            fuel: 1,
            memory_bytes: 0,
            duration: Duration::ZERO,
            stdin_bytes: io.read,
            stdout_bytes: io.written,
            stderr_bytes: 0,
            quota: None,
        };
        Ok(Reply::of_bytes(encode_report(&report), io.streams))
    }
}

impl Dispatch for FakeDoor {
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(self.run(call))
    }
}

async fn run(
    io: &mut Io,
    name: &str,
    args: &[String],
    raw: &[Vec<u8>],
    env: &[String],
) -> io::Result<Outcome> {
    match name {
        "yes" => {
            let line = if args.is_empty() { "y".to_owned() } else { args.join(" ") } + "\n";
            loop {
                io.write(line.as_bytes()).await?;
            }
        }
        "sleep" => {
            if args.first().is_some_and(|it| it == "forever") {
                std::future::pending::<()>().await;
            }
            Ok(Outcome::Exited(0))
        }
        "limit" => Ok(match args.first().map(String::as_str) {
            Some("time") => Outcome::TimedOut,
            Some("fuel") => Outcome::OutOfFuel,
            _ => Outcome::OutOfMemory,
        }),
        "trap-it" => Ok(Outcome::Trapped("unreachable".into())),
        "fail" => Ok(Outcome::Exited(args.first().and_then(|it| it.parse().ok()).unwrap_or(1))),
        "args" => {
            for arg in raw {
                io.write(&[arg.as_slice(), b"\n"].concat()).await?;
            }
            Ok(Outcome::Exited(0))
        }
        "env" => {
            let mut rows = env.to_vec();
            rows.sort_unstable();
            for row in rows {
                io.write(format!("{row}\n").as_bytes()).await?;
            }
            Ok(Outcome::Exited(0))
        }
        "cat" => cat(io, args).await,
        "head" => head(io, args).await,
        "tee" => tee(io, args).await,
        "mkdir" | "rm" | "touch" | "ls" | "chmod" | "mv" | "ln" => {
            let (out, errors, status) = applets::files(io, name, args);
            io.write(&out).await?;
            io.complain(&errors).await?;
            Ok(Outcome::Exited(status))
        }
        other => {
            let Some((applet, operands)) = Applet::of(other, args) else {
                io.complain(&format!("{other}: bad arguments\n")).await?;
                return Ok(Outcome::Exited(2));
            };
            let mut input = Vec::new();
            if operands.is_empty() && applet.reads() {
                input = io.read_all().await?;
            }
            for name in &operands {
                match io.load(name).await {
                    Some(bytes) => input.extend_from_slice(&bytes),
                    None => {
                        io.complain(&format!("{other}: {name}: No such file or directory\n")).await?;
                        return Ok(Outcome::Exited(2));
                    }
                }
            }
            let (out, status) = applet.run(&input);
            io.write(&out).await?;
            Ok(Outcome::Exited(status))
        }
    }
}

async fn cat(io: &mut Io, args: &[String]) -> io::Result<Outcome> {
    let mut status = 0;
    let stdin = vec!["-".to_owned()];
    for name in if args.is_empty() { &stdin } else { args } {
        if let Some(reader) = io.numbered(name) {
            let mut buffer = vec![0; 8 << 10];
            while let count @ 1.. = poll_fn(|cx| reader.poll_read(cx, &mut buffer)).await? {
                io.write(&buffer[..count]).await?;
            }
            continue;
        }
        if name != "-" {
            match io.load(name).await {
                Some(bytes) => io.write(&bytes).await?,
                None => {
                    io.complain(&format!("cat: {name}: No such file or directory\n")).await?;
                    status = 1;
                }
            }
            continue;
        }
        let mut buffer = vec![0; 8 << 10];
        loop {
            let count = io.read(&mut buffer).await?;
            if count == 0 {
                break;
            }
            io.write(&buffer[..count]).await?;
        }
    }
    Ok(Outcome::Exited(status))
}

async fn head(io: &mut Io, args: &[String]) -> io::Result<Outcome> {
    let mut lines = 10;
    let mut rest = args.iter();
    let mut file = None;
    while let Some(arg) = rest.next() {
        match arg.strip_prefix('-') {
            Some("n") => lines = rest.next().and_then(|it| it.parse().ok()).unwrap_or(10),
            Some(digits) => lines = digits.trim_start_matches('n').parse().unwrap_or(10),
            None => file = Some(arg.clone()),
        }
    }
    if let Some(name) = file {
        let bytes = io.load(&name).await.unwrap_or_default();
        let out: Vec<u8> = bytes.split_inclusive(|it| *it == b'\n').take(lines).flatten().copied().collect();
        io.write(&out).await?;
        return Ok(Outcome::Exited(0));
    }
    let mut buffer = vec![0; 1 << 10];
    while lines > 0 {
        let count = io.read(&mut buffer).await?;
        if count == 0 {
            break;
        }
        let mut end = count;
        for (at, byte) in buffer[..count].iter().enumerate() {
            if *byte == b'\n' {
                lines -= 1;
                if lines == 0 {
                    end = at + 1;
                    break;
                }
            }
        }
        io.write(&buffer[..end]).await?;
    }
    Ok(Outcome::Exited(0))
}

async fn tee(io: &mut Io, args: &[String]) -> io::Result<Outcome> {
    let input = io.read_all().await?;
    for name in args {
        io.save(name, &input).await?;
    }
    io.write(&input).await?;
    Ok(Outcome::Exited(0))
}

/// A command's streams and files.
pub(crate) struct Io {
    streams: Streams,
    pub(crate) files: Arc<dyn Files>,
    cwd: String,
    read: u64,
    written: u64,
}

impl Io {
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = poll_fn(|cx| self.streams.stdin.poll_read(cx, buffer)).await?;
        self.read += count as u64;
        Ok(count)
    }

    async fn read_all(&mut self) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        let mut buffer = vec![0; 8 << 10];
        loop {
            match self.read(&mut buffer).await? {
                0 => return Ok(all),
                count => all.extend_from_slice(&buffer[..count]),
            }
        }
    }

    async fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = poll_fn(|cx| self.streams.stdout.poll_write(cx, bytes)).await?;
            self.written += count as u64;
            bytes = &bytes[count..];
        }
        Ok(())
    }

    async fn complain(&mut self, text: &str) -> io::Result<()> {
        let mut bytes = text.as_bytes();
        while !bytes.is_empty() {
            let count = poll_fn(|cx| self.streams.stderr.poll_write(cx, bytes)).await?;
            bytes = &bytes[count..];
        }
        Ok(())
    }

    pub(crate) fn path(&self, name: &str) -> Option<TreePath> {
        let full = if name.starts_with('/') { name.to_owned() } else { format!("{}/{name}", self.cwd) };
        TreePath::new(full.trim_start_matches('/')).ok()
    }

    /// What was given under the number of `/dev/fd/N`.
    fn numbered(&self, name: &str) -> Option<Numbered> {
        let number: u32 = name.strip_prefix("/dev/fd/")?.parse().ok()?;
        self.streams.numbered.iter().find(|it| it.0 == number).map(|it| it.1.clone())
    }

    async fn load(&mut self, name: &str) -> Option<Vec<u8>> {
        if let Some(reader) = self.numbered(name) {
            let (mut all, mut buffer) = (Vec::new(), vec![0; 8 << 10]);
            while let Ok(count @ 1..) = poll_fn(|cx| reader.poll_read(cx, &mut buffer)).await {
                all.extend_from_slice(&buffer[..count]);
            }
            return Some(all);
        }
        let how = OpenHow { read: true, ..OpenHow::default() };
        let file = self.files.open(&self.path(name)?, how, Default::default()).ok()?;
        let mut all = vec![0; usize::try_from(file.stat().ok()?.size).ok()?];
        let mut at = 0;
        while at < all.len() {
            match file.read_at(at as u64, &mut all[at..]).ok()? {
                0 => break,
                count => at += count,
            }
        }
        Some(all)
    }

    async fn save(&mut self, name: &str, mut bytes: &[u8]) -> io::Result<()> {
        if let Some(writer) = self.numbered(name) {
            while !bytes.is_empty() {
                bytes = &bytes[poll_fn(|cx| writer.poll_write(cx, bytes)).await?..];
            }
            return poll_fn(|cx| writer.poll_flush(cx)).await;
        }
        let how = OpenHow { write: true, create: true, truncate: true, ..OpenHow::default() };
        let file = self.path(name).and_then(|path| self.files.open(&path, how, Default::default()).ok());
        if let Some(file) = file {
            let _ = file.write_at(0, bytes, Default::default());
        }
        Ok(())
    }
}
