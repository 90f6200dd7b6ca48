//! `patch`: GNU patch's command line. Nobody is there to be asked, so every question is answered as
//! it is at the end of input.

mod apply;
mod reject;
mod script;
mod settings;
mod target;

use crate::TROUBLE;
use apply::Work;
use script::{FilePatch, Hunk, Op};
use settings::{Refused, Settings};
use std::fs;
use std::path::Path;
use target::Target;

const FAILED: i32 = 1;

/// Applies the patch and returns the exit status.
pub(crate) fn run(args: &[String]) -> i32 {
    let settings = match settings::parse(args) {
        Ok(settings) => settings,
        Err(Refused::Print(text)) => return if crate::print(text.as_bytes()) { 0 } else { TROUBLE },
        Err(Refused::Problem(problem)) => return crate::complain("patch", &problem),
    };
    if let Some(directory) = &settings.directory
        && let Err(error) = std::env::set_current_dir(directory)
    {
        let text = format!("**** Can't change to directory {directory} : {}", place::reason(&error));
        return crate::complain("patch", &text);
    }
    let name = settings.input.as_deref().unwrap_or("-");
    let bytes = match place::stdio::read(name) {
        Ok(bytes) => bytes,
        Err(error) => {
            return crate::complain(
                "patch",
                &format!("**** Can't open patch file {name} : {}", place::reason(&error)),
            );
        }
    };
    let mut job = Job { settings: &settings, out: Vec::new(), written: Vec::new() };
    let status = job.all(&bytes);
    if crate::print(&job.out) { status } else { TROUBLE }
}

struct Job<'a> {
    settings: &'a Settings,
    out: Vec<u8>,
    /// What went to the file of `-o` so far.
    written: Vec<u8>,
}

/// How the hunks of a file went.
#[derive(Default)]
struct Tally {
    rejected: Vec<Hunk>,
    mismatch: bool,
    skipped: bool,
}

