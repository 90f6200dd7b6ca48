//! `ls`, `dir` and `vdir`: what is in directories.
//!
//! On a terminal names come in columns, quoted where they need it; elsewhere one a line, as they are.
//! Names are ordered by bytes.

pub mod entry;
pub mod layout;
pub mod options;

use super::arguments;
use crate::stream::{Out, path, reason, text};
use entry::Entry;
use facts::{Follow, Kind};
use options::{Options, Shape};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A name on the command line that is not there; something smaller went wrong below.
const SERIOUS: i32 = 2;
const MINOR: i32 = 1;
/// Deeper trees are refused rather than followed until there is no stack left.
const DEPTH_MAX: usize = 200;

/// The applet `ls`.
pub fn main(args: &[&[u8]]) -> i32 {
    list("ls", args, None)
}

/// The applet `dir`: always in columns.
pub mod dir {
    pub fn main(args: &[&[u8]]) -> i32 {
        super::list("dir", args, Some(super::Shape::Columns))
    }
}

/// The applet `vdir`: always long.
pub mod vdir {
    pub fn main(args: &[&[u8]]) -> i32 {
        super::list("vdir", args, Some(super::Shape::Long))
    }
}

fn list(applet: &'static str, args: &[&[u8]], shape: Option<Shape>) -> i32 {
    let line = match arguments::read(applet, options::HELP, args, options::TABLE, SERIOUS) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let options = match options::read(&line, shape) {
        Ok(options) => options,
        Err(problem) => return arguments::refuse(applet, &problem, SERIOUS),
    };
    let mut lister = Lister { options: &options, out: Out::new(applet), status: 0, any: false };
    let names: Vec<&[u8]> = if line.operands.is_empty() { vec![b"."] } else { line.operands.clone() };
    lister.operands(&names);
    lister.out.end(lister.status)
}

struct Lister<'o> {
    options: &'o Options,
    out: Out,
    status: i32,
    /// Whether something was printed before.
    any: bool,
}

impl Lister<'_> {
    fn fail(&mut self, problem: &str, status: i32) {
        self.out.complain(problem);
        self.status = self.status.max(status);
    }

    /// Files come first, then what is in the directories.
    fn operands(&mut self, names: &[&[u8]]) {
        let options = self.options;
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for name in names {
            let at = path(name);
            // A link to a directory stands for it, unless its own facts are asked for.
            let through = options.follow_named
                || !(options.shape == Shape::Long || options.directory || options.classify());
            let follow = if options.follow || through { Follow::Yes } else { Follow::No };
            let entry = match Entry::read(name.to_vec(), at, follow) {
                Err(_) if follow == Follow::Yes && !options.follow => {
                    Entry::read(name.to_vec(), at, Follow::No)
                }
                other => other,
            };
            match entry {
                Err(error) => {
                    self.fail(&format!("cannot access '{}': {}", text(name), reason(&error)), SERIOUS);
                }
                Ok(entry) if entry.facts.kind == Kind::Directory && !options.directory => folders.push(entry),
                Ok(entry) => files.push(entry),
            }
        }
        options.sort(&mut files);
        options.sort(&mut folders);
        if !files.is_empty() {
            self.print(&files);
            self.any = true;
        }
        let headed = names.len() > 1 || options.recursive;
        for folder in folders {
            let at = path(&folder.name).to_path_buf();
            self.folder(&folder.name, &at, headed, SERIOUS, 0);
        }
    }

    fn folder(&mut self, shown: &[u8], at: &Path, headed: bool, severity: i32, depth: usize) {
        let mut entries = match self.entries(at) {
            Ok(entries) => entries,
            Err(error) => {
                return self
                    .fail(&format!("cannot open directory '{}': {}", text(shown), reason(&error)), severity);
            }
        };
        self.options.sort(&mut entries);
        if headed {
            if self.any {
                self.out.sign(b'\n');
            }
            self.out.put(&layout::quoted(shown, self.options));
            self.out.put(b":\n");
        }
        self.any = true;
        if matches!(self.options.shape, Shape::Long) || self.options.blocks {
            let blocks: u64 = entries.iter().map(|entry| entry.facts.blocks).sum();
            self.out.put(format!("total {}\n", self.options.size(blocks * 512, true)).as_bytes());
        }
        self.print(&entries);
        if !self.options.recursive {
            return;
        }
        for entry in entries {
            let real = entry.facts.kind == Kind::Directory && entry.name != b"." && entry.name != b"..";
            if !real {
                continue;
            }
            if depth >= DEPTH_MAX {
                return self.fail(&format!("cannot open directory '{}': too deep", text(shown)), MINOR);
            }
            let below = at.join(path(&entry.name));
            let name = if shown.ends_with(b"/") {
                [shown, &entry.name].concat()
            } else {
                [shown, b"/", &entry.name].concat()
            };
            self.folder(&name, &below, true, MINOR, depth + 1);
        }
    }

    fn entries(&mut self, at: &Path) -> io::Result<Vec<Entry>> {
        let follow = if self.options.follow { Follow::Yes } else { Follow::No };
        let mut found = Vec::new();
        let mut names: Vec<(Vec<u8>, PathBuf)> = Vec::new();
        if self.options.dots {
            names.push((b".".to_vec(), at.to_path_buf()));
            names.push((b"..".to_vec(), at.join("..")));
        }
        for entry in fs::read_dir(at)? {
            let entry = entry?;
            let name = entry.file_name().into_encoded_bytes();
            if self.options.shows(&name) {
                names.push((name, entry.path()));
            }
        }
        for (name, at) in names {
            let read = match Entry::read(name.clone(), &at, follow) {
                Err(_) if follow == Follow::Yes || name == b".." => {
                    Entry::read(name.clone(), &at, Follow::No)
                }
                other => other,
            };
            match read {
                Ok(entry) => found.push(entry),
                // The root has nothing above.
                Err(_) if name == b".." => {
                    if let Ok(entry) = Entry::read(name, Path::new("/"), Follow::Yes) {
                        found.push(entry);
                    }
                }
                Err(error) => {
                    self.fail(&format!("cannot access '{}': {}", at.display(), reason(&error)), MINOR)
                }
            }
        }
        Ok(found)
    }

    fn print(&mut self, entries: &[Entry]) {
        let printed = layout::print(entries, self.options);
        self.out.put(&printed);
    }
}
