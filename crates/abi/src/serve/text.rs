//! An HTTP request as text, `METHOD PATH\nHeader: v\n…\n\nbody`, and a response, `STATUS\nHeader: v\n\nbody`, as the seed's
//! engine has them.
//!
//! No part of a head holds a line break, so none can begin another part. Of a response nothing is too odd to be sent: without
//! a blank line its bytes are the body of a 200, and so they are for a status that is none.

use bytes::Bytes;

/// The status of a response that names none.
const OK: u16 = 200;
/// Final statuses of HTTP: those below are no answer.
const STATUSES: std::ops::RangeInclusive<u16> = 200..=599;
/// Header lines of a response that are read.
const HEADERS_MAX: usize = 128;

/// A part of a head cannot stand in one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {0} has a line break or a blank, which the text of a request cannot carry")]
pub struct BadHead(&'static str);

/// A request as a guest sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextRequest<'a> {
    /// The method.
    pub method: &'a str,
    /// Path and query.
    pub path: &'a str,
    /// Headers in their order. Values need not be UTF-8.
    pub headers: Vec<(&'a str, &'a [u8])>,
    /// The body.
    pub body: &'a [u8],
}

/// A response as a guest wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextResponse {
    /// Its status, or 200.
    pub status: u16,
    /// Its headers in their order.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Its body.
    pub body: Bytes,
    /// Lines of its head that are no header.
    pub odd_lines: usize,
}

/// Writes a request.
pub fn encode_request(request: &TextRequest<'_>) -> Result<Vec<u8>, BadHead> {
    let is_word = |part: &str| !part.is_empty() && !part.bytes().any(|it| it.is_ascii_whitespace());
    if !is_word(request.method) {
        return Err(BadHead("method"));
    }
    if !is_word(request.path) {
        return Err(BadHead("path"));
    }
    let mut bytes = format!("{} {}\n", request.method, request.path).into_bytes();
    for (name, value) in &request.headers {
        if !is_word(name) || name.contains(':') {
            return Err(BadHead("header's name"));
        }
        if value.iter().any(|it| matches!(it, b'\n' | b'\r')) {
            return Err(BadHead("header's value"));
        }
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value);
        bytes.push(b'\n');
    }
    bytes.push(b'\n');
    bytes.extend_from_slice(request.body);
    Ok(bytes)
}

/// Reads a response, whatever it is.
pub fn decode_response(bytes: Bytes) -> TextResponse {
    let Some((head_end, body_at)) = blank_line(&bytes) else {
        return TextResponse { status: OK, headers: Vec::new(), body: bytes, odd_lines: 0 };
    };
    let mut lines = bytes[..head_end].split(|it| *it == b'\n').map(trimmed);
    let status = lines.next().and_then(status_of).unwrap_or(OK);
    let (mut headers, mut odd_lines) = (Vec::new(), 0);
    for line in lines {
        match header_of(line) {
            Some(header) if headers.len() < HEADERS_MAX => headers.push(header),
            _ => odd_lines += 1,
        }
    }
    let body = bytes.slice(body_at..);
    TextResponse { status, headers, body, odd_lines }
}

