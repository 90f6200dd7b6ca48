//! Keeps a count in kv, signs it with a secret that it cannot read, and serves it:
//! `drydock serve-guest counter.wasm`.

use drydock_host::{Request, Response, kv, log, now_ms, serve, sign};

fn handle(request: Request) -> Response {
    let key = format!("visits{}", request.path.split('?').next().unwrap_or("/"));
    let before = match kv::get(&key) {
        Ok(value) => String::from_utf8_lossy(&value).parse().unwrap_or(0),
        Err(error) if error.code() == "not_found" => 0_u64,
        Err(error) => return Response::text(format!("{error}\n")).status(503),
    };
    let text = format!("{} {}", before + 1, request.path);
    if let Err(error) = kv::put(&key, (before + 1).to_string().as_bytes()) {
        return Response::text(format!("{error}\n")).status(503);
    }
    let signature = match sign("COUNTER", text.as_bytes()) {
        Ok(bytes) => bytes.iter().map(|it| format!("{it:02x}")).collect(),
        Err(error) => format!("none: {}", error.code()),
    };
    log(&format!("{} {} at {}", request.method, request.path, now_ms()));
    Response::text(format!("{text}\n")).header("x-signature", &signature)
}

serve!(handle);
