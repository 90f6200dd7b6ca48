//! Values by key and messages, asked for at the gate, against bare SQLite that does the same: both sides in WAL mode with
//! `synchronous=FULL`, so that what was answered survives the machine.

use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use drydock_embed::{
    Dock,
    kv::{GET, Get, KvRequest, KvValue, PUT, Put},
    queue::{BATCH_MAX, Messages, POLL, PUBLISH, Poll, Publish, QueueRequest, QueueValue},
};
use rusqlite::Connection;

use super::Bench;
use crate::{
    docked,
    figure::{Amount, Bound, Figure},
    harness::{Contender, interleave},
    spread::Spread,
};

const VALUE_BYTES: usize = 1 << 10;
/// Keys that are written and read again.
const KEYS: u64 = 500;

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let folder = tempfile::tempdir().context("no temporary folder")?;
    let dock = Dock::open(folder.path().join("home"))?;
    let session = dock.kept("bench")?;
    let runtime = docked::runtime()?;
    let bare = bare(&folder.path().join("bare.sqlite"))?;
    let (mut ours, mut theirs) = (0_u64, 0_u64);
    let put = interleave(
        bench.plan,
        &mut [
            timed(|| {
                ours += 1;
                let value = content(ours).into();
                let put = Put { key: key(ours), value, if_version: None, ttl_ms: None };
                let told = runtime.block_on(session.ask_kv(PUT, KvRequest::Put(put)))?;
                told.map(drop).map_err(|failure| anyhow::anyhow!(failure.message))
            }),
            timed(|| {
                theirs += 1;
                let mut statement = bare.prepare_cached(BARE_PUT)?;
                Ok(statement.execute((key(theirs), content(theirs))).map(drop)?)
            }),
        ],
    )?;
    let (ours_last, theirs_last) = (ours.min(KEYS), theirs.min(KEYS));
    let (mut ours_at, mut theirs_at) = (0, 0);
    let get = interleave(
        bench.plan,
        &mut [
            timed(|| {
                ours_at = ours_at % ours_last + 1;
                let get = KvRequest::Get(Get { key: key(ours_at) });
                match runtime.block_on(session.ask_kv(GET, get))? {
                    Ok(KvValue::Value(found)) => {
                        ensure!(found.value.0.len() == VALUE_BYTES, "our value {ours_at} is another");
                    }
                    other => bail!("{other:?}"),
                }
                Ok(())
            }),
            timed(|| {
                theirs_at = theirs_at % theirs_last + 1;
                let mut statement = bare.prepare_cached(BARE_GET)?;
                let bytes: Vec<u8> = statement.query_one([key(theirs_at)], |row| row.get(0))?;
                ensure!(bytes.len() == VALUE_BYTES, "their value {theirs_at} is another");
                Ok(())
            }),
        ],
    )?;
    let passed = interleave(
        bench.plan,
        &mut [timed(|| {
            let mut messages = Messages::default();
            (0..u64::from(BATCH_MAX)).for_each(|n| messages.push(&content(n)[..100]));
            let publish = Publish { topic: "bench".into(), messages };
            let told = runtime.block_on(session.ask_queue(PUBLISH, QueueRequest::Publish(publish)))?;
            ensure!(told.is_ok(), "{told:?}");
            let poll = Poll { topic: "bench".into(), max: BATCH_MAX, wait_ms: 0, bytes_max: None };
            match runtime.block_on(session.ask_queue(POLL, QueueRequest::Poll(poll)))? {
                Ok(QueueValue::Messages(told)) if told.messages.len() == BATCH_MAX as usize => Ok(()),
                other => bail!("{other:?}"),
            }
        })],
    )?;
    let of_kv = |name: &str, samples: &crate::harness::Samples| Figure {
        group: "kept",
        name: format!(
            "`kv.{name}` of 1 KiB at the gate: times slower than bare SQLite, WAL, synchronous=FULL"
        ),
        ours: Amount::Seconds(samples.seconds(0)),
        peer: Some(Amount::Seconds(samples.seconds(1))),
        judged: samples.ratio(0, 1),
        bound: Bound::AtMost(2.0),
    };
    let each = passed.seconds(0) / f64::from(BATCH_MAX);
    Ok(vec![
        of_kv("put", &put),
        of_kv("get", &get),
        Figure {
            group: "kept",
            name: "a message published and polled in batches of 256, durable: seconds each (20,000 a second)"
                .into(),
            ours: Amount::PerSecond(1.0 / each),
            peer: None,
            judged: Spread::of(&[each]),
            bound: Bound::AtMost(0.00005),
        },
    ])
}

const BARE_PUT: &str =
    "INSERT INTO pair (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
const BARE_GET: &str = "SELECT value FROM pair WHERE key = ?";

/// With the settings of what keeps values, so that only what we do on top differs.
fn bare(path: &std::path::Path) -> anyhow::Result<Connection> {
    let db = Connection::open(path)?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "FULL")?;
    db.execute_batch("CREATE TABLE pair (key TEXT PRIMARY KEY, value BLOB NOT NULL)")?;
    Ok(db)
}

fn key(number: u64) -> String {
    format!("bench/{}", (number - 1) % KEYS + 1)
}

/// Different for every number.
fn content(number: u64) -> Vec<u8> {
    let mut bytes = vec![b'.'; VALUE_BYTES];
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
