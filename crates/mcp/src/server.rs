//! The server as the SDK asks it: tools, calls, resources.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use drydock_embed::{Effect, Operation, Sandbox, SandboxError, Watch, contract::Switch};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, GetTaskParams, GetTaskResult,
        Implementation, InitializeRequestParams, InitializeResult, ListResourceTemplatesResult,
        ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
        ProgressToken, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
        ResourceContents, ResourceTemplate, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
        UpdateTaskParams,
    },
    service::{Peer, RequestContext},
};
use serde_json::{Value, json};

use crate::{
    agent::{self, AgentDoor},
    answer, resource,
};

/// Resources in one answer.
const PAGE: usize = 500;

/// How often a client that asked is told how far a call is.
const PROGRESS_EVERY: Duration = Duration::from_millis(500);

/// Opens a sandbox for one protocol session.
pub(crate) type OpenSandbox = Arc<dyn Fn() -> Result<Arc<Sandbox>, SandboxError> + Send + Sync>;

/// What one connection, one protocol session or one request without a session is answered by.
pub(crate) struct Server {
    /// What there is for whoever has no protocol session, and what is told of the tools.
    shared: Arc<Sandbox>,
    tools: Arc<[Tool]>,
    /// Opens what a protocol session has for itself, if it has anything.
    open: Option<OpenSandbox>,
    opened: OnceLock<Arc<Sandbox>>,
    /// The way to runs of agents, if the caller has one.
    agents: Option<Arc<dyn AgentDoor>>,
}

/// The tools of a sandbox, and those of agents, as the protocol lists them.
pub(crate) fn tools(sandbox: &Sandbox, with_agents: bool) -> Arc<[Tool]> {
    let agents = agent::tools().filter(|_| with_agents);
    sandbox.operations().map(tool).chain(agents).collect()
}

impl Server {
    pub(crate) fn new(
        shared: Arc<Sandbox>,
        tools: Arc<[Tool]>,
        open: Option<OpenSandbox>,
        agents: Option<Arc<dyn AgentDoor>>,
    ) -> Self {
        Self { shared, tools, open, opened: OnceLock::new(), agents }
    }

    /// The way to tasks. Where there is none, the protocol has said so before.
    fn tasks(&self) -> Result<&dyn AgentDoor, ErrorData> {
        self.agents.as_deref().ok_or_else(|| ErrorData::invalid_params("there is no such task", None))
    }

    fn sandbox(&self) -> &Arc<Sandbox> {
        self.opened.get().unwrap_or(&self.shared)
    }

    async fn list(&self) -> Result<Value, SandboxError> {
        let everything = json!({ "path": "/", "recursive": true });
        self.sandbox().call("list_files", everything, &Watch::default()).await
    }
}

fn tool(it: &'static Operation) -> Tool {
    let object = |schema: Value| Arc::new(schema.as_object().cloned().unwrap_or_default());
    let annotations = ToolAnnotations::with_title(it.title)
        .read_only(it.effect == Effect::Reads)
        .destructive(it.effect == Effect::Destroys)
        .open_world(false);
    Tool::new(it.name, it.description, object(it.input_schema()))
        .with_title(it.title)
        .with_raw_output_schema(object(it.output_schema()))
        .with_annotations(annotations)
}

/// What a client that asked for it is told while a call runs.
struct Progress {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    bytes: Arc<AtomicU64>,
    told: f64,
}

