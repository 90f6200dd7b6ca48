//! A server that is killed while it writes: what it acknowledged is there when it starts again.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};

use super::{
    server::{self, Server},
    told,
};

/// Kills.
const TIMES: u64 = 3;
/// Callers that write.
const WRITERS: usize = 4;

pub(super) fn kill(binary: &Path, echo: &Path, seconds: u64) -> anyhow::Result<()> {
    let home = tempfile::tempdir()?;
    server::install(binary, home.path(), echo)?;
    let kept = Mutex::new(BTreeMap::<String, String>::new());
    let mut slowest = Duration::ZERO;
    for round in 0..TIMES {
        let running = Server::over(binary, home.path())?;
        let mut client = running.client()?;
        let made = client.ask("PUT", "/v1/workspaces/w", b"")?;
        ensure!(made.status == 200, "the workspace: {}", made.status);
        let address = running.address;
        thread::scope(|scope| -> anyhow::Result<()> {
            for writer in 0..WRITERS {
                let kept = &kept;
                scope.spawn(move || {
                    let Ok(mut client) = super::client::Client::connect(address) else { return };
                    for at in 0.. {
                        let (name, text) =
                            (format!("{round}-{writer}-{at}"), format!("{round} {writer} {at}"));
                        let path = format!("/v1/workspaces/w/files/workspace/{name}");
                        // Nothing is promised to who had no answer.
                        match client.ask("PUT", &path, text.as_bytes()) {
                            Ok(answer) if answer.status == 200 => {
                                if let Ok(mut kept) = kept.lock() {
                                    kept.insert(name, text);
                                }
                            }
                            _ => return,
                        }
                    }
                });
            }
            thread::sleep(Duration::from_millis(seconds * 1000 / TIMES));
            running.kill()
        })?;
        let began = Instant::now();
        let again = Server::over(binary, home.path())?;
        let mut client = again.client()?;
        let first = client.get("/x/echo/")?;
        ensure!(first.status == 200, "after a kill, echo answered {}", first.status);
        slowest = slowest.max(began.elapsed());
        for (name, text) in kept.lock().map_err(|_| anyhow::anyhow!("a writer panicked"))?.iter() {
            let answer = client.get(&format!("/v1/workspaces/w/files/workspace/{name}"))?;
            ensure!(
                answer.status == 200 && answer.body == text.as_bytes(),
                "`{name}` was acknowledged and is lost: {}",
                answer.status
            );
        }
        let audit = client.get("/v1/audit?limit=10").context("the journal")?;
        ensure!(audit.status == 200, "the journal cannot be read: {}", audit.status);
        again.end()?;
    }
    let acknowledged = kept.lock().map_or(0, |it| it.len());
    ensure!(acknowledged > 0, "nothing was written before the kills");
    told(
        &format!("{TIMES} kills while {WRITERS} callers write: files acknowledged, and lost"),
        format!("{acknowledged}, 0"),
    );
    told("… slowest start until the first answer of echo", format!("{:.0} ms", slowest.as_secs_f64() * 1e3));
    Ok(())
}
