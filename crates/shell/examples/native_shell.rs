//! The shell over native programs and the real file system, to compare it with bash.
//!
//! `native_shell SCRIPT [literal]` runs a script file as `bash -c` would run its text. Only for measuring:
//! every command is a process, so nothing here is safe, and nothing of the product uses it.

// What this is for is exactly what the room itself may not do.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used)]

use std::{
    future::poll_fn,
    io::{self, Read, Write as _},
    process::{Child, Command, Stdio},
    sync::{Arc, mpsc},
    task::Poll,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use drydock_abi::exec::{decode_command, encode_report};
use drydock_contract::{
    BoxFuture, Call, CallError, Denial, Dispatch, Limits, Outcome, Reply, RunReport, Sink, Source, Streams,
    Timestamp,
    port::{Clock, TreePath},
};
use drydock_shell::{
    Mode, Shell, ShellLimits, ShellSpec,
    door::{CallingCommands, Commands, Door, Ended, FilesTree, ShellFile, Start, Tree},
};
use drydock_store::{Access, HostDir, LineFiles, Links};
use drydock_testkit::block_on;

/// The program of a name, in the folders of this process's own PATH: a foreign suite brings helpers.
/// A shell is ours, or it would be bash that is compared with bash.
fn program(name: &str) -> Option<String> {
    if ["bash", "dash", "sh"].contains(&name) {
        return None;
    }
    let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".into());
    path.split(':').map(|folder| format!("{folder}/{name}")).find(|path| std::fs::metadata(path).is_ok())
}

struct Now;

impl Clock for Now {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Every call is a process.
struct Processes;

impl Dispatch for Processes {
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(run(call))
    }
}

struct NativeDoor {
    commands: CallingCommands,
    files: Arc<LineFiles>,
}

impl Commands for NativeDoor {
    fn start<'a>(&'a self, start: Start<'a>) -> BoxFuture<'a, Ended> {
        self.commands.start(start)
    }
}

impl Door for NativeDoor {
    fn tree(&self) -> Arc<dyn Tree> {
        let files = Arc::clone(&self.files) as _;
        Arc::new(FilesTree::new(files, Arc::new(Now), &(Arc::new(|| false) as _)))
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(Now)
    }

    fn has_command(&self, name: &str) -> bool {
        program(name).is_some()
    }

    fn command_names(&self) -> Vec<String> {
        let path = std::env::var("PATH").unwrap_or_default();
        let folders = path.split(':').filter_map(|it| std::fs::read_dir(it).ok());
        folders.flatten().flatten().filter_map(|it| it.file_name().into_string().ok()).collect()
    }

    fn was_changed(&self, path: &TreePath, open: &dyn ShellFile) -> bool {
        self.files.was_changed(path, open.stat())
    }
}

fn pump(mut from: impl Read + Send + 'static, number: u8, to: mpsc::Sender<(u8, Vec<u8>)>) {
    std::thread::spawn(move || {
        let mut buffer = vec![0; 8 << 10];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if to.send((number, buffer[..count].to_vec())).is_err() {
                break;
            }
        }
    });
}

/// Whether the program waits in `read(0, …)`: only then is it given input, so that what it does not
/// ask for is left to the next command.
fn asks(child: &Child, idle: u32) -> bool {
    let call = std::fs::read_to_string(format!("/proc/{}/syscall", child.id())).unwrap_or_default();
    call.starts_with("0 0x0 ") || (idle > 400 && !call.starts_with("230 ") && !call.starts_with("35 "))
}

async fn write(sink: &mut Sink, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = poll_fn(|cx| sink.poll_write(cx, bytes)).await?;
        bytes = &bytes[count..];
    }
    Ok(())
}

async fn pause() {
    let mut waited = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
    std::thread::sleep(Duration::from_micros(100));
}

