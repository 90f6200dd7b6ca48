//! The host's side of a Python program: the text it is to run, the parts of our module it asks for, and the
//! answer it gives, all as calls of the provider "". No program can name that provider, and none of these has
//! a power but one: a request to a host out there, which goes to the gate. Every other call goes on to the program's tools.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;
use drydock_contract::{BoxFuture, Dispatch, FailureCode, ToolAnswer, ToolFailure, ToolRequest, Tools};
use parking_lot::Mutex;

use super::super::web;

/// The start of every program: it makes the module `drydock` of its last argument, and runs it.
pub(super) const BOOT: &str = include_str!("guest/boot.py");
/// The module `drydock`.
pub(super) const MODULE: &str = include_str!("guest/drydock.py");

/// Its parts, which are asked for when they are needed.
const PARTS: &[(&str, &str)] = &[
    ("loop", include_str!("guest/loop.py")),
    ("network", include_str!("guest/network.py")),
    ("process", include_str!("guest/process.py")),
    ("requests", include_str!("guest/requests.py")),
    ("rich", include_str!("guest/rich.py")),
    ("session", include_str!("guest/session.py")),
];

/// One of its parts.
pub(crate) fn part(name: &str) -> Option<&'static str> {
    PARTS.iter().find(|it| it.0 == name).map(|it| it.1)
}

/// Failures of tools that are remembered: one that nobody caught is the last or nearly so.
const FAILURES_MAX: usize = 256;
/// What a session may leave.
const KEPT_BYTES_MAX: usize = 65 << 20;
/// What is handed back of it at a time.
const PIECE_BYTES: usize = 16 << 20;

/// What a program left with its host.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// Its answer, as it wrote it.
    pub(super) answer: Option<Bytes>,
    /// How its tools failed.
    pub(super) failures: VecDeque<ToolFailure>,
    /// What the next program of its session is to find.
    pub(super) kept: Option<String>,
}

/// The tools of one program, and what it asks of us.
pub(super) struct Host {
    tools: Arc<dyn Tools>,
    door: Option<Arc<dyn Dispatch>>,
    request: Bytes,
    before: Option<String>,
    left: Arc<Mutex<Left>>,
}

impl Host {
    pub(super) fn new(tools: Arc<dyn Tools>, request: Bytes, before: Option<String>) -> Self {
        Self { tools, door: None, request, before, left: Arc::default() }
    }

    /// One whose program may ask for hosts out there, at that door.
    pub(super) fn asking_at(self, door: Option<Arc<dyn Dispatch>>) -> Self {
        Self { door, ..self }
    }

    /// Where the program leaves things.
    pub(super) fn left(&self) -> Arc<Mutex<Left>> {
        Arc::clone(&self.left)
    }

    fn own(&self, tool: &str, input: Bytes) -> ToolAnswer {
        let refuse = |why: &str| Err(ToolFailure::new(FailureCode::InternalError, why));
        match tool {
            "request" => Ok(self.request.clone()),
            "part" => {
                let name: Option<String> = serde_json::from_slice(&input).ok();
                let found = name.as_deref().and_then(part);
                found.map_or_else(|| refuse("there is no such part"), quoted)
            }
            "answer" => {
                self.left.lock().answer = Some(input);
                Ok(Bytes::from_static(b"null"))
            }
            "kept" => {
                let index: usize = serde_json::from_slice(&input).unwrap_or(usize::MAX);
                let text = self.before.as_deref().unwrap_or_default();
                quoted(piece(text, index))
            }
            "keep" => {
                let Ok(text) = serde_json::from_slice::<String>(&input) else { return refuse("no text") };
                let mut left = self.left.lock();
                let kept = left.kept.get_or_insert_default();
                if kept.len().saturating_add(text.len()) > KEPT_BYTES_MAX {
                    return refuse("the session leaves too much");
                }
                kept.push_str(&text);
                Ok(Bytes::from_static(b"null"))
            }
            _ => refuse("there is no such call"),
        }
    }
}

/// The `index`th piece of a text that has only ASCII in it; empty behind its end.
fn piece(text: &str, index: usize) -> &str {
    let start = index.saturating_mul(PIECE_BYTES).min(text.len());
    let end = start.saturating_add(PIECE_BYTES).min(text.len());
    text.get(start..end).unwrap_or_default()
}

fn quoted(text: &str) -> ToolAnswer {
    let broken = |error: serde_json::Error| ToolFailure::new(FailureCode::InternalError, error.to_string());
    serde_json::to_vec(text).map(Bytes::from).map_err(broken)
}

