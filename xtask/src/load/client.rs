//! One connection of HTTP/1.1, by hand: sends what it is told to, and reads one answer.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use anyhow::{Context as _, bail};

/// Nobody waits longer for an answer: a hang is a failure.
const HANG: Duration = Duration::from_secs(60);

/// A connection that is kept.
pub(crate) struct Client {
    stream: TcpStream,
    held: Vec<u8>,
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(to: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(to).context("could not connect")?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(HANG))?;
        stream.set_write_timeout(Some(HANG))?;
        Ok(Self { stream, held: Vec::new() })
    }

    pub(crate) fn get(&mut self, path: &str) -> anyhow::Result<Answer> {
        self.ask("GET", path, b"")
    }

    pub(crate) fn ask(&mut self, method: &str, path: &str, body: &[u8]) -> anyhow::Result<Answer> {
        let length = match (method, body.len()) {
            ("GET", 0) => String::new(),
            (_, length) => format!("content-length: {length}\r\n"),
        };
        let head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n{length}\r\n");
        self.send(&[head.as_bytes(), body].concat())?;
        self.answer()
    }

    /// Sends bytes that need not be HTTP.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        Ok(self.stream.write_all(bytes)?)
    }

    pub(crate) fn answer(&mut self) -> anyhow::Result<Answer> {
        let end = loop {
            match self.held.windows(4).position(|it| it == b"\r\n\r\n") {
                Some(at) => break at,
                None => self.more()?,
            }
        };
        let head = String::from_utf8_lossy(&self.held[..end]).to_ascii_lowercase();
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).context("no status")?;
        let length = head.lines().find_map(|it| it.strip_prefix("content-length: ")?.parse::<usize>().ok());
        let whole = end + 4 + length.context("an answer without a length")?;
        while self.held.len() < whole {
            self.more()?;
        }
        let body = self.held[end + 4..whole].to_vec();
        self.held.drain(..whole);
        Ok(Answer { status, body })
    }

    fn more(&mut self) -> anyhow::Result<()> {
        let mut piece = [0; 16 << 10];
        match self.stream.read(&mut piece) {
            Ok(0) => bail!("the server hung up"),
            Ok(count) => self.held.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                bail!("no answer for {} s", HANG.as_secs())
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}
