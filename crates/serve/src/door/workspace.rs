//! Workspaces of a tenant: files that outlive a run. Paths are those that a guest sees; nothing here is a directory of the
//! host.

use axum::http::{HeaderValue, Response, StatusCode, header};
use drydock_contract::port::{Clock as _, FileError, FileKind};
use drydock_embed::{
    SystemClock,
    store::{Quota, Volume, WorkspaceName, Workspaces},
};
use serde::Deserialize;
use serde_json::json;

use super::{off_thread, sandbox::room_for};
use crate::{
    ask::{Answer, Ask},
    error::ApiError,
    json,
    pieces::Opened,
};

/// The largest body that only names something.
const NAME_BYTES_MAX: u64 = 64 << 10;
/// The largest file that is written at once.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// Changes and names that are told at once.
const ROWS_MAX: usize = 10_000;

/// A body that names a workspace or a snapshot.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
}

/// The workspaces of whoever asks.
fn of(ask: &Ask) -> Workspaces {
    let home = ask.caller.state.dock.home().tenant(&ask.caller.tenant);
    Workspaces::of(&home, Quota::default())
}

/// The name in the path. What can be no name is nobody's.
fn named(ask: &Ask) -> Result<WorkspaceName, ApiError> {
    ask.found("name").parse().map_err(|_| ApiError::absent("workspace"))
}

fn parsed(name: &str) -> Result<WorkspaceName, ApiError> {
    Ok(name.parse::<WorkspaceName>()?)
}

/// What goes wrong with a file.
pub(super) fn of_file(path: &str, error: &FileError) -> ApiError {
    let shown = path.escape_debug();
    let text = format!("{shown}: {error}");
    match error {
        FileError::NotFound => ApiError::absent("file"),
        FileError::TooBig => ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", text),
        FileError::NoSpace | FileError::Quota(_) => {
            ApiError::new(StatusCode::INSUFFICIENT_STORAGE, "no_space", text)
        }
        FileError::Exists | FileError::NotEmpty => ApiError::new(StatusCode::CONFLICT, "exists", text),
        FileError::IsADirectory
        | FileError::NotADirectory
        | FileError::Invalid
        | FileError::NameTooLong
        | FileError::Loop => ApiError::bad("bad_path", text),
        FileError::Denied | FileError::ReadOnly => ApiError::forbidden("permission_denied", text),
        other => ApiError::internal(other),
    }
}

/// `GET /v1/workspaces`.
pub(crate) async fn list(ask: Ask) -> Answer {
    ask.parameters([])?;
    let all = of(&ask);
    let rows = off_thread(move || {
        let failed = |error: std::io::Error| ApiError::internal(&error);
        let mut rows = Vec::new();
        for name in all.list().map_err(failed)? {
            let snapshots: Vec<String> =
                all.snapshots(&name).map_err(failed)?.iter().map(ToString::to_string).collect();
            rows.push(json!({ "name": name.as_str(), "snapshots": snapshots }));
        }
        Ok::<_, ApiError>(rows)
    });
    Ok(json::ok(&json!({ "workspaces": rows.await? })))
}

/// `GET /v1/workspaces/{name}`: how much it holds.
pub(crate) async fn show(ask: Ask) -> Answer {
    ask.parameters([])?;
    let (all, name) = (of(&ask), named(&ask)?);
    let told = off_thread(move || {
        let facts = all.look(&name)?.show().map_err(|error| ApiError::internal(&error))?;
        let volumes = facts.volumes.iter().map(|it| {
            json!({ "name": it.name, "files": it.files, "directories": it.directories, "bytes": it.bytes })
        });
        Ok::<_, ApiError>(json!({
            "name": name.as_str(), "volumes": volumes.collect::<Vec<_>>(), "stored_bytes": facts.stored_bytes,
        }))
    });
    Ok(json::ok(&told.await?))
}

/// `PUT /v1/workspaces/{name}`: makes it, unless it is there.
pub(crate) async fn make(ask: Ask) -> Answer {
    ask.parameters([])?;
    let (all, name) = (of(&ask), parsed(ask.found("name"))?);
    let told = off_thread(move || {
        room_for(&all, &name)?;
        all.open_or_create(&name)?;
        Ok::<_, ApiError>(json!({ "name": name.as_str() }))
    });
    Ok(json::ok(&told.await?))
}

