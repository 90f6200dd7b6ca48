//! `drydock serve-guest`: one guest that answers at a listener. Asks the gate, binds, and hands the listener over.

use std::{
    ffi::OsString,
    net::SocketAddr,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::Path,
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, bail};
use clap::Args;
use drydock_embed::{
    CLIENT_CALLS_MAX, Dock, DockSession, Protocol, ServeHandler, ServeSetup,
    contract::{CallError, Cap, Denial, DenialDetails, Limits, Terms, exit::DENIED, port::Registry as _},
    egress::QuotaLimits,
    gate::{DenialLog, Grant},
};
use drydock_serve::{GuestBounds, GuestCounts, GuestEnd, serve_guest};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use super::{grants, powers::Powers, run, serve, tree};
use crate::{exit, home, log, module, show, taped::Taping, units};

/// Calls of one principal in a minute: what bounds clients is their own rate.
const CALLS_PER_MINUTE: u32 = 6_000_000;

#[derive(Debug, Args)]
#[command(
    after_help = "\
A serving guest exports `handle`, and imports host_request_get and host_response_set of `env`. It sees a request as
METHOD PATH, headers, a blank line and the body, and answers STATUS, headers, a blank line and the body; each request
gets an instance of its own, so what is to stay is kept in files or in kv. With --tcp it is bytes, up to 300 ms
without one, and the response closes the connection. With --command a registered command answers: the request is its
stdin, its stdout the response, and its arguments are what comes after --. `drydock revoke NAME` ends it at once, with
every connection. Ctrl-C ends it once what was begun is answered.
Exit status: 0 told to end; 125 it could not begin; 126 refused or revoked; 127 unknown command.

Examples:
  drydock serve-guest counter.wasm --listen 8080    then: curl http://127.0.0.1:8080/
  drydock serve-guest --command rev --tcp --listen 9000
  drydock serve-guest --tcp --listen 9000 --command tr -- a-z A-Z",
    override_usage = "drydock serve-guest [OPTIONS] FILE\n       drydock serve-guest [OPTIONS] --command NAME [-- ARGS]"
)]
pub(crate) struct ServeGuest {
    #[command(flatten)]
    powers: Powers,
    /// Address and port; a port alone is on loopback, and 0 is a free one. What is said here is its grant
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080", value_parser = serve::address)]
    listen: SocketAddr,
    /// Bytes, and not HTTP
    #[arg(long)]
    tcp: bool,
    /// How it is called, in records and to `drydock revoke` [default: the name of the file or command]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Requests of one client in a minute
    #[arg(long, value_name = "N", default_value_t = CLIENT_CALLS_MAX, value_parser = clap::value_parser!(u32).range(1..))]
    client_calls: u32,
    /// How long requests in flight are waited for at the end
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = units::duration)]
    drain: Duration,
    /// Print JSON: where it listens, and when it ends what came in
    #[arg(long)]
    json: bool,
    /// A registered command answers, in the place of a file
    #[arg(long, value_name = "NAME")]
    command: Option<String>,
    /// The guest, as WebAssembly (.wasm) or as its text (.wat)
    #[arg(value_name = "FILE", required_unless_present = "command")]
    files: Vec<OsString>,
    /// Arguments of the command
    #[arg(value_name = "ARGS", last = true)]
    args: Vec<OsString>,
}

pub(crate) fn run(wanted: ServeGuest) -> anyhow::Result<ExitCode> {
    let name = wanted.name()?;
    let module = wanted.files.first().map(|it| module::read(Path::new(it))).transpose()?;
    log::show_extensions();
    let mut setup = wanted.powers.setup(Limits::default())?;
    // Each request has its own.
    setup.budget = None;
    setup.grants.push(Arc::new(wanted.grant()?));
    let denials = setup.denials.clone();
    let dock = home::dock_serving(CALLS_PER_MINUTE, QuotaLimits::default())?;
    // What no request could use is told before anybody connects.
    wanted.powers.check_secrets(dock.home(), dock.tenant())?;
    if let Some(unknown) = wanted.unknown_command(&dock) {
        return wanted.refused(&unknown, &dock, &name, &[]);
    }
    grants::add_stored(&dock, &name, &mut setup)?;
    if let Some(tree) = tree::of(dock.home(), &wanted.powers, wanted.powers.builtin_memory(), &Taping::Live)?
    {
        setup.files = Some(tree.files);
        if !setup.env.iter().any(|(name, _)| name == "PWD") {
            setup.env.push(("PWD".into(), tree.cwd));
        }
    }
    let session = dock.session(&name, setup)?;
    let runtime = serve::runtime()?;
    let code = runtime.block_on(wanted.serve(&dock, &session, name, module, denials))?;
    if let Err(error) = dock.gate().flush() {
        exit::warn(&error);
    }
    // What still runs has it, and goes with the process.
    std::mem::forget(dock);
    serve::end(runtime);
    Ok(code)
}

