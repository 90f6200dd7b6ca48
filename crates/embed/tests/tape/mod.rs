//! A yard for tapes: a dock, loopback servers whose answers count up, a directory that others have, and the same thing run
//! on a recorder and on a player.
#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpListener, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use drydock_codemode::{
    executor::ExecuteOptions,
    provider::{Provider, Providers, Tool, ToolError},
};
use drydock_embed::{
    CodeInput, Dock, DockSettings, Network, NewProcess, OpenTreeError, Room, Setup, ShellSetup, Tree,
    WorkerProgram, command_tools,
    contract::{
        Cap, Limits, Sink, Source, Streams, Tenant, Terms,
        port::{AuditEvent, AuditRecord, Files},
    },
    egress::{QuotaLimits, Rules},
    file_tools,
    gate::{GateSettings, Grant, Tape},
    line_limits, process_limits, program_tools,
    shell::Mode,
    store::{Filter, Frame, Frames, Links, ProcessOutput, SpoolBounds, TapeBody, TapeWriter, read_audit},
    tape::{Deck, Divergence, Player, RecordSettings, Recorder},
};
use serde_json::{Value, json};

use crate::web_room::{Server, local, serve};

/// What is kept under this name signs for programs.
pub(crate) const SECRET: &str = "KEY";

/// Whoever takes longer hangs.
pub(crate) const HANGS: Duration = Duration::from_secs(300);

/// The cases of one file: a line `=== name` begins each.
pub(crate) fn cases(text: &'static str) -> Vec<(&'static str, &'static str)> {
    let of = |case: &'static str| case.split_once('\n').unwrap();
    text.split("\n=== ").skip(1).map(of).collect()
}

pub(crate) struct Yard {
    pub(crate) dock: Arc<Dock>,
    pub(crate) server: Server,
    pub(crate) shared: tempfile::TempDir,
    pub(crate) home: tempfile::TempDir,
    /// How often the embedder's tools were called.
    pub(crate) asked: Arc<AtomicU64>,
    /// Who answers bytes, and how often that was.
    pub(crate) tcp: SocketAddr,
    pub(crate) udp: SocketAddr,
    pub(crate) answered: Arc<AtomicU64>,
}

/// What is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Line,
    Kept,
    Program,
    /// A program that has the powers of its session, and nothing of an embedder.
    Powers,
}

/// What came of it: what its caller sees, and what is on record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) told: String,
    pub(crate) records: BTreeMap<String, String>,
}

/// A player, for whom nothing of the world is opened: whoever opened something would panic here.
struct Untouched(Player);

impl Deck for Untouched {
    fn prepare(&self, setup: &mut Setup) {
        self.0.prepare(setup);
    }

    fn files(
        &self,
        name: &str,
        _: &mut dyn FnMut() -> Result<Arc<dyn Files>, OpenTreeError>,
    ) -> Result<Arc<dyn Files>, OpenTreeError> {
        self.0.files(name, &mut || panic!("a replay opens a tree"))
    }

    fn stream(&self, name: &str, _: &mut dyn FnMut() -> std::io::Result<Source>) -> std::io::Result<Source> {
        self.0.stream(name, &mut || panic!("a replay opens a stream"))
    }

    fn tape(&self) -> Option<Arc<dyn Tape>> {
        self.0.tape()
    }
}

/// The tool as it is called, with a body that nobody may run.
fn untouched(tool: Tool) -> Tool {
    tool.around(|name, _, _| panic!("a replay calls the tool `{name}`"))
}

pub(crate) fn yard() -> Yard {
    yard_with(GateSettings::default())
}

/// One in which modules that are not built in are compiled.
pub(crate) fn yard_compiling() -> Yard {
    let worker = Some(WorkerProgram::new(env!("CARGO_BIN_EXE_drydock-compile-worker"), [""; 0]));
    yard_of(DockSettings { worker, ..DockSettings::default() })
}

pub(crate) fn yard_with(gate: GateSettings) -> Yard {
    yard_of(DockSettings { gate, ..DockSettings::default() })
}

