//! `du`: how much space files take.

use crate::{complain, print};
use facts::{Facts, Follow, Kind};
use options::{Item, Order};
use std::collections::HashSet;
use std::path::Path;

const TABLE: &[&str] = &[
    "a,all",
    "s,summarize",
    "h,human-readable",
    "si",
    "b,bytes",
    "k",
    "m",
    "B,block-size=",
    "c,total",
    "d,max-depth=",
    "apparent-size",
    "S,separate-dirs",
    "L,dereference",
    "D,dereference-args",
    "H",
    "P,no-dereference",
    "l,count-links",
    "x,one-file-system",
    "0,null",
    "exclude=",
    "t,threshold=",
    "time?",
    "inodes",
    "help",
    "version",
];
const HELP: &str = "Usage: du [OPTION]... [FILE]...
Summarize disk usage of each FILE, recursively for directories.

  -a, --all             write counts for all files, not just directories
      --apparent-size   print apparent sizes rather than disk usage
  -b, --bytes           equivalent to '--apparent-size --block-size=1'
  -B, --block-size=SIZE scale sizes by SIZE before printing them
  -c, --total           produce a grand total
  -d, --max-depth=N     print the total for a directory only if it is N or fewer levels below
  -h, --human-readable  print sizes in human readable format
  -k, -m                like --block-size=1K, --block-size=1M
  -s, --summarize       display only a total for each argument
  -S, --separate-dirs   for directories do not include size of subdirectories
      --exclude=PATTERN exclude files that match PATTERN
      --inodes          list inode usage information instead of block usage
";
const DEPTH_MAX: usize = 1000;

#[derive(Clone, Copy)]
enum Unit {
    Bytes(u64),
    Human(u64),
}

struct Count {
    unit: Unit,
    all: bool,
    apparent: bool,
    inodes: bool,
    separate: bool,
    links: bool,
    depth_max: usize,
    follow: Follow,
    end: char,
    exclude: Vec<String>,
    seen: HashSet<(u64, u64)>,
    out: String,
    status: i32,
}

/// Counts each operand and returns the exit status.
pub(crate) fn run(args: &[String]) -> i32 {
    let items = match options::parse(args, TABLE, Order::Anywhere) {
        Ok(items) => items,
        Err(problem) => return complain("du", &format!("{problem}\nTry 'du --help' for more information.")),
    };
    let mut count = Count {
        unit: Unit::Bytes(1024),
        all: false,
        apparent: false,
        inodes: false,
        separate: false,
        links: false,
        depth_max: usize::MAX,
        follow: Follow::No,
        end: '\n',
        exclude: Vec::new(),
        seen: HashSet::new(),
        out: String::new(),
        status: 0,
    };
    let (mut total, mut files) = (false, Vec::new());
    for item in items {
        match item {
            Item::Flag("a", _) => count.all = true,
            Item::Flag("s", _) => count.depth_max = 0,
            Item::Flag("h", _) => count.unit = Unit::Human(1024),
            Item::Flag("si", _) => count.unit = Unit::Human(1000),
            Item::Flag("b", _) => (count.unit, count.apparent) = (Unit::Bytes(1), true),
            Item::Flag("k", _) => count.unit = Unit::Bytes(1024),
            Item::Flag("m", _) => count.unit = Unit::Bytes(1 << 20),
            Item::Flag("B", Some(text)) => match size(&text) {
                Some(bytes) => count.unit = Unit::Bytes(bytes),
                None => return complain("du", &format!("invalid --block-size argument '{text}'")),
            },
            Item::Flag("c", _) => total = true,
            Item::Flag("d", Some(text)) => match text.parse() {
                Ok(depth) => count.depth_max = depth,
                Err(_) => {
                    return complain(
                        "du",
                        &format!("invalid maximum depth '{text}'\nTry 'du --help' for more information."),
                    );
                }
            },
            Item::Flag("apparent-size", _) => count.apparent = true,
            Item::Flag("inodes", _) => (count.inodes, count.unit) = (true, Unit::Bytes(1)),
            Item::Flag("S", _) => count.separate = true,
            Item::Flag("l", _) => count.links = true,
            Item::Flag("L", _) => count.follow = Follow::Yes,
            Item::Flag("0", _) => count.end = '\0',
            Item::Flag("exclude", Some(pattern)) => count.exclude.push(pattern),
            Item::Flag("help", _) => return print(HELP.as_bytes()),
            Item::Flag(..) => {}
            Item::Operand(file) => files.push(file),
        }
    }
    if files.is_empty() {
        files.push(".".to_owned());
    }
    let mut sum = 0;
    for file in &files {
        sum += count.visit(file, 0).unwrap_or(0);
    }
    if total {
        count.line(sum, "total");
    }
    count.status.max(print(count.out.as_bytes()))
}

