//! Requests to the host, and answers as they come: frames of a letter, a length and bytes.

use serde_json::Value;

use crate::failure::Failure;

/// What the host says of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    Head(Head),
    Body(Vec<u8>),
    End,
}

/// Status and headers, which may be there more than once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
}

impl Head {
    /// The first header of that name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|it| it.0.eq_ignore_ascii_case(name)).map(|it| it.1.as_str())
    }

    fn parse(json: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(json).ok()?;
        let status = u16::try_from(value.get("status")?.as_u64()?).ok()?;
        let pair = |it: &Value| Some((it.get(0)?.as_str()?.to_owned(), it.get(1)?.as_str()?.to_owned()));
        let headers = value.get("headers")?.as_array()?.iter().map(pair).collect::<Option<_>>()?;
        Some(Self { status, headers })
    }
}

/// Whoever makes requests: the host, or what stands for it in tests.
pub(crate) trait Wire {
    /// Begins one.
    fn start(&self, request: &[u8]) -> Result<Box<dyn Answer>, Failure>;
}

/// The bytes of an answer, in frames.
pub(crate) trait Answer {
    /// Reads some; 0 at the end.
    fn read(&mut self, buffer: &mut [u8]) -> usize;
}

/// A letter and a length.
const HEAD_BYTES: usize = 5;
/// What is read at once.
const PIECE_BYTES: usize = 64 << 10;

/// An answer, frame by frame.
pub(crate) struct Reader {
    answer: Box<dyn Answer>,
    bytes: Vec<u8>,
    /// Of a piece of the body that is being passed on.
    body_left: usize,
}

impl Reader {
    pub(crate) fn new(answer: Box<dyn Answer>) -> Self {
        Self { answer, bytes: Vec::new(), body_left: 0 }
    }

    /// The next thing that the host says. Pieces of the body are passed on as they are, and not gathered.
    pub(crate) fn next(&mut self) -> Result<Event, Failure> {
        loop {
            if self.body_left > 0 && !self.bytes.is_empty() {
                let count = self.body_left.min(self.bytes.len());
                self.body_left -= count;
                return Ok(Event::Body(self.bytes.drain(..count).collect()));
            }
            if self.body_left == 0
                && let Some((letter, length)) = self.frame()
            {
                match letter {
                    b'B' => {
                        self.bytes.drain(..HEAD_BYTES);
                        self.body_left = length;
                        continue;
                    }
                    b'E' => return Ok(Event::End),
                    _ if self.bytes.len() >= HEAD_BYTES + length => {
                        let json: Vec<u8> =
                            self.bytes.drain(..HEAD_BYTES + length).skip(HEAD_BYTES).collect();
                        return match letter {
                            b'H' => Head::parse(&json).map(Event::Head).ok_or_else(Failure::broken),
                            _ => Err(Failure::parse(&json)),
                        };
                    }
                    _ => {}
                }
            }
            let mut piece = vec![0; PIECE_BYTES];
            let count = self.answer.read(&mut piece);
            if count == 0 {
                return Err(Failure::broken());
            }
            self.bytes.extend_from_slice(&piece[..count]);
        }
    }

    fn frame(&self) -> Option<(u8, usize)> {
        let head = self.bytes.get(..HEAD_BYTES)?;
        Some((head[0], u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize))
    }
}

/// The host.
pub(crate) struct Host;

#[cfg(target_os = "wasi")]
mod host {
    use super::{Answer, Host, Wire};
    use crate::failure::Failure;

    #[link(wasm_import_module = "env")]
    unsafe extern "C" {
        /// Begins a request. Returns a number to read its answer by, or -1.
        fn http_start(request: *const u8, bytes: usize) -> i32;
        /// Writes some of the answer to `out`. Returns how much, 0 at the end, or -1.
        fn http_read(call: i32, out: *mut u8, bytes_max: usize) -> i32;
        /// Lets go of an answer.
        fn http_close(call: i32);
        /// Writes why the last call answered -1.
        fn host_error(out: *mut u8, bytes_max: usize) -> i32;
    }

    struct Open(i32);

    impl Wire for Host {
        fn start(&self, request: &[u8]) -> Result<Box<dyn Answer>, Failure> {
            // SAFETY: the request lives until after the call, and its length is its own.
            let call = unsafe { http_start(request.as_ptr(), request.len()) };
            if call >= 0 {
                return Ok(Box::new(Open(call)));
            }
            let mut code = [0; 64];
            // SAFETY: the host writes at most as many bytes as there is room for.
            let count = unsafe { host_error(code.as_mut_ptr(), code.len()) };
            let code = code.get(..usize::try_from(count).unwrap_or(0)).unwrap_or_default();
            Err(Failure::refused(&String::from_utf8_lossy(code)))
        }
    }

    impl Answer for Open {
        fn read(&mut self, buffer: &mut [u8]) -> usize {
            // SAFETY: the host writes at most as many bytes as there is room for.
            let count = unsafe { http_read(self.0, buffer.as_mut_ptr(), buffer.len()) };
            usize::try_from(count).unwrap_or(0)
        }
    }

    impl Drop for Open {
        fn drop(&mut self) {
            // SAFETY: it takes a number and touches nothing of ours.
            unsafe { http_close(self.0) };
        }
    }
}

#[cfg(not(target_os = "wasi"))]
impl Wire for Host {
    /// There is no host in native tests.
    fn start(&self, _: &[u8]) -> Result<Box<dyn Answer>, Failure> {
        Err(Failure::refused("there is no host"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes a few at a time.
    struct Slow(Vec<u8>);

    impl Answer for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> usize {
            let count = self.0.len().min(3).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0.drain(..count);
            count
        }
    }

    #[test]
    fn frames_are_read_however_they_are_cut() {
        let head = br#"{"status":200,"headers":[["a","b"]]}"#;
        let mut bytes = vec![b'H', u8::try_from(head.len()).unwrap_or_default(), 0, 0, 0];
        bytes.extend_from_slice(head);
        bytes.extend_from_slice(b"B\x05\0\0\0helloB\x01\0\0\0!E\0\0\0\0");
        let mut reader = Reader::new(Box::new(Slow(bytes)));
        let Ok(Event::Head(head)) = reader.next() else { panic!("no head") };
        assert_eq!((head.status, head.get("A")), (200, Some("b")));
        let mut body = Vec::new();
        while let Ok(Event::Body(piece)) = reader.next() {
            body.extend(piece);
        }
        assert_eq!(body, b"hello!");
    }

    #[test]
    fn an_answer_that_stops_is_a_failure() {
        for bytes in [&b""[..], b"B\x05\0\0\0he", b"H\x02\0\0\0{}", b"H\xff"] {
            let mut reader = Reader::new(Box::new(Slow(bytes.to_vec())));
            let mut last = reader.next();
            while matches!(last, Ok(Event::Body(_))) {
                last = reader.next();
            }
            assert!(last.is_err(), "{bytes:?}");
        }
    }
}
