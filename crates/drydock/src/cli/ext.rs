//! `drydock ext`: extensions of the Runner ABI, installed and asked. Here: `ext invoke`, one HTTP request for one guest.

mod dev;
mod manage;

use std::{collections::BTreeMap, path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use clap::{Args, Subcommand};
use drydock_embed::{
    Dock, ExtensionCode, HANDLER_LIMITS, InstallError, Installation, Installed, Network, Setup,
    contract::{
        CallError, CommandName, DEFAULT_TENANT, Denial, Limits, LogLevel,
        exit::{CANCELLED, DENIED, LIMITED, TIMED_OUT},
    },
    extension::runner::{
        AskedLimits, Context, Envelope, ExecuteRequest, FailureKind, Http, Invoked, REQUEST_BYTES_MAX, joined,
    },
    gate::DenialLog,
};

use super::{
    grants,
    hosts::{Hosts, SecretFlags},
    run::{PRINCIPAL, cancellable},
};
use crate::{
    exit, extensions, home, module, show,
    taped::{self, RecordFlags, Taped, Taping},
};

#[derive(Debug, Args)]
pub(crate) struct Ext {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Send one HTTP request to an extension and print the envelope of its answer
    Invoke(Invoke),
    /// Install an extension, in the place of another of its name
    Install(manage::Install),
    /// List the extensions that are installed
    List {
        #[command(flatten)]
        of: manage::Of,
    },
    /// Show one extension
    Show {
        name: CommandName,
        #[command(flatten)]
        of: manage::Of,
    },
    /// Remove an extension
    Rm {
        name: CommandName,
        #[command(flatten)]
        of: manage::Of,
    },
    /// Show what an extension logged while it was served
    Logs {
        name: CommandName,
        /// The newest N lines
        #[arg(long, value_name = "N", default_value_t = 100)]
        lines: usize,
        #[command(flatten)]
        of: manage::Of,
    },
    /// Serve an extension from its file, and again whenever that changes
    Dev(dev::Dev),
}

#[derive(Debug, Args)]
#[command(after_help = "\
The envelope is one JSON object: status, headers, body_b64, error. Log lines of the guest go to stderr.
It reaches the hosts of --allow-host and --allow-url; EXT_EGRESS_ALLOWLIST (hosts with commas between them) is
the list of an extension without one of its own, and bounds one that has.
Exit status: 0 it answered, whatever its status; 1 the handler said non-zero; 124 timed out;
125 any other failure; 126 denied; 130 Ctrl-C.")]
struct Invoke {
    /// An extension that is installed, or a file: WebAssembly (.wasm), its text (.wat), or JavaScript (.js)
    #[arg(value_name = "NAME|FILE")]
    file: PathBuf,
    /// The request as JSON: context, http, limits, each of which may be left out; - is stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["method", "path", "query", "header", "body"])]
    request: Option<PathBuf>,
    /// Method of the request
    #[arg(long, value_name = "NAME", default_value = "GET")]
    method: String,
    /// Path of the request
    #[arg(long, value_name = "PATH", default_value = "/")]
    path: String,
    /// A parameter of the query; may be repeated
    #[arg(long, value_name = "K=V", value_parser = parameter)]
    query: Vec<(String, String)>,
    /// A header of the request; may be repeated
    #[arg(long, value_name = "K:V", value_parser = header)]
    header: Vec<(String, String)>,
    /// Body of the request, as text
    #[arg(long, value_name = "TEXT")]
    body: Option<String>,
    #[command(flatten)]
    hosts: Hosts,
    #[command(flatten)]
    secrets: SecretFlags,
    #[command(flatten)]
    record: RecordFlags,
    /// Time of the call where the request asks for none, and the most that it may ask for [default: 5000, at most 60000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    timeout_ms: Option<u64>,
    /// Memory in MiB, likewise [default: 64, at most 1024]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    memory_mb: Option<u64>,
}

fn parameter(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("use K=V, such as page=2")?;
    Ok((key.to_owned(), value.to_owned()))
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once(':')
        .filter(|it| !it.0.trim().is_empty())
        .ok_or("use K:V, such as accept:text/html")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

pub(crate) fn run(ext: Ext) -> anyhow::Result<ExitCode> {
    match ext.command {
        Command::Invoke(invoke) => Ok(run_invoke(&invoke, Taping::Live)?.0),
        Command::Install(install) => manage::install(install),
        Command::List { of } => manage::list(&of),
        Command::Show { name, of } => manage::show_one(&name, &of),
        Command::Rm { name, of } => manage::remove(&name, &of),
        Command::Logs { name, lines, of } => manage::logs(&name, lines, &of),
        Command::Dev(dev) => dev::run(dev),
    }
}

/// Replays one.
pub(crate) fn on(ext: Ext, taping: Taping) -> anyhow::Result<(ExitCode, Taped)> {
    match ext.command {
        Command::Invoke(invoke) => run_invoke(&invoke, taping),
        _ => anyhow::bail!("the tape is of nothing that is recorded"),
    }
}

fn run_invoke(invoke: &Invoke, taping: Taping) -> anyhow::Result<(ExitCode, Taped)> {
    let code = match invoke.names_installed() {
        true => None,
        false => {
            let bytes = taped::text("module", || module::read_extension_bytes(&invoke.file))?;
            Some(module::extension_of(&invoke.file, bytes)?)
        }
    };
    let (request, context) = invoke.request()?;
    let limits = Limits {
        wall_max: invoke.timeout_ms.map_or(HANDLER_LIMITS.wall_max, Duration::from_millis),
        memory_bytes_max: invoke.memory_mb.map_or(HANDLER_LIMITS.memory_bytes_max, |it| it << 20),
        ..HANDLER_LIMITS
    };
    let dock = match taping.machine() {
        Some(dock) => dock.with_extensions(extensions::settings()?),
        None => home::dock_invoking()?,
    };
    let (network, denials) = (invoke.network(&dock)?, Arc::new(DenialLog::default()));
    let name = invoke.file.file_stem().unwrap_or_default().to_string_lossy();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let installed = match code {
        Some(_) => None,
        None => Some(runtime.block_on(invoke.installed(&dock))?),
    };
    let usual = if code.is_some() { Setup::instances(limits) } else { Setup::default() };
    let mut setup = Setup { network, denials: Some(Arc::clone(&denials)), ..usual };
    let taping = taping.begin(&invoke.record, "ext", &setup, &[])?;
    taping.deck().prepare(&mut setup);
    let (session, module) = match (code, installed) {
        (Some(code), _) => {
            let session = dock.session(PRINCIPAL, setup)?;
            let handed_over = runtime.block_on(async {
                match code {
                    ExtensionCode::Module(module) => dock.hand_over(module).await,
                    ExtensionCode::Script(script) => dock.hand_over_script(&script).await,
                }
            });
            (session, handed_over)
        }
        (None, Some(installed)) => (dock.extension_session(PRINCIPAL, &installed, setup)?, installed.module),
        (None, None) => anyhow::bail!("there is no module"),
    };
    let cancel = session.clone();
    taping.on_end(move || cancel.cancel());
    let answer = dock.try_out(&session, &module, &name, request);
    let mark = session.inner().mark();
    let invoked = runtime.block_on(cancellable(&session, answer));
    let status = match session.inner().lost_since(mark) {
        Some(Denial::Cancelled) => CANCELLED,
        Some(denial) => CallError::from(denial).exit_status(),
        None => status(&invoked.envelope),
    };
    let envelope = serde_json::to_vec(&invoked.envelope)?;
    let taped = taping.keep(&dock, &format!("exited({status})"), &envelope);
    if taping.shows() {
        taped.tell();
        tell_log(&invoked, &name, &context);
        grants::tell(&denials.take());
        show::json(&invoked.envelope)?;
    }
    if let Err(error) = dock.gate().flush() {
        exit::warn(&error);
    }
    // The process ends here; taking the pool apart page by page would only delay it.
    std::mem::forget(dock);
    Ok((ExitCode::from(status), taped))
}

impl Invoke {
    /// The hosts and secrets of its flags; of a file they are all that it has, under the operator's list.
    fn network(&self, dock: &Dock) -> anyhow::Result<Network> {
        let own = self.hosts.rules();
        self.secrets.with(if self.names_installed() { own } else { dock.extension_rules(own) })
    }

    /// Whether it is the name of an extension, and no file: those have a folder or an ending.
    fn names_installed(&self) -> bool {
        let text = self.file.to_string_lossy();
        let ends = [".wasm", ".wat", ".js"].iter().any(|it| text.ends_with(it));
        text != "-" && !text.contains('/') && !ends && text.parse::<CommandName>().is_ok()
    }

    /// The extension of that name, with these limits where they are less than its own.
    async fn installed(&self, dock: &Dock) -> anyhow::Result<Installed> {
        let name: CommandName = self.file.to_string_lossy().parse()?;
        let kept = taped::text("extension", || {
            let found = dock.installations().find(&name)?;
            Ok(serde_json::to_vec(&found.ok_or_else(|| InstallError::Unknown(name))?)?)
        })?;
        let mut found: Installation = serde_json::from_slice(&kept)?;
        // A replay asks nobody, so that nobody is to be told a secret.
        if taped::is_played() {
            found.settings.secret_headers.clear();
        }
        let limits = &mut found.settings.limits;
        let less = |most: Option<u64>, asked: Option<u64>| most.into_iter().chain(asked).min();
        limits.timeout_ms = less(limits.timeout_ms, self.timeout_ms);
        limits.memory_mb = less(limits.memory_mb, self.memory_mb);
        Ok(dock.installed(found).await?)
    }

    /// What the flags say. The lists are shown where a map would lose something.
    fn http(&self) -> Http {
        let (query, headers) = (self.query.iter().cloned().collect::<BTreeMap<_, _>>(), joined(&self.header));
        let lost = query.len() < self.query.len() || headers.len() < self.header.len();
        Http {
            method: self.method.clone(),
            path: self.path.clone(),
            query,
            headers,
            query_all: lost.then(|| self.query.clone()),
            headers_all: lost.then(|| self.header.clone()),
            body_b64: self.body.as_ref().map(|it| STANDARD.encode(it)),
        }
    }

    /// The request as it is sent, with the flags' limits where it asks for none itself, and what it says of itself.
    fn request(&self) -> anyhow::Result<(Vec<u8>, Context)> {
        let flags = AskedLimits { timeout_ms: self.timeout_ms, memory_mb: self.memory_mb, fuel: None };
        let Some(file) = &self.request else {
            let http = self.http();
            let context = Context::default();
            let request = ExecuteRequest { context: context.clone(), http, limits: Some(flags) };
            return Ok((serde_json::to_vec(&request)?, context));
        };
        let sent = taped::text("request", || module::read_data(file, REQUEST_BYTES_MAX))?;
        // What is no request is sent as it is: the refusal says why, and is recorded.
        match ExecuteRequest::parse(&sent) {
            Ok(request) => {
                let (limits, context) = (Some(request.asked().or(flags)), request.context.clone());
                Ok((serde_json::to_vec(&ExecuteRequest { limits, ..request })?, context))
            }
            Err(_) => Ok((sent, Context::default())),
        }
    }
}

/// The guest's log, each line with whose it is.
fn tell_log(invoked: &Invoked, name: &str, context: &Context) {
    let tenant = context.tenant_id.as_deref().unwrap_or(DEFAULT_TENANT);
    let extension = context.extension_id.as_deref().unwrap_or(name);
    let request = context.request_id.as_deref().unwrap_or("-");
    for line in &invoked.log {
        let level = match line.level {
            LogLevel::Info => "info",
            LogLevel::Error => "error",
        };
        exit::warn(&format!(
            "{level} tenant={tenant} extension={extension} request={request}: {}",
            line.text
        ));
    }
}

fn status(envelope: &Envelope) -> u8 {
    match envelope.error.as_ref().map(|it| it.kind) {
        None => 0,
        Some(FailureKind::App) => 1,
        Some(FailureKind::Timeout) => TIMED_OUT,
        Some(FailureKind::Denied) => DENIED,
        Some(_) => LIMITED,
    }
}
