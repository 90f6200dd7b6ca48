//! TypeScript without its types: stripped by a guest of its own, in a fresh instance, before QuickJS sees the text.
//!
//! What is stripped becomes blanks, so lines and columns stay. The host looks at no syntax.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use drydock_codemode::{protocol::Failure, runner::ToolDoor};
use drydock_contract::{
    BoxFuture, CapSet, Dispatch, Entropy, FailureCode, Fault, GuestTime, Limits, Outcome, Preparing,
    RunRequest, Sink, Source, Streams, Switch, ToolAnswer, ToolFailure, ToolRequest, Tools, WorkingDir,
    port::{FileRules, Runner as _},
};
use drydock_engine::Engine;
use serde::Deserialize;

use super::{Position, runtime, web};

/// What stripping one text may take: as long as a program of the default limits.
const WALL_MAX: Duration = Duration::from_secs(5);
/// A text of 8 MiB and its syntax tree.
const MEMORY_BYTES_MAX: u64 = 512 << 20;
const OUTPUT_BYTES_MAX: u64 = 64 << 20;
const ERROR_BYTES_MAX: u64 = 4 << 10;

/// Strips types.
#[derive(Clone)]
pub(super) struct TypeStripper {
    engine: Arc<Engine>,
    /// Told when the guest itself has to be compiled: that is no program's time.
    preparing: Option<Arc<Preparing>>,
}

/// Why a text could not be stripped, and where.
pub(super) struct NotStripped {
    pub(super) message: String,
    pub(super) position: Option<Position>,
}

impl TypeStripper {
    pub(super) fn new(engine: Arc<Engine>, preparing: Option<Arc<Preparing>>) -> Self {
        Self { engine, preparing }
    }

    /// Compiles the guest, so that no program's time is spent on it.
    pub(super) async fn warm(&self) -> Result<(), Fault> {
        self.engine.timed()?.warm(&runtime::artifact("ts")?, None).await
    }

    /// The text without its types. `cancel` ends it.
    pub(super) async fn strip(&self, text: String, cancel: Arc<Switch>) -> Result<String, NotStripped> {
        let failed = |why: &dyn std::fmt::Display| NotStripped {
            message: format!("the types could not be stripped: {why}"),
            position: None,
        };
        let (report, streams) = match self.run(text, cancel).await {
            Ok(ended) => ended,
            Err(fault) => {
                tracing::warn!("types could not be stripped: {fault}");
                return Err(failed(&fault.code()));
            }
        };
        let error = String::from_utf8_lossy(&streams.stderr.into_captured()).into_owned();
        match report {
            Outcome::Exited(0) => String::from_utf8(streams.stdout.into_captured())
                .map_err(|_| failed(&"the answer is not UTF-8")),
            Outcome::Exited(_) => Err(read_error(&error)),
            other => Err(failed(&other)),
        }
    }

    async fn run(&self, text: String, cancel: Arc<Switch>) -> Result<(Outcome, Streams), Fault> {
        let request = RunRequest {
            artifact: runtime::artifact("ts")?,
            argv: vec![b"ts".to_vec()],
            env: Arc::new([]),
            streams: Streams {
                stdin: Source::from(text),
                stdout: Sink::capture(),
                stderr: Sink::capture(),
                ..Streams::default()
            },
            files: None,
            trees: Vec::new(),
            working_dir: WorkingDir::Own,
            lane: None,
            compile: None,
            limits: Limits {
                wall_max: WALL_MAX,
                memory_bytes_max: MEMORY_BYTES_MAX,
                stdin_bytes_max: u64::MAX,
                stdout_bytes_max: OUTPUT_BYTES_MAX,
                stderr_bytes_max: ERROR_BYTES_MAX,
                ..Limits::default()
            },
            caps: CapSet::of(&[]),
            time: GuestTime::Fixed(drydock_contract::Timestamp(0)),
            entropy: Entropy::Seeded(0),
            door: Arc::new(ToolDoor::new(Arc::new(Nothing))),
            switches: [cancel, Arc::default()],
            budget: None,
            file_rules: FileRules::USUAL,
            memory: None,
            clock: None,
            preparing: self.preparing.clone(),
            depth: 0,
            tenant: drydock_contract::Tenant::default(),
            pays_for_code: false,
        };
        let (report, streams) = self.engine.timed()?.run(request).await?;
        Ok((report.outcome, streams))
    }
}

/// `line:column message`, as the guest writes it.
fn read_error(text: &str) -> NotStripped {
    let text = text.trim();
    let place = text.split_once(' ').and_then(|(place, message)| {
        let (line, column) = place.split_once(':')?;
        Some((Position { line: line.parse().ok()?, column: column.parse().ok()? }, message))
    });
    match place {
        Some((position, message)) => NotStripped { message: message.to_owned(), position: Some(position) },
        None => NotStripped { message: text.to_owned(), position: None },
    }
}

/// The program's tools, and beside them two calls that are none: an imported file's types are stripped, and a host out
/// there is asked. They have no provider, so no program can name them. Stripping is no power, so no gate stands before it;
/// fetching is one, and goes to the gate.
pub(super) struct WithStripper {
    pub(super) tools: Arc<dyn Tools>,
    pub(super) stripper: TypeStripper,
    pub(super) cancel: Arc<Switch>,
    pub(super) door: Option<Arc<dyn Dispatch>>,
}

#[derive(Deserialize)]
struct Wanted {
    path: String,
    text: String,
}

impl Tools for WithStripper {
    fn call(&self, request: ToolRequest) -> BoxFuture<'_, ToolAnswer> {
        if !request.provider.is_empty() {
            return self.tools.call(request);
        }
        if &*request.tool == web::FETCH_TOOL {
            return Box::pin(web::fetch(self.door.clone(), request.input.unwrap_or_default()));
        }
        Box::pin(async move {
            let refuse = |text: String| ToolFailure::new(FailureCode::RuntimeError, text);
            let wanted: Wanted = serde_json::from_slice(&request.input.unwrap_or_default())
                .map_err(|error| refuse(error.to_string()))?;
            let stripped = self.stripper.strip(wanted.text, Arc::clone(&self.cancel)).await;
            let text = stripped.map_err(|error| {
                let place =
                    error.position.map(|it| format!(":{}:{}", it.line, it.column)).unwrap_or_default();
                refuse(format!("{} ({}{place})", error.message, wanted.path))
            })?;
            serde_json::to_vec(&text).map(Bytes::from).map_err(|error| refuse(error.to_string()))
        })
    }
}

impl From<&NotStripped> for Failure {
    fn from(error: &NotStripped) -> Self {
        Self::new(FailureCode::RuntimeError, error.message.clone())
    }
}

struct Nothing;

impl Tools for Nothing {
    fn call(&self, _: ToolRequest) -> BoxFuture<'_, ToolAnswer> {
        Box::pin(async { Err(ToolFailure::new(FailureCode::ToolError, "there are no tools")) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guests_error_has_a_place_or_none() {
        let read = |text| {
            let error = read_error(text);
            (error.message, error.position.map(|it| (it.line, it.column)))
        };
        assert_eq!(read("3:5 no enums here\n"), ("no enums here".into(), Some((3, 5))));
        assert_eq!(read("broken"), ("broken".into(), None));
        assert_eq!(read("x:y z"), ("x:y z".into(), None));
        assert_eq!(read(""), (String::new(), None));
    }
}