impl Tools for Host {
    fn call(&self, request: ToolRequest) -> BoxFuture<'_, ToolAnswer> {
        if request.provider.is_empty() && &*request.tool == web::FETCH_TOOL {
            return Box::pin(web::fetch(self.door.clone(), request.input.unwrap_or_default()));
        }
        if request.provider.is_empty() {
            let answer = self.own(&request.tool, request.input.unwrap_or_default());
            return Box::pin(std::future::ready(answer));
        }
        Box::pin(async move {
            let answer = self.tools.call(request).await;
            if let Err(failure) = &answer {
                let mut left = self.left.lock();
                if left.failures.len() == FAILURES_MAX {
                    left.failures.pop_front();
                }
                left.failures.push_back(failure.clone());
            }
            answer
        })
    }
}

#[cfg(test)]
mod tests {
    use drydock_contract::{Call, CallError, Cap, Denial, Reply};

    use super::*;

    struct Broken;

    impl Tools for Broken {
        fn call(&self, _: ToolRequest) -> BoxFuture<'_, ToolAnswer> {
            Box::pin(async { Err(ToolFailure::new(FailureCode::ValidationError, "no")) })
        }
    }

    /// Notes what it was asked for, and refuses it.
    #[derive(Default)]
    struct Noting(Mutex<Vec<(String, Vec<u8>)>>);

    impl Dispatch for Noting {
        fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
            self.0.lock().push((call.operation.to_owned(), call.payload.to_vec()));
            let host = "a.test:443".into();
            Box::pin(async {
                Err(Denial::HostNotGranted { cap: Cap::Net, host, why: "", rules: Some(Arc::new([])) }.into())
            })
        }
    }

    #[tokio::test]
    async fn a_python_programs_request_is_a_call_of_net_at_the_gate() {
        let noting = Arc::new(Noting::default());
        let host = Host::new(Arc::new(Broken), Bytes::new(), None);
        assert!(ask(&host, "", "fetch", "{}").await.is_err(), "nobody started it at a gate");
        let host = host.asking_at(Some(Arc::clone(&noting) as _));
        let told = ask(&host, "", "fetch", r#"{"url":"https://a.test/"}"#).await.unwrap();
        let told: serde_json::Value = serde_json::from_slice(&told).unwrap();
        assert_eq!(told["error"]["kind"], "denied");
        assert_eq!(told["error"]["flag"], "--allow-host a.test");
        let asked = [("http.fetch".to_owned(), br#"{"url":"https://a.test/"}"#.to_vec())];
        assert_eq!(noting.0.lock().as_slice(), asked);
    }

    async fn ask(host: &Host, provider: &str, tool: &str, input: &str) -> ToolAnswer {
        let input = Some(Bytes::copy_from_slice(input.as_bytes()));
        host.call(ToolRequest { provider: provider.into(), tool: tool.into(), input, span: 0, depth: 0 })
            .await
    }

    #[tokio::test]
    async fn a_program_gets_its_request_its_parts_and_what_was_kept_and_leaves_its_answer() {
        let host = Host::new(Arc::new(Broken), Bytes::from_static(b"{}"), Some("state".into()));
        assert_eq!(ask(&host, "", "request", "null").await.unwrap(), "{}");
        for (name, source) in PARTS {
            let told: String =
                serde_json::from_slice(&ask(&host, "", "part", &format!("{name:?}")).await.unwrap()).unwrap();
            assert_eq!(told, *source);
        }
        assert_eq!(ask(&host, "", "kept", "0").await.unwrap(), "\"state\"");
        assert_eq!(ask(&host, "", "kept", "1").await.unwrap(), "\"\"");
        ask(&host, "", "keep", "\"new\"").await.unwrap();
        ask(&host, "", "answer", "{\"ok\":true}").await.unwrap();
        assert!(
            ask(&host, "", "part", "\"../x\"").await.is_err() && ask(&host, "", "root", "1").await.is_err()
        );
        assert!(ask(&host, "t", "go", "1").await.is_err());
        let left = host.left();
        let left = left.lock();
        assert_eq!(left.kept.as_deref(), Some("new"));
        assert_eq!(left.answer.as_deref(), Some(&b"{\"ok\":true}"[..]));
        assert_eq!(left.failures, [ToolFailure::new(FailureCode::ValidationError, "no")]);
    }
}