impl Progress {
    /// How much was written so far. It only grows, as the protocol wants; a call that is silent counts up by
    /// less than a byte.
    async fn tell(&mut self) {
        let bytes = self.bytes.load(Ordering::Relaxed);
        self.told = (bytes as f64).max(self.told + 0.001);
        let message = format!("{bytes} bytes written");
        let told = ProgressNotificationParam::new(self.token.clone(), self.told).with_message(message);
        let _ = self.peer.notify_progress(told).await;
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources();
        let capabilities = match self.agents {
            None => capabilities.build(),
            Some(_) => capabilities.enable_tasks().build(),
        };
        InitializeResult::new(capabilities)
            .with_server_info(Implementation::new("drydock", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.sandbox().prompt())
    }

    /// Only what has a handshake comes by here: over HTTP that is what has a protocol session, with files of its own.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if let Some(open) = &self.open {
            let opened = open().map_err(|error| {
                ErrorData::internal_error(format!("{}: {}", error.code, error.message), None)
            })?;
            // A second handshake changes nothing.
            let _ = self.opened.set(opened);
        }
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|it| it.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.as_ref();
        if let (Some(agents), true) = (&self.agents, agent::is_ours(name)) {
            return agent::call(agents, request, &context).await;
        }
        // `commit` may be asked for where it is not offered: the gate refuses it, and keeps a record.
        if Operation::named(name).is_none() {
            return Err(ErrorData::invalid_params(format!("there is no tool `{name}`"), None));
        }
        let bytes = Arc::new(AtomicU64::new(0));
        let mut progress = context.meta.get_progress_token().map(|token| Progress {
            peer: context.peer.clone(),
            token,
            bytes: Arc::clone(&bytes),
            told: -0.001,
        });
        let cancel = Arc::new(Switch::default());
        let mut watch = Watch { cancel: Arc::clone(&cancel), output: None };
        if progress.is_some() {
            watch.output = Some(Arc::new(move |_, written: &[u8]| {
                bytes.fetch_add(written.len() as u64, Ordering::Relaxed);
            }));
        }
        if let Some(progress) = &mut progress {
            progress.tell().await;
        }
        let input = Value::Object(request.arguments.unwrap_or_default());
        let mut call = std::pin::pin!(self.sandbox().call(name, input, &watch));
        let done = loop {
            let tick = async {
                match &mut progress {
                    None => std::future::pending().await,
                    Some(progress) => {
                        tokio::time::sleep(PROGRESS_EVERY).await;
                        progress.tell().await;
                    }
                }
            };
            tokio::select! {
                biased;
                done = &mut call => break done,
                () = context.ct.cancelled(), if !cancel.is_tripped() => cancel.trip(),
                () = tick => {}
            }
        };
        if let Some(progress) = &mut progress {
            progress.tell().await;
        }
        Ok(match done {
            Ok(value) => answer::done(name, value),
            Err(error) => answer::failed(&error),
        }
        .into())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        agent::task::get(self.tasks()?, &request.task_id).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        agent::task::update(self.tasks()?, &request.task_id, &request.input_responses).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        agent::task::cancel(self.tasks()?, &request.task_id).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|it| it.cursor);
        let start = match cursor.as_deref().map(str::parse::<usize>) {
            None => 0,
            Some(Ok(start)) => start,
            Some(Err(_)) => return Err(ErrorData::invalid_params("that cursor is not ours", None)),
        };
        let list = self.list().await.map_err(|error| ErrorData::internal_error(error.message, None))?;
        let mut all = resource::files(&list).skip(start);
        let page: Vec<Resource> = all
            .by_ref()
            .take(PAGE)
            .map(|(path, size)| Resource::new(resource::uri(&path), path).with_size(size))
            .collect();
        let next = all.next().map(|_| (start + PAGE).to_string());
        Ok(ListResourcesResult { next_cursor: next, ..ListResourcesResult::with_all_items(page) })
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = ResourceTemplate::new(resource::TEMPLATE, "file")
            .with_description("A file of the sandbox, by its absolute path");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let absent = |why: String| ErrorData::resource_not_found(why, Some(json!({ "uri": uri })));
        let path =
            resource::path(&uri).ok_or_else(|| absent(format!("`{uri}` is no file of this sandbox")))?;
        let read = self.sandbox().call("read_file", json!({ "path": path }), &Watch::default()).await;
        let read = read.map_err(|error| absent(format!("{}: {}", error.code, error.message)))?;
        let contents = match (read["text"].as_str(), read["base64"].as_str()) {
            (Some(text), _) => ResourceContents::text(text, uri.as_str()).with_mime_type("text/plain"),
            (None, blob) => ResourceContents::blob(blob.unwrap_or_default(), uri.as_str())
                .with_mime_type("application/octet-stream"),
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}