/// Where the head ends and where the body begins, if there is an empty line.
fn blank_line(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut from = 0;
    while let Some(found) = bytes[from..].iter().position(|it| *it == b'\n') {
        let end = from + found;
        match &bytes[end + 1..] {
            [b'\n', ..] => return Some((end, end + 2)),
            [b'\r', b'\n', ..] => return Some((end, end + 3)),
            _ => from = end + 1,
        }
    }
    None
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// `201`, or `201 Created`.
fn status_of(line: &[u8]) -> Option<u16> {
    let number = line.split(|it| *it == b' ').next()?;
    let is_number = number.len() == 3 && number.iter().all(u8::is_ascii_digit);
    let status = std::str::from_utf8(number).ok().filter(|_| is_number)?.parse().ok()?;
    STATUSES.contains(&status).then_some(status)
}

/// A name of a token's characters, a colon, and a value without a control character.
fn header_of(line: &[u8]) -> Option<(String, Vec<u8>)> {
    let colon = line.iter().position(|it| *it == b':')?;
    let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
    let is_token = |it: &u8| it.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(it);
    let is_shown = |it: &u8| *it == b'\t' || (*it >= b' ' && *it != 0x7f);
    let fits = !name.is_empty() && name.iter().all(is_token) && value.iter().all(is_shown);
    let name = std::str::from_utf8(name).ok().filter(|_| fits)?;
    Some((name.to_owned(), value.to_vec()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The text of a request, read as a guest would.
    fn read(bytes: &[u8]) -> (String, Vec<String>, Vec<u8>) {
        let (head_end, body_at) = blank_line(bytes).unwrap();
        let mut lines =
            bytes[..head_end].split(|it| *it == b'\n').map(|it| String::from_utf8_lossy(it).into_owned());
        (lines.next().unwrap(), lines.collect(), bytes[body_at..].to_vec())
    }

    #[test]
    fn a_request_is_a_line_its_headers_a_blank_line_and_its_body() {
        let headers = vec![("host", &b"a.test"[..]), ("x-raw", b"\xff")];
        let request = TextRequest { method: "POST", path: "/a?b=c%20d", headers, body: b"x\n\ny" };
        assert_eq!(
            encode_request(&request).unwrap(),
            b"POST /a?b=c%20d\nhost: a.test\nx-raw: \xff\n\nx\n\ny"
        );
        let none = TextRequest { method: "GET", path: "/", headers: Vec::new(), body: b"" };
        assert_eq!(encode_request(&none).unwrap(), b"GET /\n\n");
    }

    #[test]
    fn no_part_of_a_head_can_begin_another_one() {
        let with = |method, path, name, value: &'static [u8]| {
            encode_request(&TextRequest { method, path, headers: vec![(name, value)], body: b"" })
        };
        assert!(with("GET", "/", "a", b"b").is_ok());
        for (method, path, name, value) in [
            ("GET /x\nA: b", "/", "a", &b"b"[..]),
            ("", "/", "a", b"b"),
            ("GET", "/ HTTP/1.1", "a", b"b"),
            ("GET", "/\nx: y", "a", b"b"),
            ("GET", "", "a", b"b"),
            ("GET", "/", "a\n", b"b"),
            ("GET", "/", "a:b", b"b"),
            ("GET", "/", "", b"b"),
            ("GET", "/", "a", b"b\nc: d"),
            ("GET", "/", "a", b"b\rc"),
        ] {
            assert!(with(method, path, name, value).is_err(), "{method:?} {path:?} {name:?} {value:?}");
        }
    }

    #[test]
    fn whatever_a_guest_answers_is_a_response() {
        let told = |text: &'static [u8]| {
            let response = decode_response(Bytes::from_static(text));
            let headers: Vec<String> = response
                .headers
                .iter()
                .map(|(name, value)| format!("{name}={}", String::from_utf8_lossy(value)))
                .collect();
            let body = String::from_utf8_lossy(&response.body).into_owned();
            (response.status, headers.join(" "), body, response.odd_lines)
        };
        let cases: [(&[u8], u16, &str, &str, usize); 16] = [
            (b"201\nContent-Type: text/plain\n\nhi", 201, "Content-Type=text/plain", "hi", 0),
            (b"404 Not Found\n\n", 404, "", "", 0),
            (b"200\r\na: b\r\n\r\nx\n\ny", 200, "a=b", "x\n\ny", 0),
            (b"no blank line", 200, "", "no blank line", 0),
            (b"404\nno blank line", 200, "", "404\nno blank line", 0),
            (b"", 200, "", "", 0),
            (b"\n\nbody", 200, "", "body", 0),
            (b"hello\n\nworld", 200, "", "world", 0),
            (b"999\n\nx", 200, "", "x", 0),
            (b"101\n\nx", 200, "", "x", 0),
            (b"+200\n\nx", 200, "", "x", 0),
            (b"20\n\nx", 200, "", "x", 0),
            (b"204\nbad header\nx y: z\na: \x01\nok: 1\n\n", 204, "ok=1", "", 3),
            (b"200\n: empty\n\n", 200, "", "", 1),
            (b"200\na:b\na:  c \n\n", 200, "a=b a=c", "", 0),
            (b"200\nset: \xff\xfe\n\n\xff", 200, "set=\u{fffd}\u{fffd}", "\u{fffd}", 0),
        ];
        for (text, status, headers, body, odd) in cases {
            let want = (status, headers.to_owned(), body.to_owned(), odd);
            assert_eq!(told(text), want, "{:?}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn only_so_many_headers_are_sent() {
        let text = format!("200\n{}\nbody", "a: b\n".repeat(1_000));
        let response = decode_response(text.into());
        assert_eq!(
            (response.headers.len(), response.odd_lines, &response.body[..]),
            (128, 872, &b"body"[..])
        );
    }

    fn token() -> impl Strategy<Value = String> {
        "[A-Za-z0-9-]{1,12}"
    }

    proptest! {
        #[test]
        fn every_request_comes_back_part_by_part(
            method in "[A-Z]{1,8}",
            path in "/[!-~]{0,30}",
            headers in prop::collection::vec((token(), "[ -~]{0,20}"), 0..8),
            body in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let shown = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
            let request = TextRequest { method: &method, path: &path, headers: shown, body: &body };
            let (line, lines, rest) = read(&encode_request(&request).unwrap());
            prop_assert_eq!(line, format!("{method} {path}"));
            let want: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            prop_assert_eq!(lines, want);
            prop_assert_eq!(rest, body);
        }

        #[test]
        fn a_response_that_was_written_is_read(
            status in 200_u16..600,
            headers in prop::collection::vec((token(), "[!-~]{0,12}"), 0..8),
            body in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let mut text = format!("{status}\n").into_bytes();
            for (name, value) in &headers {
                text.extend_from_slice(format!("{name}: {value}\n").as_bytes());
            }
            text.push(b'\n');
            text.extend_from_slice(&body);
            let response = decode_response(text.into());
            prop_assert_eq!((response.status, response.odd_lines), (status, 0));
            let want: Vec<(String, Vec<u8>)> =
                headers.into_iter().map(|(name, value)| (name, value.into_bytes())).collect();
            prop_assert_eq!(response.headers, want);
            prop_assert_eq!(&response.body[..], &body[..]);
        }

        #[test]
        fn no_bytes_make_the_reader_panic_or_lose_a_body(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let response = decode_response(Bytes::from(bytes.clone()));
            prop_assert!(STATUSES.contains(&response.status));
            prop_assert!(bytes.ends_with(&response.body));
        }
    }
}
