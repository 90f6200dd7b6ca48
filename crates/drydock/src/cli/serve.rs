//! `drydock serve`: the server over HTTP. Binds, and hands the listener over.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context as _, bail};
use clap::Args;
use drydock_embed::{Dock, egress::QuotaLimits, store::Tokens};
use drydock_serve::{App, Bounds, Drained, Reach, ServeSettings, Telemetry, Tls, router, serve, serve_local};
use tokio::{
    net::UnixListener,
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
};

use crate::{exit, home, local, log, show, units};

/// The largest file with a certificate or a key that is read.
const PEM_BYTES_MAX: u64 = 1 << 20;

#[derive(Debug, Args)]
#[command(after_help = "\
Extensions that were installed answer under /x/NAME/, commands and programs run by POST /v1/run, /v1/sh,
/v1/js and /v1/py, processes go on in /v1/processes, files live in /v1/workspaces; GET /openapi.json
describes it all. Whoever owns the data directory asks by a socket in it (`drydock run --detach`).
On loopback, and as long as there is no token, whoever asks is the tenant dev. With tokens (`drydock token
add`) everybody needs one, and the tenant is the token's. Other addresses are refused without a token, and
without TLS. SIGTERM and Ctrl-C end it once what was begun is answered.

Examples:
  drydock serve
  drydock serve --listen 0.0.0.0:8443 --tls-cert chain.pem --tls-key key.pem")]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(super) listening: Listening,
    /// A certificate chain, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Its private key, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Speak plain HTTP beyond loopback: somebody in front of this server ends TLS
    #[arg(long, conflicts_with = "tls_cert")]
    behind_proxy: bool,
    /// Connections at once
    #[arg(long, value_name = "N", default_value_t = Bounds::default().connections_max, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1_000_000))]
    connections_max: usize,
    /// Requests of one tenant that run at once
    #[arg(long, value_name = "N", default_value_t = Bounds::default().tenant_in_flight_max, value_parser = clap::value_parser!(u32).range(1..=64))]
    tenant_in_flight: u32,
    /// Requests of one tenant that wait for that
    #[arg(long, value_name = "N", default_value_t = Bounds::default().tenant_waiting_max, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    tenant_waiting: u32,
    /// Calls of one principal in a minute
    #[arg(long, value_name = "N", default_value_t = CALLS_PER_MINUTE, value_parser = clap::value_parser!(u32).range(1..))]
    calls_per_minute: u32,
    /// Fetches of one principal, so of a token, that are under way at once
    #[arg(long, value_name = "N", default_value_t = QuotaLimits::default().in_flight_max, value_parser = clap::value_parser!(u32).range(1..))]
    fetches: u32,
    /// Fetches of one principal in a minute
    #[arg(long, value_name = "N", default_value_t = QuotaLimits::default().requests_max, value_parser = clap::value_parser!(u32).range(1..))]
    fetches_per_minute: u32,
    /// Bytes of bodies of one principal's fetches in a minute, both ways
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = units::size)]
    fetched_per_minute: u64,
    /// Time for a request's line and headers, and between two requests of a connection
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = units::duration)]
    header_timeout: Duration,
    /// Time for a whole body; without a byte of it, 10s
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = units::duration)]
    body_timeout: Duration,
    /// Time in which 32 KiB of an answer must be read, from the moment that no more of it can be sent
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = units::duration)]
    answer_timeout: Duration,
    /// A collector of OpenTelemetry that spans are sent to, such as http://127.0.0.1:4318
    #[arg(long, value_name = "URL")]
    otlp: Option<String>,
    /// Bytes of stdout and of stderr, each, after which a process ends
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = units::size)]
    process_output: u64,
    /// Bytes of output of all processes of a tenant that are kept
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = units::size)]
    process_spool: u64,
    /// How long requests in flight are waited for at the end
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = units::duration)]
    drain: Duration,
}

/// Where to listen; `ext dev` has the same.
#[derive(Debug, Args)]
pub(super) struct Listening {
    /// Address and port; a port alone is on loopback, and 0 is a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080", value_parser = address)]
    pub(super) listen: SocketAddr,
    /// A further name that requests on loopback may call the server by; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(super) host_name: Vec<String>,
}

/// Far more than a machine answers: what bounds callers is the queue.
const CALLS_PER_MINUTE: u32 = 6_000_000;

pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok(([127, 0, 0, 1], port).into());
    }
    text.parse().map_err(|_| format!("`{text}` is no address: use 127.0.0.1:8080, [::1]:8080 or a port"))
}

pub(crate) fn run(wanted: Serve) -> anyhow::Result<ExitCode> {
    let tls = wanted.tls()?;
    let runtime = runtime()?;
    let telling = |url: &String| Telemetry::to(url, runtime.handle().clone());
    let telemetry = wanted.otlp.as_ref().map(telling).transpose()?;
    if telemetry.is_some() {
        log::install(telemetry.as_ref());
    }
    let dock = home::dock_serving(wanted.calls_per_minute, wanted.quota())?;
    let reach = wanted.reach(&dock, tls.is_some())?;
    let settings =
        ServeSettings { reach, host_names: wanted.listening.host_name.clone(), bounds: wanted.bounds() };
    let pending = |_| std::future::pending();
    let code = serve_until_told(&runtime, dock, settings, wanted.listening.listen, tls, pending)?;
    if let Some(telemetry) = telemetry {
        telemetry.end();
    }
    end(runtime);
    Ok(code)
}

