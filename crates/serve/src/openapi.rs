//! The document that describes the server, made of the list of routes.

use serde_json::{Map, Value, json};

use crate::{
    caller::Power,
    route::{ROUTES, Route, about},
};

/// The methods that a route for any of them has.
const ANY: &[&str] = &["get", "put", "post", "delete", "patch", "head", "options"];

/// OpenAPI 3.1.
pub fn document() -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        let entry = paths.entry(shown(route.path)).or_insert_with(|| json!({}));
        match &route.method {
            Some(method) => {
                entry[method.as_str().to_ascii_lowercase()] = operation(route, route.id.to_owned())
            }
            None => {
                for method in ANY {
                    entry[*method] = operation(route, format!("{}_{method}", route.id));
                }
            }
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Drydock", "version": env!("CARGO_PKG_VERSION"), "license": { "name": "MIT OR Apache-2.0" } },
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": { "Error": error_schema() },
        },
    })
}

/// The path as the document spells it.
fn shown(path: &str) -> String {
    path.replace("{*", "{")
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "properties": { "error": {
            "type": "object",
            "properties": {
                "code": { "type": "string" },
                "message": { "type": "string" },
                "retryable": { "type": "boolean" },
            },
            "required": ["code", "message", "retryable"],
        } },
        "required": ["error"],
    })
}

fn operation(route: &Route, id: String) -> Value {
    let about = about(route.id);
    let mut operation =
        json!({ "operationId": id, "summary": about.summary, "responses": responses(route, &about.answer) });
    let names = route.path.split('/').filter_map(|it| it.strip_prefix('{')?.strip_suffix('}'));
    let in_path = names.map(|it| {
        json!({ "name": it.trim_start_matches('*'), "in": "path", "required": true, "schema": { "type": "string", "minLength": 1 } })
    });
    let in_query =
        about.query.iter().map(|(name, schema)| json!({ "name": name, "in": "query", "schema": schema }));
    let key = json!({ "name": "Idempotency-Key", "in": "header", "schema": { "type": "string", "minLength": 1, "maxLength": 255 } });
    let parameters: Vec<Value> = in_path.chain(in_query).chain(route.once.then_some(key)).collect();
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    if !about.body.is_null() {
        operation["requestBody"] = json!({ "required": about.body_required, "content": about.body });
    }
    if route.power != Power::Open {
        operation["security"] = json!([{ "token": [] }, {}]);
        operation["x-drydock-power"] = route.power.name().into();
    }
    operation
}

/// What may come back: the answer, and the errors that every route, or every route of its kind, may have.
fn responses(route: &Route, answer: &Value) -> Value {
    let mut error = json!({
        "description": "why there is no answer",
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } },
    });
    let mut all = json!({ "200": { "description": "the answer", "content": answer } });
    let mut statuses = vec!["400", "403", "404", "421", "500"];
    if route.power != Power::Open {
        statuses.extend(["401", "408", "409", "413", "415", "422", "429", "503", "504", "507"]);
    } else {
        statuses.push("503");
    }
    if route.path.starts_with("/x/") {
        all["default"] = json!({ "description": "whatever the extension answers", "content": { "*/*": {} } });
    }
    if route.path == "/mcp" {
        // The SDK refuses in plain words.
        error["content"]["text/plain"] = json!({ "schema": { "type": "string" } });
        all["default"] = json!({ "description": "what MCP's transport says of a request that is none of its", "content": { "*/*": {} } });
    }
    for status in statuses {
        all[status] = error.clone();
    }
    all
}
