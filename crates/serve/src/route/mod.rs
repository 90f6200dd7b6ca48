//! Every route there is, as a list: the router, the document that describes it, the figures and the tests read the same one.

mod about;

use std::{pin::Pin, sync::Arc};

use axum::{
    Router,
    body::Body,
    extract::State,
    http::{Method, Request, Response, StatusCode},
    routing::{MethodFilter, MethodRouter, any, on},
};
use drydock_embed::{
    contract::ARTIFACT_BYTES_MAX,
    extension::runner::{REQUEST_BODY_BYTES_MAX, REQUEST_BYTES_MAX},
    kv::VALUE_BYTES_MAX,
    queue::MESSAGE_BYTES_MAX,
};

use crate::{
    App,
    app::{Reach, Shared},
    ask::{Answer, Ask},
    caller::Power,
    cross,
    door::{agents, extension, kv, look, manage, mcp, process, queue, reviews, sandbox, secret, workspace},
    enter::{Found, enter},
    error::ApiError,
};
pub(crate) use about::about;

/// The largest body of what is only a question.
const SMALL: u64 = 64 << 10;
/// The largest body of a run: a script or a program with its input and files.
const RUN: u64 = 16 << 20;
/// The largest piece of a process's input.
const STDIN: u64 = 1 << 20;
/// The largest file that is written at once.
const FILE: u64 = 64 << 20;
/// The largest value that is kept by key.
const VALUE: u64 = VALUE_BYTES_MAX as u64;
/// The largest message.
const MESSAGE: u64 = MESSAGE_BYTES_MAX as u64;
/// The largest installation: a module in base64, and what is said of it.
const INSTALL: u64 = ARTIFACT_BYTES_MAX / 3 * 4 + SMALL;

/// What opens or changes a run of an agent.
const AGENT: u64 = agents::SPEC_BYTES_MAX;
/// The largest message of MCP.
const MCP: u64 = drydock_mcp::LINE_BYTES_MAX as u64;

/// One route.
pub(crate) struct Route {
    /// What it is called in the document and the figures.
    pub(crate) id: &'static str,
    /// None for any.
    pub(crate) method: Option<Method>,
    pub(crate) path: &'static str,
    /// What it takes of a caller.
    pub(crate) power: Power,
    /// Whether a key makes it happen once.
    pub(crate) once: bool,
    pub(crate) body_bytes_max: u64,
    pub(crate) handle: fn(Ask) -> Answering,
    /// Of what anybody may ask.
    pub(crate) open: fn(&Shared) -> Answer,
}

/// An answer on its way.
pub(crate) type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;

fn not_open(_: &Shared) -> Answer {
    Err(ApiError::absent("route"))
}

fn only_open(_: Ask) -> Answering {
    Box::pin(async { Err(ApiError::absent("route")) })
}

/// A route for whoever may.
macro_rules! route {
    ($id:literal, $method:expr, $path:literal, $power:ident, $body:expr, $handle:path $(, $once:ident)?) => {
        Route {
            id: $id,
            method: $method,
            path: $path,
            power: Power::$power,
            once: false $(|| { let $once = true; $once })?,
            body_bytes_max: $body,
            handle: |ask| Box::pin($handle(ask)),
            open: not_open,
        }
    };
}

/// A route for anybody.
macro_rules! open {
    ($id:literal, $path:literal, $open:path) => {
        Route {
            id: $id,
            method: GET,
            path: $path,
            power: Power::Open,
            once: false,
            body_bytes_max: 0,
            handle: only_open,
            open: $open,
        }
    };
}

const GET: Option<Method> = Some(Method::GET);
const PUT: Option<Method> = Some(Method::PUT);
const POST: Option<Method> = Some(Method::POST);
const DELETE: Option<Method> = Some(Method::DELETE);

