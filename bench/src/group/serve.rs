//! A handler over HTTP, a fresh instance for each request, against the same server answering natively, against a bare
//! router, against node and `wasmtime serve`, and beside a guest that loops; and a run over HTTP against the library.
//!
//! The native answer is a route of the product that is there for this alone (its feature `native`): a request comes in the
//! same way, is rendered as for a guest, waits for its turn, and is answered with those bytes. The bare router is of this
//! file, on the server's own listener and connections.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use drydock_embed::{
    Dock, DockSettings, ExtensionCode, InstallationLimits, InstallationSettings, SystemClock, WorkerProgram,
    contract::port::Clock as _, gate::GateSettings,
};
use drydock_serve::{App, Bounds, ServeSettings, router, serve};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    runtime::Runtime,
};

use super::{Bench, serve_peers, serve_wasmtime};
use crate::{
    figure::{Amount, Bound, Figure},
    machine,
    spread::{Spread, median},
};

/// What the guest is asked, and what is asked without one.
const ECHOED: &str = "/x/echo/a?b=c";
const NATIVE: &str = "/native/a?b=c";
/// Connections of the load.
pub(super) const CONNECTIONS: [usize; 3] = [2, 16, 64];

/// A guest that answers with the request it was shown, in base64, as the runner's own echo does.
const ECHO: &str = include_str!("echo.wat");
const LOOP: &str = r#"(module (memory (export "memory") 1)
  (func (export "alloc") (param i32) (result i32) (i32.const 16))
  (func (export "handler") (param i32 i32 i32) (result i32) (loop $on (br $on)) (i32.const 0)))"#;

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let served = Served::start()?;
    let (rounds, length) =
        if bench.quick { (5, Duration::from_millis(600)) } else { (15, Duration::from_secs(2)) };
    served.load(served.bare, NATIVE, 16, length)?;
    served.load(served.product, ECHOED, 16, length)?;
    let mut figures = Vec::new();
    for connections in CONNECTIONS {
        let (mut ours, mut native, mut bare) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds {
            native.push(served.load(served.product, NATIVE, connections, length)?);
            ours.push(served.load(served.product, ECHOED, connections, length)?);
            bare.push(served.load(served.bare, NATIVE, connections, length)?);
        }
        figures.extend(compared(connections, &ours, &native));
        figures.push(against_a_bare_router(connections, &ours, &bare));
    }
    figures.extend(serve_peers::against_node(&served, rounds, length)?);
    figures.extend(serve_wasmtime::measure(&served, rounds, length)?);
    figures.push(served.beside_a_loop(rounds, length)?);
    figures.push(serve_peers::against_the_library(&served, bench)?);
    Ok(figures)
}

/// `probe-serve product|native|both CONNECTIONS SECONDS ROUNDS [bare]`: one load, to be looked at with a profiler.
pub(crate) fn probe(args: &[String]) -> anyhow::Result<()> {
    let served = Served::start()?;
    let arg = |at: usize| args.get(at).map(String::as_str).unwrap_or_default();
    let connections: usize = arg(1).parse()?;
    let length = Duration::from_secs_f64(arg(2).parse()?);
    let rounds: usize = arg(3).parse().unwrap_or(1);
    let product = || served.load(served.product, ECHOED, connections, length);
    let other = if arg(4) == "bare" { served.bare } else { served.product };
    let native = || served.load(other, NATIVE, connections, length);
    let tell = |name: &str, load: &Load| {
        let micros = [load.cpu, load.p50, load.p99].map(|it| it * 1e6);
        println!(
            "{name} {:.0}/s cpu {:.2} us p50 {:.0} us p99 {:.0} us",
            load.per_second, micros[0], micros[1], micros[2]
        );
    };
    match arg(0) {
        "product" => {
            for _ in 0..rounds {
                tell("product", &product()?);
            }
        }
        "native" => {
            for _ in 0..rounds {
                tell("native", &native()?);
            }
        }
        _ => {
            product()?;
            let (mut ratios, mut more) = (Vec::new(), Vec::new());
            for _ in 0..rounds {
                let (native, product) = (native()?, product()?);
                ratios.push(product.per_second / native.per_second);
                more.push((product.cpu - native.cpu) * 1e6);
                tell("native", &native);
                tell("product", &product);
            }
            println!("{connections}: ratio {:.3} more cpu {:.1} us", median(&ratios), median(&more));
        }
    }
    Ok(())
}

/// What one load gave.
pub(super) struct Load {
    pub(super) per_second: f64,
    pub(super) p50: f64,
    pub(super) p99: f64,
    /// CPU seconds of server and client together, for each request.
    cpu: f64,
}

