//! Items: `Header:value`, `name==value`, `name=value`, `name:=json`, `name@file`; and the request that they make.

use serde_json::Value;

use super::args::Wanted;
use crate::{
    data,
    form::{self, Part},
    request::Request,
    url::{Url, encoded},
};

const AGENT: &str = "http/1.0 (drydock)";

/// What stands between a name and its value, the longest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    JsonFile,
    QueryFile,
    HeaderFile,
    TextFile,
    Json,
    Query,
    Text,
    Header,
    File,
    EmptyHeader,
}

const SIGNS: [(&str, Sign); 10] = [
    (":=@", Sign::JsonFile),
    ("==@", Sign::QueryFile),
    (":@", Sign::HeaderFile),
    ("=@", Sign::TextFile),
    (":=", Sign::Json),
    ("==", Sign::Query),
    ("=", Sign::Text),
    (":", Sign::Header),
    ("@", Sign::File),
    (";", Sign::EmptyHeader),
];

/// An item in its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Parsed {
    name: String,
    sign: Sign,
    value: String,
}

/// Takes an item apart at its first sign. A backslash before a sign makes it a letter of the name.
fn parse(text: &str) -> Option<Parsed> {
    let mut name = String::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let letter = rest.chars().next()?;
        if letter == '\\' {
            let next = rest[1..].chars().next()?;
            if !":=@;\\".contains(next) {
                name.push('\\');
            }
            name.push(next);
            at += 1 + next.len_utf8();
            continue;
        }
        if let Some((sign, kind)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
            let value = rest[sign.len()..].to_owned();
            let is_end = *kind != Sign::EmptyHeader || value.is_empty();
            if !name.is_empty() && is_end {
                return Some(Parsed { name, sign: *kind, value });
            }
        }
        name.push(letter);
        at += letter.len_utf8();
    }
    None
}

/// Whether a word could be an item, and so is no URL behind a method.
pub(super) fn is_item(text: &str) -> bool {
    !text.contains("://") && parse(text).is_some_and(|it| it.sign != Sign::Header)
}

/// The request of a command line. `stdin` is read where the body may come from there.
pub(super) fn request(
    wanted: &Wanted,
    stdin: impl FnOnce() -> Result<Vec<u8>, String>,
) -> Result<Request, String> {
    let mut url = Url::parse(&with_host(&wanted.url, &wanted.scheme)).map_err(|it| it.message)?;
    url.settle();
    let (mut headers, mut query, mut fields, mut files) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for header in &wanted.headers {
        let (name, value) = header.split_once(':').ok_or_else(|| format!("'{header}' is no header"))?;
        headers.push((name.trim().to_owned(), Some(value.trim().to_owned())));
    }
    for text in &wanted.items {
        let item = parse(text).ok_or_else(|| format!("'{text}' is no item: try 'http --help'"))?;
        let Parsed { name, sign, value } = item;
        let read = |file: &str| {
            let bytes = data::read(file).map_err(|it| it.message)?;
            String::from_utf8(bytes).map_err(|_| format!("'{file}' is no text"))
        };
        match sign {
            Sign::Header => headers.push((name, (!value.is_empty()).then_some(value))),
            Sign::HeaderFile => headers.push((name, Some(read(&value)?.trim_end().to_owned()))),
            Sign::EmptyHeader => headers.push((name, Some(String::new()))),
            Sign::Query => query.push((name, value)),
            Sign::QueryFile => query.push((name, read(&value)?)),
            Sign::Text => fields.push((name, Value::String(value))),
            Sign::TextFile => fields.push((name, Value::String(read(&value)?))),
            Sign::Json => fields.push((name.clone(), json(&name, &value)?)),
            Sign::JsonFile => fields.push((name.clone(), json(&name, &read(&value)?)?)),
            Sign::File => files.push((name, value)),
        }
    }
    for (name, value) in query {
        url.path.push(if url.path.contains('?') { '&' } else { '?' });
        url.path.push_str(&format!("{}={}", encoded(name.as_bytes()), encoded(value.as_bytes())));
    }
    let (body, kind) = body(wanted, fields, files, stdin)?;
    let is_json = kind.as_deref() == Some("application/json");
    let ours = [
        ("User-Agent", Some(AGENT.to_owned())),
        ("Accept", Some(if is_json { "application/json, */*;q=0.5" } else { "*/*" }.to_owned())),
        ("Content-Type", kind),
        ("Authorization", wanted.auth.as_ref().filter(|_| wanted.bearer).map(|it| format!("Bearer {it}"))),
    ];
    let said = |name: &str| headers.iter().any(|it| it.0.eq_ignore_ascii_case(name));
    let ours: Vec<_> = ours.into_iter().filter(|(name, _)| !said(name)).collect();
    let ours = ours.into_iter().map(|(name, value)| (name.to_owned(), value));
    let headers = ours.chain(headers).filter_map(|(name, value)| Some((name, value?))).collect();
    let usual = if body.is_some() { "POST" } else { "GET" };
    Ok(Request {
        user: wanted.auth.clone().filter(|_| !wanted.bearer).or_else(|| url.user.take()),
        url,
        method: wanted.method.clone().unwrap_or_else(|| usual.to_owned()),
        fixed_method: false,
        posts: body.is_some(),
        headers,
        body,
        at_home: true,
    })
}