/// Every route.
pub(crate) static ROUTES: &[Route] = &[
    open!("healthz", "/healthz", look::healthz),
    open!("readyz", "/readyz", look::readyz),
    open!("openapi", "/openapi.json", look::openapi),
    route!("metrics", GET, "/metrics", Metrics, 0, look::metrics),
    route!("execute", POST, "/v1/execute", Invoke, REQUEST_BYTES_MAX, extension::execute, once),
    route!("x", None, "/x/{extension}/{*path}", Invoke, REQUEST_BODY_BYTES_MAX, extension::forward, once),
    route!("x_root", None, "/x/{extension}/", Invoke, REQUEST_BODY_BYTES_MAX, extension::forward, once),
    route!("x_bare", None, "/x/{extension}", Invoke, REQUEST_BODY_BYTES_MAX, extension::forward, once),
    #[cfg(feature = "native")]
    route!("native", None, "/native/{*path}", Invoke, REQUEST_BODY_BYTES_MAX, extension::native),
    route!("extensions", GET, "/v1/extensions", Install, 0, manage::list),
    route!("extension", GET, "/v1/extensions/{name}", Install, 0, manage::show),
    route!("install", PUT, "/v1/extensions/{name}", Install, INSTALL, manage::install),
    route!("uninstall", DELETE, "/v1/extensions/{name}", Install, 0, manage::remove),
    route!("extension_logs", GET, "/v1/extensions/{name}/logs", Install, 0, manage::logs),
    route!("secrets", GET, "/v1/secrets", Secrets, 0, secret::list),
    route!("secret_keep", PUT, "/v1/secrets/{name}", Secrets, SMALL, secret::keep),
    route!("secret_remove", DELETE, "/v1/secrets/{name}", Secrets, 0, secret::remove),
    route!("run", POST, "/v1/run", Run, RUN, sandbox::run, once),
    route!("sh", POST, "/v1/sh", Run, RUN, sandbox::sh, once),
    route!("js", POST, "/v1/js", Run, RUN, sandbox::js, once),
    route!("py", POST, "/v1/py", Run, RUN, sandbox::py, once),
    route!("processes", GET, "/v1/processes", Run, 0, process::list),
    route!("process_start", POST, "/v1/processes", Run, RUN, process::start, once),
    route!("process", GET, "/v1/processes/{id}", Run, 0, process::show),
    route!("process_end", DELETE, "/v1/processes/{id}", Run, 0, process::end),
    route!("process_stdin", POST, "/v1/processes/{id}/stdin", Run, STDIN, process::stdin, once),
    route!("process_stdout", GET, "/v1/processes/{id}/stdout", Run, 0, process::stdout),
    route!("process_stderr", GET, "/v1/processes/{id}/stderr", Run, 0, process::stderr),
    route!("commands", GET, "/v1/commands", Run, 0, look::commands),
    route!("kv_list", GET, "/v1/kv", Kept, 0, kv::list),
    route!("kv_get", GET, "/v1/kv/{*key}", Kept, 0, kv::get),
    route!("kv_put", PUT, "/v1/kv/{*key}", Kept, VALUE, kv::put),
    route!("kv_delete", DELETE, "/v1/kv/{*key}", Kept, 0, kv::delete),
    route!("queue_topics", GET, "/v1/queues", Kept, 0, queue::topics),
    route!("queue_depth", GET, "/v1/queues/{topic}", Kept, 0, queue::depth),
    route!("queue_peek", GET, "/v1/queues/{topic}/messages", Kept, 0, queue::peek),
    route!("queue_publish", POST, "/v1/queues/{topic}/messages", Kept, MESSAGE, queue::publish, once),
    route!("queue_poll", POST, "/v1/queues/{topic}/poll", Kept, 0, queue::poll, once),
    route!("queue_lease", POST, "/v1/queues/{topic}/lease", Kept, 0, queue::lease, once),
    route!("queue_ack", POST, "/v1/queues/{topic}/ack", Kept, SMALL, queue::ack),
    route!("queue_nack", POST, "/v1/queues/{topic}/nack", Kept, SMALL, queue::nack),
    route!("agents", GET, "/v1/agents", Agents, 0, agents::list),
    route!("agent_open", POST, "/v1/agents", Agents, AGENT, agents::open, once),
    route!("agent", GET, "/v1/agents/{id}", Agents, 0, agents::show),
    route!("agent_remove", DELETE, "/v1/agents/{id}", Agents, 0, agents::remove),
    route!("agent_events", GET, "/v1/agents/{id}/events", Agents, 0, agents::events),
    route!("agent_cancel", POST, "/v1/agents/{id}/cancel", Agents, 0, agents::cancel),
    route!("agent_resume", POST, "/v1/agents/{id}/resume", Agents, AGENT, agents::resume, once),
    route!("agent_fork", POST, "/v1/agents/{id}/fork", Agents, AGENT, agents::fork, once),
    route!("agent_replay", POST, "/v1/agents/{id}/replay", Agents, 0, agents::replay),
    route!("agent_issues", GET, "/v1/issues", Agents, 0, agents::issues),
    route!("agent_issue_remove", DELETE, "/v1/issues/{id}", Agents, 0, agents::remove_issue),
    route!("reviews", GET, "/v1/reviews", Reviews, 0, reviews::list),
    route!("review", GET, "/v1/reviews/{id}", Reviews, 0, reviews::show),
    route!("review_answer", POST, "/v1/reviews/{id}/answer", Reviews, SMALL, reviews::answer),
    route!("mcp", POST, "/mcp", Run, MCP, mcp::speak),
    route!("mcp_listen", GET, "/mcp", Run, 0, mcp::speak),
    route!("mcp_end", DELETE, "/mcp", Run, 0, mcp::speak),
    route!("audit", GET, "/v1/audit", Audit, 0, look::audit),
    route!("workspaces", GET, "/v1/workspaces", Workspaces, 0, workspace::list),
    route!("workspace", GET, "/v1/workspaces/{name}", Workspaces, 0, workspace::show),
    route!("workspace_make", PUT, "/v1/workspaces/{name}", Workspaces, SMALL, workspace::make),
    route!("workspace_remove", DELETE, "/v1/workspaces/{name}", Workspaces, 0, workspace::remove),
    route!("tree", GET, "/v1/workspaces/{name}/tree", Workspaces, 0, workspace::tree),
    route!("file_read", GET, "/v1/workspaces/{name}/files/{*path}", Workspaces, 0, workspace::read),
    route!("file_write", PUT, "/v1/workspaces/{name}/files/{*path}", Workspaces, FILE, workspace::write),
    route!(
        "file_remove",
        DELETE,
        "/v1/workspaces/{name}/files/{*path}",
        Workspaces,
        0,
        workspace::remove_file
    ),
    route!("diff", GET, "/v1/workspaces/{name}/diff", Workspaces, 0, workspace::diff),
    route!("snapshots", GET, "/v1/workspaces/{name}/snapshots", Workspaces, 0, workspace::snapshots),
    route!("snapshot", POST, "/v1/workspaces/{name}/snapshots", Workspaces, SMALL, workspace::snapshot),
    route!("restore", POST, "/v1/workspaces/{name}/restore", Workspaces, SMALL, workspace::restore),
    route!("fork", POST, "/v1/workspaces/{name}/fork", Workspaces, SMALL, workspace::fork),
];

