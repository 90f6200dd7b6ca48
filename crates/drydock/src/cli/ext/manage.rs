//! `drydock ext install|list|show|rm|logs`: extensions that stay.

use std::{convert::Infallible, fmt, path::PathBuf, process::ExitCode, str::FromStr, sync::Arc};

use anyhow::{Context as _, bail};
use clap::Args;
use drydock_embed::{
    HostEntry, InstallError, Installation, InstallationLimits, InstallationSettings, Installations,
    PrivateEntry, SecretHeader, SecretName, SecretRef, SystemClock, UrlEntry,
    contract::{CommandName, Pattern, Tenant, port::Clock as _},
    store::{GuestLogs, SqliteLedger},
};
use serde_json::{Value, json};

use crate::{exit, home, module, show};

/// Whose, and how it is told; every subcommand of these has them.
#[derive(Debug, Args)]
pub(super) struct Of {
    /// Whose extensions
    #[arg(long, value_name = "T", default_value_t = Tenant::default())]
    tenant: Tenant,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A module is compiled and linked before anything is kept, and a script is run without a request:
what cannot answer requests is refused. A server that runs already takes it up within half a second.
Where EXT_EGRESS_ALLOWLIST is set, it is the list of an extension without --allow-host and
--allow-url, and bounds one that has.

Examples:
  drydock ext install shop shop.wasm --allow-host api.example.com --timeout-ms 2000
  drydock ext install shop shop.js --allow-host api.example.com --secret KEY=env:SHOP_KEY \\
    --secret-header 'api.example.com Authorization: Bearer {{secret:KEY}}'")]
pub(super) struct Install {
    /// What it is called: /x/NAME/ leads to it
    name: CommandName,
    /// WebAssembly, its text (.wat), or JavaScript with a function `handler` (.js)
    file: PathBuf,
    #[command(flatten)]
    pub(super) settings: Settings,
    #[command(flatten)]
    of: Of,
}

/// What an extension may reach and spend.
#[derive(Debug, Args)]
pub(super) struct Settings {
    /// A host that it may fetch from; may be repeated [default: none]
    #[arg(long, value_name = "HOST[:PORT]")]
    allow_host: Vec<HostEntry>,
    /// A part of a host that it may fetch from, by method and by the beginning of the path; may be repeated
    #[arg(long, value_name = "[METHODS ]URL")]
    allow_url: Vec<UrlEntry>,
    /// One address that it may fetch from though it is not public; may be repeated
    #[arg(long, value_name = "ADDR:PORT")]
    allow_private: Vec<PrivateEntry>,
    /// Keys under which it keeps values, with * for any text; may be repeated [default: none]
    #[arg(long, value_name = "KEYS")]
    allow_kv: Vec<Pattern>,
    /// A secret that may be put into its requests; may be repeated
    #[arg(long, value_name = "NAME=env:VAR|file:PATH|kept")]
    secret: Vec<Typed>,
    /// A header with secrets for one host: 'api.test Authorization: Bearer {{secret:NAME}}'
    #[arg(long, value_name = "HOST[:PORT] HEADER")]
    secret_header: Vec<SecretHeader>,
    /// The most time that a request may ask for, and what one over HTTP has that asks for none [default: 60000, and 5000 for
    /// one that asks for none]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    timeout_ms: Option<u64>,
    /// The most memory in MiB, likewise [default: 1024, and 64 for one that asks for none]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    memory_mb: Option<u64>,
}

/// What was typed after `--secret`. It is kept out of every message, because it may be the secret itself.
#[derive(Clone)]
struct Typed(String);

impl fmt::Debug for Typed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Typed")
    }
}

