//! `chmod`: changes the permission bits of files, and of all that is in folders.

mod mode;

use crate::{complain, print, words};
use facts::{Facts, Follow, Kind};
use mode::Mode;
use std::path::Path;

const HELP: &str = "Usage: chmod [OPTION]... MODE[,MODE]... FILE...
  or:  chmod [OPTION]... --reference=RFILE FILE...
Change the mode of each FILE to MODE.

  -c, --changes    like verbose but report only when a change is made
  -f, --silent, --quiet  suppress most error messages
  -v, --verbose    output a diagnostic for every file processed
      --reference=RFILE  use RFILE's mode
  -R, --recursive  change files and directories recursively

MODE is octal, or [ugoa]*([-+=]([rwxXst]*|[ugo]))+ with commas between.
";

/// Deeper folders are not entered: a tree of that depth is an accident, or an attack on the stack.
const DEPTH_MAX: usize = 512;

#[derive(Default)]
struct Settings {
    quiet: bool,
    recursive: bool,
    verbose: bool,
    changes: bool,
}

/// Changes the modes and returns the exit status.
pub(crate) fn run(args: &[String]) -> i32 {
    let mut settings = Settings::default();
    let (mut wanted, mut reference) = (None, None);
    let mut files = Vec::new();
    let mut only_operands = false;
    for arg in args {
        match arg.as_str() {
            "--help" if !only_operands => return print(HELP.as_bytes()),
            "--" if !only_operands => only_operands = true,
            "--recursive" => settings.recursive = true,
            "--silent" | "--quiet" => settings.quiet = true,
            "--verbose" => settings.verbose = true,
            "--changes" => settings.changes = true,
            "--no-preserve-root" | "--preserve-root" => {}
            text if text.starts_with("--reference=") => reference = text.strip_prefix("--reference="),
            // `-x` is a mode, `-R` an option.
            text if !only_operands
                && text
                    .strip_prefix('-')
                    .is_some_and(|it| !it.is_empty() && it.chars().all(|it| "Rvcf".contains(it))) =>
            {
                settings.recursive |= text.contains('R');
                settings.quiet |= text.contains('f');
                settings.verbose |= text.contains('v');
                settings.changes |= text.contains('c');
            }
            text if wanted.is_none() && reference.is_none() => wanted = Some(text),
            text => files.push(text),
        }
    }
    let try_help = "Try 'chmod --help' for more information.";
    let mode = match (wanted, reference) {
        (None, None) => return complain("chmod", &format!("missing operand\n{try_help}")),
        (first, Some(name)) => {
            // An operand before the option was no mode.
            files.splice(0..0, first);
            match facts::of(Path::new(name), Follow::Yes) {
                Ok(facts) => Mode::Bits(facts.mode, true),
                Err(error) => {
                    let problem = format!("failed to get attributes of '{name}': {}", words(&error));
                    return complain("chmod", &problem);
                }
            }
        }
        (Some(text), None) => match Mode::read(text) {
            _ if files.is_empty() => {
                return complain("chmod", &format!("missing operand after '{text}'\n{try_help}"));
            }
            Some(mode) => mode,
            None => return complain("chmod", &format!("invalid mode: '{text}'\n{try_help}")),
        },
    };
    let mut done = true;
    let mut said = String::new();
    for file in files {
        done &= change(file, &mode, &settings, 0, &mut said);
    }
    i32::from(print(said.as_bytes()) != 0 || !done)
}

fn change(file: &str, mode: &Mode, settings: &Settings, depth: usize, said: &mut String) -> bool {
    let path = Path::new(file);
    // Below an operand, a link is left alone: it has no mode, and what it names may be elsewhere.
    if depth > 0 && facts::of(path, Follow::No).is_ok_and(|it| it.kind == Kind::Symlink) {
        return true;
    }
    let told = facts::of(path, Follow::Yes).and_then(|facts| {
        let new = mode.applied(facts.mode, facts.kind == Kind::Directory, modes::umask());
        modes::set(path, true, new)?;
        Ok((facts, new))
    });
    let facts = match told {
        Ok((facts, new)) => {
            report(file, facts, new, settings, said);
            facts
        }
        Err(error) => {
            if !settings.quiet {
                let problem = match (facts::of(path, Follow::No), facts::of(path, Follow::Yes)) {
                    (Ok(_), Err(_)) => format!("cannot operate on dangling symlink '{file}'"),
                    (Err(_), _) => format!("cannot access '{file}': {}", words(&error)),
                    _ => format!("changing permissions of '{file}': {}", words(&error)),
                };
                complain("chmod", &problem);
            }
            return false;
        }
    };
    if !settings.recursive || facts.kind != Kind::Directory {
        return true;
    }
    inside(file, mode, settings, depth, said)
}

fn inside(folder: &str, mode: &Mode, settings: &Settings, depth: usize, said: &mut String) -> bool {
    let trouble = |problem: &str| {
        if !settings.quiet {
            complain("chmod", &format!("cannot read directory '{folder}': {problem}"));
        }
        false
    };
    if depth >= DEPTH_MAX {
        return trouble("too many levels of folders");
    }
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return trouble(&words(&error)),
    };
    let mut names: Vec<String> =
        entries.flatten().map(|it| it.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names.iter().fold(true, |done, name| {
        change(&format!("{}/{name}", folder.trim_end_matches('/')), mode, settings, depth + 1, said) && done
    })
}

fn report(file: &str, before: Facts, new: u32, settings: &Settings, said: &mut String) {
    let shown = |mode| format!("{mode:04o} ({})", Facts { mode, ..before }.mode_text().split_off(1));
    if before.mode != new && (settings.verbose || settings.changes) {
        said.push_str(&format!("mode of '{file}' changed from {} to {}\n", shown(before.mode), shown(new)));
    } else if settings.verbose {
        said.push_str(&format!("mode of '{file}' retained as {}\n", shown(new)));
    }
}