/// All of them, over one server.
pub fn router(app: &App) -> Router {
    let routes = ROUTES
        .iter()
        .enumerate()
        .fold(Router::new(), |router, (at, route)| router.route(route.path, method_router(at, route)));
    routes.fallback(nowhere).method_not_allowed_fallback(not_so).with_state(app.clone())
}

fn method_router(at: usize, route: &'static Route) -> MethodRouter<App> {
    let entered = move |State(app): State<App>, request: Request<Body>| {
        let found = found(route, request.uri().path());
        enter(at, app.0, request, found)
    };
    match route.method.as_ref().map(|it| MethodFilter::try_from(it.clone())) {
        Some(Ok(filter)) => on(filter, entered),
        _ => any(entered),
    }
}

/// What the pattern of a route finds in a path, decoded. What an extension is asked for is its own, and stays as it is.
fn found(route: &Route, path: &str) -> Found {
    let mut found = Vec::new();
    let mut rest = path;
    for part in route.path.split('/').skip(1) {
        rest = rest.strip_prefix('/').unwrap_or(rest);
        let (this, next) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        if let Some(name) = part.strip_prefix("{*").and_then(|it| it.strip_suffix('}')) {
            if route.power != Power::Invoke {
                found.push((name, decoded(rest)?));
            }
            break;
        }
        if let Some(name) = part.strip_prefix('{').and_then(|it| it.strip_suffix('}')) {
            found.push((name, decoded(this)?));
        }
        rest = next;
    }
    Ok(found)
}

fn decoded(text: &str) -> Result<String, ApiError> {
    let bad = |_| ApiError::bad("bad_path", "the path is no UTF-8 where it is decoded");
    percent_encoding::percent_decode_str(text).decode_utf8().map(Into::into).map_err(bad)
}

async fn nowhere(State(app): State<App>, request: Request<Body>) -> Response<Body> {
    let error = ApiError::new(
        StatusCode::NOT_FOUND,
        "no_route",
        "there is nothing here; GET /openapi.json says what there is",
    );
    refused(&app.0, &request, error)
}

async fn not_so(State(app): State<App>, request: Request<Body>) -> Response<Body> {
    let error =
        ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "this route has other methods");
    refused(&app.0, &request, error)
}

/// What is told of a request that has no route, unless it may be told nothing.
fn refused(app: &Arc<Shared>, request: &Request<Body>, error: ApiError) -> Response<Body> {
    app.metrics.unrouted.add();
    let crossed = match app.settings.reach {
        Reach::Loopback => cross::check(&app.settings, request.uri(), request.headers()),
        Reach::Network => Ok(()),
    };
    crossed.err().unwrap_or(error).into_response()
}

#[test]
fn names_are_found_where_the_pattern_has_them_and_decoded() {
    let of = |id: &str| ROUTES.iter().find(|it| it.id == id).unwrap();
    let pairs = |id: &str, path: &str| found(of(id), path).unwrap();
    assert_eq!(pairs("x", "/x/sh%6Fp/a%2Fb//c"), [("extension", "shop".to_owned())]);
    assert_eq!(pairs("x_root", "/x/shop/"), [("extension", "shop".to_owned())]);
    assert_eq!(pairs("x_bare", "/x/shop"), [("extension", "shop".to_owned())]);
    let file = pairs("file_read", "/v1/workspaces/w/files/workspace/a%20b//c");
    assert_eq!(file, [("name", "w".to_owned()), ("path", "workspace/a b//c".to_owned())]);
    assert!(found(of("file_read"), "/v1/workspaces/w/files/%ff").is_err());
    assert!(found(of("x"), "/x/shop/%ff").is_ok() && found(of("x"), "/x/%ff/a").is_err());
}
