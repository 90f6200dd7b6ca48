//! Messages there and back over one connection that the power `tcp` made, against a direct socket: the same server, the same
//! runtime, the same bytes.

use std::{future::poll_fn, sync::Arc, time::Instant};

use anyhow::{Context as _, ensure};
use drydock_embed::{
    Connected, Dock, DockSettings, Setup,
    contract::{Cap, Sink, Source, Terms},
    egress::{Egress, Parts, QuotaLimits},
    gate::Grant,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use super::Bench;
use crate::{
    figure::{Amount, Bound, Figure},
    harness::{Contender, interleave},
};

/// Messages that are timed together.
const MESSAGES: usize = 200;
/// Bytes of each.
const MESSAGE_BYTES: usize = 1024;

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    runtime.spawn(echo(listener));
    let home = tempfile::tempdir().context("no temporary folder")?;
    let quota = QuotaLimits { requests_max: u32::MAX, bytes_max: u64::MAX, ..QuotaLimits::default() };
    let egress = Some(Arc::new(Egress::new(Parts { quota, ..Parts::default() })));
    let dock = Dock::open_with(home.path(), DockSettings { egress, ..DockSettings::default() })?;
    let subject = format!("private:{address}").parse()?;
    let grants = vec![Arc::new(Grant::of(Cap::Tcp).within(Terms::of([subject])))];
    let session = dock.session("bench", Setup { grants, ..Setup::profile("minimal") })?;
    let mut ours = runtime.block_on(session.connect_tcp("127.0.0.1", address.port()))?;
    let mut theirs = runtime.block_on(TcpStream::connect(address))?;
    theirs.set_nodelay(true)?;
    let message = [7; MESSAGE_BYTES];
    let samples = interleave(
        bench.plan,
        &mut [
            Contender::timing_itself(|calls| {
                runtime.block_on(async {
                    let mut seconds = Vec::new();
                    for _ in 0..calls {
                        let began = Instant::now();
                        for _ in 0..MESSAGES {
                            there_and_back(&mut ours, &message).await?;
                        }
                        seconds.push(began.elapsed().as_secs_f64() / MESSAGES as f64);
                    }
                    Ok(seconds)
                })
            }),
            Contender::timing_itself(|calls| {
                runtime.block_on(async {
                    let mut seconds = Vec::new();
                    let mut back = [0; MESSAGE_BYTES];
                    for _ in 0..calls {
                        let began = Instant::now();
                        for _ in 0..MESSAGES {
                            theirs.write_all(&message).await?;
                            theirs.read_exact(&mut back).await?;
                            ensure!(back == message, "other bytes came back");
                        }
                        seconds.push(began.elapsed().as_secs_f64() / MESSAGES as f64);
                    }
                    Ok(seconds)
                })
            }),
        ],
    )?;
    Ok(vec![Figure {
        group: "socket",
        name: "a message of 1 KiB there and back over `tcp`: times as long as over a direct socket".into(),
        ours: Amount::Seconds(samples.seconds(0)),
        peer: Some(Amount::Seconds(samples.seconds(1))),
        judged: samples.ratio(0, 1),
        bound: Bound::AtMost(1.3),
    }])
}

async fn there_and_back(connected: &mut Connected, message: &[u8]) -> anyhow::Result<()> {
    let (source, sink): (&mut Source, &mut Sink) = (&mut connected.source, &mut connected.sink);
    let mut rest = message;
    while !rest.is_empty() {
        let count = poll_fn(|cx| sink.poll_write(cx, rest)).await?;
        rest = &rest[count..];
    }
    let mut back = [0; MESSAGE_BYTES];
    let mut got = 0;
    while got < message.len() {
        match poll_fn(|cx| source.poll_read(cx, &mut back[got..])).await? {
            0 => anyhow::bail!("it closed"),
            count => got += count,
        }
    }
    ensure!(back == *message, "other bytes came back");
    Ok(())
}

async fn echo(listener: TcpListener) {
    while let Ok((mut stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        tokio::spawn(async move {
            let mut bytes = [0; 16 << 10];
            while let Ok(count @ 1..) = stream.read(&mut bytes).await {
                if stream.write_all(&bytes[..count]).await.is_err() {
                    return;
                }
            }
        });
    }
}
