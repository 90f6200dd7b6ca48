//! Needs no power at all: answers what it was sent, in capitals. `drydock serve-guest shout.wasm`.

use drydock_host::{Request, Response, serve};

fn handle(request: Request) -> Response {
    Response::text(String::from_utf8_lossy(&request.body).to_uppercase()).header("x-path", &request.path)
}

serve!(handle);
