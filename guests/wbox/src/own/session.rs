//! `df`, `ps`, `less` and `more`: what a session is asked about itself, and pagers without a terminal.

use super::arguments;
use super::human;
use crate::stream::{Input, Out, Piece, path, reason, text};
use facts::{Follow, Kind, owner};
use std::fs;
use std::path::Path;

/// The applet `df`. Nobody tells a guest how large its file system is or what is left of it: what it
/// can know is what its files take.
pub mod df {
    use super::*;

    const HELP: &str = "Usage: df [OPTION]... [FILE]...
Shows what files take. How much room there is, is not told here, so size and room left are '-'.

  -h, --human-readable  -H, --si  -k  -T, --print-type  -i, --inodes  -P, --portability
";
    /// Larger trees are not counted to their end.
    const FILES_MAX: u64 = 1_000_000;

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
        let Ok(real) = super::super::copy::real(at) else { return "/".to_owned() };
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
}

/// The applet `ps`. A command sees no process but itself.
pub mod ps {
    use super::*;

    pub fn main(args: &[&[u8]]) -> i32 {
        // Everything that chooses processes chooses the same one.
        let full = args.iter().any(|it| {
            matches!(it, [b'-', letters @ ..] if letters.contains(&b'f'))
                || (!it.starts_with(b"-") && it.contains(&b'u'))
        });
        if args.contains(&&b"--help"[..]) {
            let mut out = Out::new("ps");
            out.put(b"Usage: ps [OPTION]...\nShows the processes of this session that a command can see: itself.\n");
            return out.end(0);
        }
        let user = owner::user(owner::OWN).unwrap_or_else(|| owner::OWN.to_string());
        let mut out = Out::new("ps");
        let rows = match full {
            true => format!(
                "{:<8} {:>5} {:>5} TTY          TIME CMD\n{user:<8} {:>5} {:>5} ?        00:00:00 ps\n",
                "UID", "PID", "PPID", 1, 0
            ),
            false => format!("{:>5} TTY          TIME CMD\n{:>5} ?        00:00:00 ps\n", "PID", 1),
        };
        out.put(rows.as_bytes());
        out.end(0)
    }
}

/// The applets `less` and `more`: all of it, at once.
pub mod pager {
    use super::*;

    pub fn main(args: &[&[u8]]) -> i32 {
        let help = "Usage: less [OPTION]... [FILE]...\nPrints the files. There is nobody to turn pages for, so options change nothing.\n";
        if args.contains(&&b"--help"[..]) {
            let mut out = Out::new("less");
            out.put(help.as_bytes());
            return out.end(0);
        }
        // What begins with a dash or a plus is about turning pages.
        let is_name = |it: &&&[u8]| **it == b"-" || !(it.starts_with(b"-") || it.starts_with(b"+"));
        let names: Vec<&[u8]> = args.iter().filter(is_name).copied().collect();
        let names = if names.is_empty() { vec![&b"-"[..]] } else { names };
        let (mut out, mut status, mut piece) = (Out::new("less"), 0, Piece::default());
        let many = names.len() > 1;
        for name in names {
            let done = Input::open(name).and_then(|mut input| {
                if many {
                    out.put(format!("::::::::::::::\n{}\n::::::::::::::\n", text(name)).as_bytes());
                }
                while input.next(&mut piece)? && out.put(&piece) {}
                Ok(())
            });
            if let Err(error) = done {
                out.complain(&format!("{}: {}", text(name), reason(&error)));
                status = 1;
            }
        }
        out.end(status)
    }
}
