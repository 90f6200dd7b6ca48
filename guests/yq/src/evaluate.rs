//! Runs the program over each document, and writes the results as they come.

use crate::format::{Format, Layout};
use crate::in_place;
use crate::options::{Named, Options};
use crate::source::Source;
use crate::spelling;
use jq::run::{Exit, Run, World};
use jq::value::{Object as Map, Text, Value as Val};
use jq::{compile, stdio, write};
use std::cell::{Cell, RefCell};

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
            in_place::edit(options, file)?;
        }
        return Ok(0);
    }
    let files: Vec<Option<String>> = match (options.null_input, options.files.is_empty()) {
        (true, _) => Vec::new(),
        (false, true) => vec![None],
        (false, false) => options.files.iter().map(|it| Some(it.clone()).filter(|it| it != "-")).collect(),
    };
    // A file whose name tells its format is answered in the same, as long as nobody says otherwise.
    let same =
        files.first().map(|file| format_of(options, file.as_deref())).filter(|_| options.from.is_none());
    let target = options.to.or(same).unwrap_or(Format::Yaml);
    let inputs = Inputs { options, files: files.into_iter(), current: None };
    let layout = layout(options, target);
    let mut last = None;
    results(options, Queue::new(Box::new(inputs)), |value, separate| {
        last = Some(value.is_true());
        let mut written = Ok(());
        stdio::write(|out| {
            if separate && options.separators && target == Format::Yaml {
                out.extend_from_slice(b"---\n");
            }
            written = target.write(out, &value, &layout);
            out.push(if options.nul { 0 } else { b'\n' });
        });
        written
    })?;
    Ok(match last {
        _ if !options.exit_status => 0,
        Some(true) => 0,
        _ => {
            stdio::complain("Error: no matches found");
            1
        }
    })
}

/// What a file is read as.
pub(crate) fn format_of(options: &Options, file: Option<&str>) -> Format {
    let ending = file.and_then(|name| name.rsplit('.').next()).and_then(Format::of_ending);
    options.from.or(ending).unwrap_or(Format::Yaml)
}

/// How results are laid out.
pub(crate) fn layout(options: &Options, _target: Format) -> Layout {
    Layout {
        indent: options.indent,
        sort_keys: options.sort_keys,
        raw: options.raw.or(options.to.is_none().then_some(true)),
    }
}

/// Hands out each result, and whether it is the first of a document after one that had some.
pub(crate) fn results(
    options: &Options,
    queue: Queue<'_>,
    mut each: impl FnMut(Val, bool) -> Result<(), String>,
) -> Result<(), String> {
    let program = spelling::in_jq(options.program.as_deref().unwrap_or("."), options.all);
    let at_once = options.all && program.contains("$__docs");
    let queue = if options.slurp || at_once || program.contains("$__docs") { queue.whole()? } else { queue };
    let all: Val = queue.kept.iter().cloned().collect();
    let mut variables = variables(options)?;
    variables.push(("__docs".to_owned(), all.clone()));
    // The index of a document is only known when its turn comes; then the program is compiled anew.
    variables.push(("__di".to_owned(), Val::Num(0.0)));
    let mut filter =
        compile::compile(&program, variables.clone(), &[]).map_err(|failure| failure.to_string())?;
    let queue = match () {
        () if options.slurp => Queue::of(vec![all]),
        () if options.null_input || at_once => Queue::of(vec![Val::Null]),
        () => queue,
    };
    let mut separate = false;
    while let Some((index, document)) = queue.next() {
        let document = document?;
        if index > 0 && program.contains("$__di") {
            if let Some((_, slot)) = variables.last_mut() {
                *slot = Val::from(index);
            }
            filter =
                compile::compile(&program, variables.clone(), &[]).map_err(|failure| failure.to_string())?;
        }
        let (mut any, mut problem) = (false, None);
        let result = Run::new(&filter, &queue).run(document, &mut |value| {
            let first = !std::mem::replace(&mut any, true);
            each(value, separate && first).map_err(|found| {
                problem = Some(found);
                Exit::Enough
            })
        });
        if let Some(problem) = problem {
            return Err(problem);
        }
        result.map_err(message)?;
        separate |= any;
    }
    Ok(())
}

fn variables(options: &Options) -> Result<Vec<(String, Val)>, String> {
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
    Ok(variables)
}

/// The documents of all files.
struct Inputs<'a> {
    options: &'a Options,
    files: std::vec::IntoIter<Option<String>>,
    current: Option<Source>,
}

impl Iterator for Inputs<'_> {
    type Item = Result<Val, String>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(found) = self.current.as_mut().and_then(Source::next) {
                return Some(found);
            }
            let file = self.files.next()?;
            let format = format_of(self.options, file.as_deref());
            match Source::open(file.as_deref(), format) {
                Ok(source) => self.current = Some(source),
                Err(problem) => return Some(Err(problem)),
            }
        }
    }
}

type Rest<'a> = Box<dyn Iterator<Item = Result<Val, String>> + 'a>;

/// The documents that were not read yet; `input` takes from them, too.
pub(crate) struct Queue<'a> {
    rest: RefCell<Rest<'a>>,
    next: Cell<usize>,
    /// All of them, where a program looks at all.
    kept: Vec<Val>,
}

impl<'a> Queue<'a> {
    fn new(rest: Rest<'a>) -> Self {
        Self { rest: RefCell::new(rest), next: Cell::new(0), kept: Vec::new() }
    }

    /// These documents.
    pub(crate) fn of(documents: Vec<Val>) -> Self {
        Self::new(Box::new(documents.into_iter().map(Ok)))
    }

    fn whole(self) -> Result<Self, String> {
        let all = self.rest.into_inner().collect::<Result<Vec<Val>, String>>()?;
        Ok(Self { kept: all.clone(), ..Self::of(all) })
    }

    fn next(&self) -> Option<(usize, Result<Val, String>)> {
        let next = self.rest.borrow_mut().next()?;
        let index = self.next.get();
        self.next.set(index + 1);
        Some((index, next))
    }
}

impl World for Queue<'_> {
    fn input(&self) -> Option<Result<Val, String>> {
        self.next().map(|(_, document)| document)
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
