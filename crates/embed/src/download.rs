//! A file from a host out there: requests of the power `net` at the gate, written to disk as they come.
//!
//! Over https alone, at most so many bytes, in at most so much time. A redirect is another request, judged like the first.

use std::{
    fs::File,
    io::{self, Write},
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use drydock_abi::fetch::{BODY, FETCH, FRAME_HEAD_BYTES, FetchFailure, HEAD, failure_of};
use drydock_contract::{ByteSink, Call, Fault, Sink, Streams};
use drydock_egress::{ParseUrlError, Scheme, Target};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::DockSession;

/// Redirects that are followed.
const HOPS_MAX: u32 = 5;
/// The longest head that is kept; `egress` passes on shorter ones.
const HEAD_BYTES_MAX: usize = 1 << 20;

/// What a download may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DownloadLimits {
    /// The size of the file.
    pub bytes_max: u64,
    /// Wall clock, redirects included.
    pub wall_max: Duration,
}

/// Told how many bytes are there.
pub type Seen = Arc<dyn Fn(u64) + Send + Sync>;

/// A file did not come, or not whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DownloadError {
    /// No grant names the host, or the network or the server failed.
    #[error("{}{}", .0.message, .0.flag.as_ref().map(|it| format!("; {it} grants it")).unwrap_or_default())]
    Failed(FetchFailure),
    /// The URL, or one that it leads to, cannot be fetched.
    #[error(transparent)]
    Url(#[from] ParseUrlError),
    /// It leads to a URL without TLS.
    #[error("{host} is to be asked without TLS, and files come over https only")]
    NoTls {
        /// Whom.
        host: String,
    },
    /// The server has no such file, or does not give it.
    #[error("{host} answered {status}")]
    Status {
        /// Who.
        host: String,
        /// With what.
        status: u16,
    },
    /// A chain of redirects that does not end.
    #[error("more than {HOPS_MAX} redirects")]
    TooManyRedirects,
    /// The file could not be written.
    #[error("could not write what was fetched")]
    Write(#[source] io::Error),
}

impl DownloadError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Failed(failure) => failure.code,
            Self::Url(error) => error.code(),
            Self::NoTls { .. } => "https_only",
            Self::Status { .. } => "fetch_failed",
            Self::TooManyRedirects => "too_many_redirects",
            Self::Write(_) => "write_failed",
        }
    }
}

impl DockSession {
    /// Writes what the URL has into the file, and answers how many bytes that are.
    pub async fn download(
        &self,
        url: &str,
        into: File,
        limits: DownloadLimits,
        seen: Seen,
    ) -> Result<u64, DownloadError> {
        let until = Instant::now() + limits.wall_max;
        let arriving = Arc::new(Mutex::new(Arriving::new(into, seen)));
        let mut target: Target = url.parse()?;
        for _ in 0..=HOPS_MAX {
            let host = target.host().to_string();
            if target.scheme() != Scheme::Https {
                return Err(DownloadError::NoTls { host });
            }
            let left = until.saturating_duration_since(Instant::now());
            let timeout_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX).max(1);
            let request =
                json!({ "url": target.href(), "max_bytes": limits.bytes_max, "timeout_ms": timeout_ms });
            let asked = self.ask(&request, &arriving).await;
            let mut state = arriving.lock();
            if let Some(error) = state.broken.take() {
                return Err(DownloadError::Write(error));
            }
            asked?;
            let head = state.head.take().unwrap_or_default();
            match (head.status, head.location()) {
                (200, _) => return Ok(state.bytes),
                (301 | 302 | 303 | 307 | 308, Some(location)) => target = target.join(location)?,
                (status, _) => return Err(DownloadError::Status { host, status }),
            }
        }
        Err(DownloadError::TooManyRedirects)
    }

    /// Asks for something that may take longer than what is handed over whole, and reads what comes, whatever its status.
    pub(crate) async fn fetch_long(&self, request: &Value) -> Result<(u16, Vec<u8>), DownloadError> {
        let keeps = Keeps::All;
        let arriving =
            Arc::new(Mutex::new(Arriving { keeps, ..Arriving::new(Vec::new(), Arc::new(|_| {})) }));
        let asked = self.ask(request, &arriving).await;
        let mut state = arriving.lock();
        if let Some(error) = state.broken.take() {
            return Err(DownloadError::Write(error));
        }
        asked?;
        let status = state.head.take().unwrap_or_default().status;
        Ok((status, std::mem::take(&mut state.file)))
    }

    async fn ask<W: Write + Send + 'static>(
        &self,
        request: &Value,
        arriving: &Arc<Mutex<Arriving<W>>>,
    ) -> Result<(), DownloadError> {
        let request = request.to_string().into_bytes();
        let stdout = Sink::Stream(Box::new(Frames(Arc::clone(arriving))));
        let call = Call::new(FETCH, &request, Streams { stdout, ..Streams::default() }).answered_typed();
        let broken = || Fault::Internal("the gate answered in another form".into());
        let answer = match self.gate.dispatch(&self.session, call).await {
            Ok(mut reply) => {
                reply.value::<Result<(), FetchFailure>>().unwrap_or_else(|| Err(failure_of(&broken().into())))
            }
            Err(error) => Err(failure_of(&error)),
        };
        answer.map_err(DownloadError::Failed)
    }
}

