//! Files of 4 KiB into a workspace and out again, against bare SQLite doing the same.

use std::time::Instant;

use anyhow::{Context as _, ensure};
use drydock_embed::{
    contract::{Tenant, Timestamp},
    store::{Home, Quota, Workspaces},
};
use rusqlite::Connection;

use super::Bench;
use crate::{
    figure::{Amount, Bound, Figure},
    harness::{Contender, interleave},
};

const FILE_BYTES: usize = 4 << 10;

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let folder = tempfile::tempdir().context("no temporary folder")?;
    let home = Home::open(folder.path().join("home"))?;
    let workspace = Workspaces::of(&home.tenant(&Tenant::default()), Quota::default())
        .open_or_create(&"bench".parse()?)?;
    let bare = bare(&folder.path().join("bare.sqlite"))?;
    let (mut ours, mut theirs) = (0_u64, 0_u64);
    let put = interleave(
        bench.plan,
        &mut [
            timed(|| {
                ours += 1;
                Ok(workspace.put(&format!("/workspace/{ours}"), &content(ours), Timestamp(ours))?)
            }),
            timed(|| {
                theirs += 1;
                let mut statement = bare.prepare_cached(PUT)?;
                Ok(statement.execute((theirs.to_string(), content(theirs))).map(drop)?)
            }),
        ],
    )?;
    let (mut ours_at, mut theirs_at) = (0, 0);
    let get = interleave(
        bench.plan,
        &mut [
            timed(|| {
                ours_at = ours_at % ours + 1;
                let bytes = workspace.get(&format!("/workspace/{ours_at}"))?;
                ensure!(bytes == content(ours_at), "our file {ours_at} is another");
                Ok(())
            }),
            timed(|| {
                theirs_at = theirs_at % theirs + 1;
                let mut statement = bare.prepare_cached(GET)?;
                let bytes: Vec<u8> = statement.query_one([theirs_at.to_string()], |row| row.get(0))?;
                ensure!(bytes == content(theirs_at), "their file {theirs_at} is another");
                Ok(())
            }),
        ],
    )?;
    let figure = |name: &str, samples: &crate::harness::Samples| Figure {
        group: "workspace",
        name: format!("{name} a file of 4 KiB: times slower than bare SQLite in WAL mode"),
        ours: Amount::Seconds(samples.seconds(0)),
        peer: Some(Amount::Seconds(samples.seconds(1))),
        judged: samples.ratio(0, 1),
        bound: Bound::AtMost(2.0),
    };
    Ok(vec![figure("put", &put), figure("get", &get)])
}

const PUT: &str = "INSERT OR REPLACE INTO files (path, content) VALUES (?, ?)";
const GET: &str = "SELECT content FROM files WHERE path = ?";

/// With the settings of a workspace, so that only what we do on top differs.
fn bare(path: &std::path::Path) -> anyhow::Result<Connection> {
    let db = Connection::open(path)?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "NORMAL")?;
    db.execute_batch("CREATE TABLE files (path TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID")?;
    Ok(db)
}

/// Different for every number, so that nothing is stored once for two.
fn content(number: u64) -> Vec<u8> {
    let mut bytes = vec![b'.'; FILE_BYTES];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    bytes
}

fn timed<'a>(mut act: impl FnMut() -> anyhow::Result<()> + 'a) -> Contender<'a> {
    Contender::timing_itself(move |calls| {
        let mut seconds = Vec::with_capacity(calls);
        for _ in 0..calls {
            let started = Instant::now();
            act()?;
            seconds.push(started.elapsed().as_secs_f64());
        }
        Ok(seconds)
    })
}
