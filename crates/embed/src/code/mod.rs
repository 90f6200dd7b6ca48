//! Code mode: a program in a fresh guest, whose only powers are the tools it was handed: JavaScript here,
//! Python in `python`.

mod answer;
mod blocking;
pub(crate) mod broker_tools;
mod child;
mod command_tools;
mod file_tools;
mod guest;
pub(crate) mod handler;
mod log;
mod python;
pub(crate) mod runtime;
mod start;
mod time;
mod tool_streams;
mod types;
mod web;

use std::sync::Arc;

use drydock_codemode::{
    ExecuteResult,
    executor::{ExecuteOptions, Executor, InProcess},
    protocol::Json,
    provider::Providers,
    runner::Console,
};
use drydock_contract::{CallError, Entropy, FailureCode, Fault, GuestTime, Principal, Switch, Tools};
use drydock_gate::{DenialLog, SessionSpec};
use drydock_store::{Contexts, WorkspaceName};

pub use answer::Position;
pub use broker_tools::program_tools;
pub use child::ChildRunner;
pub use command_tools::{BadCommandTools, command_tools};
pub use file_tools::file_tools;
pub use guest::JsGuest;
pub(crate) use python::python_part;
pub use python::{ChangeLog, ChangedFile, DockPy, OpenPyError, PyGuest, PyInput, PyResult, SITE_PACKAGES};
pub use time::TokioTime;

use crate::{BadSetup, Dock, DockSession, Setup};

/// What programs in this process have besides the language and their tools.
const WEB: &str =
    "// Also there: console, setTimeout, setInterval, TextEncoder, TextDecoder, URL, URLSearchParams,
// structuredClone, atob, btoa, crypto.getRandomValues, crypto.randomUUID, performance.now, queueMicrotask, fetch (of
// hosts that were granted), Headers, Response;
// `import` of files by a path that begins with ./, ../ or /. The program ends when its value is settled.";

/// Programs of one principal with one set of tools.
pub struct DockCode {
    session: DockSession,
    programs: Arc<start::Programs>,
}

/// Where programs run.
#[derive(Clone)]
enum Place {
    /// In this process, where they have more than the protocol's globals.
    Here(Arc<InProcess>),
    /// In a child, or on a foreign runner.
    Elsewhere(Arc<dyn Executor>),
}

/// How a program ended.
#[derive(Debug)]
pub struct CodeResult {
    /// As the protocol tells it.
    pub execute: ExecuteResult,
    /// Where in its text it failed, if it did.
    pub position: Option<Position>,
    /// What it might have done wrong, if there is more to say than its message does.
    pub hint: Option<String>,
    /// Why it was not run, or not to its end, if the gate said so.
    pub refused: Option<CallError>,
}

/// What a program gets besides its text.
#[derive(Default)]
pub struct CodeInput {
    /// Limits that differ from the protocol's own.
    pub options: ExecuteOptions,
    /// What it sees as `args`.
    pub args: Option<Json>,
    /// Tripped when nobody wants the result any more.
    pub signal: Option<Arc<Switch>>,
    /// Who hears its console lines as they are written.
    pub console: Option<Console>,
    /// The program's own path among its files: imports are relative to it. Without one they are relative to
    /// the working directory of the tool `files.read`, by which they are read.
    pub file: Option<Arc<str>>,
    /// What it is written in.
    pub language: Language,
    /// Told which of its calls were refused, if not that of the session.
    pub denials: Option<Arc<DenialLog>>,
}

/// What a program is written in. Imported files tell by their names: `.ts` and `.mts` are TypeScript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// As it is.
    #[default]
    JavaScript,
    /// Types are stripped first; what is more than types is refused.
    TypeScript,
}

impl Dock {
    /// Opens code mode for `principal`. Handing a tool over grants it, unless `setup` has grants of tools
    /// of its own: then those decide.
    pub fn code(&self, principal: &str, setup: Setup, providers: Providers) -> Result<DockCode, BadSetup> {
        self.open_code(principal, setup, providers, None)
    }

    /// The same with a context that stays: what a program leaves in its globals, the next one of the same
    /// principal and name finds. Off unless it is asked for; limits are the same.
    pub fn code_staying(
        &self,
        principal: &str,
        setup: Setup,
        providers: Providers,
        name: &WorkspaceName,
    ) -> Result<DockCode, BadSetup> {
        let contexts = self.contexts(principal)?;
        self.open_code(principal, setup, providers, Some((contexts, name.clone())))
    }

    /// Forgets what programs of the principal left under that name. False if there was nothing.
    pub fn forget_context(&self, principal: &str, name: &WorkspaceName) -> Result<bool, BadSetup> {
        Ok(self.contexts(principal)?.remove(name).map_err(broken_contexts)?)
    }