/// Against the same server: the same way in, the same bytes out, and no guest between them.
fn compared(connections: usize, ours: &[Load], native: &[Load]) -> Vec<Figure> {
    let more: Vec<f64> = ours.iter().zip(native).map(|(ours, native)| ours.cpu - native.cpu).collect();
    let figure =
        |name: String, ours, peer, judged, bound| Figure { group: "serve", name, ours, peer, judged, bound };
    vec![
        figure(
            format!(
                "requests a second of the echo guest at {connections} connections, of those that the same server answers without a guest"
            ),
            Amount::PerSecond(median(&of(ours, |it| it.per_second))),
            Some(Amount::PerSecond(median(&of(native, |it| it.per_second)))),
            ratio(ours, native, |it| it.per_second),
            Bound::AtLeast(0.6),
        ),
        figure(
            format!("p50 of the echo guest at {connections} connections: times that of a native answer"),
            Amount::Seconds(median(&of(ours, |it| it.p50))),
            Some(Amount::Seconds(median(&of(native, |it| it.p50)))),
            ratio(ours, native, |it| it.p50),
            Bound::Known,
        ),
        figure(
            format!("p99 of the echo guest at {connections} connections: times that of a native answer"),
            Amount::Seconds(median(&of(ours, |it| it.p99))),
            Some(Amount::Seconds(median(&of(native, |it| it.p99)))),
            ratio(ours, native, |it| it.p99),
            if connections == 64 { Bound::AtMost(4.0) } else { Bound::Known },
        ),
        figure(
            format!(
                "CPU time of a request to the echo guest at {connections} connections: more than a native one"
            ),
            Amount::Seconds(median(&of(ours, |it| it.cpu))),
            None,
            Spread::of(&more),
            Bound::Known,
        ),
    ]
}

/// Against nothing but a router, which asks nobody who it is, counts nothing and answers a shorter text.
fn against_a_bare_router(connections: usize, ours: &[Load], bare: &[Load]) -> Figure {
    Figure {
        group: "serve",
        name: format!(
            "requests a second of the echo guest at {connections} connections, of those of a bare router"
        ),
        ours: Amount::PerSecond(median(&of(ours, |it| it.per_second))),
        peer: Some(Amount::PerSecond(median(&of(bare, |it| it.per_second)))),
        judged: ratio(ours, bare, |it| it.per_second),
        bound: Bound::Known,
    }
}

fn of(loads: &[Load], what: fn(&Load) -> f64) -> Vec<f64> {
    loads.iter().map(what).collect()
}

fn ratio(ours: &[Load], others: &[Load], what: fn(&Load) -> f64) -> Spread {
    let pairs = ours.iter().zip(others).map(|(ours, other)| what(ours) / what(other));
    Spread::of(&pairs.collect::<Vec<f64>>())
}

/// Two servers of one process: the product, which has a native route here, and a bare router on the same listener code.
pub(super) struct Served {
    pub(super) clients: Runtime,
    _servers: Runtime,
    pub(super) dock: Dock,
    pub(super) product: SocketAddr,
    bare: SocketAddr,
    _home: tempfile::TempDir,
}

impl Served {
    fn start() -> anyhow::Result<Self> {
        let home = tempfile::tempdir().context("no temporary folder")?;
        let gate = GateSettings { calls_max: u32::MAX, ..GateSettings::default() };
        let worker = Some(WorkerProgram::this_one([crate::COMPILE_WORKER]));
        let dock = Dock::open_with(home.path(), DockSettings { gate, worker, ..DockSettings::default() })?;
        let servers = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let clients = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let limits = InstallationLimits { timeout_ms: Some(600_000), memory_mb: None };
        for (name, wat) in [("echo", ECHO), ("loop", LOOP)] {
            let settings = InstallationSettings { limits, ..InstallationSettings::default() };
            let module = wat::parse_str(wat)?;
            servers.block_on(dock.install_extension(
                name.parse()?,
                ExtensionCode::Module(module.into()),
                settings,
                SystemClock.now(),
            ))?;
        }
        let app = || {
            App::new(dock.clone(), ServeSettings { bounds: Bounds::default(), ..ServeSettings::default() })
        };
        let start = |app: App, router: axum::Router| -> anyhow::Result<SocketAddr> {
            let listener = servers.block_on(TcpListener::bind("127.0.0.1:0"))?;
            let address = listener.local_addr()?;
            servers.spawn(async move { serve(listener, None, app, router, std::future::pending()).await });
            Ok(address)
        };
        let product = app();
        let routes = router(&product);
        let product = start(product, routes)?;
        let bare = start(app(), axum::Router::new().route("/native/{*path}", axum::routing::any(natively)))?;
        Ok(Self { clients, _servers: servers, dock, product, bare, _home: home })
    }