impl FromStr for Typed {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl Typed {
    /// The name, and where the value comes from.
    fn read(&self) -> anyhow::Result<(SecretName, SecretRef)> {
        let usage = "--secret: use NAME=env:VARIABLE, NAME=file:PATH or NAME=kept, the name in letters, digits and underscores: the \
                     secret itself is never typed";
        let (name, from) = self.0.split_once('=').context(usage)?;
        // Whoever reads it later starts somewhere else.
        let from = match from.strip_prefix("file:").map(std::path::absolute) {
            Some(Ok(path)) => format!("file:{}", path.display()),
            _ => from.to_owned(),
        };
        match (name.parse(), from.parse()) {
            // What is kept is the tenant's own of the same name.
            (Ok(name), _) if from == "kept" => Ok((name, SecretRef::Registered)),
            (Ok(name), Ok(from)) if from != SecretRef::Registered => Ok((name, from)),
            _ => bail!(usage),
        }
    }
}

impl Settings {
    pub(super) fn of(&self) -> anyhow::Result<InstallationSettings> {
        let limits = InstallationLimits { timeout_ms: self.timeout_ms, memory_mb: self.memory_mb };
        Ok(InstallationSettings {
            allow_host: self.allow_host.clone(),
            allow_url: self.allow_url.clone(),
            allow_private: self.allow_private.clone(),
            allow_kv: self.allow_kv.clone(),
            secrets: self.secret.iter().map(Typed::read).collect::<Result<_, _>>()?,
            secret_headers: self.secret_header.clone(),
            limits,
        })
    }
}

/// Says which secrets go nowhere.
pub(super) fn tell_unused(settings: &InstallationSettings) {
    for name in settings.secrets.keys() {
        if !settings.secret_headers.iter().any(|it| it.names(name)) {
            exit::warn(&format!("secret `{name}` is in no header; --secret-header puts it into one"));
        }
    }
}

pub(super) fn install(wanted: Install) -> anyhow::Result<ExitCode> {
    let json = wanted.of.json;
    told(json, install_one(wanted))
}

fn install_one(wanted: Install) -> anyhow::Result<()> {
    let (code, settings) = (module::read_extension(&wanted.file)?, wanted.settings.of()?);
    let name = CommandName::registrable(wanted.name.as_str()).map_err(InstallError::from)?;
    let dock = home::dock()?.for_tenant(wanted.of.tenant);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let made = runtime.block_on(dock.install_extension(name, code, settings, SystemClock.now()))?;
    tell_unused(&made.settings);
    if wanted.of.json {
        show::json(&described(&made))?;
    } else {
        show::line(&format!("installed {} as version {}", made.name, made.version))?;
    }
    // The process ends here; taking the pool apart page by page would only delay it.
    std::mem::forget(dock);
    Ok(())
}

fn described(it: &Installation) -> Value {
    json!(it)
}

fn installations(tenant: &Tenant) -> anyhow::Result<Installations> {
    Ok(Installations::new(Arc::new(SqliteLedger::of(&home::open()?)) as _, tenant.clone()))
}

pub(super) fn list(of: &Of) -> anyhow::Result<ExitCode> {
    let all = installations(&of.tenant)?.all()?;
    if of.json {
        show::json(&all.iter().map(described).collect::<Vec<_>>())?;
    } else if all.is_empty() {
        show::line("no extensions; `drydock ext install NAME FILE` installs one")?;
    } else {
        let rows = all.iter().map(|it| {
            let hosts = reached(&it.settings).join(" ");
            [it.name.to_string(), it.version.clone(), show::size(it.module_bytes), hosts]
        });
        show::table(["NAME", "VERSION", "SIZE", "HOSTS"], rows)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What it may fetch from. A part of a host has a blank in it, so it is told in quotes, as it is typed.
fn reached(settings: &InstallationSettings) -> Vec<String> {
    let InstallationSettings { allow_host, allow_url, allow_private, .. } = settings;
    let hosts = allow_host.iter().map(ToString::to_string);
    let urls = allow_url.iter().map(|it| format!("'{it}'"));
    hosts.chain(urls).chain(allow_private.iter().map(ToString::to_string)).collect()
}

pub(super) fn show_one(name: &CommandName, of: &Of) -> anyhow::Result<ExitCode> {
    let shown = || -> anyhow::Result<()> {
        let found = installations(&of.tenant)?.find(name)?;
        let found = found.ok_or_else(|| InstallError::Unknown(name.clone()))?;
        if of.json {
            return Ok(show::json(&described(&found))?);
        }
        let limits = &found.settings.limits;
        let or_usual = |it: Option<u64>, usual: &str| it.map_or(usual.to_owned(), |it| it.to_string());
        let join = |texts: Vec<String>| if texts.is_empty() { "none".to_owned() } else { texts.join(" ") };
        let secrets = found.settings.secrets.iter().map(|(name, from)| format!("{name}={from}")).collect();
        let headers = found.settings.secret_headers.iter().map(|it| format!("'{it}'")).collect();
        let rows = [
            ["name", &found.name.to_string()],
            ["version", &found.version],
            ["module", &format!("sha256:{}", found.module)],
            ["size", &show::size(found.module_bytes)],
            ["hosts", &join(reached(&found.settings))],
            ["keys", &join(found.settings.allow_kv.iter().map(ToString::to_string).collect())],
            ["secrets", &join(secrets)],
            ["headers", &join(headers)],
            ["timeout_ms", &or_usual(limits.timeout_ms, "60000")],
            ["memory_mb", &or_usual(limits.memory_mb, "1024")],
        ];
        Ok(show::table(["WHAT", "VALUE"], rows.map(|it| it.map(str::to_owned)))?)
    };
    told(of.json, shown())
}

pub(super) fn remove(name: &CommandName, of: &Of) -> anyhow::Result<ExitCode> {
    let removed = || -> anyhow::Result<()> {
        installations(&of.tenant)?.remove(name)?;
        GuestLogs::of(&home::open()?.tenant(&of.tenant)).remove(name)?;
        if of.json {
            show::json(&json!({ "removed": name }))?;
        }
        Ok(())
    };
    told(of.json, removed())
}

pub(super) fn logs(name: &CommandName, lines: usize, of: &Of) -> anyhow::Result<ExitCode> {
    let shown = || -> anyhow::Result<()> {
        if installations(&of.tenant)?.find(name)?.is_none() {
            return Err(InstallError::Unknown(name.clone()).into());
        }
        for line in GuestLogs::of(&home::open()?.tenant(&of.tenant)).tail(name, lines)? {
            if of.json {
                show::line(&line)?;
                continue;
            }
            let row: Value = serde_json::from_str(&line).unwrap_or_default();
            let text = |key: &str| show::plain(row[key].as_str().unwrap_or_default());
            show::line(&format!(
                "{} {} request={} {}",
                text("at"),
                text("level"),
                text("request_id"),
                text("text")
            ))?;
        }
        Ok(())
    };
    told(of.json, shown())
}

/// An error with its code, where it has one.
fn told(json: bool, done: anyhow::Result<()>) -> anyhow::Result<ExitCode> {
    let Err(error) = done else { return Ok(ExitCode::SUCCESS) };
    match error.downcast_ref::<InstallError>().map(InstallError::code) {
        Some(code) => exit::report_code(code, &error, json),
        None => Err(error),
    }
}