impl Job<'_> {
    fn all(&mut self, bytes: &[u8]) -> i32 {
        let stripped;
        let mut bytes = bytes;
        if bytes.split(|it| *it == b'\n').any(|line| line.starts_with(b"+++ ") && line.ends_with(b"\r")) {
            self.say("(Stripping trailing CRs from patch; use --binary to disable.)\n");
            stripped = String::from_utf8_lossy(bytes).replace("\r\n", "\n").into_bytes();
            bytes = &stripped;
        }
        let patches = match script::parse(bytes) {
            Ok(patches) => patches,
            Err(bad) => {
                let text = format!("**** malformed patch at line {}: {}\n", bad.line, bad.text);
                return crate::complain("patch", &text);
            }
        };
        // A patch that names no file is for the one on the command line, or for none.
        let nameless = |it: &FilePatch| it.old.is_none() && it.index.is_none() && it.git.names.is_none();
        if patches.is_empty() || (self.settings.file.is_none() && patches.iter().all(nameless)) {
            if bytes.is_empty() && patches.is_empty() {
                return 0;
            }
            return crate::complain("patch", "**** Only garbage was found in the patch input.");
        }
        let mut status = 0;
        for patch in &patches {
            status = status.max(self.file(patch));
            if status == TROUBLE {
                break;
            }
        }
        status
    }

    fn say(&mut self, text: &str) {
        // Stdout is the patched file's where `-o -` says so.
        match self.settings.output.as_deref() {
            // There is nobody left to tell that standard error is closed.
            Some("-") => drop(std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes())),
            _ => self.out.extend_from_slice(text.as_bytes()),
        }
    }

    fn chat(&mut self, text: &str) {
        if !self.settings.quiet {
            self.say(text);
        }
    }

    fn file(&mut self, patch: &FilePatch) -> i32 {
        let settings = self.settings;
        let Some(target) = target::choose(patch, settings) else { return self.lost(patch) };
        let hunks: Vec<Hunk> = match settings.reverse {
            true => patch.hunks.iter().map(Hunk::reversed).collect(),
            false => patch.hunks.clone(),
        };
        let verb = if settings.dry_run { "checking" } else { "patching" };
        let shown = match (&settings.output, target.from == target.to) {
            (Some(output), _) => format!("{verb} file {output} (read from {})\n", target.from),
            (None, true) => format!("{verb} file {}\n", target.to),
            (None, false) => {
                let word = if patch.git.copy.is_some() { "copied" } else { "renamed" };
                format!("{verb} file {} ({word} from {})\n", target.to, target.from)
            }
        };
        self.chat(&shown);
        let bytes = fs::read(&target.from).unwrap_or_default();
        let mut work = Work::new(&bytes);
        let tally = self.hunks(&mut work, &hunks);
        let failed = !tally.rejected.is_empty();
        if failed {
            self.rejects(patch, &target, &tally, hunks.len());
        }
        if settings.dry_run || tally.skipped {
            return if failed { FAILED } else { 0 };
        }
        let result = work.lines.concat();
        let kept = self.store(patch, &target, &bytes, &result, tally.mismatch || failed);
        let gone = if settings.reverse { &patch.old } else { &patch.new };
        if gone.as_ref().is_some_and(|it| it.absent)
            && !result.is_empty()
            && !failed
            && settings.output.is_none()
        {
            self.say(&format!("Not deleting file {} as content differs from patch\n", target.to));
            return FAILED;
        }
        match kept {
            Ok(()) if failed => FAILED,
            Ok(()) => 0,
            Err((name, error)) => crate::complain(
                "patch",
                &format!("**** Can't create file {name} : {}", place::reason(&error)),
            ),
        }
    }

    fn hunks(&mut self, work: &mut Work, hunks: &[Hunk]) -> Tally {
        let settings = self.settings;
        let mut tally = Tally::default();
        let mut backwards = false;
        for (at, hunk) in hunks.iter().enumerate() {
            let reversed = hunk.reversed();
            let looks_applied = at == 0
                && !settings.force
                && !work.fits(hunk, 0)
                && work.fits(&reversed, 0)
                && hunk.lines.iter().any(|it| it.0 != Op::Keep);
            if looks_applied {
                let kind = if settings.reverse {
                    "Unreversed patch"
                } else {
                    "Reversed (or previously applied) patch"
                };
                self.say(&format!("{kind} detected!  "));
                if settings.batch {
                    self.say(if settings.reverse { "Ignoring -R.\n" } else { "Assuming -R.\n" });
                    backwards = true;
                } else if settings.forward {
                    self.say("Skipping patch.\n");
                } else {
                    let question = if settings.reverse { "Ignore -R?" } else { "Assume -R?" };
                    self.say(&format!("{question} [n] \nApply anyway? [n] \nSkipping patch.\n"));
                }
                if !backwards {
                    return Tally { rejected: hunks.to_vec(), skipped: true, ..tally };
                }
            }
            let hunk = if backwards { &reversed } else { hunk };
            self.hunk(work, at + 1, hunk, &mut tally);
        }
        tally
    }

    fn hunk(&mut self, work: &mut Work, number: usize, hunk: &Hunk, tally: &mut Tally) {
        let landed = (0..=self.settings.fuzz_max).find_map(|fuzz| work.apply(hunk, fuzz));
        let Some(landed) = landed else {
            let line = work.wanted(hunk);
            self.say(&format!("Hunk #{number} FAILED at {line}.\n"));
            tally.rejected.push(hunk.clone());
            return;
        };
        if landed.fuzz == 0 && landed.offset == 0 {
            return;
        }
        tally.mismatch = true;
        let mut text = format!("Hunk #{number} succeeded at {}", landed.line);
        if landed.fuzz > 0 {
            text.push_str(&format!(" with fuzz {}", landed.fuzz));
        }
        if landed.offset != 0 {
            let plural = if landed.offset == 1 { "" } else { "s" };
            text.push_str(&format!(" (offset {} line{plural})", landed.offset));
        }
        self.chat(&format!("{text}.\n"));
    }

    fn rejects(&mut self, patch: &FilePatch, target: &Target, tally: &Tally, count: usize) {
        let word = if tally.skipped { "ignored" } else { "FAILED" };
        let plural = if count == 1 { "" } else { "s" };
        let failed = tally.rejected.len();
        let name = match &self.settings.rejects {
            Some(name) => name.clone(),
            None => format!("{}.rej", self.settings.output.as_ref().unwrap_or(&target.to)),
        };
        let mut text = format!("{failed} out of {count} hunk{plural} {word}");
        if !self.settings.dry_run && name != "-" {
            let written =
                fs::write(&name, reject::text(patch, target, &tally.rejected, self.settings.reverse));
            if written.is_ok() {
                text.push_str(&format!(" -- saving rejects to file {name}"));
            }
        }
        self.say(&format!("{text}\n"));
    }

    /// Writes the result, keeps the original if asked to, and removes what is to be gone.
    fn store(
        &mut self,
        patch: &FilePatch,
        target: &Target,
        before: &[u8],
        result: &[u8],
        mismatch: bool,
    ) -> Result<(), (String, std::io::Error)> {
        let settings = self.settings;
        let fail = |name: &str, error| (name.to_owned(), error);
        if let Some(output) = &settings.output {
            self.written.extend_from_slice(result);
            if output == "-" {
                self.out.extend_from_slice(result);
                return Ok(());
            }
            return fs::write(output, &self.written).map_err(|error| fail(output, error));
        }
        let there = Path::new(&target.from).exists();
        if settings.backup || (mismatch && settings.backup_if_mismatch) {
            let name = format!("{}{}", target.to, settings.suffix);
            fs::write(&name, before).map_err(|error| fail(&name, error))?;
        }
        let gone = if settings.reverse { &patch.old } else { &patch.new };
        let deleted = if settings.reverse { patch.git.created } else { patch.git.deleted };
        let to_nowhere = gone.as_ref().is_some_and(|it| it.absent) || deleted || settings.remove_empty;
        if result.is_empty() && to_nowhere && !mismatch {
            return match there {
                true => fs::remove_file(&target.from).map_err(|error| fail(&target.from, error)),
                false => Ok(()),
            };
        }
        if let Some(folder) = Path::new(&target.to).parent().filter(|it| !it.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(|error| fail(&target.to, error))?;
        }
        // What a file may do is kept, also under a new name, unless the patch says otherwise.
        let before = modes::get(Path::new(&target.from), true).ok();
        fs::write(&target.to, result).map_err(|error| fail(&target.to, error))?;
        let said = if settings.reverse { patch.git.old_mode } else { patch.git.new_mode };
        if let Some(mode) = said.or(before.filter(|_| target.from != target.to)) {
            modes::set(Path::new(&target.to), true, mode & 0o777).map_err(|error| fail(&target.to, error))?;
        }
        if target.from != target.to && there && patch.git.copy.is_none() {
            fs::remove_file(&target.from).map_err(|error| fail(&target.from, error))?;
        }
        Ok(())
    }

    /// No file was found: GNU asks, and hears nothing.
    fn lost(&mut self, patch: &FilePatch) -> i32 {
        let line = patch.line;
        self.say(&format!("can't find file to patch at input line {line}\n"));
        self.say(match self.settings.strip {
            Some(_) => "Perhaps you used the wrong -p or --strip option?\n",
            None => "Perhaps you should have used the -p or --strip option?\n",
        });
        if !patch.head.is_empty() {
            self.say("The text leading up to this was:\n--------------------------\n");
            for line in &patch.head {
                self.say(&format!("|{line}\n"));
            }
            self.say("--------------------------\n");
        }
        if self.settings.force || self.settings.batch {
            self.say("No file to patch.  Skipping patch.\n");
        } else {
            self.say("File to patch: \nSkip this patch? [y] \nSkipping patch.\n");
        }
        let count = patch.hunks.len();
        self.say(&format!("{count} out of {count} hunk{} ignored\n", if count == 1 { "" } else { "s" }));
        FAILED
    }
}
