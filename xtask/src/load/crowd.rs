//! Ten thousand connections that say nothing, and somebody who is answered among them.

use std::{
    net::TcpStream,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};

use super::{server::Server, told};

pub(super) fn gather(server: &Server, connections: usize) -> anyhow::Result<()> {
    let began = Instant::now();
    let (before_kib, _) = server.held()?;
    let mut crowd = Vec::with_capacity(connections);
    for at in 0..connections {
        crowd.push(TcpStream::connect(server.address).with_context(|| {
            format!("connection {at}; `ulimit -n` must be above {connections} here and for the server")
        })?);
    }
    let opened = began.elapsed();
    // They are counted once they are accepted.
    let all = wait_for(server, |open| open >= connections as u64)?;
    let mut client = server.client()?;
    let mut slowest = Duration::ZERO;
    for _ in 0..1_000 {
        let began = Instant::now();
        let answer = client.get("/x/echo/")?;
        ensure!(answer.status == 200, "in a crowd, echo answered {}", answer.status);
        slowest = slowest.max(began.elapsed());
    }
    let (with_kib, _) = server.held()?;
    told(&format!("{connections} idle connections: opened in"), format!("{:.1} s", opened.as_secs_f64()));
    told("… open by `/metrics`", all);
    told(
        "… memory of the server for each",
        format!("{:.1} KiB", with_kib.saturating_sub(before_kib) as f64 / connections.max(1) as f64),
    );
    told("… slowest of 1,000 answers of echo among them", format!("{:.1} ms", slowest.as_secs_f64() * 1e3));
    drop(crowd);
    drop(client);
    wait_for(server, |open| open <= 2)?;
    Ok(())
}

/// Asks until the open connections are as they should be.
fn wait_for(server: &Server, enough: impl Fn(u64) -> bool) -> anyhow::Result<u64> {
    let began = Instant::now();
    loop {
        let open = server.metric("drydock_http_connections ")?;
        if enough(open) {
            return Ok(open);
        }
        ensure!(began.elapsed() < Duration::from_secs(60), "{open} connections are open");
    }
}
