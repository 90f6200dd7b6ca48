//! `sort`, all of it by bytes.
//!
//! Lines are read in chunks, each sorted in memory by an array of their keys' first bytes; what does not
//! fit into memory goes to the session's scratch as sorted runs, which are joined at the end. There are
//! no threads here, so `--parallel` changes nothing, and `--compress-program` neither. `--debug` is not
//! known.

pub mod check;
pub mod chunk;
pub mod compare;
pub mod key;
pub mod merge;
pub mod options;
pub mod rules;
pub mod scratch;

pub use compare::version;
pub use merge::finish;
pub use scratch::Scratch;

use super::arguments;
use crate::stream::{Input, Out, path, reason, text};
use chunk::{Chunks, More};
use merge::{Lines, Sorted};
use options::{Act, Options};
use rules::{Line, Rules};
use std::fs::File;

/// What is wrong with the command line or the files, as opposed to lines out of order.
const TROUBLE: i32 = 2;

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let line = match arguments::read("sort", options::HELP, args, options::TABLE, TROUBLE) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let options = match options::read(&line) {
        Ok(options) => options,
        Err(problem) => return arguments::refuse("sort", &problem, TROUBLE),
    };
    let done = match options.act {
        Act::Sort => sorted(&options),
        Act::Merge => merged(&options),
        Act::Check | Act::CheckQuietly => checked(&options),
    };
    done.unwrap_or_else(|problem| {
        Out::new("sort").complain(&problem);
        TROUBLE
    })
}

fn checked(options: &Options<'_>) -> Result<i32, String> {
    let name = options.names().first().map_or(b"-".to_vec(), |name| name.to_vec());
    let input = Input::open(&name).map_err(|error| chunk::unreadable(&name, &error))?;
    let lines = Lines::new(name.clone(), input);
    let Some((number, line)) = check::first_disorder(&options.rules, options.unique, lines)? else {
        return Ok(0);
    };
    if options.act == Act::Check {
        Out::new("sort").complain(&format!("{}:{number}: disorder: {}", text(&name), text(&line)));
    }
    Ok(1)
}

fn merged(options: &Options<'_>) -> Result<i32, String> {
    let mut scratch = Scratch::new(options.scratch.clone());
    let inputs: Vec<Sorted<'_>> = options.names().into_iter().map(Sorted::Named).collect();
    if !options.output.is_some_and(|output| options.names().iter().any(|name| is_same(name, output))) {
        let mut out = output(options)?;
        merge::all(&options.rules, options.unique, inputs, options.batch, &mut scratch, &mut out)?;
        return Ok(end(out));
    }
    // What is read is also what is to be written: the result is complete before that.
    let (run, mut held) = scratch.run()?;
    merge::all(&options.rules, options.unique, inputs, options.batch, &mut scratch, &mut held)?;
    merge::finish(held)?;
    let mut out = output(options)?;
    let inputs = vec![Sorted::Run(run)];
    merge::all(&options.rules, false, inputs, options.batch, &mut scratch, &mut out)?;
    Ok(end(out))
}

fn is_same(name: &[u8], output: &[u8]) -> bool {
    let real = |name: &[u8]| super::copy::real(path(name)).ok();
    name == output || (name != b"-" && real(name).is_some() && real(name) == real(output))
}

fn sorted(options: &Options<'_>) -> Result<i32, String> {
    let mut chunks = Chunks::new(options.names(), options.rules.end);
    let mut scratch = Scratch::new(options.scratch.clone());
    let mut runs: Vec<Sorted<'_>> = Vec::new();
    let mut memory = options.memory_bytes_max;
    let mut more = chunks.next(memory)?;
    while more == More::Yes {
        match scratch.run() {
            Ok((run, mut out)) => {
                write(&options.rules, options.unique, &chunks, &mut out);
                merge::finish(out)?;
                runs.push(Sorted::Run(run));
                more = chunks.next(memory)?;
            }
            // Nowhere to put it: all of it has to fit into memory.
            Err(_) if runs.is_empty() => {
                memory = usize::MAX;
                more = chunks.go_on(memory)?;
            }
            Err(problem) => return Err(problem),
        }
    }
    if runs.is_empty() {
        let mut out = output(options)?;
        write(&options.rules, options.unique, &chunks, &mut out);
        return Ok(end(out));
    }
    if chunks.count() > 0 {
        let (run, mut out) = scratch.run()?;
        write(&options.rules, options.unique, &chunks, &mut out);
        merge::finish(out)?;
        runs.push(Sorted::Run(run));
    }
    drop(chunks);
    let mut out = output(options)?;
    merge::all(&options.rules, options.unique, runs, options.batch, &mut scratch, &mut out)?;
    Ok(end(out))
}

/// Sorts a chunk and writes it.
fn write(rules: &Rules, unique: bool, chunks: &Chunks<'_>, out: &mut Out) {
    let mut lines: Vec<Line<'_>> = Vec::with_capacity(chunks.count());
    lines.extend(chunks.lines().map(|text| rules.line(text)));
    lines.sort_by(|left, right| rules.compare(left, right));
    if unique {
        lines.dedup_by(|right, left| rules.by_keys(left, right).is_eq());
    }
    for line in lines {
        out.put(line.text);
        if !out.put(&[rules.end]) {
            return;
        }
    }
}

/// Where the result goes. A file is opened only now: it may have been read.
fn output(options: &Options<'_>) -> Result<Out, String> {
    let Some(name) = options.output else { return Ok(Out::new("sort")) };
    let file = File::create(path(name));
    let file = file.map_err(|error| format!("open failed: {}: {}", text(name), reason(&error)))?;
    Ok(Out::into_file("sort", file))
}

fn end(out: Out) -> i32 {
    match out.end(0) {
        0 => 0,
        _ => TROUBLE,
    }
}

#[cfg(test)]
mod tests;