fn yard_of(settings: DockSettings) -> Yard {
    let home = tempfile::tempdir().unwrap();
    let egress = Some(local(QuotaLimits { requests_max: 1_000_000, ..QuotaLimits::default() }).0);
    let dock = Dock::open_with(home.path(), DockSettings { egress, ..settings }).unwrap();
    let answered = AtomicU64::new(0);
    let server = serve(move |head, to| {
        let n = answered.fetch_add(1, Ordering::Relaxed);
        let mut words = head.split(' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let body = match path {
            "/large" => (0..200_000).map(|it| format!("{}\n", it * (n + 1))).collect::<String>(),
            "/pieces" => format!("one\ntwo\n{n}\n"),
            _ => format!("{{\"n\":{n},\"path\":\"{path}\",\"method\":\"{method}\"}}"),
        };
        if path == "/slow" {
            std::thread::sleep(Duration::from_millis(30));
        }
        let status = if path == "/missing" { "404 Not Found" } else { "200 OK" };
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nx-n: {n}\r\n\r\n", body.len());
        let _ = to.write_all(head.as_bytes());
        for piece in body.as_bytes().chunks(10_000) {
            let _ = to.write_all(piece);
        }
    });
    let shared = tempfile::tempdir().unwrap();
    std::fs::write(shared.path().join("words.txt"), "alpha\nbeta\ngamma\n").unwrap();
    std::fs::write(shared.path().join("numbers.txt"), "1\n2\n3\n").unwrap();
    std::fs::create_dir(shared.path().join("below")).unwrap();
    dock.vault().generate(&Tenant::default(), &SECRET.parse().unwrap()).unwrap();
    let answered = Arc::new(AtomicU64::new(0));
    let (tcp, udp) = (counting_tcp(Arc::clone(&answered)), counting_udp(Arc::clone(&answered)));
    Yard { dock: Arc::new(dock), server, shared, home, asked: Arc::default(), tcp, udp, answered }
}

/// Answers each line with how many there were, and closes. The thread ends with the test's process.
fn counting_tcp(answered: Arc<AtomicU64>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut line = String::new();
            let _ = BufReader::new(&stream).read_line(&mut line);
            let _ = write!(stream, "{} said {line}", answered.fetch_add(1, Ordering::Relaxed));
        }
    });
    address
}

/// The same of datagrams.
fn counting_udp(answered: Arc<AtomicU64>) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut bytes = [0; 1024];
        while let Ok((length, from)) = socket.recv_from(&mut bytes) {
            let said = String::from_utf8_lossy(&bytes[..length]);
            let told = format!("{} said {said}", answered.fetch_add(1, Ordering::Relaxed));
            let _ = socket.send_to(told.as_bytes(), from);
        }
    });
    address
}

impl Yard {
    pub(crate) fn setup(&self) -> Setup {
        let mut setup = Setup::profile("minimal");
        let memory_bytes_max = setup.profile.memory_bytes_max;
        setup.limits = Some(Limits { memory_bytes_max, wall_max: HANGS, ..line_limits() });
        let rules = Rules::parse(&[], &[], &[self.server.address.to_string(), "127.0.0.1:1".into()]).unwrap();
        setup.network = Network { rules, injected: Vec::new() };
        let topics = ["t", "none", "later", "jobs", "p", "bgq"].map(|it| it.parse().unwrap());
        let within =
            |cap, subject: String| Arc::new(Grant::of(cap).within(Terms::of([subject.parse().unwrap()])));
        setup.grants = vec![
            Arc::new(Grant::of(Cap::Queue).within(Terms::of(topics))),
            within(Cap::Tcp, format!("private:{}", self.tcp)),
            within(Cap::Udp, format!("private:{}", self.udp)),
            within(Cap::Secrets, SECRET.to_owned()),
        ];
        setup.with_processes()
    }

    /// The setup on this deck, with the directory that others have.
    pub(crate) fn on(&self, deck: &dyn Deck, mut setup: Setup) -> (Setup, ShellSetup) {
        deck.prepare(&mut setup);
        let mount = format!("{}:/shared:rw", self.shared.path().display()).parse().unwrap();
        let home = self.dock.home().tenant(self.dock.tenant());
        let room = Room::new(64 << 20, None, Links::Inside);
        let tree = Tree::on(deck, &home, None, &[mount], room).unwrap().unwrap();
        setup.files = Some(tree.files);
        let mode = Mode { eval_allowed: true, ..Mode::default() };
        (setup, ShellSetup { mode, roots: tree.roots, ..ShellSetup::default() })
    }

    /// A file of what guests keep.
    pub(crate) fn kept(&self, file: &str) -> std::path::PathBuf {
        self.dock.home().tenant(self.dock.tenant()).root().join(file)
    }

    /// How many processes were ever started.
    pub(crate) async fn processes(&self) -> usize {
        self.dock.processes(SpoolBounds::default()).list().await.unwrap().len()
    }