    fn contexts(&self, principal: &str) -> Result<Contexts, BadSetup> {
        Ok(Contexts::of(&self.home.tenant(&self.tenant), principal.parse()?).map_err(broken_contexts)?)
    }

    fn open_code(
        &self,
        principal: &str,
        setup: Setup,
        providers: Providers,
        context: Option<(Contexts, WorkspaceName)>,
    ) -> Result<DockCode, BadSetup> {
        let principal: Principal = principal.parse()?;
        let providers = Arc::new(providers);
        let mut setup = setup;
        setup.grant_programs();
        let may_install = setup.install_missing;
        let mut spec = self.spec_of(setup, principal)?;
        let (files, grants) = (spec.files.clone(), spec.grants.clone());
        spec.inside = self.providing(spec.inside, may_install, files, grants);
        let (time, clock, entropy) = (spec.time, spec.clock.clone(), spec.entropy);
        let preparing = spec.preparing.clone();
        let tools = Some(Arc::clone(&providers) as Arc<dyn Tools>);
        let session = self.gate.open(SessionSpec { tools, ..spec })?;
        let mut guest = self.js_guest(time, entropy)?.on_clock(clock.clone()).waiting_with(preparing.clone());
        if let Some((contexts, name)) = context {
            guest = guest.staying(contexts, name);
        }
        let guest = Arc::new(guest);
        let time = Arc::new(TokioTime::beside(preparing).on_clock(clock));
        let place = Place::Here(Arc::new(InProcess::new(Arc::clone(&guest) as _, time)));
        let session = DockSession { gate: Arc::clone(&self.gate), session };
        let programs = start::Programs { gate: Arc::clone(&self.gate), providers, guest, place };
        Ok(DockCode { session, programs: Arc::new(programs) })
    }

    /// What runs JavaScript, for a runner endpoint of one's own.
    pub fn js_guest(&self, time: GuestTime, entropy: Entropy) -> Result<JsGuest, Fault> {
        Ok(JsGuest::new(Arc::clone(&self.engine), runtime::artifact("js")?, time, entropy))
    }

    /// Compiles the JavaScript guest now, so that no program's time is spent on it.
    pub async fn warm_js(&self) -> Result<(), Fault> {
        self.engine.timed()?.warm(&runtime::artifact("js")?, None).await
    }

    /// Compiles the guest that strips types now, for the same reason.
    pub async fn warm_ts(&self) -> Result<(), Fault> {
        types::TypeStripper::new(Arc::clone(&self.engine), None).warm().await
    }
}

fn broken_contexts(error: std::io::Error) -> Fault {
    Fault::Internal(format!("contexts: {error}"))
}

impl DockCode {
    /// The same session and tools with programs running somewhere else: in a child, or on a foreign runner.
    #[must_use]
    pub fn on(self, executor: Arc<dyn Executor>) -> Self {
        let start::Programs { gate, providers, guest, .. } = &*self.programs;
        let (gate, providers, guest) = (Arc::clone(gate), Arc::clone(providers), Arc::clone(guest));
        let place = Place::Elsewhere(executor);
        Self { programs: Arc::new(start::Programs { gate, providers, guest, place }), ..self }
    }

    /// Runs a program to its end.
    pub async fn execute(&self, code: &str, input: CodeInput) -> ExecuteResult {
        self.execute_whole(code, input).await.execute
    }

    /// Runs a program to its end, and tells what more there is to say of it.
    pub async fn execute_whole(&self, code: &str, input: CodeInput) -> CodeResult {
        let text: Arc<str> = code.into();
        let telling = input.denials.clone().map(|log| self.session.telling(Some(log)));
        let session = telling.as_ref().unwrap_or(&self.session);
        let job = start::Job { programs: Arc::clone(&self.programs), text: Arc::clone(&text), input };
        let mark = session.session.mark();
        match start::through_the_gate(session, &start::JAVASCRIPT, text, move |it| job.run(it)).await {
            // The protocol calls it a timeout; whoever asks here is told what really ended it.
            Ok(result) if result.execute.code() == Some(FailureCode::Timeout) => {
                let refused = session.session.lost_since(mark).map(CallError::from);
                CodeResult { refused, ..result }
            }
            Ok(result) => result,
            Err(error) => CodeResult {
                execute: ExecuteResult::failed(start::failure_of(&error), 0.0),
                position: None,
                hint: None,
                refused: Some(error),
            },
        }
    }

    /// TypeScript declarations of the tools, and a word about what else there is.
    pub fn types(&self) -> String {
        match self.programs.place {
            Place::Here(_) => format!("{}\n\n{WEB}", self.programs.providers.types()),
            Place::Elsewhere(_) => self.programs.providers.types(),
        }
    }

    /// The session that its calls belong to.
    pub fn session(&self) -> &DockSession {
        &self.session
    }
}
