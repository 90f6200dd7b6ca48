//! Kinds of text: its letters, its lines, and the language it is in.

use super::Verdict;

/// Longer lines than this are worth a remark.
const LINE_BYTES_MAX: usize = 300;

/// The kind; `None` if it is no text.
pub(super) fn of(bytes: &[u8]) -> Option<Verdict> {
    let (letters, charset) = letters(bytes)?;
    let text = String::from_utf8_lossy(bytes);
    let head = text.trim_start_matches('\u{feff}');
    if is_json(head) {
        return Some(Verdict { words: "JSON text data".to_owned(), mime: "application/json", charset });
    }
    let (language, executable, mime) = language(head);
    let mut words = match language {
        Some(language) if language == "Perl script" => {
            return Some(Verdict { words: "Perl script text executable".to_owned(), mime, charset });
        }
        Some(language) if language == "Node.js script" => {
            format!("Node.js script executable, {letters} text")
        }
        Some(language) => {
            format!("{language}, {letters} text{}", if executable { " executable" } else { "" })
        }
        None => format!("{letters} text"),
    };
    words.push_str(&remarks(bytes));
    Some(Verdict { words, mime, charset })
}

/// What the letters are called, and in MIME.
fn letters(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        let little = bytes[0] == 0xff;
        let name =
            if little { "Unicode text, UTF-16, little-endian" } else { "Unicode text, UTF-16, big-endian" };
        return Some((name, if little { "utf-16le" } else { "utf-16be" }));
    }
    let plain = |it: &u8| matches!(it, 7..=13 | 27 | 32..=126 | 128..);
    if !bytes.iter().all(plain) {
        return None;
    }
    if bytes.is_ascii() {
        return Some(("ASCII", "us-ascii"));
    }
    match std::str::from_utf8(bytes) {
        Ok(_) if bytes.starts_with(b"\xef\xbb\xbf") => Some(("Unicode text, UTF-8 (with BOM)", "utf-8")),
        Ok(_) => Some(("Unicode text, UTF-8", "utf-8")),
        Err(_) if bytes.iter().all(|it| !(0x80..0xa0).contains(it)) => Some(("ISO-8859", "iso-8859-1")),
        Err(_) => Some(("Non-ISO extended-ASCII", "unknown-8bit")),
    }
}

fn remarks(bytes: &[u8]) -> String {
    let mut text = String::new();
    let longest = bytes.split(|it| matches!(it, b'\n' | b'\r')).map(<[u8]>::len).max().unwrap_or(0);
    if longest >= LINE_BYTES_MAX {
        text.push_str(&format!(", with very long lines ({longest})"));
    }
    let feeds = bytes.iter().filter(|it| **it == b'\n').count();
    let both = bytes.windows(2).filter(|it| it == b"\r\n").count();
    let returns = bytes.iter().filter(|it| **it == b'\r').count() - both;
    match (feeds - both, both, returns) {
        (0, 0, 0) => text.push_str(", with no line terminators"),
        (_, 0, 0) => {}
        (0, _, 0) => text.push_str(", with CRLF line terminators"),
        (0, 0, _) => text.push_str(", with CR line terminators"),
        (_, _, 0) => text.push_str(", with CRLF, LF line terminators"),
        _ => text.push_str(", with CR, LF line terminators"),
    }
    if bytes.contains(&27) {
        text.push_str(", with escape sequences");
    }
    text
}

/// The language, whether it is a script, and its MIME type.
fn language(text: &str) -> (Option<String>, bool, &'static str) {
    let found = |name: &str, script, mime| (Some(name.to_owned()), script, mime);
    if let Some(line) = text.strip_prefix("#!") {
        let line = line.lines().next().unwrap_or_default().trim();
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or_default();
        let program = first.rsplit('/').next().unwrap_or_default();
        let by_env = program == "env";
        let program = match by_env {
            true => words.find(|it| !it.starts_with('-')).unwrap_or_default(),
            false => program,
        };
        return match program.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.') {
            "bash" => found("Bourne-Again shell script", true, "text/x-shellscript"),
            "sh" | "dash" => found("POSIX shell script", true, "text/x-shellscript"),
            "zsh" => found("Paul Falstad's zsh script", true, "text/x-shellscript"),
            "ksh" => found("Korn shell script", true, "text/x-shellscript"),
            "python" => found("Python script", true, "text/x-script.python"),
            "perl" => found("Perl script", true, "text/x-perl"),
            "node" => found("Node.js script", true, "application/javascript"),
            "ruby" => found("Ruby script", true, "text/x-ruby"),
            "awk" | "gawk" => found("awk script", true, "text/x-awk"),
            "php" => found("PHP script", true, "text/x-php"),
            _ => (Some(format!("a {line} script")), true, "text/plain"),
        };
    }
    let start = text.trim_start();
    let lower: String = start.chars().take(200).collect::<String>().to_lowercase();
    if start.starts_with("<?xml") {
        let version = start
            .split("version=")
            .nth(1)
            .and_then(|it| it.get(1..))
            .and_then(|it| it.split(['"', '\'']).next());
        return (Some(format!("XML {} document", version.unwrap_or("1.0"))), false, "text/xml");
    }
    if ["<!doctype html", "<html", "<head", "<body", "<title"].iter().any(|it| lower.starts_with(it)) {
        return found("HTML document", false, "text/html");
    }
    if lower.starts_with("<svg") {
        return found("SVG Scalable Vector Graphics image", false, "image/svg+xml");
    }
    if start.starts_with("<?php") {
        return found("PHP script", false, "text/x-php");
    }
    let line = |check: fn(&str) -> bool| text.lines().take(60).any(check);
    let is_c = line(|it| it.starts_with("#include") && it.contains(['<', '"']));
    if is_c
        && line(|it| it.starts_with("using namespace") || it.starts_with("class ") || it.contains("std::"))
    {
        return found("C++ source", false, "text/x-c++");
    }
    if is_c {
        return found("C source", false, "text/x-c");
    }
    let is_python = line(|it| it.trim_start().starts_with("def ") && it.trim_end().ends_with(':'))
        || (line(|it| it.starts_with("import ") && !it.contains([';', '{']))
            && line(|it| it.starts_with("from ") && it.contains(" import ")));
    if is_python {
        return found("Python script", true, "text/x-script.python");
    }
    if text.starts_with("diff ") || (text.starts_with("--- ") && text.contains("\n+++ ")) {
        return found("unified diff output", false, "text/x-diff");
    }
    (None, false, "text/plain")
}

/// Whether the whole text is one JSON object or array, or several.
fn is_json(text: &str) -> bool {
    let text = text.trim();
    if !text.starts_with(['{', '[']) {
        return false;
    }
    let mut open = Vec::new();
    let (mut quoted, mut escaped, mut colons, mut commas) = (false, false, 0usize, 0usize);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => open.push(byte),
            b'}' if open.pop() != Some(b'{') => return false,
            b']' if open.pop() != Some(b'[') => return false,
            b':' => colons += 1,
            b',' => commas += 1,
            b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n' | b'0'..=b'9' | b'.' | b'+' | b'-' | b'e' | b'E' => {}
            b't' | b'r' | b'u' | b'f' | b'a' | b'l' | b's' | b'n' => {}
            _ => return false,
        }
    }
    let object = text.starts_with('{');
    open.is_empty() && !quoted && (!object || colons > 0 || text.len() <= 2 || commas > 0)
}
