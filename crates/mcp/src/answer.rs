//! The result of an operation as a tool's result: the JSON that its schema promises, and beside it the text that
//! a model reads best.

use drydock_embed::SandboxError;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;

use crate::resource;

/// A result.
pub(crate) fn done(name: &str, value: Value) -> CallToolResult {
    let content = match name {
        "sh" | "run" => vec![ContentBlock::text(ended(&value))],
        "js" => vec![ContentBlock::text(program(&value))],
        "py" => python(&value),
        "read_file" => vec![file(&value)],
        "diff" => vec![ContentBlock::text(diff(&value))],
        "search" => vec![ContentBlock::text(rows(&value["matches"], found, "nothing found"))],
        "list_files" => vec![ContentBlock::text(rows(&value["entries"], entry, "empty"))],
        _ => vec![ContentBlock::text(value.to_string())],
    };
    let content: Vec<_> = content.into_iter().chain(grants(&value).map(ContentBlock::text)).collect();
    let failed = matches!(name, "js" | "py") && value["ok"] == false;
    let mut result = if failed { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = Some(value);
    result
}

/// No result. It has no structure, because a client would hold it against the schema of a result.
pub(crate) fn failed(error: &SandboxError) -> CallToolResult {
    let told = ContentBlock::text(format!("{}: {}", error.code, error.message));
    let grant = error.denial.as_ref().and_then(|it| it.grant.as_ref());
    let grant = grant.map(|it| ContentBlock::text(format!("grant: {}", it.to_json())));
    CallToolResult::error([told].into_iter().chain(grant).collect())
}

/// For each call that was refused on the way, the grant that would have allowed it, as a file of grants holds it.
fn grants(value: &Value) -> impl Iterator<Item = String> {
    let denials = value["denials"].as_array().into_iter().flatten();
    denials.filter_map(|it| it.get("grant")).map(|it| format!("grant: {it}"))
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn ended(value: &Value) -> String {
    let mut shown = text(value, "stdout").to_owned();
    let mut part = |head: &str, body: &str| {
        if !shown.is_empty() && !shown.ends_with('\n') {
            shown.push('\n');
        }
        shown.push_str(head);
        shown.push_str(body);
    };
    if !text(value, "stderr").is_empty() {
        part("[stderr]\n", text(value, "stderr"));
    }
    if value["status"] != 0 {
        part("[status ", &format!("{}]", value["status"]));
    }
    if !text(value, "remark").is_empty() {
        part("[", &format!("{}: {}]", text(value, "limit"), text(value, "remark")));
    }
    shown
}

fn program(value: &Value) -> String {
    let logs = value["logs"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut shown: Vec<String> = logs.map(str::to_owned).collect();
    match (value.get("error"), value.get("result")) {
        (Some(error), _) => shown.push(format!("{}: {}", text(error, "code"), text(error, "message"))),
        (None, Some(result)) => shown.push(result.to_string()),
        (None, None) => shown.push("undefined".into()),
    }
    shown.join("\n")
}

/// Both outputs, the result or what went wrong, the files, and images as images.
fn python(value: &Value) -> Vec<ContentBlock> {
    let mut shown: Vec<String> = vec![ended(value)];
    match (value.get("error"), value.get("result")) {
        (Some(error), _) => {
            shown.push(format!("{}: {}", text(error, "code"), text(error, "message")));
            shown.extend(error["hint"].as_str().map(str::to_owned));
        }
        (None, Some(result)) => shown.push(result.to_string()),
        (None, None) => {}
    }
    shown.push(rows(&value["files"], |it| format!("{} {}", text(it, "kind"), text(it, "path")), ""));
    let displays = value["displays"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_image = |it: &&Value| it["encoding"] == "base64" && text(it, "mediaType").starts_with("image/");
    shown.extend(displays.iter().filter(|it| !is_image(it)).map(Value::to_string));
    shown.retain(|it| !it.is_empty());
    let images = displays.iter().filter(is_image);
    std::iter::once(ContentBlock::text(shown.join("\n")))
        .chain(images.map(|it| ContentBlock::image(text(it, "data"), text(it, "mediaType"))))
        .collect()
}

fn file(value: &Value) -> ContentBlock {
    match value["base64"].as_str() {
        None => ContentBlock::text(text(value, "text")),
        Some(blob) => {
            let uri = resource::uri(text(value, "path"));
            let contents = ResourceContents::blob(blob, uri).with_mime_type("application/octet-stream");
            ContentBlock::resource(contents)
        }
    }
}

fn diff(value: &Value) -> String {
    match (value["changes"].as_array().map_or(0, Vec::len), text(value, "diff")) {
        (0, _) => "nothing changed".into(),
        (_, "") => rows(&value["changes"], |it| format!("{} {}", text(it, "kind"), text(it, "path")), ""),
        (_, diff) => diff.to_owned(),
    }
}

fn found(it: &Value) -> String {
    format!("{}:{}:{}", text(it, "path"), it["line"], text(it, "text"))
}

fn entry(it: &Value) -> String {
    let mark = if it["kind"] == "directory" { "/" } else { "" };
    format!("{}{mark}", text(it, "path"))
}

fn rows(list: &Value, shown: impl Fn(&Value) -> String, none: &str) -> String {
    let rows: Vec<String> = list.as_array().into_iter().flatten().map(shown).collect();
    if rows.is_empty() { none.to_owned() } else { rows.join("\n") }
}