/// `:3000/x` and `:/x` are on this machine, and what has no scheme has the usual one.
fn with_host(url: &str, scheme: &str) -> String {
    match url.strip_prefix(':') {
        Some(rest) if rest.starts_with(|it: char| it.is_ascii_digit()) => {
            format!("{scheme}://localhost:{rest}")
        }
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{scheme}://localhost{rest}"),
        _ if url.contains("://") => url.to_owned(),
        _ => format!("{scheme}://{url}"),
    }
}

fn json(name: &str, text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("'{name}:=' is no JSON: {error}"))
}

type Body = (Option<Vec<u8>>, Option<String>);

fn body(
    wanted: &Wanted,
    fields: Vec<(String, Value)>,
    files: Vec<(String, String)>,
    stdin: impl FnOnce() -> Result<Vec<u8>, String>,
) -> Result<Body, String> {
    let usual =
        if wanted.form { "application/x-www-form-urlencoded; charset=utf-8" } else { "application/json" };
    let has_items = !fields.is_empty() || !files.is_empty();
    if let Some(raw) = &wanted.raw {
        return match has_items {
            true => Err("a body is written whole, or in fields".to_owned()),
            false => Ok((Some(raw.clone().into_bytes()), Some(usual.to_owned()))),
        };
    }
    if !has_items {
        let bytes = if wanted.ignore_stdin { Vec::new() } else { stdin()? };
        return Ok(if bytes.is_empty() { (None, None) } else { (Some(bytes), Some(usual.to_owned())) });
    }
    if !files.is_empty() || wanted.multipart {
        if !wanted.form && !wanted.multipart {
            return Err("files are uploaded with --form or --multipart".to_owned());
        }
        let texts = fields
            .into_iter()
            .map(|(name, value)| Part { word: format!("{name}={}", plain(value)), literal: true });
        let files =
            files.into_iter().map(|(name, file)| Part { word: format!("{name}=@{file}"), literal: false });
        let (bytes, kind) = form::gather(&texts.chain(files).collect::<Vec<_>>()).map_err(|it| it.message)?;
        return Ok((Some(bytes), Some(kind)));
    }
    if wanted.form {
        let pair = |(name, value): (String, Value)| {
            format!("{}={}", encoded(name.as_bytes()), encoded(plain(value).as_bytes()))
        };
        let pairs: Vec<String> = fields.into_iter().map(pair).collect();
        return Ok((Some(pairs.join("&").into_bytes()), Some(usual.to_owned())));
    }
    // In their order; one that is named again takes the other's place.
    let mut members: Vec<(String, Value)> = Vec::new();
    for (name, value) in fields {
        match members.iter_mut().find(|it| it.0 == name) {
            Some(member) => member.1 = value,
            None => members.push((name, value)),
        }
    }
    let member = |(name, value): (String, Value)| format!("{}: {value}", Value::String(name));
    let members: Vec<String> = members.into_iter().map(member).collect();
    Ok((Some(format!("{{{}}}", members.join(", ")).into_bytes()), Some(usual.to_owned())))
}

