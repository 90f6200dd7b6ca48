//! `/mcp`: the tools of a sandbox over MCP's streamable HTTP, for whoever the token names. Files are a workspace's
//! (`/mcp?workspace=NAME`); without one they are in memory, those of a protocol session its own.

use std::{
    convert::Infallible,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
};

use axum::{
    body::Body,
    http::{HeaderValue, Method, Request, header},
};
use bytes::Bytes;
use drydock_contract::{AgentHead, AgentId, BoxFuture, Limits, Review, ReviewAnswer};
use drydock_embed::{
    Dock, Sandbox, SandboxError, SandboxSetup, Setup, ShellSetup,
    agent::{DockAgents, RunOptions, SESSION_STEPS_MAX},
    empty_tree,
};
use drydock_mcp::{AgentDoor, AgentWanted, HttpServer, LINE_BYTES_MAX, SYSTEM};
use futures_core::Stream;
use http_body::{Body as Chunks, Frame};
use http_body_util::{BodyExt as _, Full};
use tokio::sync::mpsc;

use super::{
    agents::{self, Wanted},
    sandbox::{self, Asked, PROGRAM_MS},
};
use crate::{
    agents::Drivers,
    ask::{Answer, Ask},
    caller::{Caller, Power},
    cross,
    error::ApiError,
    held::{Answers, OnTheWay},
    mcp::{Whose, too_many},
};

/// The largest message.
const MESSAGE_BYTES_MAX: u64 = LINE_BYTES_MAX as u64;
/// What the files of one protocol session may hold, where they are no workspace's.
const FILES_BYTES_MAX: u64 = 32 << 20;
/// Pieces of a stream that wait for its caller: more than a tool says.
const PIECES_MAX: usize = 64;

/// `POST /mcp`, `GET /mcp`, `DELETE /mcp`.
pub(crate) async fn speak(mut ask: Ask) -> Answer {
    let [workspace] = ask.parameters(["workspace"])?;
    // On any address: a token does not make a page of somebody else's one of ours.
    cross::own_page(&ask.parts.uri, &ask.parts.headers)?;
    let body = ask.body(MESSAGE_BYTES_MAX).await?;
    // A stream that waits for what comes holds no turn; what is asked for does, until the tool is done.
    let turn = if ask.parts.method == Method::POST { Some(ask.turn().await?) } else { None };
    let server = server_of(&ask, workspace).await?;
    let in_session = ask.parts.headers.contains_key("mcp-session-id");
    if !server.has_room_for(&ask.parts.method, in_session, &body) {
        return Err(too_many());
    }
    // Neither the protocol nor a tool has a use for the token.
    ask.parts.headers.remove(header::AUTHORIZATION);
    let request = Request::from_parts(ask.parts, Full::new(body));
    let mut answered = server.answer(request).await;
    if !answered.status().is_success() {
        // What the transport refuses has a body of plain words, and does not say so.
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        answered.headers_mut().entry(header::CONTENT_TYPE).or_insert(plain);
    }
    let answers = ask.caller.state.answers.clone();
    Ok(answered.map(|body| match turn {
        // A stream goes on in the SDK as long as its body lasts. It is read here as fast as it is written, so that the turn
        // ends with the tool and not when its caller has read of it.
        Some(turn) if body.size_hint().exact().is_none() => {
            let (to, from) = mpsc::channel(PIECES_MAX);
            tokio::spawn(read_ahead(body, to, answers, (turn, server)));
            Body::from_stream(Pieces(from))
        }
        Some(_) => Body::new(body),
        None => Body::new(Held { body: Box::pin(body), _server: server }),
    }))
}

/// Reads a stream until it ends or nobody wants it any more, and holds these as long.
async fn read_ahead<H>(
    body: impl Chunks<Data = Bytes, Error = Infallible>,
    to: mpsc::Sender<(Bytes, OnTheWay)>,
    answers: Answers,
    held: H,
) {
    let mut body = pin!(body);
    loop {
        let frame = tokio::select! {
            frame = body.frame() => frame,
            () = to.closed() => break,
        };
        let Some(Ok(frame)) = frame else { break };
        // Trailers say nothing here.
        let Ok(piece) = frame.into_data() else { continue };
        let on_the_way = answers.hold(piece.len() as u64);
        if to.send((piece, on_the_way)).await.is_err() {
            break;
        }
    }
    drop(held);
}

/// What was read and nobody took yet.
struct Pieces(mpsc::Receiver<(Bytes, OnTheWay)>);

impl Stream for Pieces {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(cx).map(|next| next.map(|(piece, _)| Ok(piece)))
    }
}

