//! The server against others: node's http server that does the same natively, and the library that a run goes through.

use std::{
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use drydock_embed::Setup;
use serde_json::json;
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

use super::{
    Bench,
    serve::{CONNECTIONS, Load, Served, read_answer},
};
use crate::{
    figure::{Amount, Bound, Figure},
    harness::{Contender, interleave},
    spread::{Spread, median},
};

/// The same as the echo guest: what was asked, as JSON.
const NODE: &str = "const server = require('http').createServer((q, s) => { const parts = []; q.on('data', it => parts.push(it)); \
    q.on('end', () => { const [path, query] = q.url.split('?'); const body = Buffer.concat(parts); \
    s.setHeader('content-type', 'application/json'); s.end(JSON.stringify({ context: { request_id: null, tenant_id: 'dev', \
    extension_id: 'echo', version_id: null }, http: { method: q.method, path, query, headers: q.headers, \
    body_b64: body.length ? body.toString('base64') : null } })); }); }); \
    server.listen(0, '127.0.0.1', () => console.log(server.address().port));";
const TEXT: &str = "the quick brown fox\n";

/// Node, for as long as this lives.
struct Node {
    child: Child,
    address: SocketAddr,
}

impl Node {
    fn start() -> anyhow::Result<Self> {
        let mut child = Command::new("node").args(["-e", NODE]).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no stdout")?).read_line(&mut line)?;
        Ok(Self { child, address: ([127, 0, 0, 1], line.trim().parse()?).into() })
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The echo guest, against node's own.
pub(super) fn against_node(served: &Served, rounds: usize, length: Duration) -> anyhow::Result<Vec<Figure>> {
    let node = Node::start()?;
    // At two connections node and the load have a core each, and we share them: that is known, not judged.
    let bound = |connections| if connections == 2 { Bound::Known } else { Bound::AtLeast(2.0) };
    against(served, ("node's http", node.address), rounds, length, bound)
}

/// Requests a second and their times, of the echo guest and of another server in turn.
pub(super) fn against(
    served: &Served,
    (whom, address): (&str, SocketAddr),
    rounds: usize,
    length: Duration,
    per_second_must: impl Fn(usize) -> Bound,
) -> anyhow::Result<Vec<Figure>> {
    served.load(address, "/a?b=c", 16, length)?;
    let mut figures = Vec::new();
    for connections in CONNECTIONS {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            theirs.push(served.load(address, "/a?b=c", connections, length)?);
            ours.push(served.load(served.product, "/x/echo/a?b=c", connections, length)?);
        }
        let at = format!("of the echo guest at {connections} connections");
        let figure = |name: String, amount: fn(f64) -> Amount, what: fn(&Load) -> f64, bound| {
            let of = |loads: &[Load]| loads.iter().map(what).collect::<Vec<f64>>();
            let (ours, theirs) = (of(&ours), of(&theirs));
            let ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(one, other)| one / other).collect();
            Figure {
                group: "serve",
                name,
                ours: amount(median(&ours)),
                peer: Some(amount(median(&theirs))),
                judged: Spread::of(&ratios),
                bound,
            }
        };
        let (per_second, bound) =
            (format!("requests a second {at}: times those of {whom}"), per_second_must(connections));
        figures.push(figure(per_second, Amount::PerSecond, |it| it.per_second, bound));
        let (p50, p99) =
            (format!("p50 {at}: times that of {whom}"), format!("p99 {at}: times that of {whom}"));
        figures.push(figure(p50, Amount::Seconds, |it| it.p50, Bound::Known));
        figures.push(figure(p99, Amount::Seconds, |it| it.p99, Bound::Known));
    }
    Ok(figures)
}

/// `POST /v1/run` of a tiny command on a connection that is kept, against the same through the library.
pub(super) fn against_the_library(served: &Served, bench: &Bench) -> anyhow::Result<Figure> {
    let body = json!({ "name": "upper", "stdin": TEXT }).to_string();
    let request =
        format!("POST /v1/run HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let mut stream = served.clients.block_on(TcpStream::connect(served.product))?;
    stream.set_nodelay(true)?;
    let session = served.dock.session("bench", Setup::allowing(["upper"])?)?;
    let samples = interleave(
        bench.plan,
        &mut [
            Contender::timing_itself(|calls| {
                served.clients.block_on(async {
                    let (mut seconds, mut buffer) = (Vec::new(), vec![0; 16 << 10]);
                    for _ in 0..calls {
                        let began = Instant::now();
                        stream.write_all(request.as_bytes()).await?;
                        let held = read_answer(&mut stream, &mut buffer).await?;
                        seconds.push(began.elapsed().as_secs_f64());
                        let wanted = TEXT.trim_end().to_uppercase();
                        ensure!(String::from_utf8_lossy(&buffer[..held]).contains(&wanted), "another answer");
                    }
                    Ok(seconds)
                })
            }),
            Contender::timing_itself(|calls| {
                served.clients.block_on(async {
                    let mut seconds = Vec::new();
                    for _ in 0..calls {
                        let began = Instant::now();
                        let run = session.run("upper", &[], TEXT).await?;
                        seconds.push(began.elapsed().as_secs_f64());
                        ensure!(run.success(), "it did not: {:?}", run.outcome);
                    }
                    Ok(seconds)
                })
            }),
        ],
    )?;
    Ok(Figure {
        group: "serve",
        name: "`POST /v1/run` of `upper` on a kept connection: more than through the library".into(),
        ours: Amount::Seconds(samples.seconds(0)),
        peer: None,
        judged: samples.more(0, 1),
        bound: Bound::AtMost(0.00015),
    })
}