/// `DELETE /v1/workspaces/{name}`.
pub(crate) async fn remove(ask: Ask) -> Answer {
    ask.parameters([])?;
    let (all, name) = (of(&ask), named(&ask)?);
    ask.caller.may_change(name.as_str()).await?;
    let told = off_thread(move || {
        all.remove(&name)?;
        Ok::<_, ApiError>(json!({ "removed": name.as_str() }))
    });
    Ok(json::ok(&told.await?))
}

/// `GET /v1/workspaces/{name}/tree?path=P`: the names in a folder.
pub(crate) async fn tree(ask: Ask) -> Answer {
    let [path] = ask.parameters(["path"])?;
    let path = without_climbing(path.unwrap_or_else(|| "/workspace".into()))?;
    let (all, name) = (of(&ask), named(&ask)?);
    let told = off_thread(move || {
        let mut entries = all.look(&name)?.ls(&path).map_err(|error| of_file(&path, &error))?;
        let cut = entries.len() > ROWS_MAX;
        entries.truncate(ROWS_MAX);
        let rows = entries.iter().map(|it| {
            let kind = match it.kind {
                FileKind::File => "file",
                FileKind::Directory => "directory",
                FileKind::Symlink => "symlink",
            };
            json!({ "name": it.name, "kind": kind, "size": it.size, "modified_ms": it.modified.as_millis() })
        });
        Ok::<_, ApiError>(json!({ "path": path, "entries": rows.collect::<Vec<_>>(), "truncated": cut }))
    });
    Ok(json::ok(&told.await?))
}

/// The path of a file, as a guest has it.
fn path_of(ask: &Ask) -> Result<String, ApiError> {
    without_climbing(format!("/{}", ask.found("path").trim_start_matches('/')))
}

/// A path that says where it leads.
fn without_climbing(path: String) -> Result<String, ApiError> {
    match path.split('/').any(|it| it == "..") {
        true => Err(ApiError::bad("bad_path", "`..` is not allowed in a path")),
        false => Ok(path),
    }
}

/// `GET /v1/workspaces/{name}/files/{path}`: the bytes of a file, however many, a piece at a time.
pub(crate) async fn read(ask: Ask) -> Answer {
    ask.parameters([])?;
    let (all, name, path) = (of(&ask), named(&ask)?, path_of(&ask)?);
    let opened = off_thread(move || {
        let opened = all.look(&name)?.open_to_read(&path, SystemClock.now()).and_then(Opened::new);
        opened.map_err(|error| of_file(&path, &error))
    });
    let opened = opened.await?;
    let length = HeaderValue::from(opened.size);
    let mut response = Response::new(opened.body());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_LENGTH, length);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// `PUT /v1/workspaces/{name}/files/{path}`: writes a file, and makes the folders above it.
pub(crate) async fn write(mut ask: Ask) -> Answer {
    ask.parameters([])?;
    let (all, name, path) = (of(&ask), named(&ask)?, path_of(&ask)?);
    ask.caller.may_change(name.as_str()).await?;
    let bytes = ask.body(FILE_BYTES_MAX).await?;
    let told = off_thread(move || {
        let workspace = all.open(&name)?;
        workspace.put(&path, &bytes, SystemClock.now()).map_err(|error| of_file(&path, &error))?;
        Ok::<_, ApiError>(json!({ "path": path, "bytes": bytes.len() }))
    });
    Ok(json::ok(&told.await?))
}

/// `DELETE /v1/workspaces/{name}/files/{path}`.
pub(crate) async fn remove_file(ask: Ask) -> Answer {
    ask.parameters([])?;
    let (all, name, path) = (of(&ask), named(&ask)?, path_of(&ask)?);
    ask.caller.may_change(name.as_str()).await?;
    let told = off_thread(move || {
        all.open(&name)?.rm(&path, SystemClock.now()).map_err(|error| of_file(&path, &error))?;
        Ok::<_, ApiError>(json!({ "removed": path }))
    });
    Ok(json::ok(&told.await?))
}

