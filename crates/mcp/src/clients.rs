//! A sandbox's operations as JSON lines, for the clients in other languages.
//!
//! One object a line both ways; docs/specs/stdio.md is the whole of it. Operations run side by side and are
//! answered as they end. The end of the input cancels whatever runs. A line that is no request is answered
//! as well as it can be, and the next one is read.

use std::{collections::HashMap, io, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use drydock_embed::{OutputStream, Sandbox, SandboxError, Watch, contract::Switch};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
    task::JoinSet,
};

use crate::{
    line::{LINE_BYTES_MAX, Line, Lines},
    transport::writer,
};

/// Operations in flight at once. The gate has its own limit; this one bounds what we keep of requests.
const OPEN_MAX: usize = 256;

/// What a client may send.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(untagged, deny_unknown_fields)]
enum Request {
    Begin {
        id: u64,
        op: String,
        #[serde(default)]
        input: Value,
        #[serde(default)]
        stream: bool,
    },
    Cancel {
        cancel: u64,
    },
}

type Open = Arc<Mutex<HashMap<u64, Arc<Switch>>>>;

/// Serves whoever started this process, on its stdin and stdout.
pub async fn serve_stdio(sandbox: Arc<Sandbox>) -> io::Result<()> {
    let (read, write) = rmcp::transport::stdio_pipes();
    serve(sandbox, read, write).await
}

/// Serves one client until its stream ends.
pub async fn serve<R, W>(sandbox: Arc<Sandbox>, read: R, write: W) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (out, written) = writer(write);
    let names: Vec<&str> = sandbox.operations().map(|it| it.name).collect();
    let ready = json!({ "version": env!("CARGO_PKG_VERSION"), "cwd": sandbox.cwd(), "operations": names });
    say(&out, json!({ "ready": ready })).await;
    let open = Open::default();
    let mut running = JoinSet::new();
    let mut lines = Lines::new(read, LINE_BYTES_MAX);
    while let Some(line) = lines.next().await? {
        while running.try_join_next().is_some() {}
        match read_line(line) {
            Ok(Request::Cancel { cancel }) => {
                if let Some(switch) = open.lock().get(&cancel) {
                    switch.trip();
                }
            }
            Ok(Request::Begin { id, op, input, stream }) => {
                if let Some(why) = refuse(&open, id) {
                    say(&out, failed(Some(id), &why)).await;
                    continue;
                }
                let watch = watch(&out, id, stream, &open);
                let (sandbox, out, open) = (Arc::clone(&sandbox), out.clone(), Arc::clone(&open));
                running.spawn(async move {
                    let answer = sandbox.call(&op, input, &watch).await;
                    open.lock().remove(&id);
                    match answer {
                        Ok(result) => say(&out, json!({ "id": id, "result": result })).await,
                        Err(error) => say(&out, failed(Some(id), &error)).await,
                    }
                });
            }
            Err((id, error)) => say(&out, failed(id, &error)).await,
        }
    }
    for switch in open.lock().values() {
        switch.trip();
    }
    drop(out);
    let ending = async {
        while running.join_next().await.is_some() {}
        let _ = written.await;
    };
    // What was answered before the end is written, unless nobody reads.
    let _ = tokio::time::timeout(std::time::Duration::from_secs(2), ending).await;
    Ok(())
}

fn read_line(line: Line) -> Result<Request, (Option<u64>, SandboxError)> {
    let bad = |why: String| SandboxError::new("bad_request", why);
    match line {
        Line::Whole(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
            let id = serde_json::from_slice::<Value>(&bytes).ok().and_then(|it| it.get("id")?.as_u64());
            (id, bad(format!("not a request: {error}")))
        }),
        Line::TooLong(bytes, id) => {
            let why = format!("a line of {bytes} bytes is too long: at most {LINE_BYTES_MAX}");
            Err((id.and_then(|it| it.as_u64()), bad(why)))
        }
    }
}

/// Why no operation may begin under this id.
fn refuse(open: &Open, id: u64) -> Option<SandboxError> {
    let open = open.lock();
    if open.contains_key(&id) {
        return Some(SandboxError::new("bad_request", format!("{id} is in flight already")));
    }
    (open.len() >= OPEN_MAX).then(|| {
        SandboxError::new("too_many", format!("{OPEN_MAX} operations are in flight; wait for one to end"))
    })
}

/// Takes the operation up, and passes on what it writes where that was asked for.
fn watch(out: &mpsc::Sender<Vec<u8>>, id: u64, stream: bool, open: &Open) -> Watch {
    let cancel = Arc::new(Switch::default());
    open.lock().insert(id, Arc::clone(&cancel));
    let out = out.clone();
    let output = stream.then(|| {
        let tell = move |which: OutputStream, bytes: &[u8]| {
            let which = match which {
                OutputStream::Stdout => "stdout",
                OutputStream::Stderr => "stderr",
            };
            let line = match std::str::from_utf8(bytes) {
                Ok(text) => json!({ "id": id, "stream": which, "text": text }),
                Err(_) => json!({ "id": id, "stream": which, "base64": STANDARD.encode(bytes) }),
            };
            // The whole output is in the result; a client that reads too slowly misses only the preview.
            let _ = out.try_send(to_line(&line));
        };
        Arc::new(tell) as drydock_embed::OutputListener
    });
    Watch { cancel, output }
}

fn failed(id: Option<u64>, error: &SandboxError) -> Value {
    let mut told = json!({ "code": error.code, "message": error.message });
    if let Some(denial) = &error.denial {
        told["denial"] = serde_json::to_value(denial).unwrap_or_default();
    }
    json!({ "id": id, "error": told })
}

fn to_line(value: &Value) -> Vec<u8> {
    let mut line = value.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// A client that is gone needs no answer.
async fn say(out: &mpsc::Sender<Vec<u8>>, value: Value) {
    let _ = out.send(to_line(&value)).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_one_object_of_known_fields() {
        let read = |text: &str| read_line(Line::Whole(text.into())).map_err(|it| it.0);
        assert_eq!(read(r#"{"cancel":3}"#), Ok(Request::Cancel { cancel: 3 }));
        assert!(matches!(read(r#"{"id":1,"op":"sh"}"#), Ok(Request::Begin { id: 1, stream: false, .. })));
        for (text, id) in [
            ("", None),
            ("[]", None),
            ("{\"id\":4}", Some(4)),
            (r#"{"id":5,"op":"sh","extra":1}"#, Some(5)),
            (r#"{"id":-1,"op":"sh"}"#, None),
            ("\u{0}", None),
        ] {
            assert_eq!(read(text), Err(id), "{text}");
        }
        assert_eq!(read_line(Line::TooLong(9, Some(json!(7)))).map_err(|it| it.0), Err(Some(7)));
    }
}