impl ServeGuest {
    /// Whether it is to tell in JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Who it is: what a person revokes.
    fn name(&self) -> anyhow::Result<String> {
        match (&self.command, self.files.as_slice()) {
            (Some(command), [word, ..]) => bail!(
                "`{0}` is one too many; arguments of a command come after --: --command {command} -- {0}",
                word.display()
            ),
            (None, [_, word, ..]) => bail!(
                "one guest serves, and `{}` is one too many; a command is named by --command",
                word.display()
            ),
            (None, _) if !self.args.is_empty() => {
                bail!("a guest has no arguments; a command (--command) has")
            }
            _ => {}
        }
        let named = match (&self.name, &self.command) {
            (Some(name), _) => return Ok(name.clone()),
            (None, Some(command)) => Path::new(command).file_name(),
            (None, None) => self.files.first().and_then(|it| Path::new(it).file_stem()),
        };
        Ok(named.unwrap_or_default().to_string_lossy().into_owned())
    }

    /// The denial that each request would meet, if nothing has the command's name and nothing could be installed for it.
    fn unknown_command(&self, dock: &Dock) -> Option<CallError> {
        let name = self.command.as_deref()?;
        let first = self.args.first().map(|it| it.as_bytes());
        let installable = || dock.installable(self.powers.installs_any());
        let is_there = dock.registry().lookup(name, first).is_some()
            || installable().iter().any(|it| it.as_str() == name);
        (!is_there).then(|| Denial::UnknownCommand(name.into()).into())
    }

    /// Says why nothing listens.
    fn refused(
        &self,
        error: &CallError,
        dock: &Dock,
        who: &str,
        denials: &[DenialDetails],
    ) -> anyhow::Result<ExitCode> {
        if self.json {
            show::json(&json!({ "error": { "code": error.code(), "message": error.to_string() } }))?;
        } else {
            let names: Vec<String> = dock.registry().names().iter().map(ToString::to_string).collect();
            let name = self.command.as_deref().unwrap_or_default();
            run::refuse(error, &names, name, who, dock.remedy(name));
        }
        grants::tell_to(who, denials);
        Ok(ExitCode::from(error.exit_status()))
    }

    fn protocol(&self) -> Protocol {
        if self.tcp { Protocol::Tcp } else { Protocol::Http }
    }

    /// What was said on the command line: to listen there, and nowhere else.
    fn grant(&self) -> anyhow::Result<Grant> {
        let subject = drydock_embed::serve_subject(self.protocol(), self.listen);
        let pattern = subject.parse().with_context(|| format!("`{subject}` is no name of a grant"))?;
        Ok(Grant::of(Cap::Serve).within(Terms::of([pattern])))
    }

    async fn serve(
        &self,
        dock: &Dock,
        session: &DockSession,
        name: String,
        module: Option<Vec<u8>>,
        denials: Option<Arc<DenialLog>>,
    ) -> anyhow::Result<ExitCode> {
        let handler = match module {
            Some(module) => ServeHandler::Module(dock.hand_over(module).await),
            None => {
                let args = self.args.iter().map(|it| it.clone().into_vec());
                ServeHandler::Command { name: self.command.clone().unwrap_or_default(), args: args.collect() }
            }
        };
        let setup = ServeSetup {
            protocol: self.protocol(),
            address: self.listen,
            serve_id: name.clone(),
            handler,
            client_calls_max: self.client_calls,
        };
        let served = match dock.serve_guest(session, setup).await {
            Ok(served) => served,
            Err(error) => return self.refused(&error, dock, &name, &grants::refused(denials.as_deref())),
        };
        // Bound after it was let through, and by nobody else.
        let listener = crate::listen::bind(self.listen)
            .with_context(|| format!("could not listen on {}", self.listen))?;
        let mut ends = [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?];
        let told = format!("{}://{}", self.protocol().as_str(), listener.local_addr()?);
        match self.json {
            true => show::json(&json!({ "listening": told, "name": name }))?,
            false => show::line(&format!("listening on {told}"))?,
        }
        let end = async {
            let [terminate, interrupt] = &mut ends;
            tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
            exit::warn("ending, once what was begun is answered");
        };
        let bounds = GuestBounds { drain_max: self.drain, ..GuestBounds::default() };
        let (why, counts) = serve_guest(listener, served, bounds, end).await;
        // What guests asked for and were not granted, with the grants that would have helped.
        grants::tell_to(&name, &grants::refused(denials.as_deref()));
        self.tell(why, counts)
    }

    fn tell(&self, why: GuestEnd, counts: GuestCounts) -> anyhow::Result<ExitCode> {
        let GuestCounts { connections, refused, answered, failed } = counts;
        let ended = match why {
            GuestEnd::Told => "told",
            GuestEnd::Revoked => "revoked",
        };
        if self.json {
            show::json(&json!({
                "ended": ended, "connections": connections, "answered": answered, "failed": failed, "refused": refused,
            }))?;
        } else if why == GuestEnd::Revoked {
            exit::warn("revoked: nothing listens any more, and every connection was closed");
        }
        Ok(match why {
            GuestEnd::Told => ExitCode::SUCCESS,
            GuestEnd::Revoked => ExitCode::from(DENIED),
        })
    }
}
