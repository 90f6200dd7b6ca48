//! `jo`: JSON of words. `key=value`, `key:=json`, `key@flag`, `list[]=value`, `map[key]=value`, `-a` for a list,
//! `-p` for people, `-s`, `-n` and `-b` before a word for a text, a number or a truth.

use std::io::BufRead as _;

use crate::Done;
use crate::json::{Value, is_number};
use options::{Item, Order};

const HELP: &str =
    "Usage: jo [-a] [-B] [-D] [-e] [-n] [-p] [-v] [-V] [-d keydelim] [--] [-s|-n|-b] [word ...]\n";

/// How the next word is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Take {
    Guess,
    Text,
    Number,
    Truth,
}

#[derive(Debug, Default)]
struct Settings {
    list: bool,
    pretty: bool,
    no_truth: bool,
    no_empty: bool,
    delimiter: Option<String>,
}

pub(crate) fn run(args: &[String]) -> Done {
    let table = ["a", "p", "B", "e", "n", "D", "d=", "v", "V", "h", "s", "b", "f=", "i="];
    let flags: Vec<String> = args
        .iter()
        .take_while(|it| {
            it.starts_with('-') && it.len() > 1 && *it != "--" && !matches!(it.as_str(), "-s" | "-n" | "-b")
        })
        .cloned()
        .collect();
    let mut used = flags.len();
    let mut flags = flags;
    // `-d` takes the next word.
    if flags.last().is_some_and(|it| it == "-d" || it == "-f") {
        flags.extend(args.get(used).cloned());
        used += 1;
    }
    let mut settings = Settings::default();
    let mut start = Value::Null;
    for item in options::parse(&flags, &table, Order::Anywhere)
        .map_err(|text| (1, format!("jo: {text}\n{}", HELP.trim_end())))?
    {
        let Item::Flag(flag, value) = item else { continue };
        match flag {
            "a" => settings.list = true,
            "p" => settings.pretty = true,
            "B" => settings.no_truth = true,
            "n" => settings.no_empty = true,
            "d" => settings.delimiter = value,
            "f" => start = load(&value.unwrap_or_default())?,
            "v" => return Ok("jo 1.9\n".to_owned()),
            "V" => return Ok("{\"program\":\"jo\",\"version\":\"1.9\"}\n".to_owned()),
            "h" => return Ok(HELP.to_owned()),
            _ => {}
        }
    }
    let mut words: Vec<String> = args[used.min(args.len())..].to_vec();
    if words.first().is_some_and(|it| it == "--") {
        words.remove(0);
    }
    if words.is_empty() {
        words = std::io::stdin().lock().lines().map_while(Result::ok).collect();
    }
    build(&words, &settings, start).map(|it| it.show(settings.pretty) + "\n")
}

fn load(path: &str) -> Result<Value, (i32, String)> {
    let text = std::fs::read_to_string(path).map_err(|cause| (1, format!("jo: {path}: {cause}")))?;
    Value::parse(text.trim()).ok_or_else(|| (1, format!("jo: {path}: not JSON")))
}

fn build(words: &[String], settings: &Settings, start: Value) -> Result<Value, (i32, String)> {
    let mut whole = match start {
        Value::Null if settings.list => Value::List(Vec::new()),
        Value::Null => Value::Map(Vec::new()),
        start => start,
    };
    let mut take = Take::Guess;
    for word in words {
        let next = match word.as_str() {
            "-s" => Take::Text,
            "-n" => Take::Number,
            "-b" => Take::Truth,
            _ => Take::Guess,
        };
        if next != Take::Guess {
            take = next;
            continue;
        }
        if settings.list {
            whole.push(value(word, take, settings)?);
        } else {
            pair(&mut whole, word, take, settings)?;
        }
        take = Take::Guess;
    }
    Ok(whole)
}

fn pair(whole: &mut Value, word: &str, take: Take, settings: &Settings) -> Result<(), (i32, String)> {
    let at = word.find(['=', '@']).filter(|it| *it > 0);
    let Some(at) = at else {
        return Err((1, format!("jo: Argument `{word}' is neither k=v nor k@v")));
    };
    let (key, text) = (&word[..at], &word[at + 1..]);
    let (key, value) = match (word.as_bytes()[at], key.strip_suffix(':')) {
        (b'=', Some(key)) => {
            let json = match text.strip_prefix('@') {
                Some(path) => load(path)?,
                None => Value::parse(text).ok_or_else(|| (1, format!("jo: `{text}' is not JSON")))?,
            };
            (key, json)
        }
        (b'=', None) => {
            if text.is_empty() && settings.no_empty && take == Take::Guess {
                return Ok(());
            }
            (key, value(text, take, settings)?)
        }
        _ => (key, Value::Bool(!matches!(text, "" | "0" | "f" | "F" | "false" | "False"))),
    };
    put(whole, key, value, settings)
}

