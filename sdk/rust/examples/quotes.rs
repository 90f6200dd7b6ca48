//! Fetches what the query names, says so in its log, and answers what it found: `/?from=http://api.test/price`.

use drydock_sdk::{Fetch, Request, Response, extension, log};
use serde_json::json;

fn handle(request: Request) -> Response {
    let Some(from) = request.query.get("from") else {
        log::error("nobody said where to look");
        return Response::json(&json!({ "error": "say ?from=URL" })).status(400);
    };
    log::info(&format!("asking {from}"));
    let asked = Fetch::post(from, request.body.clone()).header("accept", "application/json").send();
    match asked {
        Ok(answer) => Response::json(&json!({
            "status": answer.status,
            "type": answer.get_header("content-type"),
            "text": String::from_utf8_lossy(&answer.body),
        })),
        Err(error) => {
            log::error(&format!("{from}: {error}"));
            Response::json(&json!({ "error": error.to_string() })).status(502)
        }
    }
}

extension!(handle);