/// What a server runs on.
pub(super) fn runtime() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()
}

/// A guest may still run: the process ends with it.
pub(super) fn end(runtime: Runtime) {
    runtime.shutdown_timeout(Duration::from_millis(200));
}

impl Serve {
    /// Whether spans go somewhere, so that whoever serves says where warnings go, too.
    pub(crate) fn tells_spans(&self) -> bool {
        self.otlp.is_some()
    }

    fn tls(&self) -> anyhow::Result<Option<Tls>> {
        let (Some(chain), Some(key)) = (&self.tls_cert, &self.tls_key) else { return Ok(None) };
        Ok(Some(Tls::of_pem(&pem(chain)?, &pem(key)?)?))
    }

    /// Who will reach the listener, if they may.
    fn reach(&self, dock: &Dock, has_tls: bool) -> anyhow::Result<Reach> {
        let address = self.listening.listen;
        if address.ip().is_loopback() {
            return Ok(Reach::Loopback);
        }
        if !Tokens::of(dock.home()).any()? {
            bail!(
                "{address} is not loopback, and there is no token; make one with `drydock token add TENANT` first"
            );
        }
        if !has_tls && !self.behind_proxy {
            bail!(
                "{address} is not loopback, and tokens would be sent in the clear; give --tls-cert and --tls-key, or say \
                 --behind-proxy where TLS ends in front of this server"
            );
        }
        Ok(Reach::Network)
    }

    /// What a principal may have on its way out.
    fn quota(&self) -> QuotaLimits {
        QuotaLimits {
            in_flight_max: self.fetches,
            requests_max: self.fetches_per_minute,
            bytes_max: self.fetched_per_minute,
            ..QuotaLimits::default()
        }
    }

    fn bounds(&self) -> Bounds {
        let usual = Bounds::default();
        Bounds {
            connections_max: self.connections_max,
            tenant_in_flight_max: self.tenant_in_flight,
            tenant_waiting_max: self.tenant_waiting,
            header_read_max: self.header_timeout,
            body_read_max: self.body_timeout,
            body_pause_max: usual.body_pause_max.min(self.body_timeout),
            answer_pause_max: self.answer_timeout,
            drain_max: self.drain,
            process_output_bytes_max: self.process_output,
            process_spool_bytes_max: self.process_spool,
            ..usual
        }
    }
}

fn pem(file: &Path) -> anyhow::Result<Vec<u8>> {
    let bytes = crate::module::read_data(file, PEM_BYTES_MAX)?;
    if bytes.len() as u64 > PEM_BYTES_MAX {
        bail!("`{}` is larger than {PEM_BYTES_MAX} bytes", file.display());
    }
    Ok(bytes)
}

/// Listens, says where, and serves until a signal comes; `beside` goes on meanwhile.
pub(super) fn serve_until_told<F: Future<Output = ()> + Send + 'static>(
    runtime: &Runtime,
    dock: Dock,
    settings: ServeSettings,
    listen: SocketAddr,
    tls: Option<Tls>,
    beside: impl FnOnce(Dock) -> F,
) -> anyhow::Result<ExitCode> {
    dock.serve();
    let drained = runtime.block_on(async {
        let listener =
            crate::listen::bind(listen).with_context(|| format!("could not listen on {listen}"))?;
        let mut ends = [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?];
        let scheme = if tls.is_some() { "https" } else { "http" };
        show::line(&format!("listening on {scheme}://{}", listener.local_addr()?))?;
        let app = App::new(dock.clone(), settings);
        tokio::spawn(beside(dock.clone()));
        let router = router(&app);
        // For `drydock run --detach` and `drydock kill`. Without it everything else still works.
        let _listening = match local::listen(dock.home()) {
            Ok(Some((listening, socket))) => {
                let socket = UnixListener::from_std(socket)?;
                tokio::spawn(serve_local(socket, app.clone(), router.clone()));
                Some(listening)
            }
            Ok(None) => None,
            Err(error) => {
                exit::warn(&format!("the command line cannot ask this server: {error}"));
                None
            }
        };
        let told = async move {
            let [terminate, interrupt] = &mut ends;
            tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
            exit::warn("ending, once what was begun is answered; a second signal ends at once");
            tokio::spawn(async move {
                let [terminate, interrupt] = &mut ends;
                tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
                std::process::exit(i32::from(drydock_embed::contract::exit::CANCELLED));
            });
        };
        let drained = serve(listener, tls, app.clone(), router, told).await;
        tokio::task::spawn_blocking(move || app.flush()).await?;
        anyhow::Ok(drained)
    })?;
    if let Err(error) = dock.gate().flush() {
        exit::warn(&error);
    }
    if let Drained::Cut(count) = drained {
        exit::warn(&format!("{count} connections were cut off: --drain says how long they are waited for"));
    }
    // What still runs has it, and goes with the process.
    std::mem::forget(dock);
    Ok(ExitCode::SUCCESS)
}