    /// So many connections that each ask again as soon as they are answered.
    pub(super) fn load(
        &self,
        to: SocketAddr,
        path: &'static str,
        connections: usize,
        length: Duration,
    ) -> anyhow::Result<Load> {
        let (began, cpu) = (Instant::now(), machine::cpu_seconds());
        let all: Vec<_> =
            (0..connections).map(|_| self.clients.spawn(ask_until(to, path, began + length))).collect();
        let mut times = Vec::new();
        for one in all {
            times.extend(self.clients.block_on(one)??);
        }
        let (seconds, cpu) = (began.elapsed().as_secs_f64(), machine::cpu_seconds() - cpu);
        ensure!(!times.is_empty(), "nothing was answered");
        times.sort_by(f64::total_cmp);
        let slower_than = |percent: usize| times[times.len() * percent / 100];
        Ok(Load {
            per_second: times.len() as f64 / seconds,
            p50: slower_than(50),
            p99: slower_than(99),
            cpu: cpu / times.len() as f64,
        })
    }

    fn beside_a_loop(&self, rounds: usize, length: Duration) -> anyhow::Result<Figure> {
        let (mut alone, mut beside) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            alone.push(self.load(self.product, ECHOED, 16, length)?.per_second);
            let over = Arc::new(AtomicBool::new(false));
            let (to, stop) = (self.product, Arc::clone(&over));
            let begun = Arc::new(AtomicU64::new(0));
            let count = Arc::clone(&begun);
            let looping = self.clients.spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    count.fetch_add(1, Ordering::Relaxed);
                    loop_for(to, length / 2).await?;
                }
                anyhow::Ok(())
            });
            while begun.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            beside.push(self.load(self.product, ECHOED, 16, length)?.per_second);
            over.store(true, Ordering::Relaxed);
            self.clients.block_on(looping)??;
        }
        let ratios: Vec<f64> = beside.iter().zip(&alone).map(|(beside, alone)| beside / alone).collect();
        Ok(Figure {
            group: "serve",
            name: "requests a second of the echo guest beside a guest that loops, of those without it".into(),
            ours: Amount::PerSecond(median(&beside)),
            peer: Some(Amount::PerSecond(median(&alone))),
            judged: Spread::of(&ratios),
            bound: Bound::AtLeast(0.4),
        })
    }
}

/// The request as a guest would be shown it, without a guest.
async fn natively(request: axum::extract::Request) -> axum::response::Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 10 << 20).await.unwrap_or_default();
    let headers: BTreeMap<&str, &str> = parts
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_str().unwrap_or_default()))
        .collect();
    let shown = serde_json::json!({
        "context": { "request_id": null, "tenant_id": "dev", "extension_id": "echo", "version_id": null },
        "http": {
            "method": parts.method.as_str(), "path": parts.uri.path(), "query": parts.uri.query(), "headers": headers,
            "body_b64": if body.is_empty() { None } else { Some(String::from_utf8_lossy(&body)) },
        },
    });
    let mut response = axum::response::Response::new(axum::body::Body::from(shown.to_string()));
    response.headers_mut().insert("content-type", axum::http::HeaderValue::from_static("application/json"));
    response
}

/// Asks the guest that loops, and goes away after a while.
async fn loop_for(to: SocketAddr, length: Duration) -> anyhow::Result<()> {
    let mut stream = TcpStream::connect(to).await?;
    stream.write_all(b"GET /x/loop/ HTTP/1.1\r\nhost: localhost\r\n\r\n").await?;
    tokio::time::sleep(length).await;
    Ok(())
}

/// One connection, one request after the other; answers the seconds of each.
async fn ask_until(to: SocketAddr, path: &'static str, end: Instant) -> anyhow::Result<Vec<f64>> {
    let request =
        format!("GET {path} HTTP/1.1\r\nhost: localhost\r\naccept: */*\r\nuser-agent: bench\r\n\r\n");
    let mut stream = TcpStream::connect(to).await?;
    stream.set_nodelay(true)?;
    let mut times = Vec::new();
    let mut buffer = vec![0; 16 << 10];
    while Instant::now() < end {
        let asked = Instant::now();
        stream.write_all(request.as_bytes()).await?;
        read_answer(&mut stream, &mut buffer).await?;
        times.push(asked.elapsed().as_secs_f64());
    }
    Ok(times)
}

/// Reads one answer, and says how many bytes it has.
pub(super) async fn read_answer(stream: &mut TcpStream, buffer: &mut [u8]) -> anyhow::Result<usize> {
    let mut held = 0;
    loop {
        let count = stream.read(&mut buffer[held..]).await?;
        ensure!(count > 0, "the server hung up");
        held += count;
        if whole(&buffer[..held])? {
            return Ok(held);
        }
    }
}

/// Whether all of an answer is there.
fn whole(bytes: &[u8]) -> anyhow::Result<bool> {
    let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") else { return Ok(false) };
    let head = std::str::from_utf8(&bytes[..end])?;
    ensure!(head.starts_with("HTTP/1.1 200"), "it answered {}", head.lines().next().unwrap_or_default());
    let length = head
        .lines()
        .find_map(|it| it.to_ascii_lowercase().strip_prefix("content-length: ").map(str::to_owned))
        .context("no length")?;
    Ok(bytes.len() >= end + 4 + length.parse::<usize>()?)
}
