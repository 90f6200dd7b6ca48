//! `df`. Nobody tells a guest how large its file system is or what is left of it: what it can know is
//! what its files take.

use super::arguments;
use crate::stream::{Out, path, reason, text};
use facts::human;
use facts::{Follow, Kind};
use std::fs;
use std::path::Path;

const HELP: &str = "Usage: df [OPTION]... [FILE]...
Shows what files take. How much room there is, is not told here, so size and room left are '-'.

  -h, --human-readable  -H, --si  -k  -T, --print-type  -i, --inodes  -P, --portability
";
/// Larger trees are not counted to their end.
const FILES_MAX: u64 = 1_000_000;

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let table = &[
        "h,human-readable",
        "H,si",
        "k",
        "T,print-type",
        "i,inodes",
        "P,portability",
        "a,all",
        "l,local",
        "total",
        "m",
        "B,block-size=",
    ];
    let line = match arguments::read("df", HELP, args, table, 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let names = if line.operands.is_empty() { vec![&b"/"[..]] } else { line.operands.clone() };
    let (mut out, mut status) = (Out::new("df"), 0);
    let mut rows: Vec<(String, u64, u64)> = Vec::new();
    for name in names {
        match facts::of(path(name), Follow::Yes) {
            Ok(_) => {
                let at = root_of(path(name));
                if !rows.iter().any(|(it, ..)| *it == at) {
                    let (mut bytes, mut files) = (0, 0);
                    taken(
                        Path::new(&at),
                        facts::of(Path::new(&at), Follow::Yes).map_or(0, |it| it.device),
                        &mut bytes,
                        &mut files,
                    );
                    rows.push((at, bytes, files));
                }
            }
            Err(error) => {
                out.complain(&format!("{}: {}", text(name), reason(&error)));
                status = 1;
            }
        }
    }
    if rows.is_empty() {
        return out.end(status);
    }
    let kind = if line.has("T") { " Type   " } else { "" };
    let head = match (line.has("i"), line.has("h") || line.has("H")) {
        (true, _) => "Inodes     IUsed IFree IUse%",
        (_, true) => "Size      Used Avail Use% ",
        _ => "1K-blocks      Used Available Use%",
    };
    out.put(format!("Filesystem {kind}{head} Mounted on\n").as_bytes());
    for (at, bytes, files) in rows {
        let used = match () {
            () if line.has("i") => files.to_string(),
            () if line.has("h") => human(bytes, 1024),
            () if line.has("H") => human(bytes, 1000),
            () => bytes.div_ceil(1024).to_string(),
        };
        let kind = if line.has("T") { " drydock" } else { "" };
        let cells = match (line.has("i"), line.has("h") || line.has("H")) {
            (true, _) => format!("{:>6} {used:>9} {:>5} {:>5}", "-", "-", "-"),
            (_, true) => format!("{:>4} {used:>9} {:>5} {:>4} ", "-", "-", "-"),
            _ => format!("{:>9} {used:>9} {:>9} {:>4}", "-", "-", "-"),
        };
        out.put(format!("drydock    {kind}{cells} {at}\n").as_bytes());
    }
    out.end(status)
}

/// Where the mount or volume begins that the path is in.
fn root_of(at: &Path) -> String {
    let Ok(real) = super::copy::real(at) else { return "/".to_owned() };
    let device = |at: &Path| facts::of(at, Follow::Yes).ok().map(|it| it.device);
    let own = device(&real);
    let same = real.ancestors().take_while(|it| device(it) == own);
    same.last().map_or_else(|| "/".to_owned(), |it| it.display().to_string())
}

fn taken(at: &Path, device: u64, bytes: &mut u64, files: &mut u64) {
    let mut waiting = vec![at.to_path_buf()];
    while let Some(at) = waiting.pop() {
        for entry in fs::read_dir(&at).into_iter().flatten().flatten() {
            let Ok(facts) = facts::of(&entry.path(), Follow::No) else { continue };
            if facts.device != device || *files >= FILES_MAX {
                continue;
            }
            *bytes += facts.blocks * 512;
            *files += 1;
            if facts.kind == Kind::Directory {
                waiting.push(entry.path());
            }
        }
    }
}
