//! Load, and load for long: callers that are answered, beside guests that trap and loop and callers that send garbage.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};

use super::{client::Client, server::Server, told};

/// Callers at once.
const CALLERS: usize = 64;
/// Bytes that a server under load may hold on to, after the first seconds.
const GROWTH_KIB_MAX: u64 = 64 << 10;

/// Many callers of the echo guest.
pub(super) fn load(server: &Server, length: Duration) -> anyhow::Result<()> {
    let end = Instant::now() + length;
    let mut times = thread::scope(|scope| {
        let all: Vec<_> = (0..CALLERS).map(|_| scope.spawn(|| echo(server, end))).collect();
        let done = all.into_iter().map(|it| it.join().map_err(|_| anyhow::anyhow!("a caller panicked"))?);
        done.collect::<anyhow::Result<Vec<_>>>().map(|it| it.concat())
    })?;
    times.sort_by(f64::total_cmp);
    let at = |part: f64| times.get((times.len() as f64 * part) as usize).copied().unwrap_or(f64::NAN) * 1e3;
    told("echo, 64 callers: answers a second", format!("{:.0}", times.len() as f64 / length.as_secs_f64()));
    told("… p50, p99", format!("{:.2} ms, {:.2} ms", at(0.5), at(0.99)));
    Ok(())
}

/// Asks until the end, and says how long each answer took.
fn echo(server: &Server, end: Instant) -> anyhow::Result<Vec<f64>> {
    let mut client = server.client()?;
    let mut times = Vec::new();
    while Instant::now() < end {
        let began = Instant::now();
        let answer = client.get("/x/echo/a?b=c")?;
        ensure!(answer.status == 200, "echo answered {}", answer.status);
        times.push(began.elapsed().as_secs_f64());
    }
    Ok(times)
}

#[derive(Default)]
struct Counted {
    echoed: AtomicU64,
    trapped: AtomicU64,
    looped: AtomicU64,
    ran: AtomicU64,
    garbage: AtomicU64,
}

/// What one caller does over and over.
type Work = fn(&Server, &Counted) -> anyhow::Result<()>;

/// Everything at once, for long: what grows is a leak, and what is counted must be what happened.
pub(super) fn soak(server: &Server, length: Duration) -> anyhow::Result<()> {
    let counted = Counted::default();
    let failures =
        |kind: &str| server.metric(&format!("drydock_extension_failures_total{{kind=\"{kind}\"}}"));
    let before = (server.metric("drydock_extension_answers_total")?, failures("trap")?, failures("timeout")?);
    let began = Instant::now();
    // What is allocated once is allocated after the first tenth.
    let (warm, end) = (began + length / 10, began + length);
    let held = thread::scope(|scope| {
        let mut all = Vec::new();
        for at in 0..16 {
            let counted = &counted;
            let work: Work = match at {
                0 => traps,
                1 => loops,
                2 => runs,
                3 => sends_garbage,
                _ => echoes,
            };
            all.push(scope.spawn(move || -> anyhow::Result<()> {
                while Instant::now() < end {
                    work(server, counted)?;
                }
                Ok(())
            }));
        }
        while Instant::now() < warm {
            thread::sleep(Duration::from_millis(50));
        }
        let held = server.held();
        for one in all {
            one.join().map_err(|_| anyhow::anyhow!("a caller panicked"))??;
        }
        held
    })?;
    let (after_kib, after_fds) = server.held()?;
    let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let (answers, traps, timeouts) =
        (server.metric("drydock_extension_answers_total")?, failures("trap")?, failures("timeout")?);
    ensure!(answers - before.0 == of(&counted.echoed), "/metrics says {} answers", answers - before.0);
    ensure!(traps - before.1 == of(&counted.trapped), "/metrics says {} traps", traps - before.1);
    ensure!(timeouts - before.2 == of(&counted.looped), "/metrics says {} timeouts", timeouts - before.2);
    ensure!(server.metric("drydock_http_in_flight ")? == 0, "something is in flight still");
    ensure!(server.metric("drydock_http_body_bytes ")? == 0, "bodies are held still");
    ensure!(
        after_kib < held.0 + GROWTH_KIB_MAX,
        "memory grew from {} to {after_kib} KiB while nothing should stay",
        held.0
    );
    ensure!(after_fds <= held.1 + 16, "descriptors grew from {} to {after_fds}", held.1);
    told(
        &format!("soak of {} s: answered, trapped, timed out, ran, garbage", length.as_secs()),
        format!(
            "{}, {}, {}, {}, {}",
            of(&counted.echoed),
            of(&counted.trapped),
            of(&counted.looped),
            of(&counted.ran),
            of(&counted.garbage)
        ),
    );
    told("… memory after a tenth, and after all", format!("{} KiB, {after_kib} KiB", held.0));
    told("… descriptors, likewise", format!("{}, {after_fds}", held.1));
    told("… `/metrics` against what the callers counted", "equal");
    Ok(())
}

/// A hundred requests on one connection, all of which have this status.
fn hundred(server: &Server, path: &str, status: u16, count: &AtomicU64) -> anyhow::Result<()> {
    let mut client = server.client()?;
    for _ in 0..100 {
        let answer = client.get(path)?;
        ensure!(answer.status == status, "{path} answered {}", answer.status);
        count.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

fn echoes(server: &Server, counted: &Counted) -> anyhow::Result<()> {
    hundred(server, "/x/echo/a?b=c", 200, &counted.echoed)
}

fn traps(server: &Server, counted: &Counted) -> anyhow::Result<()> {
    hundred(server, "/x/trap/", 500, &counted.trapped)
}

fn loops(server: &Server, counted: &Counted) -> anyhow::Result<()> {
    let answer = server.client()?.get("/x/loop/")?;
    ensure!(answer.status == 504, "loop answered {}", answer.status);
    counted.looped.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

fn runs(server: &Server, counted: &Counted) -> anyhow::Result<()> {
    let answer = server.client()?.ask("POST", "/v1/run", br#"{"name":"upper","stdin":"a"}"#)?;
    ensure!(
        answer.status == 200,
        "run answered {}: {}",
        answer.status,
        String::from_utf8_lossy(&answer.body)
    );
    counted.ran.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// What is no HTTP, breaks off, or is more than may be: each on a connection of its own.
fn sends_garbage(server: &Server, counted: &Counted) -> anyhow::Result<()> {
    let most = format!("POST /x/echo/ HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", 500 << 20);
    for bytes in [
        &b"\x16\x03\x01\x02\x00"[..],
        b"GET / HTTP/1.1\r\nhost: localhost\r\nx: ",
        b"POST /x/echo/ HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"POST /x/echo/ HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\nhalf",
        most.as_bytes(),
    ] {
        let mut client: Client = server.client().context("garbage")?;
        client.send(bytes)?;
        counted.garbage.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}
