//! Runs a line of simple commands, stage by stage.

use super::line::{Line, Pipe, Stage, When};
use child::{Captured, Stdin};
use place::reason;
use place::stdio::path;

/// What the first command reads.
#[derive(Clone, Copy)]
pub(crate) enum Input<'a> {
    /// What awk would have read.
    Ours,
    Bytes(&'a [u8]),
}

/// Runs it; its output goes where ours goes. The status of the last command.
pub(crate) fn run(line: &Line, input: Input<'_>) -> Result<i32, String> {
    all(line, input, None)
}

/// Runs it; what it printed, and the status of the last command.
pub(crate) fn capture(line: &Line) -> Result<(Vec<u8>, i32), String> {
    let mut printed = Vec::new();
    let status = all(line, Input::Bytes(b""), Some(&mut printed))?;
    Ok((printed, status))
}

fn all(line: &Line, input: Input<'_>, mut printed: Option<&mut Vec<u8>>) -> Result<i32, String> {
    let mut status = 0;
    for pipe in &line.0 {
        let wanted = match pipe.when {
            When::Always => true,
            When::IfDone => status == 0,
            When::IfFailed => status != 0,
        };
        if !wanted {
            continue;
        }
        if let [Stage { words, .. }] = pipe.stages.as_slice()
            && words[0] == b"exit"
        {
            let number = words.get(1).and_then(|it| std::str::from_utf8(it).ok()?.parse().ok());
            return Ok(number.unwrap_or(status) & 0xff);
        }
        status = one(pipe, input, printed.as_deref_mut())?;
    }
    Ok(status)
}

fn one(pipe: &Pipe, input: Input<'_>, mut printed: Option<&mut Vec<u8>>) -> Result<i32, String> {
    let (mut between, mut status) = (None::<Vec<u8>>, 0);
    for (number, stage) in pipe.stages.iter().enumerate() {
        let last = number + 1 == pipe.stages.len();
        if let Some(name) = &stage.input {
            let read = std::fs::read(path(name));
            between = Some(read.map_err(|error| format!("{}: {}", shown(name), reason(&error)))?);
        }
        let (name, args) = words(stage);
        let kept = !last || printed.is_some() || stage.output.is_some();
        if !kept {
            let (stdin, bytes) = match (&between, input) {
                (Some(bytes), _) => (Stdin::Empty, bytes.as_slice()),
                (None, Input::Ours) => (Stdin::Ours, &b""[..]),
                (None, Input::Bytes(bytes)) => (Stdin::Empty, bytes),
            };
            let ended = child::run_with_input(&name, &args, bytes, stdin);
            tell(&name, &ended);
            return Ok(ended.status());
        }
        let bytes = match (&between, input) {
            (Some(bytes), _) => bytes.as_slice(),
            (None, Input::Bytes(bytes)) => bytes,
            (None, Input::Ours) => b"",
        };
        let output = match child::capture(&name, &args, bytes) {
            Captured::Output(output, ended) => {
                status = ended;
                output
            }
            Captured::Failed(ended) => {
                tell(&name, &ended);
                status = ended.status();
                Vec::new()
            }
        };
        match &stage.output {
            Some((name, append)) => {
                write(name, *append, &output)
                    .map_err(|error| format!("{}: {}", shown(name), reason(&error)))?;
                between = Some(Vec::new());
            }
            None if last => {
                if let Some(printed) = &mut printed {
                    printed.extend_from_slice(&output);
                }
            }
            None => between = Some(output),
        }
    }
    Ok(status)
}

/// Variables before a command are what `env` is for.
fn words(stage: &Stage) -> (Vec<u8>, Vec<Vec<u8>>) {
    if stage.assignments.is_empty() {
        return (stage.words[0].clone(), stage.words[1..].to_vec());
    }
    (b"env".to_vec(), stage.assignments.iter().chain(&stage.words).cloned().collect())
}

fn write(name: &[u8], append: bool, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write as _;
    if name == b"/dev/null" {
        return Ok(());
    }
    let mut options = std::fs::OpenOptions::new();
    options.create(true).write(true).append(append).truncate(!append).open(path(name))?.write_all(bytes)
}

fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// What a shell would say.
fn tell(name: &[u8], ended: &child::Ended) {
    let why = match ended {
        child::Ended::Exited(_) => return,
        child::Ended::NotFound => "not found".to_owned(),
        child::Ended::Refused(code, _) => format!("refused: {code}"),
        child::Ended::Stopped(code, _) => format!("stopped: {code}"),
        child::Ended::TimedOut => "its time was up".to_owned(),
    };
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "sh: 1: {}: {why}", shown(name));
}