/// The server of whoever asks, over these files.
async fn server_of(ask: &Ask, workspace: Option<String>) -> Result<Arc<HttpServer>, ApiError> {
    let (servers, caller) = (&ask.app.mcp, &ask.caller);
    let (tenant, principal) = (caller.tenant.clone(), Arc::clone(&caller.principal));
    let whose = Whose { tenant, principal, workspace };
    if let Some(found) = servers.find(&whose) {
        return Ok(found);
    }
    let memory_bytes_max = sandbox::memory(caller, None)?;
    let timeout_ms = caller.timeout_ms(None, sandbox::LINE_MS)?;
    let program_ms = caller.timeout_ms(None, PROGRAM_MS)?;
    let limits = sandbox::answer_limits(timeout_ms);
    let asked =
        Asked { workspace: whose.workspace.clone(), timeout_ms: Some(timeout_ms), ..Asked::default() };
    let (setup, shell) = sandbox::setup(caller, asked, limits, memory_bytes_max).await?;
    let opening = Opening {
        dock: Arc::clone(&caller.state.dock),
        principal: caller.principal.to_string(),
        setup,
        shell,
        program: sandbox::program_limits(program_ms),
    };
    let shared = opening.open()?;
    let own = whose.workspace.is_none().then(|| Arc::new(move || opening.open()) as Arc<_>);
    let agents = caller.may(Power::Agents).is_ok().then(|| {
        let (caller, workspace) = (caller.clone(), whose.workspace.clone());
        let (agents, drivers) = (agents::agents(&caller), Arc::clone(&ask.app.drivers));
        Arc::new(Runs { agents, drivers, caller, workspace }) as Arc<dyn AgentDoor>
    });
    let (all, bounds) = servers.bounds();
    servers.keep(whose, HttpServer::new(shared, own, agents, all, bounds))
}

/// Runs of agents of a caller, as the tools of MCP ask for them.
struct Runs {
    agents: DockAgents,
    drivers: Arc<Drivers>,
    caller: Caller,
    workspace: Option<String>,
}

impl AgentDoor for Runs {
    fn agents(&self) -> &DockAgents {
        &self.agents
    }

    fn open(&self, wanted: AgentWanted) -> BoxFuture<'_, Result<AgentId, SandboxError>> {
        let AgentWanted { task, system, model, max_steps, tools, review, wait_ms: _ } = wanted;
        let usual = RunOptions::default();
        let options = RunOptions {
            model: model.unwrap_or_default(),
            max_steps: max_steps.unwrap_or(SESSION_STEPS_MAX),
            tools,
            review,
            ..usual
        };
        let wanted = Wanted {
            system: Some(system.unwrap_or_else(|| SYSTEM.to_owned())),
            task,
            agent: None,
            definition: None,
            options,
            workspace: self.workspace.clone(),
            allow: None,
            allow_host: Vec::new(),
        };
        Box::pin(async move {
            let opened = agents::opened(&self.caller, &self.drivers, wanted).await;
            opened.map_err(told)
        })
    }

    fn answers_as(&self) -> Option<&str> {
        self.caller.may(Power::Reviews).is_ok().then_some(&*self.caller.principal)
    }

    fn may_answer(
        &self,
        run: &AgentHead,
        review: &Review,
        answer: &ReviewAnswer,
    ) -> Result<(), SandboxError> {
        self.caller.may_answer(run, review, answer).map_err(told)
    }

    fn may_end(&self, run: &AgentHead) -> Result<(), SandboxError> {
        self.caller.may_decide(run).map_err(told)
    }
}

fn told(error: ApiError) -> SandboxError {
    SandboxError::new(&error.code, error.message)
}

/// What a sandbox of the caller is opened with, as often as one is.
struct Opening {
    dock: Arc<Dock>,
    principal: String,
    setup: Setup,
    shell: ShellSetup,
    program: Limits,
}

impl Opening {
    fn open(&self) -> Result<Arc<Sandbox>, SandboxError> {
        let mut setup = self.setup.clone();
        setup.files.get_or_insert_with(|| empty_tree(FILES_BYTES_MAX));
        let wanted = SandboxSetup {
            principal: self.principal.clone(),
            setup,
            shell: self.shell.clone(),
            bases: Vec::new(),
            program: self.program,
            allow_commit: false,
        };
        Ok(Arc::new(Sandbox::open(Arc::clone(&self.dock), wanted)?))
    }
}

/// An answer with what it holds until it is over.
struct Held<B> {
    body: Pin<Box<B>>,
    _server: Arc<HttpServer>,
}

impl<B: Chunks<Data = Bytes>> Chunks for Held<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        self.body.as_mut().poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}