    /// The text with the servers' addresses in it.
    pub(crate) fn text(&self, text: &str) -> String {
        let ports = text
            .replace("TCPPORT", &self.tcp.port().to_string())
            .replace("UDPPORT", &self.udp.port().to_string());
        let places = ports.replace("TCP", &format!("127.0.0.1 {}", self.tcp.port()));
        places.replace("URL", &format!("http://{}", self.server.address))
    }

    /// Runs it on a machine, with `tool` around what the embedder brings.
    pub(crate) async fn run(
        &self,
        dock: &Arc<Dock>,
        (kind, principal, text): (Kind, &str, &str),
        deck: &dyn Deck,
        tool: &dyn Fn(Tool) -> Tool,
        end: &dyn Fn(Box<dyn Fn() + Send + Sync>),
    ) -> String {
        let (mut setup, shell) = self.on(deck, self.setup());
        if matches!(kind, Kind::Program | Kind::Powers) {
            let clock = setup.one_clock();
            let providers = if kind == Kind::Powers {
                program_tools(dock, principal, &setup, &shell).unwrap()
            } else {
                let files = setup.files.clone().unwrap();
                let commands = command_tools(dock, principal, &setup, &shell).unwrap();
                let kept = file_tools(&files, &shell.cwd, &clock).unwrap();
                let world = Provider::new("world", self.tools().into_iter().map(tool).collect()).unwrap();
                Providers::new([commands, kept, world]).unwrap()
            };
            let programs = dock.code(principal, setup, providers).unwrap();
            let session = programs.session().clone();
            end(Box::new(move || session.cancel()));
            let options =
                ExecuteOptions { timeout_ms: Some(HANGS.as_secs_f64() * 1e3), ..ExecuteOptions::default() };
            let result = programs.execute(text, CodeInput { options, ..CodeInput::default() }).await;
            return format!("{:?}\nlogs {:?}", result.outcome, result.logs);
        }
        let mut shell = dock.shell(principal, setup, shell).unwrap();
        end(Box::new(shell.canceller()));
        let lines: Vec<&str> = if kind == Kind::Kept { text.lines().collect() } else { vec![text] };
        let mut told = String::new();
        for line in lines {
            let stdin = deck.stream("stdin", &mut || Ok(Source::Bytes("some\nwords\n".into()))).unwrap();
            let streams =
                Streams { stdin, stdout: Sink::capture(), stderr: Sink::capture(), ..Streams::default() };
            let ran = match kind {
                Kind::Kept => shell.run_line(line, streams).await,
                _ => shell.run(line, streams).await,
            };
            let (report, streams) = match ran {
                Ok(ran) => ran,
                Err(refused) => {
                    writeln!(told, "refused: {refused}").unwrap();
                    continue;
                }
            };
            writeln!(told, "status {} limit {:?}", report.status, report.limit).unwrap();
            let text = |sink: Sink| String::from_utf8_lossy(&sink.into_captured()).into_owned();
            writeln!(told, "--- stdout\n{}--- stderr\n{}", text(streams.stdout), text(streams.stderr))
                .unwrap();
            for it in report.stages {
                let bytes = (it.stdin_bytes, it.stdout_bytes, it.stderr_bytes);
                writeln!(told, "--- {} {} {} {bytes:?} {}", it.command, it.status, it.outcome, it.fuel)
                    .unwrap();
            }
        }
        told
    }

    /// What the embedder brings: an answer that nobody could compute, one that fails, and processes.
    fn tools(&self) -> Vec<Tool> {
        let asked = Arc::clone(&self.asked);
        let ask = Tool::new("ask", move |input, _| {
            let n = asked.fetch_add(1, Ordering::Relaxed);
            async move { Ok(json!({ "n": n, "input": input })) }
        });
        let fail = Tool::new("fail", |_, _| async { Err(ToolError::Message("no luck today".into())) });
        let dock = Arc::clone(&self.dock);
        let run = Tool::new("run", move |input: Value, _| {
            let dock = Arc::clone(&dock);
            async move { process(&dock, &input).await.map_err(ToolError::Message) }
        });
        vec![ask, fail, run]
    }

    pub(crate) async fn record(&self, kind: Kind, name: &str, text: &str) -> (Seen, TapeBody) {
        let recorder = Recorder::begin(RecordSettings::default());
        let tool = recorder.clone();
        let told =
            self.run(&self.dock, (kind, name, text), &recorder, &move |it| tool.tool(it), &|_| ()).await;
        let body = recorder.finish("ended", &[told.as_bytes()]).unwrap();
        (Seen { told, records: self.records(name) }, body)
    }

