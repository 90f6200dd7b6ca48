//! Runs a program over the inputs and turns what happens into jq's exit status.

use crate::cli::{Options, Source};
use crate::error::Failure;
use crate::read::{self, Place, Values};
use crate::run::{Exit, Flow, Run, World};
use crate::value::{Object, Text, Value};
use crate::write::Printer;
use crate::{compile, stdio, write};
use std::cell::RefCell;
use std::rc::Rc;

/// What happened to the last input; jq's exit status is about that one.
enum Ended {
    NoOutput,
    Output,
    Failed,
}

#[derive(Clone, Copy)]
enum Truth {
    FalseOrNull,
    Other,
}

/// The inputs and standard error.
struct Outside {
    inputs: RefCell<Values>,
    place: Rc<Place>,
}

impl World for Outside {
    fn input(&self) -> Option<Result<Value, String>> {
        self.inputs.borrow_mut().next()
    }

    fn file(&self) -> Option<String> {
        self.place.file()
    }

    fn line(&self) -> usize {
        self.inputs.borrow_mut().count_lines();
        self.place.line()
    }

    fn complain(&self, bytes: &[u8]) {
        stdio::print_error(bytes);
    }
}

/// Runs what `options` ask for, and ends the guest; it returns only to say why it could not begin.
pub fn run(mut options: Options) -> Result<i32, Failure> {
    if options.from_file {
        let text = read_file(&options.program).map_err(Failure::File)?;
        options.program = String::from_utf8_lossy(&text).into_owned();
    }
    let named = std::mem::take(&mut options.named);
    let positional = std::mem::take(&mut options.positional);
    let named = named.into_iter().map(|(name, source)| {
        let option = if matches!(source, Source::Json(_)) { "argjson" } else { &name };
        let value = value(source, option)?;
        Ok((name, value))
    });
    let named: Vec<(String, Value)> = named.collect::<Result<_, Failure>>()?;
    let positional: Vec<Value> =
        positional.into_iter().map(|source| value(source, "jsonargs")).collect::<Result<_, _>>()?;
    let program =
        compile::compile(&options.program, globals(&options.program, named, positional), &options.library)?;

    let place = Rc::new(Place::default());
    let inputs = RefCell::new(Values::new(&options, Rc::clone(&place)));
    let world = Outside { inputs, place: Rc::clone(&place) };
    let runner = Run::new(&program, &world);
    let printer = Printer::new(&options.output);

    let mut ended = Ended::NoOutput;
    let mut last = None;
    let mut each = |input: Value| {
        ended = Ended::NoOutput;
        let result = runner.run(input, &mut |value| {
            let truth = if value.is_true() { Truth::Other } else { Truth::FalseOrNull };
            stdio::write(|out| printer.output(out, &value));
            if options.output.unbuffered {
                stdio::flush();
            }
            (ended, last) = (Ended::Output, Some(truth));
            Ok(())
        });
        if let Some(failed) = told(result, &world) {
            ended = failed;
        }
    };
    if options.input.null {
        each(Value::Null);
    } else {
        while let Some(input) = world.input() {
            match input {
                Ok(input) => each(input),
                Err(problem) => return Err(Failure::Parse(problem)),
            }
        }
    }
    // Leave at once: nobody needs the memory that returning would give back piece by piece.
    crate::halt(status(&ended, last, &place, options.exit_status))
}

fn status(ended: &Ended, last: Option<Truth>, place: &Place, exit_status: bool) -> i32 {
    match (ended, last) {
        _ if place.failed.get() => 2,
        (Ended::Failed, _) => 5,
        _ if !exit_status => 0,
        (_, None) => 4,
        (_, Some(Truth::FalseOrNull)) => 1,
        (_, Some(Truth::Other)) => 0,
    }
}

/// Reports what went wrong, if anything did.
fn told(result: Flow, world: &Outside) -> Option<Ended> {
    if result.is_ok() {
        return None;
    }
    world.line();
    let place = world.place.describe();
    match result {
        Ok(()) | Err(Exit::Enough) => return None,
        Err(Exit::Halt(status)) => crate::halt(status),
        Err(Exit::Break(_)) => stdio::complain(&format!("jq: error (at {place}): break")),
        Err(Exit::Error(error)) => match *error {
            Value::Str(text) => stdio::complain(&format!("jq: error (at {place}): {}", text.as_str())),
            other => {
                stdio::complain(&format!("jq: error (at {place}) (not a string): {}", write::compact(&other)))
            }
        },
    }
    Some(Ended::Failed)
}

/// The variables every program sees. Values nobody asks for are not made.
fn globals(program: &str, named: Vec<(String, Value)>, positional: Vec<Value>) -> Vec<(String, Value)> {
    let mut all = named;
    if program.contains("ARGS") || program.contains("__prog_args") {
        let object: Object = all.iter().map(|(name, value)| (Text::new(name), value.clone())).collect();
        let object = Value::obj(object);
        all.push(("__prog_args".to_owned(), object.clone()));
        all.push((
            "ARGS".to_owned(),
            Value::record([("positional", Value::arr(positional)), ("named", object)]),
        ));
    }
    all
}

/// `option` is what the value was given by: the name of the variable, or of the option.
fn value(source: Source, option: &str) -> Result<Value, Failure> {
    Ok(match source {
        Source::Text(text) => Value::from(text),
        Source::Json(text) => read::parse_one(text.into_bytes())
            .map_err(|_| Failure::Usage(format!("invalid JSON text passed to --{option}")))?,
        Source::RawFile(path) => {
            let bad = |problem| Failure::File(format!("Bad JSON in --rawfile {option} {path}: {problem}"));
            Value::from(String::from_utf8_lossy(&read_file(&path).map_err(bad)?).into_owned())
        }
        Source::SlurpFile(path) => read_file(&path)
            .and_then(read::parse_all)
            .map_err(|problem| Failure::File(format!("Bad JSON in --slurpfile {option} {path}: {problem}")))?
            .into(),
    })
}

fn read_file(path: &str) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("Could not open {path}: {}", place::reason(&error)))
}
