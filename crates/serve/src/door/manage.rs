//! Extensions of a tenant: installed, shown, removed, and what they logged.

use std::sync::Arc;

use axum::http::{StatusCode, header};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use drydock_contract::{CommandName, Pattern, port::Clock as _};
use drydock_embed::{
    ExtensionCode, HostEntry, InstallError, Installation, InstallationLimits, InstallationSettings,
    SecretHeader, SecretName, SecretRef, SystemClock, UrlEntry, contract::ARTIFACT_BYTES_MAX,
    store::GuestLogs,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::off_thread;
use crate::{
    ask::{Answer, Ask},
    caller::Power,
    error::ApiError,
    json,
};

/// The most memory and time that an installation may have.
const MEMORY_MB_MAX: u64 = 4_096;
const TIMEOUT_MS_MAX: u64 = 600_000;
/// Lines of a log that are told at once.
const LINES_MAX: usize = 1_000;

/// What is sent to install an extension.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// A module, or
    module_b64: Option<String>,
    /// JavaScript in its place.
    script: Option<String>,
    #[serde(default, deserialize_with = "json::few")]
    allow_host: Vec<HostEntry>,
    #[serde(default, deserialize_with = "json::few")]
    allow_url: Vec<UrlEntry>,
    /// Keys under which it keeps values, `*` for any text.
    #[serde(default, deserialize_with = "json::few")]
    allow_kv: Vec<Pattern>,
    /// Names of secrets that are registered for the tenant.
    #[serde(default, deserialize_with = "json::few")]
    secrets: Vec<SecretName>,
    /// Headers that they are put into, as `drydock ext install --secret-header` has them.
    #[serde(default, deserialize_with = "json::few")]
    secret_headers: Vec<SecretHeader>,
    #[serde(default)]
    limits: InstallationLimits,
}

fn shown(it: &Installation) -> Value {
    let secrets: Vec<_> = it.settings.secrets.keys().map(ToString::to_string).collect();
    json!({
        "name": it.name, "version": it.version, "module": format!("sha256:{}", it.module), "module_bytes": it.module_bytes,
        "allow_host": it.settings.allow_host, "allow_url": it.settings.allow_url, "allow_kv": it.settings.allow_kv,
        "secrets": secrets,
        "secret_headers": it.settings.secret_headers, "limits": it.settings.limits,
        "installed_ms": it.installed_ms,
    })
}

/// `GET /v1/extensions`.
pub(crate) async fn list(ask: Ask) -> Answer {
    ask.parameters([])?;
    let all = ask.caller.state.dock.installations();
    let all = off_thread(move || all.all()).await?;
    Ok(json::ok(&json!({ "extensions": all.iter().map(shown).collect::<Vec<_>>() })))
}

/// `GET /v1/extensions/{name}`.
pub(crate) async fn show(ask: Ask) -> Answer {
    ask.parameters([])?;
    let (all, name) = (ask.caller.state.dock.installations(), named(&ask)?);
    let found = off_thread(move || all.find(&name)).await?;
    Ok(json::ok(&shown(&found.ok_or_else(|| ApiError::absent("extension"))?)))
}

/// `PUT /v1/extensions/{name}`: the module as it is, or JSON that has it and what it may reach and spend.
pub(crate) async fn install(mut ask: Ask) -> Answer {
    let name = CommandName::registrable(ask.found("name"))
        .map_err(|bad| ApiError::bad("bad_name", bad.to_string()))?;
    ask.parameters([])?;
    let kind =
        ask.parts.headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let (code, settings) = match kind.split(';').next().unwrap_or_default().trim() {
        "application/wasm" => (ask.body(ARTIFACT_BYTES_MAX).await?.into(), InstallationSettings::default()),
        "text/javascript" => {
            let text = String::from_utf8(ask.body(ARTIFACT_BYTES_MAX).await?.into());
            let text = text.map_err(|_| ApiError::bad("bad_input", "the script is not UTF-8"))?;
            (ExtensionCode::Script(text), InstallationSettings::default())
        }
        "application/json" => {
            let mut asked: Asked = ask.json(ARTIFACT_BYTES_MAX / 3 * 4 + (64 << 10)).await?;
            let code = code(&mut asked)?;
            (code, permitted(&ask, &asked).await?)
        }
        _ => {
            let text = "send a module as application/wasm, a script as text/javascript, or application/json with \
                        `module_b64` or `script`";
            return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", text));
        }
    };
    let turn = ask.turn().await?;
    let dock = Arc::clone(&ask.caller.state.dock);
    let made = dock.install_extension(name.clone(), code, settings, SystemClock.now()).await?;
    drop(turn);
    ask.caller.state.installed.forget(&name);
    Ok(json::ok(&shown(&made)))
}

