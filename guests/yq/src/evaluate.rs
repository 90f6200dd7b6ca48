//! Reads the documents, runs the program over each, writes the results.

use crate::format::{Format, Layout};
use crate::options::{Named, Options};
use crate::spelling;
use jq::run::{Exit, Run, World};
use jq::value::{Object as Map, Text, Value as Val};
use jq::{compile, stdio, write};
use std::cell::RefCell;

/// The documents of one file.
struct Source {
    format: Format,
    documents: Vec<Val>,
}

/// Runs; the exit status, or why it could not begin.
pub(crate) fn run(options: &Options) -> Result<i32, String> {
    if options.in_place {
        if options.files.is_empty() {
            return Err(
                "write in place flag only applicable when giving an expression and at least one file"
                    .to_owned(),
            );
        }
        for file in &options.files {
            let one = read(options, Some(file))?;
            let target = options.to.unwrap_or(one.format);
            let (text, _) = results(options, vec![one], target)?;
            std::fs::write(file, text).map_err(|error| format!("{file}: {}", jq::read::reason(&error)))?;
        }
        return Ok(0);
    }
    let mut sources = Vec::new();
    if !options.null_input {
        if options.files.is_empty() {
            sources.push(read(options, None)?);
        }
        for file in &options.files {
            sources.push(read(options, Some(file).filter(|it| *it != "-"))?);
        }
    }
    // A file whose name tells its format is answered in the same, as long as nobody says otherwise.
    let same = sources.first().map(|source| source.format).filter(|_| options.from.is_none());
    let target = options.to.or(same).unwrap_or(Format::Yaml);
    let (text, last) = results(options, sources, target)?;
    stdio::print(&text);
    Ok(match last {
        _ if !options.exit_status => 0,
        Some(true) => 0,
        _ => {
            stdio::complain("Error: no matches found");
            1
        }
    })
}

fn read(options: &Options, file: Option<&String>) -> Result<Source, String> {
    let bytes = match file {
        None => stdio::read().map_err(|error| format!("cannot read standard input: {error}"))?,
        Some(file) => std::fs::read(file)
            .map_err(|error| format!("open {file}: {}", jq::read::reason(&error).to_lowercase()))?,
    };
    let ending = file.and_then(|name| name.rsplit('.').next()).and_then(Format::of_ending);
    let format = options.from.or(ending).unwrap_or(Format::Yaml);
    let text = String::from_utf8_lossy(&bytes);
    let mut documents =
        format.read(text.strip_prefix('\u{feff}').unwrap_or(&text)).map_err(|problem| match file {
            Some(file) => format!("bad file '{file}': {problem}"),
            None => format!("bad file '-': {problem}"),
        })?;
    if documents.is_empty() {
        documents.push(Val::Null);
    }
    Ok(Source { format, documents })
}

/// The text of all results, and whether the last was neither null nor false.
fn results(
    options: &Options,
    sources: Vec<Source>,
    target: Format,
) -> Result<(Vec<u8>, Option<bool>), String> {
    let program = spelling::in_jq(options.program.as_deref().unwrap_or("."), options.all);
    let all: Val = sources.iter().flat_map(|source| source.documents.iter().cloned()).collect();
    let mut variables: Vec<(String, Val)> = Vec::new();
    for (name, value) in &options.named {
        let value = match value {
            Named::Text(text) => Val::from(text.clone()),
            Named::Json(text) => jq::read::parse_one(text.clone().into_bytes())
                .map_err(|_| format!("invalid JSON text passed to --argjson: {text}"))?,
        };
        variables.push((name.clone(), value));
    }
    let named: Map = variables.iter().map(|(name, value)| (Text::new(name), value.clone())).collect();
    let args = Val::record([("positional", Val::arr(Vec::new())), ("named", Val::obj(named))]);
    variables.push(("ARGS".to_owned(), args));
    variables.push(("__docs".to_owned(), all.clone()));
    // The index of a document is only known when its turn comes; then the program is compiled anew.
    variables.push(("__di".to_owned(), Val::Num(0.0)));
    let mut filter =
        compile::compile(&program, variables.clone(), &[]).map_err(|failure| failure.to_string())?;

    let documents: Vec<Val> = if options.slurp {
        vec![all]
    } else if options.null_input || (options.all && program.contains("$__docs")) {
        vec![Val::Null]
    } else {
        sources.into_iter().flat_map(|source| source.documents).collect()
    };
    let layout = Layout {
        indent: options.indent,
        sort_keys: options.sort_keys,
        raw: options.raw.or(options.to.is_none().then_some(true)),
    };
    let (mut out, mut last, mut separate) = (Vec::new(), None, false);
    let queue = Queue(RefCell::new(documents.into_iter().enumerate()));
    while let Some((index, document)) = queue.next() {
        if index > 0 && program.contains("$__di") {
            if let Some((_, slot)) = variables.last_mut() {
                *slot = Val::from(index);
            }
            filter =
                compile::compile(&program, variables.clone(), &[]).map_err(|failure| failure.to_string())?;
        }
        let mut any = false;
        let mut problem = None;
        let result = Run::new(&filter, &queue).run(document, &mut |value| {
            if separate && options.separators && target == Format::Yaml && !any {
                out.extend_from_slice(b"---\n");
            }
            any = true;
            last = Some(value.is_true());
            if let Err(found) = target.write(&mut out, &value, &layout) {
                problem = Some(found);
                return Err(Exit::Enough);
            }
            out.push(if options.nul { 0 } else { b'\n' });
            Ok(())
        });
        if let Some(problem) = problem {
            return Err(problem);
        }
        result.map_err(message)?;
        separate |= any;
    }
    Ok((out, last))
}

/// The documents that were not read yet; `input` takes from them, too.
struct Queue(RefCell<std::iter::Enumerate<std::vec::IntoIter<Val>>>);

impl Queue {
    fn next(&self) -> Option<(usize, Val)> {
        self.0.borrow_mut().next()
    }
}

impl World for Queue {
    fn input(&self) -> Option<Result<Val, String>> {
        self.next().map(|(_, document)| Ok(document))
    }

    fn file(&self) -> Option<String> {
        None
    }

    fn line(&self) -> usize {
        0
    }

    fn complain(&self, bytes: &[u8]) {
        stdio::print_error(bytes);
    }
}

fn message(exit: Exit) -> String {
    match exit {
        Exit::Halt(status) => jq::halt(status),
        Exit::Error(error) => match *error {
            Val::Str(text) => text.as_str().to_owned(),
            other => write::compact(&other),
        },
        Exit::Break(_) | Exit::Enough => "break".to_owned(),
    }
}
