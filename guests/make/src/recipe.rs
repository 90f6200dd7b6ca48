//! Runs recipes: each line goes to the session's shell, with what is exported.
//!
//! The shell runs a text that is no part of the line it is in only if that text was there before. So it is
//! told which makefiles the text comes from, and looks for itself whether the line in flight wrote them. Text
//! that came from elsewhere (a value of the command line or the environment, what `$(shell …)` printed, a name
//! of a file) and that a shell would not take as it is, is no part of a makefile: then nothing is claimed.

use std::io::Write as _;

use child::{Children as _, Command, Ended, Stdin, System};

use crate::build::Job;
use crate::read::Make;
use crate::rule::Line;
use crate::text::is_plain;
use crate::variable::Origin;
use crate::{Done, Stop};

/// What a recipe came to.
#[derive(Debug, Default, Clone, Copy)]
pub struct Ran {
    /// A line was run, or would have been.
    pub any: bool,
    pub failed: bool,
}

/// A line on standard error, after what was printed.
pub fn complain(text: &str) {
    let _ = std::io::stdout().flush();
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// A line of a recipe without its signs.
struct Step {
    text: String,
    silent: bool,
    ignore: bool,
    always: bool,
}

/// Runs the recipe of a target.
pub fn run(make: &mut Make, job: &Job<'_>) -> Done<Ran> {
    set_automatic(make, job);
    let mut ran = Ran::default();
    let one_shell = make.targets.contains_key(".ONESHELL");
    let silent = make.options.silent || listed(make, ".SILENT", job.target);
    let ignore = make.options.ignore || listed(make, ".IGNORE", job.target);
    let lines: Vec<Line> = match one_shell {
        true => joined(job.recipe),
        false => job.recipe.to_vec(),
    };
    for line in &lines {
        make.place = Some((line.file.clone(), line.number));
        let recursive = line.text.contains("$(MAKE)") || line.text.contains("${MAKE}");
        let expanded = make.expand(&line.text)?;
        make.place = None;
        // A value with several lines is several commands.
        let texts: Vec<&str> = if one_shell { vec![expanded.as_str()] } else { parts(&expanded) };
        for text in texts {
            let step = step(text);
            if step.text.trim().is_empty() {
                continue;
            }
            ran.any = true;
            let dry = make.options.dry && !step.always && !recursive;
            if make.options.dry || !(step.silent || silent) {
                let _ = writeln!(std::io::stdout(), "{}", step.text);
            }
            if dry || make.options.touch {
                continue;
            }
            let status = start(make, &step.text)?;
            if status == 0 {
                continue;
            }
            let place = format!("[{}: {}] Error {status}", located(line), job.target);
            if step.ignore || ignore {
                complain(&format!("{}: {place} (ignored)", make.options.name));
                continue;
            }
            let deleted = make.targets.contains_key(".DELETE_ON_ERROR") && !make.is_phony(job.target);
            complain(&format!("{}: *** {place}", make.options.name));
            if deleted && std::fs::remove_file(job.target).is_ok() {
                complain(&format!("{}: *** Deleting file '{}'", make.options.name, job.target));
            }
            ran.failed = true;
            if !make.options.keep_going {
                return Err(Stop { place: "\0".to_owned(), text: String::new() });
            }
            return Ok(ran);
        }
    }
    if make.options.touch && ran.any && !make.is_phony(job.target) {
        let _ = writeln!(std::io::stdout(), "touch {}", job.target);
        let _ = std::fs::OpenOptions::new().create(true).append(true).open(job.target);
    }
    Ok(ran)
}

fn located(line: &Line) -> String {
    if line.number == 0 { line.file.clone() } else { format!("{}:{}", line.file, line.number) }
}

fn listed(make: &Make, name: &str, target: &str) -> bool {
    make.targets.get(name).is_some_and(|it| it.needs.is_empty() || it.needs.iter().any(|it| it == target))
}

fn joined(recipe: &[Line]) -> Vec<Line> {
    let Some(first) = recipe.first() else { return Vec::new() };
    let text: Vec<&str> = recipe.iter().map(|it| it.text.as_str()).collect();
    vec![Line { text: text.join("\n"), ..first.clone() }]
}

/// Lines that no backslash joins.
fn parts(text: &str) -> Vec<&str> {
    let (mut all, mut from) = (Vec::new(), 0);
    let bytes = text.as_bytes();
    for at in 0..bytes.len() {
        let escaped = bytes[..at].iter().rev().take_while(|it| **it == b'\\').count() % 2 == 1;
        if bytes[at] == b'\n' && !escaped {
            all.push(&text[from..at]);
            from = at + 1;
        }
    }
    all.push(&text[from..]);
    all
}

/// Takes `@`, `-` and `+` off, and the tab that begins a line that goes on.
fn step(text: &str) -> Step {
    let mut rest = text.trim_start_matches([' ', '\t', '\n']);
    let mut step = Step { text: String::new(), silent: false, ignore: false, always: false };
    loop {
        rest = rest.trim_start_matches([' ', '\t']);
        match rest.chars().next() {
            Some('@') => step.silent = true,
            Some('-') => step.ignore = true,
            Some('+') => step.always = true,
            _ => break,
        }
        rest = &rest[1..];
    }
    step.text = rest.replace("\\\n\t", "\\\n");
    step
}

/// What `$@` and its like are in a target's recipe.
pub fn set_automatic(make: &mut Make, job: &Job<'_>) {
    let mut unique: Vec<&str> = Vec::new();
    for need in &job.needs {
        if !unique.contains(&need.as_str()) {
            unique.push(need);
        }
    }
    let values = [
        ("@", job.target.to_owned()),
        ("<", job.needs.first().cloned().unwrap_or_default()),
        ("^", unique.join(" ")),
        ("+", job.needs.join(" ")),
        ("?", job.newer.join(" ")),
        ("|", job.order_only.join(" ")),
        ("*", job.stem.clone()),
        ("%", String::new()),
    ];
    let foreign = |words: &[String]| words.iter().any(|it| !make.is_own_word(it));
    let target = foreign(&[job.target.to_owned()]);
    let needs = foreign(&job.needs);
    let judged = [
        ("@", target),
        // What a pattern took out of a word of the makefile is the makefile's.
        ("*", target && !is_plain(&job.stem)),
        ("<", needs),
        ("^", needs),
        ("+", needs),
        ("?", needs),
        ("|", foreign(&job.order_only)),
    ];
    make.foreign_signs = judged.into_iter().filter(|it| it.1).map(|it| it.0).collect();
    for (name, value) in values {
        make.variables.put(name, &value, false, Origin::Automatic);
    }
}

/// The environment of a line.
fn environment(make: &mut Make) -> Done<Vec<Vec<u8>>> {
    let mut all = Vec::new();
    for name in make.variables.told() {
        if matches!(name.as_str(), "MAKEFLAGS" | "MAKELEVEL" | "SHELL" | "PWD") {
            continue;
        }
        let value = make.value(&name)?;
        all.push(facts::name::bytes(&format!("{name}={value}")).into_owned());
    }
    all.push(format!("MAKELEVEL={}", make.options.level + 1).into_bytes());
    all.push(facts::name::bytes(&format!("MAKEFLAGS={}", make.options.flags())).into_owned());
    Ok(all)
}

fn start(make: &mut Make, text: &str) -> Done<i32> {
    let _ = std::io::stdout().flush();
    // Exported values are data to the shell, whatever is in them; what one of them had read as rules is not.
    let (foreign, evals) = (make.foreign, make.evals);
    let env = environment(make)?;
    make.foreign = foreign || (make.foreign && make.evals != evals);
    // They say what is code: from outside that is more than a value.
    make.foreign |= make.variables.get(".SHELLFLAGS").is_some_and(|it| it.origin.is_outside());
    let (flags, shell) = (make.value(".SHELLFLAGS")?, make.value("SHELL")?);
    let mut args: Vec<Vec<u8>> = origin(make);
    args.extend(flags.split_whitespace().map(|it| it.as_bytes().to_vec()));
    args.push(facts::name::bytes(text).into_owned());
    let shell = match crate::text::notdir(&shell) {
        name @ ("sh" | "bash" | "dash") => name.to_owned(),
        _ => shell.clone(),
    };
    let folder = make.folder.clone();
    let command = Command {
        name: shell.as_bytes(),
        args: &args,
        env: &env,
        directory: Some(&folder),
        stdin: Stdin::Ours,
        wall_ms_max: None,
    };
    let ended = System.run(&command);
    match &ended {
        Ended::NotFound => complain(&format!("{}: {shell}: No such file or directory", make.options.name)),
        Ended::Refused(why, _) | Ended::Stopped(why, _) => {
            complain(&format!("{}: {shell}: {why}", make.options.name))
        }
        Ended::Exited(_) | Ended::TimedOut => {}
    }
    Ok(ended.status())
}

/// The makefiles that a text comes from, for the shell to judge; none if it is not theirs alone.
fn origin(make: &Make) -> Vec<Vec<u8>> {
    let claims = cfg!(target_os = "wasi") && !make.foreign;
    let files = make.files.iter().filter(|_| claims);
    files.flat_map(|it| [b"--from-makefile".to_vec(), facts::name::bytes(it).into_owned()]).collect()
}

/// What a line prints, as `$(shell …)` has it: newlines are spaces, and the last ones go.
pub fn shell(make: &mut Make, line: &str) -> Done<String> {
    let nanos = facts::Time::now();
    let count = make.calls_of_shell();
    let path = format!("/tmp/.make{}-{}-{}-{count}", make.options.level, nanos.seconds, nanos.nanos);
    let _ = std::fs::create_dir_all("/tmp");
    let status = start(make, &format!("exec >{path}\n{line}"))?;
    let output = std::fs::read(&path).unwrap_or_default();
    let _ = std::fs::remove_file(&path);
    make.variables.put(".SHELLSTATUS", &status.to_string(), false, Origin::Override);
    let text = String::from_utf8_lossy(&output).into_owned();
    let text = text.trim_end_matches('\n').replace('\n', " ");
    make.note_foreign(&text);
    Ok(text)
}
