//! A yard for tapes: a dock, a loopback server whose answers count up, a directory that others have, and the same thing
//! run on a recorder and on a player.
#![allow(dead_code, clippy::unwrap_used)]

use std::{
    collections::BTreeMap,
    fmt::Write as _,
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
    CodeInput, Dock, DockSettings, Network, Room, Setup, ShellSetup, Tree, command_tools,
    contract::{
        Limits, Sink, Source, Streams,
        port::{AuditEvent, AuditRecord},
    },
    egress::{QuotaLimits, Rules},
    file_tools,
    gate::GateSettings,
    line_limits,
    shell::Mode,
    store::{Filter, Frame, Frames, Links, TapeBody, TapeWriter, read_audit},
    tape::{Deck, Divergence, Player, RecordSettings, Recorder},
};
use serde_json::json;

use crate::web_room::{Server, local, serve};

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
}

/// What is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Line,
    Kept,
    Program,
}

/// What came of it: what its caller sees, and what is on record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) told: String,
    pub(crate) records: BTreeMap<String, String>,
}

pub(crate) fn yard() -> Yard {
    yard_with(GateSettings::default())
}

pub(crate) fn yard_with(gate: GateSettings) -> Yard {
    let home = tempfile::tempdir().unwrap();
    let egress = Some(local(QuotaLimits { requests_max: 1_000_000, ..QuotaLimits::default() }).0);
    let dock =
        Dock::open_with(home.path(), DockSettings { egress, gate, ..DockSettings::default() }).unwrap();
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
    Yard { dock: Arc::new(dock), server, shared, home, asked: Arc::default() }
}

impl Yard {
    pub(crate) fn setup(&self) -> Setup {
        let mut setup = Setup::profile("minimal");
        let memory_bytes_max = setup.profile.memory_bytes_max;
        setup.limits = Some(Limits { memory_bytes_max, wall_max: HANGS, ..line_limits() });
        let rules = Rules::parse(&[], &[], &[self.server.address.to_string(), "127.0.0.1:1".into()]).unwrap();
        setup.network = Network { rules, injected: Vec::new() };
        setup
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

    /// The text with the server's address in it.
    pub(crate) fn text(&self, text: &str) -> String {
        text.replace("URL", &format!("http://{}", self.server.address))
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
        if kind == Kind::Program {
            let clock = setup.one_clock();
            let files = setup.files.clone().unwrap();
            let commands = command_tools(dock, principal, &setup, &shell).unwrap();
            let kept = file_tools(&files, &shell.cwd, &clock).unwrap();
            let world = Provider::new("world", self.tools().into_iter().map(tool).collect()).unwrap();
            let programs =
                dock.code(principal, setup, Providers::new([commands, kept, world]).unwrap()).unwrap();
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

    /// What the embedder brings: an answer that nobody could compute, and one that fails.
    fn tools(&self) -> Vec<Tool> {
        let asked = Arc::clone(&self.asked);
        let ask = Tool::new("ask", move |input, _| {
            let n = asked.fetch_add(1, Ordering::Relaxed);
            async move { Ok(json!({ "n": n, "input": input })) }
        });
        let fail = Tool::new("fail", |_, _| async { Err(ToolError::Message("no luck today".into())) });
        vec![ask, fail]
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
            .run(&Arc::new(dock), (kind, name, text), &player, &move |it| tool.tool(it), &move |end| {
                ends.on_end(end);
            })
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
