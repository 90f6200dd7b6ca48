//! A request of `drydock serve-guest`, and its response.

use std::borrow::Cow;

use crate::{Error, error::done, raw};

/// A request over HTTP: `METHOD PATH`, headers, a blank line, the body. Behind `--tcp` there is no head, and bytes that happen
/// to have a blank line in them would be taken apart at it: there, use [`Request::take_bytes`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request {
    /// The method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Headers in their order; names are in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Vec<u8>,
}

impl Request {
    /// The first header of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|it| it.0.eq_ignore_ascii_case(name)).map(|it| it.1.as_str())
    }

    /// Reads the text of a request. Bytes without a blank line are a body alone.
    pub fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(2).position(|it| it == b"\n\n");
        let Some(end) = end else { return Self { body: bytes.to_vec(), ..Self::default() } };
        let head = String::from_utf8_lossy(&bytes[..end]);
        let mut lines = head.lines();
        let (method, path) = lines.next().and_then(|it| it.split_once(' ')).unwrap_or_default();
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_owned(), value.trim().to_owned()))
        };
        let headers = lines.filter_map(header).collect();
        Self { method: method.into(), path: path.into(), headers, body: bytes[end + 2..].to_vec() }
    }

    /// The request that this instance was made for.
    pub fn take() -> Result<Self, Error> {
        Ok(Self::parse(&Self::take_bytes()?))
    }

    /// The same as the bytes that came: what a guest behind `--tcp` reads.
    pub fn take_bytes() -> Result<Vec<u8>, Error> {
        // SAFETY: it takes nothing.
        let length = unsafe { raw::host_request_len() };
        let Ok(length) = usize::try_from(length) else { return Err(Error::last()) };
        crate::error::filled(length, length, |out, cap| {
            // SAFETY: the host writes no more than `cap` bytes.
            unsafe { raw::host_request_get(out, cap) }
        })
    }
}

impl Response {
    /// With a status alone.
    pub fn new(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new() }
    }

    /// 200 with a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(200).header("content-type", "text/plain; charset=utf-8").body(text.into())
    }

    /// The same with another status.
    #[must_use]
    pub fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// The same with one header more. A line break in it becomes a blank.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let one_line = |it: &str| it.replace(['\r', '\n'], " ");
        self.headers.push((one_line(name), one_line(value)));
        self
    }

    /// The same with this body.
    #[must_use]
    pub fn body(self, body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..self }
    }

    /// As text.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut text = format!("{}\n", self.status);
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\n"));
        }
        text.push('\n');
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// Sets it; the last one that is set is sent.
    pub fn send(&self) -> Result<(), Error> {
        send_bytes(&self.to_bytes())
    }
}

/// Sets bytes as they are.
pub(crate) fn send_bytes(bytes: &[u8]) -> Result<(), Error> {
    // SAFETY: the host reads them before it returns.
    done(unsafe { raw::host_response_set(bytes.as_ptr(), bytes.len() as u32) })
}

/// What [`serve!`](crate::serve) calls: one request, from its bytes to its response.
pub fn answer(handle: fn(Request) -> Response) -> i32 {
    std::panic::set_hook(Box::new(|info| crate::log(&info.to_string())));
    let sent = Request::take().map(handle).and_then(|response| response.send());
    match sent {
        Ok(()) => 0,
        Err(error) => {
            let text: Cow<'_, str> = error.to_string().into();
            crate::log(&text);
            1
        }
    }
}

/// Makes the function answer requests: exports what the host calls.
#[macro_export]
macro_rules! serve {
    ($handle:path) => {
        const _: () = {
            // Not under the name of the function that it calls.
            #[unsafe(export_name = "handle")]
            extern "C" fn drydock_handle() -> i32 {
                $crate::answer($handle)
            }
        };
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_part_by_part() {
        let request = Request::parse(b"POST /a?b=c\nhost: a.test\nx: 1: 2\n\nbody\n\nmore");
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/a?b=c"));
        assert_eq!((request.header("Host"), request.header("x")), (Some("a.test"), Some("1: 2")));
        assert_eq!(request.body, b"body\n\nmore");
        assert_eq!(Request::parse(b"raw bytes").body, b"raw bytes");
    }

    #[test]
    fn a_response_is_a_status_headers_and_a_body() {
        let response = Response::text("hi").status(201).header("x", "a\nb: c");
        assert_eq!(response.to_bytes(), b"201\ncontent-type: text/plain; charset=utf-8\nx: a b: c\n\nhi");
        assert_eq!(Response::new(204).to_bytes(), b"204\n\n");
    }

    #[test]
    fn whatever_bytes_come_are_a_request_whose_body_is_their_end() {
        const BYTES: [u8; 6] = [b'\n', b' ', b':', b'a', b'\r', 0xff];
        // Every text of up to six of them.
        for length in 0..=6_u32 {
            for number in 0..BYTES.len().pow(length) {
                let mut rest = number;
                let mut next = |_| {
                    let byte = BYTES[rest % BYTES.len()];
                    rest /= BYTES.len();
                    byte
                };
                let bytes: Vec<u8> = (0..length).map(&mut next).collect();
                let request = Request::parse(&bytes);
                assert!(bytes.ends_with(&request.body), "{bytes:?}");
                let head = bytes.windows(2).position(|it| it == b"\n\n");
                assert_eq!(
                    request.body.len(),
                    head.map_or(bytes.len(), |end| bytes.len() - end - 2),
                    "{bytes:?}"
                );
                assert!(
                    !request.headers.iter().any(|it| it.0.contains(':') || it.1.contains('\n')),
                    "{bytes:?}"
                );
            }
        }
    }
}