/// What was sent to run.
fn code(asked: &mut Asked) -> Result<ExtensionCode, ApiError> {
    match (asked.module_b64.take(), asked.script.take()) {
        (Some(module), None) => match STANDARD.decode(&module) {
            Ok(module) => Ok(Bytes::from(module).into()),
            Err(error) => Err(ApiError::bad("bad_input", format!("module_b64: {error}"))),
        },
        (None, Some(script)) => Ok(ExtensionCode::Script(script)),
        _ => Err(ApiError::bad("bad_input", "send `module_b64` or `script`, and one of them")),
    }
}

/// What the installation may reach and spend, if the token may give it that.
async fn permitted(ask: &Ask, asked: &Asked) -> Result<InstallationSettings, ApiError> {
    for host in &asked.allow_host {
        ask.caller.may_allow(host)?;
    }
    for url in &asked.allow_url {
        ask.caller.may_allow_url(url)?;
    }
    if !asked.allow_kv.is_empty() {
        // Nobody gives away what they may not have.
        ask.caller.may(Power::Kept)?;
    }
    let limits = asked.limits;
    ask.caller.timeout_ms(limits.timeout_ms, 0)?;
    ask.caller.memory_mb(limits.memory_mb, 0)?;
    let most =
        [("timeout_ms", limits.timeout_ms, TIMEOUT_MS_MAX), ("memory_mb", limits.memory_mb, MEMORY_MB_MAX)];
    for (what, wanted, most) in most {
        if wanted.is_some_and(|it| !(1..=most).contains(&it)) {
            return Err(ApiError::bad("bad_input", format!("limits.{what} is from 1 to {most}")));
        }
    }
    let (known, names) = (ask.caller.state.dock.secrets(), asked.secrets.clone());
    let secrets = off_thread(move || {
        let mut found = Vec::new();
        for name in names {
            match known.find(&name).map_err(InstallError::from)? {
                Some(_) => found.push(name),
                None => return Ok::<_, ApiError>(Err(name)),
            }
        }
        Ok(Ok(found))
    });
    let secrets = secrets.await?.map_err(|name| {
        let text = format!("there is no secret `{name}` of this tenant; `drydock secret add` registers one");
        ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "unknown_secret", text)
    })?;
    let secrets = secrets.into_iter().map(|it| (it, SecretRef::Registered)).collect();
    let (allow_host, secret_headers) = (asked.allow_host.clone(), asked.secret_headers.clone());
    Ok(InstallationSettings {
        allow_host,
        allow_url: asked.allow_url.clone(),
        allow_kv: asked.allow_kv.clone(),
        secrets,
        secret_headers,
        limits,
        ..InstallationSettings::default()
    })
}

/// `DELETE /v1/extensions/{name}`.
pub(crate) async fn remove(ask: Ask) -> Answer {
    ask.parameters([])?;
    let name = named(&ask)?;
    let (all, wanted) = (ask.caller.state.dock.installations(), name.clone());
    let logs = GuestLogs::of(&ask.caller.state.dock.home().tenant(&ask.caller.tenant));
    off_thread(move || {
        all.remove(&wanted)?;
        logs.remove(&wanted).map_err(|error| ApiError::internal(&error))
    })
    .await?;
    ask.caller.state.installed.forget(&name);
    Ok(json::ok(&json!({ "removed": name })))
}

/// `GET /v1/extensions/{name}/logs?lines=N`.
pub(crate) async fn logs(ask: Ask) -> Answer {
    let [lines] = ask.parameters(["lines"])?;
    let lines = number(lines, 100, LINES_MAX)?;
    let (all, name) = (ask.caller.state.dock.installations(), named(&ask)?);
    let logs = GuestLogs::of(&ask.caller.state.dock.home().tenant(&ask.caller.tenant));
    let app = Arc::clone(&ask.app);
    let told = off_thread(move || {
        if all.find(&name)?.is_none() {
            return Err(ApiError::absent("extension"));
        }
        app.logs.flush();
        logs.tail(&name, lines).map_err(|error| ApiError::internal(&error))
    });
    let lines: Vec<Value> = told.await?.iter().filter_map(|it| serde_json::from_str(it).ok()).collect();
    Ok(json::ok(&json!({ "lines": lines })))
}

/// A count that a parameter says.
pub(super) fn number(text: Option<String>, usual: usize, most: usize) -> Result<usize, ApiError> {
    let Some(text) = text else { return Ok(usual) };
    let read = text.parse::<usize>().ok().filter(|it| (1..=most).contains(it));
    read.ok_or_else(|| ApiError::bad("bad_parameter", format!("a count is a number from 1 to {most}")))
}

/// The name in the path. What can be no name is nobody's.
fn named(ask: &Ask) -> Result<CommandName, ApiError> {
    ask.found("name").parse().map_err(|_| ApiError::absent("extension"))
}
