//! Runs a script: reads a line, does the commands, prints, and again.

mod cycle;
mod in_place;
mod list;
mod range;
mod substitute;

use crate::cli::Options;
use crate::input::{Event, Input, Sides};
use crate::output::Output;
use crate::script::{Script, Target};
use cycle::After;
use posix_regex::{Regex, Slots};
use std::rc::Rc;

/// Runs; the exit status.
pub(crate) fn run(script: Script, options: &Options) -> i32 {
    let separator = if options.null_data { 0 } else { b'\n' };
    let in_place = options.in_place.is_some();
    let mut machine = Machine {
        input: Input::new(options.files.clone(), separator, options.separate, in_place),
        stdout: Output::standard(1, separator, options.unbuffered),
        stderr: Output::standard(2, separator, true),
        edited: None,
        files: Vec::new(),
        sides: Sides::default(),
        space: Space { text: Vec::new(), ended: true },
        hold: Space { text: Vec::new(), ended: true },
        scratch: Vec::new(),
        slots: Slots::default(),
        ranges: script.commands.iter().map(range::State::of).collect(),
        last_regex: None,
        replaced: false,
        queue: Vec::new(),
        quiet: options.quiet || script.quiet,
        posix: options.dialect.posix,
        separator,
        line_length: options.line_length.unwrap_or(70),
        suffix: options.in_place.clone().unwrap_or_default(),
        in_place,
        follow: options.follow,
        failed: false,
    };
    for name in &script.outputs {
        match Output::create(name, separator) {
            Ok(output) => machine.files.push(output),
            Err(error) => {
                let name = String::from_utf8_lossy(name);
                machine.complain(&format!("sed: couldn't open file {name}: {}", place::reason(&error)));
                return 4;
            }
        }
    }
    let status = machine.run(&script);
    machine.finish_file();
    machine.flush();
    if machine.failed {
        return 4;
    }
    if status != 0 { status } else { machine.input.trouble }
}

/// A line in work: without its end, and whether it had one.
struct Space {
    text: Vec<u8>,
    ended: bool,
}

/// What is printed when a cycle ends.
enum Queued {
    Text(usize),
    File(Vec<u8>),
    Line(Vec<u8>),
}

/// All that changes while a script runs.
struct Machine {
    input: Input,
    stdout: Output,
    stderr: Output,
    /// What the file that is edited in place becomes.
    edited: Option<in_place::Edit>,
    files: Vec<Output>,
    sides: Sides,
    space: Space,
    hold: Space,
    scratch: Vec<u8>,
    slots: Slots,
    ranges: Vec<range::State>,
    last_regex: Option<Rc<Regex>>,
    /// A substitution was made since the last line was read, or `t` taken.
    replaced: bool,
    queue: Vec<Queued>,
    quiet: bool,
    posix: bool,
    separator: u8,
    line_length: usize,
    suffix: Vec<u8>,
    in_place: bool,
    /// `--follow-symlinks`.
    follow: bool,
    /// A file cannot be edited: nothing more is done.
    failed: bool,
}

impl Machine {
    fn run(&mut self, script: &Script) -> i32 {
        while self.read(Vec::clear) {
            loop {
                match self.cycle(script) {
                    After::Print => {
                        if !self.quiet {
                            self.print_space();
                        }
                        self.print_queue(script);
                    }
                    After::Next => self.print_queue(script),
                    After::Again => {
                        self.print_queue(script);
                        continue;
                    }
                    After::Quit(status) => {
                        self.print_queue(script);
                        return status;
                    }
                }
                break;
            }
        }
        0
    }

    /// Reads the next line; `prepare` says what becomes of the old one.
    fn read(&mut self, prepare: impl FnOnce(&mut Vec<u8>)) -> bool {
        self.replaced = false;
        prepare(&mut self.space.text);
        loop {
            let (stdout, stderr) = (&mut self.stdout, &mut self.stderr);
            let mut complain = |text: &str| say(stdout, stderr, text);
            match self.input.next(&mut self.space.text, &mut self.space.ended, &mut complain) {
                Event::Line => return true,
                Event::End => return false,
                Event::Opened(name) => {
                    self.finish_file();
                    self.ranges.iter_mut().for_each(range::State::reset);
                    if self.in_place && !self.begin_file(name) {
                        return false;
                    }
                }
            }
        }
    }

    fn at_last(&mut self) -> bool {
        let (stdout, stderr) = (&mut self.stdout, &mut self.stderr);
        self.input.at_last(&mut |text| say(stdout, stderr, text))
    }

    /// Whether there is no line after this one in any file.
    fn at_end(&mut self) -> bool {
        self.at_last() && !self.input.has_more_files()
    }

    fn output(&mut self) -> &mut Output {
        match &mut self.edited {
            Some(edit) => &mut edit.output,
            None => &mut self.stdout,
        }
    }

    /// What `w` does. For GNU its standard output is another than the one lines are printed to, so each
    /// knows only of its own lines without an end.
    fn write(&mut self, target: Target, line: &[u8], ended: bool) {
        match target {
            Target::Stdout => self.output().line_beside(line, ended),
            Target::Stderr => {
                self.stdout.flush();
                self.stderr.line(line, ended);
            }
            Target::File(number) => self.files[number].line(line, ended),
        }
    }

    fn print_space(&mut self) {
        let output = match &mut self.edited {
            Some(edit) => &mut edit.output,
            None => &mut self.stdout,
        };
        output.line(&self.space.text, self.space.ended);
    }

    fn print_queue(&mut self, script: &Script) {
        if self.queue.is_empty() {
            return;
        }
        for queued in std::mem::take(&mut self.queue) {
            match queued {
                Queued::Text(number) => {
                    if let crate::script::Action::Append(text) = &script.commands[number].action {
                        self.output().raw(text);
                    }
                }
                Queued::File(name) => self.read_in(&name),
                Queued::Line(name) => {
                    let mut line = Vec::new();
                    if self.sides.line(&name, self.separator, &mut line) {
                        self.output().line(&line, true);
                    }
                }
            }
        }
    }

    fn read_in(&mut self, name: &[u8]) {
        // It may be one that `w` is writing.
        self.files.iter_mut().for_each(Output::flush);
        let bytes = crate::input::whole(name);
        self.output().complete();
        self.output().raw(&bytes);
    }

    fn complain(&mut self, text: &str) {
        say(&mut self.stdout, &mut self.stderr, text);
    }

    fn flush(&mut self) {
        self.stdout.flush();
        self.files.iter_mut().for_each(Output::flush);
    }
}

fn say(stdout: &mut Output, stderr: &mut Output, text: &str) {
    stdout.flush();
    stderr.raw(format!("{text}\n").as_bytes());
}
