//! Put and get of 4 KiB files in a workspace against bare rusqlite in WAL mode doing the same,
//! interleaved. Run with `cargo run --release -p drydock-store --example workspace_timing`.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::missing_docs_in_private_items)]

use std::time::{Duration, Instant};

use drydock_contract::{Tenant, Timestamp, port::TreePath};
use drydock_store::{Home, Quota, Volume, Workspaces};
use rusqlite::{Connection, params};

const FILES: usize = 2000;
const ROUNDS: usize = 9;

fn main() {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    let mut ratios = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let contents: Vec<Vec<u8>> = (0..FILES).map(|n| content(round * FILES + n)).collect();
        let bare = bare(&temp.path().join(format!("bare{round}.sqlite")), &contents);
        let name = format!("w{round}").parse().unwrap();
        let workspace =
            Workspaces::of(&home.tenant(&Tenant::default()), Quota::default()).create(&name).unwrap();
        let files = workspace.files(Volume::Workspace);
        let put = Instant::now();
        for (n, bytes) in contents.iter().enumerate() {
            files.put(&TreePath::new(&format!("file-{n}")).unwrap(), bytes, Timestamp(n as u64)).unwrap();
        }
        let put = put.elapsed();
        let get = Instant::now();
        for (n, bytes) in contents.iter().enumerate() {
            assert!(files.get(&TreePath::new(&format!("file-{n}")).unwrap(), 1 << 20).unwrap() == *bytes);
        }
        let ours = (put, get.elapsed());
        let each = |it: Duration| it.as_secs_f64() * 1e6 / FILES as f64;
        println!(
            "put {:6.1} us, bare {:6.1} us; get {:6.1} us, bare {:6.1} us",
            each(ours.0),
            each(bare.0),
            each(ours.1),
            each(bare.1)
        );
        ratios.0.push(ours.0.as_secs_f64() / bare.0.as_secs_f64());
        ratios.1.push(ours.1.as_secs_f64() / bare.1.as_secs_f64());
    }
    println!("median ratio: put {:.2}, get {:.2}", median(ratios.0), median(ratios.1));
}

fn bare(path: &std::path::Path, contents: &[Vec<u8>]) -> (Duration, Duration) {
    let conn = Connection::open(path).unwrap();
    conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
    conn.pragma_update(None, "synchronous", "NORMAL").unwrap();
    conn.execute_batch(
        "CREATE TABLE vfs(volume TEXT, path TEXT, content BLOB, mtime INTEGER, PRIMARY KEY(volume, path))",
    )
    .unwrap();
    let put = Instant::now();
    for (n, bytes) in contents.iter().enumerate() {
        let text = "INSERT OR REPLACE INTO vfs VALUES ('workspace', ?1, ?2, ?3)";
        conn.prepare_cached(text).unwrap().execute(params![format!("file-{n}"), bytes, n]).unwrap();
    }
    let put = put.elapsed();
    let get = Instant::now();
    for (n, bytes) in contents.iter().enumerate() {
        let text = "SELECT content FROM vfs WHERE volume = 'workspace' AND path = ?1";
        let mut statement = conn.prepare_cached(text).unwrap();
        let got: Vec<u8> = statement.query_row(params![format!("file-{n}")], |row| row.get(0)).unwrap();
        assert!(got == *bytes);
    }
    (put, get.elapsed())
}

fn content(seed: usize) -> Vec<u8> {
    let mut state = seed as u64 * 0x9e37_79b9_7f4a_7c15 + 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    (0..512).flat_map(|_| next()).collect()
}

fn median(mut ratios: Vec<f64>) -> f64 {
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}
