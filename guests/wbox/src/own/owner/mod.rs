//! `chmod`, `chown` and `chgrp`: going over files, and saying what became of them.

pub mod chmod;
pub mod chown;

use super::arguments::Arguments;
use super::mode::{Target, changed};
use crate::stream::{Out, reason};
use facts::{Facts, Follow, Kind};
use std::path::{Path, PathBuf};

/// Goes over files, and says what the options want said.
struct Job {
    out: Out,
    status: i32,
    verbose: bool,
    changes: bool,
    quiet: bool,
    recursive: bool,
    mask: u32,
}

/// What is done to each file.
type Each<'e> = dyn FnMut(&mut Job, &Path, &Facts) + 'e;

impl Job {
    fn new(applet: &'static str, line: &Arguments<'_>, mask: u32) -> Self {
        Self {
            out: Out::new(applet),
            status: 0,
            verbose: line.has("v"),
            changes: line.has("c"),
            quiet: line.has("f"),
            recursive: line.has("R"),
            mask,
        }
    }

    fn fail(&mut self, problem: &str) {
        if !self.quiet {
            self.out.complain(problem);
        }
        self.status = 1;
    }

    /// One operand; below it, links are left alone.
    fn file(&mut self, at: &Path, follow: bool, each: &mut Each<'_>) {
        let follow = if follow { Follow::Yes } else { Follow::No };
        let facts = match facts::of(at, follow) {
            Ok(facts) => facts,
            Err(_) if facts::of(at, Follow::No).is_ok() => {
                return self.fail(&format!("cannot operate on dangling symlink '{}'", at.display()));
            }
            Err(error) => return self.fail(&format!("cannot access '{}': {}", at.display(), reason(&error))),
        };
        let within = self.recursive && facts.kind == Kind::Directory && !at.is_symlink();
        // A directory that is about to be closed is read before.
        let names = if within { self.names(at) } else { Vec::new() };
        each(self, at, &facts);
        for name in names {
            if !name.is_symlink() {
                self.file(&name, false, each);
            }
        }
    }

    fn names(&mut self, at: &Path) -> Vec<PathBuf> {
        match std::fs::read_dir(at) {
            Ok(entries) => {
                let mut names: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
                names.sort();
                names
            }
            Err(error) => {
                self.fail(&format!("cannot read directory '{}': {}", at.display(), reason(&error)));
                Vec::new()
            }
        }
    }

    fn set_mode(&mut self, at: &Path, facts: &Facts, mode: &str) {
        let target = if facts.kind == Kind::Directory { Target::Directory } else { Target::File };
        let wanted = match changed(mode, facts.mode, target, self.mask) {
            Ok(wanted) => wanted,
            Err(problem) => return self.fail(&problem),
        };
        if wanted != facts.mode
            && let Err(error) = modes::set(at, true, wanted)
        {
            return self.fail(&format!("changing permissions of '{}': {}", at.display(), reason(&error)));
        }
        let text = |mode: u32| Facts { mode, ..*facts }.mode_text().split_off(1);
        let said = if wanted != facts.mode {
            format!(
                "changed from {:04o} ({}) to {wanted:04o} ({})",
                facts.mode,
                text(facts.mode),
                text(wanted)
            )
        } else {
            format!("retained as {wanted:04o} ({})", text(wanted))
        };
        if self.verbose || (self.changes && wanted != facts.mode) {
            self.out.put(format!("mode of '{}' {said}\n", at.display()).as_bytes());
        }
    }
}