async fn run(call: Call<'_>) -> Result<Reply, CallError> {
    let command = decode_command(call.payload).map_err(|bad| Denial::Malformed(bad.to_string()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let name = command.request.name.to_owned();
    let Some(path) = program(&name) else { return Err(Denial::UnknownCommand(name.into()).into()) };
    use std::os::unix::{
        ffi::OsStringExt as _,
        process::{CommandExt as _, ExitStatusExt as _},
    };
    let args = command.request.args.iter().map(|it| std::ffi::OsString::from_vec(it.to_vec()));
    let env: Vec<String> = command.env.iter().map(text).collect();
    let pairs: Vec<(&str, &str)> = env.iter().filter_map(|it| it.split_once('=')).collect();
    let cwd = pairs.iter().find(|it| it.0 == "PWD").map_or("/", |it| it.1);
    let mut child = Command::new(path)
        .arg0(&name)
        .args(args)
        .env_clear()
        .envs(pairs.iter().copied())
        .current_dir(cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| Denial::Malformed(error.to_string()))?;
    let (to, from) = mpsc::channel();
    pump(child.stdout.take().unwrap(), 1, to.clone());
    pump(child.stderr.take().unwrap(), 2, to);
    let mut stdin = child.stdin.take();
    let mut streams = call.streams;
    let mut buffer = vec![0; 4 << 10];
    let mut idle = 0;
    let mut broken = false;
    loop {
        match from.try_recv() {
            Ok((number, bytes)) => {
                idle = 0;
                let sink = if number == 1 { &mut streams.stdout } else { &mut streams.stderr };
                if write(sink, &bytes).await.is_err() && number == 1 {
                    broken = true;
                    let _ = child.kill();
                }
                continue;
            }
            Err(mpsc::TryRecvError::Disconnected) => break,
            Err(mpsc::TryRecvError::Empty) => {}
        }
        if stdin.is_some() && asks(&child, idle) {
            idle = 0;
            match poll_fn(|cx| streams.stdin.poll_read(cx, &mut buffer)).await {
                Ok(count @ 1..) => {
                    let _ = stdin.as_mut().unwrap().write_all(&buffer[..count]);
                }
                _ => stdin = None,
            }
            continue;
        }
        idle += 1;
        pause().await;
    }
    drop(stdin);
    let status = child.wait().map_err(|error| Denial::Malformed(error.to_string()))?;
    let code = status.code().unwrap_or(128 + status.signal().unwrap_or(0));
    let report = RunReport {
        quota: None,
        outcome: Outcome::Exited(if broken { 141 } else { code }),
        fuel: 1,
        memory_bytes: 0,
        duration: Duration::ZERO,
        stdin_bytes: 0,
        stdout_bytes: 0,
        stderr_bytes: 0,
    };
    Ok(Reply::of_bytes(encode_report(&report), streams))
}

fn main() {
    let mut args = std::env::args().skip(1);
    let script = std::fs::read_to_string(args.next().expect("a script file")).unwrap();
    let literal_unknown = args.next().is_some_and(|it| it == "literal");
    let cwd = std::env::current_dir().unwrap().to_string_lossy().into_owned();
    let mut shell = Shell::new(ShellSpec {
        door: Arc::new(NativeDoor {
            commands: CallingCommands::new(Arc::new(Processes), &Now),
            files: Arc::new(LineFiles::over(Arc::new(
                HostDir::open("/", Access::ReadWrite).unwrap().with_links(Links::Any),
            ))),
        }),
        roots: Vec::new(),
        cwd,
        env: std::env::vars().filter(|it| it.0 != "_" && it.0 != "SHLVL").collect(),
        name: "bash".into(),
        args: Vec::new(),
        mode: Mode { eval_allowed: true, literal_unknown, ..Mode::default() },
        seed: 42,
        limits: ShellLimits::default(),
        stage_limits: Limits::default(),
        line_memory_bytes_max: u64::MAX,
    });
    let mut input = Vec::new();
    io::stdin().read_to_end(&mut input).unwrap();
    let streams = Streams {
        stdin: Source::from(input),
        stdout: Sink::capture(),
        stderr: Sink::capture(),
        ..Streams::default()
    };
    let (report, streams) = block_on(shell.run(&script, streams));
    io::stdout().write_all(&streams.stdout.into_captured()).unwrap();
    io::stderr().write_all(&streams.stderr.into_captured()).unwrap();
    std::process::exit(report.status);
}