/// `GET /v1/workspaces/{name}/diff?snapshot=S`: what is different in `/workspace` since a snapshot.
pub(crate) async fn diff(ask: Ask) -> Answer {
    let [snapshot] = ask.parameters(["snapshot"])?;
    let (all, name) = (of(&ask), named(&ask)?);
    let told = off_thread(move || {
        let workspace = all.look(&name)?;
        let Some(snapshot) = snapshot else {
            return Err(ApiError::bad("bad_parameter", "`snapshot` names what to compare with"));
        };
        let snapshot = known(&all, &name, &snapshot)?;
        let mut changes = all.diff_snapshot(&workspace, &snapshot, Volume::Workspace)?;
        let cut = changes.len() > ROWS_MAX;
        changes.truncate(ROWS_MAX);
        let rows = changes.iter().map(|it| json!({ "path": it.path, "kind": it.kind, "size": it.size }));
        Ok::<_, ApiError>(json!({ "changes": rows.collect::<Vec<_>>(), "truncated": cut }))
    });
    Ok(json::ok(&told.await?))
}

/// A snapshot that is there.
fn known(all: &Workspaces, workspace: &WorkspaceName, snapshot: &str) -> Result<WorkspaceName, ApiError> {
    let absent = || ApiError::absent("snapshot");
    let name: WorkspaceName = snapshot.parse().map_err(|_| absent())?;
    let there = all.snapshots(workspace).map_err(|error| ApiError::internal(&error))?;
    there.contains(&name).then_some(name).ok_or_else(absent)
}

/// `GET /v1/workspaces/{name}/snapshots`.
pub(crate) async fn snapshots(ask: Ask) -> Answer {
    ask.parameters([])?;
    let (all, name) = (of(&ask), named(&ask)?);
    let told = off_thread(move || {
        all.look(&name)?;
        let names = all.snapshots(&name).map_err(|error| ApiError::internal(&error))?;
        Ok::<_, ApiError>(json!({ "snapshots": names.iter().map(ToString::to_string).collect::<Vec<_>>() }))
    });
    Ok(json::ok(&told.await?))
}

/// `POST /v1/workspaces/{name}/snapshots`: keeps it as it is now.
pub(crate) async fn snapshot(mut ask: Ask) -> Answer {
    ask.parameters([])?;
    let (all, name) = (of(&ask), named(&ask)?);
    let wanted: Named = ask.json(NAME_BYTES_MAX).await?;
    let told = off_thread(move || {
        all.look(&name)?;
        let snapshot = parsed(&wanted.name)?;
        all.snapshot(&name, &snapshot)?;
        Ok::<_, ApiError>(json!({ "snapshot": snapshot.as_str() }))
    });
    Ok(json::ok(&told.await?))
}

/// `POST /v1/workspaces/{name}/restore`: brings a snapshot back.
pub(crate) async fn restore(mut ask: Ask) -> Answer {
    ask.parameters([])?;
    let (all, name) = (of(&ask), named(&ask)?);
    ask.caller.may_change(name.as_str()).await?;
    let wanted: Named = ask.json(NAME_BYTES_MAX).await?;
    let told = off_thread(move || {
        let workspace = all.open(&name)?;
        let snapshot = known(&all, &name, &wanted.name)?;
        all.restore(&workspace, &snapshot)?;
        Ok::<_, ApiError>(json!({ "restored": snapshot.as_str() }))
    });
    Ok(json::ok(&told.await?))
}

/// `POST /v1/workspaces/{name}/fork`: copies it under a new name.
pub(crate) async fn fork(mut ask: Ask) -> Answer {
    ask.parameters([])?;
    let (all, name) = (of(&ask), named(&ask)?);
    let wanted: Named = ask.json(NAME_BYTES_MAX).await?;
    let told = off_thread(move || {
        all.look(&name)?;
        let new = parsed(&wanted.name)?;
        room_for(&all, &new)?;
        all.fork(&name, &new)?;
        Ok::<_, ApiError>(json!({ "name": new.as_str() }))
    });
    Ok(json::ok(&told.await?))
}
