//! Runs a program over the inputs and turns what happens into jq's exit status.

use crate::cli::{Options, Source};
use crate::data::{Data, Kind};
use crate::error::Failure;
use crate::input::{self, Place, Values};
use crate::{library, output, stdio};
use bytes::Bytes;
use jaq_core::{Ctx, Vars};
use jaq_json::{Map, Val, ValX};
use jaq_std::input::RcIter;

/// What happened to the last input; jq's exit status is about that one.
enum Ended {
    NoOutput,
    Output(Truth),
    Failed,
}

#[derive(Clone, Copy)]
enum Truth {
    FalseOrNull,
    Other,
}

/// Runs what `options` ask for, and ends the guest; it returns only to say why it could not begin.
pub fn run(mut options: Options) -> Result<i32, Failure> {
    if options.from_file {
        let text = read(&options.program)?;
        options.program = String::from_utf8_lossy(&text).into_owned();
    }
    let named = std::mem::take(&mut options.named);
    let positional = std::mem::take(&mut options.positional);
    let named = named.into_iter().map(|(name, source)| Ok((name, value(source)?)));
    let named: Vec<(String, Val)> = named.collect::<Result<_, Failure>>()?;
    let positional: Vec<Val> = positional.into_iter().map(value).collect::<Result<_, _>>()?;

    let globals = globals(&options.program, &named, positional);
    let names: Vec<String> = globals.iter().map(|(name, _)| format!("${name}")).collect();
    let filter = library::compile(&options.program, &names, &options.library)?;
    let vars = Vars::new(globals.into_iter().map(|(_, value)| value));

    let place = Place::default();
    let inputs = RcIter::new(Values::new(&options, &place));
    let data = Data { lut: &filter.lut, inputs: &inputs, place: &place };
    let ctx = Ctx::<Kind>::new(&data, vars);

    let mut ended = Ended::NoOutput;
    let mut last = None;
    let mut each = |input: Val| {
        ended = Ended::NoOutput;
        for result in filter.id.run((ctx.clone(), input)) {
            ended = emit(result, &options, &place);
            match ended {
                Ended::Output(truth) => last = Some(truth),
                Ended::Failed => break,
                Ended::NoOutput => {}
            }
        }
    };
    if options.input.null {
        each(Val::Null);
    } else {
        for input in &inputs {
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

fn emit(result: ValX<'_>, options: &Options, place: &Place) -> Ended {
    let exception = match result {
        Ok(value) => {
            stdio::write(|out| output::write(out, &value, &options.output));
            let falsy = matches!(value, Val::Null | Val::Bool(false));
            return Ended::Output(if falsy { Truth::FalseOrNull } else { Truth::Other });
        }
        Err(exception) => exception,
    };
    let place = place.describe();
    match exception.get_halt() {
        Ok(status) => crate::halt(status),
        Err(exception) => match exception.get_err().map(jaq_json::Error::into_val) {
            Ok(Val::TStr(text)) => {
                let text = library::wording::of(&String::from_utf8_lossy(&text));
                stdio::complain(&format!("jq: error (at {place}): {text}"));
            }
            Ok(other) => {
                let text = output::compact(&other);
                stdio::complain(&format!("jq: error (at {place}) (not a string): {text}"));
            }
            Err(_) => stdio::complain(&format!("jq: error (at {place}): break")),
        },
    }
    Ended::Failed
}

/// The variables every program sees. Values nobody asks for are not made.
fn globals(program: &str, named: &[(String, Val)], positional: Vec<Val>) -> Vec<(String, Val)> {
    let mut all: Vec<(String, Val)> = named.to_vec();
    let mut add = |name: &str, make: &dyn Fn() -> Val| {
        if program.contains(name) {
            all.push((name.to_owned(), make()));
        }
    };
    let object =
        || Val::obj(named.iter().map(|(name, value)| (Val::from(name.clone()), value.clone())).collect());
    add("ENV", &|| Val::obj(std::env::vars().map(|(name, value)| (name.into(), value.into())).collect()));
    add("__prog_args", &object);
    add("ARGS", &|| {
        let positional: Val = positional.iter().cloned().collect();
        let fields = [("positional", positional), ("named", object())];
        Val::obj(fields.into_iter().map(|(name, value)| (Val::from(name.to_owned()), value)).collect::<Map>())
    });
    add("__loc__", &|| {
        let fields = [("file", Val::from("<top-level>".to_owned())), ("line", Val::from(1usize))];
        Val::obj(fields.into_iter().map(|(name, value)| (Val::from(name.to_owned()), value)).collect::<Map>())
    });
    all
}

fn value(source: Source) -> Result<Val, Failure> {
    Ok(match source {
        Source::Text(text) => Val::from(text),
        Source::Json(text) => input::parse_one(Bytes::from(text.clone().into_bytes()))
            .map_err(|_| Failure::Usage(format!("Invalid JSON text passed to --argjson: {text}")))?,
        Source::RawFile(path) => Val::from(String::from_utf8_lossy(&read(&path)?).into_owned()),
        Source::SlurpFile(path) => input::parse_all(read(&path)?.into())
            .map_err(|problem| Failure::File(format!("Bad JSON in {path}: {problem}")))?
            .into_iter()
            .collect(),
    })
}

fn read(path: &str) -> Result<Vec<u8>, Failure> {
    std::fs::read(path)
        .map_err(|error| Failure::File(format!("Could not open {path}: {}", input::reason(&error))))
}
