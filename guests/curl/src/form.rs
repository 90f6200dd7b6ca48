//! `-F`: a body of several parts (`multipart/form-data`).

use std::hash::{BuildHasher as _, RandomState};

use crate::{
    data::read,
    failure::{Failure, USAGE},
};

/// A part as it was written: as curl reads it, or `--form-string`, whose value is taken as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) word: String,
    pub(crate) literal: bool,
}

impl Part {
    /// Whether it names a field and its content.
    pub(crate) fn is_whole(&self) -> bool {
        self.word.contains('=')
    }
}

/// The body, and the header that names its boundary.
pub(crate) fn gather(parts: &[Part]) -> Result<(Vec<u8>, String), Failure> {
    let boundary = boundary();
    let mut body = Vec::new();
    for part in parts {
        let usage = || Failure::new(USAGE, format!("Illegally formatted input field '{}'", part.word));
        let (name, value) = part.word.split_once('=').ok_or_else(usage)?;
        body.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        let Field { content, file, kind } = match part.literal {
            true => Field { content: value.as_bytes().to_vec(), file: None, kind: None },
            false => field(value)?,
        };
        let mut head = format!("Content-Disposition: form-data; name=\"{}\"", quoted(name));
        if let Some(file) = file {
            head.push_str(&format!("; filename=\"{}\"", quoted(&file)));
        }
        head.push_str("\r\n");
        if let Some(kind) = kind {
            head.push_str(&format!("Content-Type: {kind}\r\n"));
        }
        head.push_str("\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(&content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((body, format!("multipart/form-data; boundary={boundary}")))
}

struct Field {
    content: Vec<u8>,
    file: Option<String>,
    kind: Option<String>,
}

/// `text`, `@file` or `<file`, and `;type=` and `;filename=` behind it.
fn field(value: &str) -> Result<Field, Failure> {
    let mut pieces = value.split(';');
    let mut first = pieces.next().unwrap_or_default().to_owned();
    let (mut kind, mut named) = (None, None);
    for piece in pieces {
        match piece.trim_start().split_once('=') {
            Some(("type", it)) => kind = Some(it.to_owned()),
            Some(("filename", it)) => named = Some(it.trim_matches('"').to_owned()),
            // A semicolon of its own.
            _ => first.push_str(&format!(";{piece}")),
        }
    }
    if let Some(file) = first.strip_prefix('@') {
        let own = file.rsplit('/').next().unwrap_or_default().to_owned();
        // Nothing can be guessed about standard input.
        let kind = kind.or_else(|| (file != "-").then(|| type_of(file).to_owned()));
        return Ok(Field { content: read(file)?, file: Some(named.unwrap_or(own)), kind });
    }
    let content = match first.strip_prefix('<') {
        Some(file) => read(file)?,
        None => first.into_bytes(),
    };
    Ok(Field { content, file: named, kind })
}

/// As curl guesses by the end of a name.
fn type_of(file: &str) -> &'static str {
    match file.rsplit_once('.').map(|it| it.1.to_ascii_lowercase()).as_deref() {
        Some("gif") => "image/gif",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("png") => "image/png",
        Some("svg") => "image/svg+xml",
        Some("txt") => "text/plain",
        Some("htm" | "html") => "text/html",
        Some("pdf") => "application/pdf",
        Some("xml") => "application/xml",
        _ => "application/octet-stream",
    }
}

fn quoted(text: &str) -> String {
    text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

/// Nothing that a body would have by chance.
fn boundary() -> String {
    let random = RandomState::new();
    format!("------------------------{:016x}{:06x}", random.hash_one(1), random.hash_one(2) & 0xff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_fields_and_files() {
        let folder = std::env::temp_dir().join(format!("curl-form-{}", std::process::id()));
        let _ = std::fs::create_dir_all(&folder);
        let file = folder.join("a.png");
        let _ = std::fs::write(&file, "png");
        let part = |word: String| Part { word, literal: false };
        let parts = [
            part("a=1;2".into()),
            part(format!("f=@{}", file.display())),
            part(format!("g=<{};type=text/x", file.display())),
            Part { word: "l=@x".into(), literal: true },
        ];
        let Ok((body, header)) = gather(&parts) else { panic!("no body") };
        let boundary = header.split_once("boundary=").map_or("", |it| it.1);
        let text = String::from_utf8_lossy(&body).replace(boundary, "B");
        assert_eq!(
            text,
            "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1;2\r\n\
             --B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\npng\r\n\
             --B\r\nContent-Disposition: form-data; name=\"g\"\r\nContent-Type: text/x\r\n\r\npng\r\n\
             --B\r\nContent-Disposition: form-data; name=\"l\"\r\n\r\n@x\r\n--B--\r\n"
        );
        assert_eq!(gather(&[part("nothing".into())]).map_err(|it| it.status), Err(USAGE));
    }
}
