//! Messages out of lines and into them, under the SDK. What is no message is answered, and the connection goes
//! on; what is written is written by one task, so that a dropped future leaves no half of a line.

use std::io;

use rmcp::{
    RoleServer,
    model::{ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    sync::mpsc,
    task::JoinHandle,
};

use crate::line::{LINE_BYTES_MAX, Line, Lines};

/// Messages that wait to be written. More, and whoever answers waits.
const WAITING_MAX: usize = 64;

/// Starts the task that writes.
pub(crate) fn writer<W>(mut to: W) -> (mpsc::Sender<Vec<u8>>, JoinHandle<()>)
where
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (out, mut waiting) = mpsc::channel::<Vec<u8>>(WAITING_MAX);
    let task = tokio::spawn(async move {
        while let Some(line) = waiting.recv().await {
            if to.write_all(&line).await.is_err() || to.flush().await.is_err() {
                return;
            }
        }
    });
    (out, task)
}

pub(crate) struct LineTransport<R> {
    lines: Lines<R>,
    out: Option<mpsc::Sender<Vec<u8>>>,
}

impl<R: AsyncRead + Send + Unpin + 'static> LineTransport<R> {
    pub(crate) fn new(read: R, out: mpsc::Sender<Vec<u8>>) -> Self {
        Self { lines: Lines::new(read, LINE_BYTES_MAX), out: Some(out) }
    }

    /// Answers what was no message. An answer that finds no room is not worth waiting for.
    fn refuse(&self, code: ErrorCode, why: String, id: Option<Value>) {
        tracing::warn!(target: "drydock::mcp", "a message was refused: {why}");
        let id = id.and_then(|it| serde_json::from_value::<RequestId>(it).ok());
        let answer = ServerJsonRpcMessage::error(ErrorData::new(code, why, None), id);
        if let (Some(out), Ok(line)) = (&self.out, line_of(&answer)) {
            let _ = out.try_send(line);
        }
    }
}

fn line_of(message: &TxJsonRpcMessage<RoleServer>) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<RoleServer> for LineTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let out = self.out.clone();
        async move {
            let out = out.ok_or(io::ErrorKind::NotConnected)?;
            out.send(line_of(&item)?).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            match self.lines.next().await {
                Ok(Some(Line::Whole(line))) => match serde_json::from_slice(&line) {
                    Ok(message) => return Some(message),
                    Err(error) if error.is_data() => {
                        let id =
                            serde_json::from_slice::<Value>(&line).ok().and_then(|it| it.get("id").cloned());
                        self.refuse(ErrorCode::INVALID_REQUEST, format!("not a message of MCP: {error}"), id);
                    }
                    Err(error) => self.refuse(ErrorCode::PARSE_ERROR, format!("not JSON: {error}"), None),
                },
                Ok(Some(Line::TooLong(bytes, id))) => {
                    let why = format!("a message of {bytes} bytes is too long: at most {LINE_BYTES_MAX}");
                    self.refuse(ErrorCode::INVALID_REQUEST, why, id);
                }
                Ok(None) | Err(_) => return None,
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.out = None;
        Ok(())
    }
}
