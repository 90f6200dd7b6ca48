//! HTTP/1.1 before a guest that serves: a request becomes text, and what the guest wrote a response.

use std::{convert::Infallible, time::Duration};

use bytes::{Bytes, BytesMut};
use drydock_contract::{CallError, Denial, Fault, text::printable};
use drydock_embed::{
    CONNECTION_WALL_MAX, SERVED_REQUEST_BYTES_MAX, ServedConnection, TextRequest, TextResponse,
    decode_response, encode_request,
};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request, Response, StatusCode,
    body::{Body as _, Incoming},
    header::{HeaderName, HeaderValue, RETRY_AFTER},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::watch,
};

use super::{Counters, Went, room::Room, went};

/// Time for a request's line and headers, and between two requests.
const HEADER_READ_MAX: Duration = Duration::from_secs(10);
/// Bytes of a head.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// Headers of a request.
const HEADERS_MAX: usize = 100;
/// What a client is told of a guest that could not answer; why is for whoever runs us.
const HANDLER_ERROR: &str = "guest handler error";

/// Headers that are about the connection and not about the answer. Lengths are ours to say.
const OURS: [&str; 8] = [
    "connection",
    "content-length",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Answers requests until the client or the server ends it.
pub(super) async fn speak(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    connection: &ServedConnection,
    (counters, room): (&Counters, &Room),
    mut ending: watch::Receiver<bool>,
) {
    let service = service_fn(|request| async {
        let (response, went) = answer(connection, room, request).await;
        counters.count(went);
        Ok::<_, Infallible>(response)
    });
    let speaking = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_READ_MAX)
        .max_header_size(HEAD_BYTES_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), service);
    let mut speaking = std::pin::pin!(speaking);
    let told = async { drop(ending.wait_for(|it| *it).await) };
    tokio::select! {
        // What goes wrong here is the other end's, or was answered already.
        ended = speaking.as_mut() => drop(ended),
        () = told => {
            speaking.as_mut().graceful_shutdown();
            let _ = speaking.await;
        }
    }
}

async fn answer(
    connection: &ServedConnection,
    room: &Room,
    request: Request<Incoming>,
) -> (Response<Full<Bytes>>, Went) {
    let (head, body) = request.into_parts();
    let body = match tokio::time::timeout(CONNECTION_WALL_MAX, read(body)).await {
        Ok(Ok(body)) => body,
        Ok(Err(Unread::TooLarge(bytes))) => {
            let error = connection.refuse(bytes).await;
            return (refused(&error), went(&error));
        }
        Ok(Err(Unread::Broken)) => {
            return (said(StatusCode::BAD_REQUEST, "the body cannot be read"), Went::Refused);
        }
        Err(_) => {
            return (said(StatusCode::REQUEST_TIMEOUT, "the body took longer than it may"), Went::Refused);
        }
    };
    let headers = head.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    let path = head.uri.path_and_query().map_or("/", |it| it.as_str());
    let text = TextRequest { method: head.method.as_str(), path, headers, body: &body };
    let text = match encode_request(&text) {
        Ok(text) => text,
        Err(bad) => return (said(StatusCode::BAD_REQUEST, &bad.to_string()), Went::Refused),
    };
    let Some(reserved) = room.wait().await else {
        return (said(StatusCode::SERVICE_UNAVAILABLE, "it cannot be answered now"), Went::Refused);
    };
    match connection.request(text.into()).await {
        Ok(Ok(written)) => (response(decode_response(reserved.hold(written))), Went::Answered),
        Ok(Err(failure)) => {
            let message = printable(&failure.message);
            tracing::error!(target: "drydock::extension", code = &*failure.code, "the guest did not answer: {message}");
            (said(StatusCode::BAD_GATEWAY, HANDLER_ERROR), Went::Failed)
        }
        Err(error) => (refused(&error), went(&error)),
    }
}

/// Why there is no body.
enum Unread {
    TooLarge(u64),
    Broken,
}

async fn read(mut body: Incoming) -> Result<Bytes, Unread> {
    let said = body.size_hint().lower();
    if said > SERVED_REQUEST_BYTES_MAX {
        return Err(Unread::TooLarge(said));
    }
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        // Trailers say nothing here.
        let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else { continue };
        let bytes = (all.len() + data.len()) as u64;
        if bytes > SERVED_REQUEST_BYTES_MAX {
            return Err(Unread::TooLarge(bytes));
        }
        all.extend_from_slice(&data);
    }
    Ok(all.freeze())
}

/// What the guest wrote, as far as it can be sent.
fn response(written: TextResponse) -> Response<Full<Bytes>> {
    let TextResponse { status, headers, body, odd_lines } = written;
    if odd_lines > 0 {
        tracing::error!(target: "drydock::extension", "{odd_lines} lines of the response are no headers, and were not sent");
    }
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    let has_body =
        !matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::NOT_MODIFIED);
    let mut response = Response::new(Full::new(if has_body { body } else { Bytes::new() }));
    *response.status_mut() = status;
    for (name, value) in headers {
        let pair = (HeaderName::try_from(name), HeaderValue::try_from(value));
        if let (Ok(name), Ok(value)) = pair
            && !OURS.contains(&name.as_str())
        {
            response.headers_mut().append(name, value);
        }
    }
    response
}

/// What a client is told that was refused.
fn refused(error: &CallError) -> Response<Full<Bytes>> {
    match error {
        CallError::Denied(Denial::RateLimited { window_s, .. }) => {
            let mut response = said(StatusCode::TOO_MANY_REQUESTS, "too many requests");
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(*window_s));
            response
        }
        CallError::Denied(Denial::TooLarge { .. }) => {
            said(StatusCode::PAYLOAD_TOO_LARGE, "the request is larger than it may be")
        }
        CallError::Denied(_) | CallError::Failed(Fault::Saturated(_)) => {
            said(StatusCode::SERVICE_UNAVAILABLE, "it cannot be answered now")
        }
        CallError::Failed(fault) => {
            tracing::error!(target: "drydock::extension", "a request failed: {fault}");
            said(StatusCode::BAD_GATEWAY, HANDLER_ERROR)
        }
    }
}

fn said(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::copy_from_slice(text.as_bytes())));
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guests_response_is_sent_without_what_is_ours_to_say() {
        let text =
            b"201\ncontent-length: 9999\nTransfer-Encoding: chunked\nset-cookie: a\nset-cookie: b\n\nhi";
        let sent = response(decode_response(Bytes::from_static(text)));
        assert_eq!(sent.status(), StatusCode::CREATED);
        let names: Vec<&str> = sent.headers().iter().map(|it| it.0.as_str()).collect();
        assert_eq!(names, ["set-cookie", "set-cookie"]);
        assert_eq!(sent.body().size_hint().exact(), Some(2));
        let none = response(decode_response(Bytes::from_static(b"204\n\nnot sent")));
        assert_eq!(none.body().size_hint().exact(), Some(0));
    }

    #[test]
    fn what_was_refused_has_its_status() {
        let status = |error: CallError| refused(&error).status().as_u16();
        assert_eq!(status(Denial::RateLimited { calls_max: 1, window_s: 60 }.into()), 429);
        assert_eq!(status(Denial::TooLarge { what: "request", bytes: 2, max: 1 }.into()), 413);
        assert_eq!(status(Denial::TooManyProcesses { max: 64 }.into()), 503);
        assert_eq!(status(Fault::Saturated("512 wait".into()).into()), 503);
        assert_eq!(status(Fault::Internal("secret".into()).into()), 502);
    }
}
