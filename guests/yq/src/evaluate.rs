//! Reads the documents, runs the program over each, writes the results.

use crate::format::{Format, Layout};
use crate::options::{Named, Options};
use crate::spelling;
use jaq_core::{Ctx, Vars};
use jaq_json::{Map, Val};
use jaq_std::input::RcIter;
use jq::data::{Data, Kind};
use jq::input::Place;
use jq::{library, stdio};

/// The documents of one file.
struct Source {
    format: Format,
    documents: Vec<Val>,
}

/// Runs; the exit status, or why it could not begin.
pub fn run(options: &Options) -> Result<i32, String> {
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
            std::fs::write(file, text).map_err(|error| format!("{file}: {}", jq::input::reason(&error)))?;
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
            .map_err(|error| format!("open {file}: {}", jq::input::reason(&error).to_lowercase()))?,
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
            Named::Json(text) => jq::input::parse_one(text.clone().into_bytes().into())
                .map_err(|_| format!("invalid JSON text passed to --argjson: {text}"))?,
        };
        variables.push((name.clone(), value));
    }
    let named: Map = variables.iter().map(|(name, value)| (Val::from(name.clone()), value.clone())).collect();
    let fields = [("positional", Val::Arr(Vec::new().into())), ("named", Val::obj(named))];
    variables.push((
        "ARGS".to_owned(),
        Val::obj(fields.map(|(name, value)| (Val::from(name.to_owned()), value)).into_iter().collect()),
    ));
    variables.push((
        "ENV".to_owned(),
        Val::obj(std::env::vars().map(|(name, value)| (name.into(), value.into())).collect()),
    ));
    variables.push(("__docs".to_owned(), all.clone()));
    variables.push(("__di".to_owned(), Val::from(0usize)));
    let names: Vec<String> = variables.iter().map(|(name, _)| format!("${name}")).collect();
    let filter = library::compile(&program, &names, &[]).map_err(|failure| failure.to_string())?;

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
    let queue = RcIter::new(documents.into_iter().enumerate());
    for (index, document) in &queue {
        if let Some((_, slot)) = variables.last_mut() {
            *slot = Val::from(index);
        }
        let place = Place::default();
        let rest = RcIter::new((&queue).map(|(_, document)| Ok::<Val, String>(document)));
        let data = Data { lut: &filter.lut, inputs: &rest, place: &place };
        let vars = Vars::new(variables.iter().map(|(_, value)| value.clone()));
        let ctx = Ctx::<Kind>::new(&data, vars);
        let mut any = false;
        for result in filter.id.run((ctx, document)) {
            let value = match result {
                Ok(value) => value,
                Err(exception) => return Err(message(exception)),
            };
            if separate && options.separators && target == Format::Yaml && !any {
                out.extend_from_slice(b"---\n");
            }
            any = true;
            last = Some(!matches!(value, Val::Null | Val::Bool(false)));
            target.write(&mut out, &value, &layout)?;
            out.push(if options.nul { 0 } else { b'\n' });
        }
        separate |= any;
    }
    Ok((out, last))
}

fn message(exception: jaq_core::Exn<'_, Val>) -> String {
    match exception.get_halt() {
        Ok(status) => jq::halt(status),
        Err(exception) => match exception.get_err().map(jaq_json::Error::into_val) {
            Ok(Val::TStr(text)) => library::wording::of(&String::from_utf8_lossy(&text)),
            Ok(other) => jq::output::compact(&other),
            Err(_) => "break".to_owned(),
        },
    }
}
