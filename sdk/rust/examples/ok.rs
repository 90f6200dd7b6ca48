//! The guest of the ABI's own pseudo-code: whatever is asked, the answer is `{"ok":true}`.

use drydock_sdk::{Request, Response, extension};

fn handle(_: Request) -> Response {
    Response::new(200).header("content-type", "application/json").body(r#"{"ok":true}"#)
}

extension!(handle);