/// Puts a value at `key`, `key[]`, `key[sub]`, or `a.b` with `-d .`.
fn put(whole: &mut Value, key: &str, value: Value, settings: &Settings) -> Result<(), (i32, String)> {
    let mut parts: Vec<&str> = Vec::new();
    let mut rest = key;
    if let Some(delimiter) = settings.delimiter.as_deref().filter(|it| !it.is_empty() && key.contains(*it)) {
        parts = key.split(delimiter).collect();
        rest = "";
    }
    if let Some(open) = rest.find('[').filter(|it| *it > 0 && rest.ends_with(']')) {
        parts.push(&rest[..open]);
        parts.extend(rest[open + 1..rest.len() - 1].split("]["));
        rest = "";
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    let mut at = whole;
    let Some((last, folders)) = parts.split_last() else { return Err((1, format!("jo: bad key `{key}'"))) };
    for part in folders {
        at = at.under(part).ok_or_else(|| (1, format!("jo: bad key `{key}'")))?;
    }
    match last.is_empty() {
        true => at.push(value),
        false => at.set(last, value),
    }
    Ok(())
}

/// A word as a value: what it looks like, or what was asked for.
fn value(text: &str, take: Take, settings: &Settings) -> Result<Value, (i32, String)> {
    match take {
        Take::Text => return Ok(Value::Text(text.to_owned())),
        Take::Number => {
            let number = text.parse::<f64>().ok().filter(|_| is_number(text)).map(|_| text.to_owned());
            return Ok(Value::Number(number.unwrap_or_else(|| text.chars().count().to_string())));
        }
        Take::Truth => return Ok(Value::Bool(!matches!(text, "" | "0" | "false"))),
        Take::Guess => {}
    }
    if let Some(path) = text.strip_prefix('@').filter(|it| !it.is_empty()) {
        let text = std::fs::read_to_string(path).map_err(|cause| (1, format!("jo: {path}: {cause}")))?;
        return Ok(Value::Text(text.strip_suffix('\n').unwrap_or(&text).to_owned()));
    }
    if let Some(path) = text.strip_prefix(':').filter(|it| !it.is_empty()) {
        return load(path);
    }
    if let Some(text) = text.strip_prefix("\\@").or_else(|| text.strip_prefix("\\:")) {
        return Ok(Value::Text(text.to_owned()));
    }
    Ok(match text {
        "" => Value::Null,
        "true" if !settings.no_truth => Value::Bool(true),
        "false" if !settings.no_truth => Value::Bool(false),
        "null" => Value::Null,
        text if is_number(text) => Value::Number(text.to_owned()),
        text if text.starts_with(['{', '[']) => {
            Value::parse(text).unwrap_or_else(|| Value::Text(text.to_owned()))
        }
        text => Value::Text(text.to_owned()),
    })
}

#[test]
fn words_become_json() {
    let cases: &[(&[&str], &str)] = &[
        (
            &["name=Jane", "age=20", "ok=true", "n=null", "e="],
            r#"{"name":"Jane","age":20,"ok":true,"n":null,"e":null}"#,
        ),
        (&["-a", "1", "x", "true"], r#"[1,"x",true]"#),
        (&["p[x]=1", "p[y]=2", "l[]=a", "l[]=b"], r#"{"p":{"x":1,"y":2},"l":["a","b"]}"#),
        (&["a:=[1,{\"b\":2}]", "c={\"d\":1}"], r#"{"a":[1,{"b":2}],"c":{"d":1}}"#),
        (&["-s", "a=1", "-n", "b=abc", "-b", "c=yes", "d@1"], r#"{"a":"1","b":3,"c":true,"d":true}"#),
        (&["-d", ".", "a.b.c=1", "a.b.d=2"], r#"{"a":{"b":{"c":1,"d":2}}}"#),
        (&["-p", "a=1", "b[]=2"], "{\n   \"a\": 1,\n   \"b\": [\n      2\n   ]\n}"),
    ];
    for (words, want) in cases {
        let words: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(run(&words).map(|it| it.trim_end().to_owned()), Ok((*want).to_owned()), "{words:?}");
    }
    assert!(run(&["novalue".to_owned()]).is_err());
}