    pub(crate) async fn replay(
        &self,
        kind: Kind,
        name: &str,
        text: &str,
        body: &TapeBody,
    ) -> Result<Seen, Divergence> {
        let player = Player::new(body.frames(), body.frames())?;
        let (dock, records) = self.dock.replaying(&player);
        let (tool, ends) = (player.clone(), player.clone());
        let told = self
            .run(
                &Arc::new(dock),
                (kind, name, text),
                &Untouched(player.clone()),
                &move |it| tool.tool(untouched(it)),
                &move |end| ends.on_end(end),
            )
            .await;
        player.finish("ended", &[told.as_bytes()])?;
        Ok(Seen { told, records: of_records(&records.take()) })
    }

    /// What the audit has of a principal, times left out, by call.
    fn records(&self, principal: &str) -> BTreeMap<String, String> {
        self.dock.gate().flush().unwrap();
        let tenant = self.dock.home().tenant(self.dock.tenant());
        let all = read_audit(&tenant, Filter::default()).unwrap().map(Result::unwrap);
        let own = all.filter(|it| it.principal == principal);
        own.map(|it| {
            let end = it.outcome.clone().map(|outcome| (outcome, it.status));
            // How far a request came that nobody waited for any more is a matter of time.
            let answered = it.attempts.iter().filter(|it| it.status.is_some());
            let at: Vec<_> = answered.map(|it| (it.address.clone(), it.status)).collect();
            let facts = format!("{} {} {} {} {end:?} {at:?}", it.trace, it.parent, it.operation, it.subject);
            (it.call, facts)
        })
        .collect()
    }
}

/// Starts a process, and tells what it wrote and how it ended.
async fn process(dock: &Dock, input: &Value) -> Result<Value, String> {
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let args = input["args"].as_array().into_iter().flatten().map(|it| text(it).into_bytes()).collect();
    let new = NewProcess {
        command: text(&input["command"]),
        args,
        stdin: text(&input["stdin"]).into(),
        ..NewProcess::default()
    };
    let limits = Some(process_limits(64 << 20));
    let setup = Setup { limits, ..Setup::profile("minimal") }.with_processes();
    let session = dock.session("embedder", setup).map_err(|it| it.to_string())?;
    let all = dock.processes(SpoolBounds::default());
    let id = all.spawn(session, new).await.map_err(|it| it.to_string())?.id;
    let (mut told, mut from) = (Vec::new(), 0);
    loop {
        let chunk =
            all.read(&id, ProcessOutput::Stdout, from, 1 << 20, Duration::from_secs(5)).await.unwrap();
        from = chunk.next;
        told.extend_from_slice(&chunk.bytes);
        if chunk.is_end {
            let ended = all.find(&id).await.unwrap();
            let stage = serde_json::to_value(&ended).unwrap();
            return Ok(json!({
                "text": String::from_utf8_lossy(&told), "state": stage["state"], "exit_code": stage["exit_code"],
            }));
        }
    }
}

/// The same of the records of a replay.
fn of_records(all: &[AuditRecord]) -> BTreeMap<String, String> {
    let mut by_call = BTreeMap::new();
    for record in all {
        let call = &record.call;
        let (mut end, mut at) = (None, Vec::new());
        if let AuditEvent::Ended(ended) = &record.event {
            end = ended.outcome.as_ref().map(|it| (it.code().to_owned(), it.status()));
            let made = ended.attempts.iter().flat_map(|it| it.iter()).filter(|it| it.status.is_some());
            at = made.map(|it| (it.address.to_string(), it.status)).collect();
        }
        let subject = call.subjects.first();
        let (trace, parent) = (call.trace.to_string(), call.parent.to_string());
        let facts = format!("{trace} {parent} {} {subject} {end:?} {at:?}", call.operation);
        by_call.insert(call.call.to_string(), facts);
    }
    by_call
}

pub(crate) fn all_frames(body: &TapeBody) -> Vec<Frame> {
    let mut frames: Frames = body.frames();
    std::iter::from_fn(|| frames.read().unwrap()).collect()
}

pub(crate) fn tape_of(frames: &[Frame]) -> TapeBody {
    let mut writer = TapeWriter::new(64 << 20);
    for frame in frames {
        assert!(writer.put(frame));
    }
    writer.finish().unwrap()
}