#[derive(Default, Deserialize)]
struct Head {
    status: u16,
    headers: Vec<(String, String)>,
}

impl Head {
    fn location(&self) -> Option<&str> {
        self.headers.iter().find(|it| it.0.eq_ignore_ascii_case("location")).map(|it| it.1.as_str())
    }
}

/// An answer as far as it is there: frames of a letter, a length and bytes.
struct Arriving<W> {
    file: W,
    keeps: Keeps,
    seen: Seen,
    /// The beginning of a frame, or the whole of one that is a head.
    begun: Vec<u8>,
    /// Of a piece of the body.
    body_left: usize,
    head: Option<Head>,
    bytes: u64,
    broken: Option<io::Error>,
}

/// Which answers' bodies are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeps {
    /// Those that are what was asked for.
    Found,
    /// What an error says, too.
    All,
}

impl<W: Write> Arriving<W> {
    fn new(file: W, seen: Seen) -> Self {
        Self {
            file,
            keeps: Keeps::Found,
            seen,
            begun: Vec::new(),
            body_left: 0,
            head: None,
            bytes: 0,
            broken: None,
        }
    }

    /// Takes some of the bytes, at least one.
    fn take(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.body_left > 0 {
            let piece = &bytes[..bytes.len().min(self.body_left)];
            self.body_left -= piece.len();
            // What another answer says is nothing to keep.
            if self.keeps == Keeps::All || self.head.as_ref().is_some_and(|it| it.status == 200) {
                self.file.write_all(piece)?;
                self.bytes += piece.len() as u64;
                (self.seen)(self.bytes);
            }
            return Ok(piece.len());
        }
        let [byte, ..] = bytes else { return Ok(0) };
        self.begun.push(*byte);
        let Some([kind, length @ ..]) = self.begun.first_chunk::<FRAME_HEAD_BYTES>() else { return Ok(1) };
        let length = u32::from_le_bytes(*length) as usize;
        match *kind {
            BODY => {
                self.begun.clear();
                self.body_left = length;
            }
            HEAD if length <= HEAD_BYTES_MAX => {
                if let Some(json) = self.begun.get(FRAME_HEAD_BYTES..FRAME_HEAD_BYTES + length) {
                    self.head = Some(serde_json::from_slice(json).map_err(io::Error::other)?);
                    self.begun.clear();
                }
            }
            _ => return Err(io::Error::other("a frame that nobody sends")),
        }
        Ok(1)
    }
}

struct Frames<W>(Arc<Mutex<Arriving<W>>>);

impl<W: Write + Send> ByteSink for Frames<W> {
    fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut arriving = self.0.lock();
        let taken = arriving.take(bytes);
        Poll::Ready(taken.map_err(|error| {
            let kind = error.kind();
            arriving.broken = Some(error);
            kind.into()
        }))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use drydock_abi::fetch::{frame_of, head_json};

    use super::*;

    fn arriving() -> (Arriving<File>, File) {
        let file = tempfile::tempfile().unwrap();
        (Arriving::new(file.try_clone().unwrap(), Arc::new(|_| {})), file)
    }

    #[test]
    fn frames_are_put_together_however_they_are_cut() {
        let head = head_json(200, &[("Location".into(), "/x".into())]);
        let all = [frame_of(HEAD, &head), frame_of(BODY, b"hello "), frame_of(BODY, b"there")].concat();
        for size in [1, 2, 5, 7, all.len()] {
            let (mut arriving, mut file) = arriving();
            for mut piece in all.chunks(size) {
                while !piece.is_empty() {
                    let taken = arriving.take(piece).unwrap();
                    piece = &piece[taken..];
                }
            }
            let mut text = String::new();
            io::Seek::rewind(&mut file).unwrap();
            file.read_to_string(&mut text).unwrap();
            assert_eq!((text.as_str(), arriving.bytes), ("hello there", 11));
            assert_eq!(arriving.head.unwrap().location(), Some("/x"));
        }
    }

    #[test]
    fn the_body_of_any_other_answer_is_not_kept_and_what_is_no_frame_fails() {
        let (mut arriving, file) = arriving();
        let all = [frame_of(HEAD, &head_json(404, &[])), frame_of(BODY, b"no such file")].concat();
        let mut rest = &all[..];
        while !rest.is_empty() {
            let taken = arriving.take(rest).unwrap();
            rest = &rest[taken..];
        }
        assert_eq!((arriving.bytes, file.metadata().unwrap().len()), (0, 0));
        for bad in [&b"X\0\0\0\0"[..], b"H\xff\xff\xff\xff", b"H\x02\0\0\0[]"] {
            let (mut arriving, _) = self::arriving();
            assert!(bad.iter().any(|byte| arriving.take(&[*byte]).is_err()), "{bad:?}");
        }
    }
}