fn plain(value: Value) -> String {
    match value {
        Value::String(text) => text,
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::args, *};

    fn made(line: &[&str], stdin: &str) -> Result<Request, String> {
        let words: Vec<String> = line.iter().map(|it| (*it).to_owned()).collect();
        request(&args::read(&words, "http")?, || Ok(stdin.as_bytes().to_vec()))
    }

    fn body(line: &[&str]) -> String {
        let body = made(line, "").ok().and_then(|it| it.body).unwrap_or_default();
        String::from_utf8_lossy(&body).into_owned()
    }

    #[test]
    fn an_item_is_cut_at_its_first_sign() {
        for (text, name, sign, value) in [
            ("a=b", "a", Sign::Text, "b"),
            ("a=b:c=d", "a", Sign::Text, "b:c=d"),
            ("a:=1", "a", Sign::Json, "1"),
            ("a:b=c", "a", Sign::Header, "b=c"),
            ("a==b c", "a", Sign::Query, "b c"),
            ("a@f", "a", Sign::File, "f"),
            ("a=@f", "a", Sign::TextFile, "f"),
            ("a:=@f", "a", Sign::JsonFile, "f"),
            ("X;", "X", Sign::EmptyHeader, ""),
            ("a\\=b=c", "a=b", Sign::Text, "c"),
            ("a\\b=c", "a\\b", Sign::Text, "c"),
        ] {
            let (name, value) = (name.to_owned(), value.to_owned());
            assert_eq!(parse(text), Some(Parsed { name, sign, value }), "{text}");
        }
        for bad in ["", "a", "=a", ":", "a\\=b", "\\"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn items_make_a_request_as_httpie_does() {
        let request = made(&["a.test/x?y=1", "X-A:b", "q==c d", "name=J\"", "n:=3", "Accept:"], "ignored");
        let Ok(request) = request else { panic!("{request:?}") };
        assert_eq!(
            (request.method.as_str(), request.url.text().as_str()),
            ("POST", "http://a.test/x?y=1&q=c%20d")
        );
        assert_eq!(request.body.as_deref(), Some(&br#"{"name": "J\"", "n": 3}"#[..]));
        let headers: Vec<&str> = request.headers.iter().map(|it| it.0.as_str()).collect();
        assert_eq!(headers, ["User-Agent", "Content-Type", "X-A"]);
        assert_eq!(body(&["-f", "a.test", "a=1 2", "b=&"]), "a=1%202&b=%26");
        assert!(body(&["--multipart", "a.test", "a=@notafile;"]).is_empty(), "there is no such file");
        assert!(body(&["--multipart", "a.test", "a=1"]).contains("name=\"a\"\r\n\r\n1\r\n"));
        assert_eq!(body(&["--raw", "{}", "a.test"]), "{}");
        assert_eq!(body(&["a.test", "a=1", "a=2"]), r#"{"a": "2"}"#);
    }

    #[test]
    fn standard_input_is_the_body_where_there_are_no_fields() {
        let Ok(request) = made(&["a.test"], "{}") else { panic!("no request") };
        assert_eq!((request.method.as_str(), request.body.as_deref()), ("POST", Some(&b"{}"[..])));
        let Ok(request) = made(&["-I", "a.test"], "{}") else { panic!("no request") };
        assert_eq!((request.method.as_str(), request.body), ("GET", None));
        for (line, want) in [
            (&["a.test", "f@x"][..], "--form"),
            (&["a.test", "a:=x"], "is no JSON"),
            (&["--raw", "x", "a.test", "a=1"], "whole, or in fields"),
            (&["-H", "x", "a.test"], "is no header"),
        ] {
            let told = made(line, "").err().unwrap_or_default();
            assert!(told.contains(want), "{line:?}: {told}");
        }
    }

    #[test]
    fn short_urls_are_on_this_machine() {
        for (url, want) in [
            (":3000/x", "http://localhost:3000/x"),
            (":/x", "http://localhost/x"),
            (":", "http://localhost/"),
            ("https://a.test", "https://a.test/"),
            ("a.test:81", "http://a.test:81/"),
        ] {
            assert_eq!(made(&[url], "").map(|it| it.url.text()), Ok(want.to_owned()), "{url}");
        }
    }
}
