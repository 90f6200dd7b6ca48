//! What a command that is called as a tool reads and writes: text, or any bytes as base64; its outputs apart,
//! or both as one in the order they were written.

use std::{
    io,
    sync::Arc,
    task::{Context, Poll},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use drydock_codemode::provider::ToolError;
use drydock_contract::{ByteSink, Sink, Source, Streams};
use parking_lot::Mutex;
use serde_json::{Value, json};

/// How a call wants its streams.
pub(super) struct ToolStreams {
    is_base64: bool,
    merged: Option<Arc<Mutex<Vec<u8>>>>,
}

impl ToolStreams {
    /// What the input of a tool says of streams, and the streams.
    pub(super) fn of(input: &Value) -> Result<(Self, Streams), ToolError> {
        let is_base64 = input["encoding"] == "base64";
        let stdin = input["stdin"].as_str().unwrap_or_default();
        let stdin = match is_base64 {
            true => STANDARD.decode(stdin).map_err(|error| format!("stdin is not base64: {error}"))?,
            false => stdin.as_bytes().to_vec(),
        };
        let merged = (input["merge"] == true).then(Arc::default);
        let sink = || match &merged {
            None => Sink::capture(),
            Some(all) => Sink::Stream(Box::new(Merged(Arc::clone(all)))),
        };
        let streams =
            Streams { stdin: Source::from(stdin), stdout: sink(), stderr: sink(), ..Streams::default() };
        Ok((Self { is_base64, merged }, streams))
    }

    /// The result of a call, with what its caller must know as the last line of stderr.
    pub(super) fn told(self, status: i32, streams: Streams, warning: Option<String>) -> Value {
        let mut stdout = streams.stdout.into_captured();
        let mut stderr = streams.stderr.into_captured();
        if let Some(all) = self.merged {
            stdout = std::mem::take(&mut *all.lock());
        }
        if let Some(warning) = warning {
            if !stderr.is_empty() && !stderr.ends_with(b"\n") {
                stderr.push(b'\n');
            }
            stderr.extend_from_slice(format!("drydock: {warning}\n").as_bytes());
        }
        let text = |bytes: Vec<u8>| match self.is_base64 {
            true => STANDARD.encode(&bytes),
            false => String::from_utf8_lossy(&bytes).into_owned(),
        };
        json!({ "status": status, "stdout": text(stdout), "stderr": text(stderr) })
    }
}

/// One capture for two outputs; the limits of each still hold.
struct Merged(Arc<Mutex<Vec<u8>>>);

impl ByteSink for Merged {
    fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.lock().extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(input: &Value) -> Value {
        let (wanted, mut streams) = ToolStreams::of(input).ok().unwrap();
        let mut cx = Context::from_waker(std::task::Waker::noop());
        for text in [&b"a"[..], b"\xff"] {
            let _ = streams.stdout.poll_write(&mut cx, text);
            let _ = streams.stderr.poll_write(&mut cx, b"e");
        }
        wanted.told(3, streams, Some("cut".into()))
    }

    #[test]
    fn outputs_are_text_or_bytes_apart_or_as_one() {
        let told = written(&json!({}));
        assert_eq!(told, json!({"status": 3, "stdout": "a\u{fffd}", "stderr": "ee\ndrydock: cut\n"}));
        let told = written(&json!({"encoding": "base64", "merge": true}));
        assert_eq!(told["stdout"], STANDARD.encode(b"ae\xffe"));
        assert_eq!(told["stderr"], STANDARD.encode("drydock: cut\n"));
        assert!(ToolStreams::of(&json!({"encoding": "base64", "stdin": "?"})).is_err());
    }
}