fn size(text: &str) -> Option<u64> {
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = if end == 0 { 1 } else { text[..end].parse().ok()? };
    let unit = match &text[end..] {
        "" => 1,
        "K" | "k" | "KiB" => 1 << 10,
        "M" | "MiB" => 1 << 20,
        "G" | "GiB" => 1 << 30,
        "KB" | "kB" => 1000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    number.checked_mul(unit).filter(|it| *it > 0)
}

impl Count {
    /// The size of a name and all below it; `None` if it was counted before or is not there.
    fn visit(&mut self, path: &str, depth: usize) -> Option<u64> {
        let facts = match facts::of(Path::new(path), self.follow) {
            Ok(facts) => facts,
            Err(error) => {
                self.status = complain("du", &format!("cannot access '{path}': {}", place::reason(&error)));
                return None;
            }
        };
        let own = (facts.device, facts.inode);
        let shared = facts.kind == Kind::Directory || facts.links > 1;
        if shared && !self.links && !self.seen.insert(own) {
            return None;
        }
        let mut size = self.size(&facts);
        let mut below = 0;
        if facts.kind == Kind::Directory && depth < DEPTH_MAX {
            let (files, folders) = self.children(path, depth);
            size += files;
            below = folders;
        }
        let shown = depth <= self.depth_max && (facts.kind == Kind::Directory || self.all || depth == 0);
        if shown {
            let listed = if self.separate { size } else { size + below };
            self.line(listed, path);
        }
        Some(size + below)
    }

    /// The sizes of what is in a directory: its files, and its directories.
    fn children(&mut self, path: &str, depth: usize) -> (u64, u64) {
        let listing = match std::fs::read_dir(path) {
            Ok(listing) => listing,
            Err(error) => {
                self.status =
                    complain("du", &format!("cannot read directory '{path}': {}", place::reason(&error)));
                return (0, 0);
            }
        };
        let base = if path.ends_with('/') { path.to_owned() } else { format!("{path}/") };
        let (mut files, mut folders) = (0, 0);
        for entry in listing.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if self.exclude.iter().any(|it| facts::pattern::fits(it, &name)) {
                continue;
            }
            let size = self.visit(&format!("{base}{name}"), depth + 1).unwrap_or(0);
            match entry.file_type().is_ok_and(|it| it.is_dir()) {
                true => folders += size,
                false => files += size,
            }
        }
        (files, folders)
    }

    fn size(&self, facts: &Facts) -> u64 {
        match (self.inodes, self.apparent) {
            (true, _) => 1,
            (false, true) => facts.size,
            (false, false) => facts.blocks * 512,
        }
    }

    fn line(&mut self, bytes: u64, name: &str) {
        let shown = match self.unit {
            Unit::Bytes(unit) => bytes.div_ceil(unit).to_string(),
            Unit::Human(base) => facts::human(bytes, base),
        };
        self.out.push_str(&format!("{shown}\t{name}{}", self.end));
    }
}
