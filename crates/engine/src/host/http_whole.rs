//! `env.host_http_get`, `env.host_http` and `env.host_http_get_many`: whole answers of HTTP requests, bodies alone.
//!
//! Each request is a call of `http.fetch` at the gate, and each hop of a redirect is one more: five are followed, and what
//! a guest sends to one host as a credential goes to no other. An answer that does not fit is -1, and so is each answer
//! of many that is none; sixteen of those are under way at once, as far as the run's memory holds what they may bring.

use std::{collections::VecDeque, sync::Arc};

use drydock_abi::{
    fetch::{
        FETCH, FETCH_REQUEST_BYTES_MAX, FETCHED_BYTES_MAX, FailureKind, FetchAnswer, Follow, WholeRequest,
    },
    many,
};
use drydock_contract::{BoxFuture, Call, CallError, Denial, Dispatch, Streams, schedule};
use wasmtime::{Caller, Linker};

use super::{
    broker::{copy, malformed, text},
    open::Open,
    reply::{REFUSED, code_for_guest, give, refuse, room},
};
use crate::{
    guest::{Guest, Held},
    outcome::Stop,
    wait::{beside, wait_for, wait_for_others},
};

/// Time for each request of a guest that waits for it alone.
const TIME_MS_MAX: u64 = 15_000;
/// Requests of one call that are under way at once.
const AT_ONCE_MAX: usize = 16;
/// URLs of one call.
const URLS_MAX: usize = 1_024;
/// Of an answer that only says where to go there is as much, however little the guest has room for.
const ANSWER_BYTES_MIN: u64 = 64 << 10;

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async(
        "env",
        "host_http_get",
        |mut caller: Caller<'_, Guest>, (at, count, out, cap): (u32, u32, u32, u32)| {
            Box::new(async move {
                let ranges = [(0, 0), (at, count), (0, 0), (0, 0)];
                request(&mut caller, ranges, out, cap).await
            })
        },
    )?;
    linker.func_wrap_async(
        "env",
        "host_http",
        |mut caller: Caller<'_, Guest>,
         (method, method_len, url, url_len, headers, headers_len, body, body_len, out, cap): (
            u32,
            u32,
            u32,
            u32,
            u32,
            u32,
            u32,
            u32,
            u32,
            u32,
        )| {
            Box::new(async move {
                let ranges = [(method, method_len), (url, url_len), (headers, headers_len), (body, body_len)];
                request(&mut caller, ranges, out, cap).await
            })
        },
    )?;
    linker.func_wrap_async(
        "env",
        "host_http_get_many",
        |mut caller: Caller<'_, Guest>, (at, count, out, cap): (u32, u32, u32, u32)| {
            Box::new(async move { get_many(&mut caller, at, count, out, cap).await })
        },
    )?;
    Ok(())
}

/// The most that one answer may bring.
fn answer_bytes_max(cap: u32) -> u64 {
    u64::from(cap).clamp(ANSWER_BYTES_MIN, FETCHED_BYTES_MAX)
}

/// One request: method, URL, headers as lines of `name: value`, body.
async fn request(
    caller: &mut Caller<'_, Guest>,
    ranges: [(u32, u32); 4],
    out: u32,
    cap: u32,
) -> wasmtime::Result<i32> {
    let cap = room(cap);
    let Some(asked) = copy(caller, FETCH, FETCH_REQUEST_BYTES_MAX, ranges).await? else { return Ok(REFUSED) };
    let [method, url, headers, body] = asked.parts;
    let mut texts = [const { String::new() }; 3];
    for (to, from) in texts.iter_mut().zip([method, url, headers]) {
        *to = match text(caller, FETCH, from).await {
            Ok(text) => text,
            Err(refused) => return Ok(refused),
        };
    }
    let [method, url, headers] = texts;
    let max_bytes = answer_bytes_max(cap);
    let Some(request) = WholeRequest::new(&method, url, &headers, body, TIME_MS_MAX, max_bytes) else {
        return Ok(malformed(caller, FETCH).await);
    };
    let _held = Held::take(&caller.data().meter, max_bytes).ok_or(Stop::OutOfMemory)?;
    let door = Arc::clone(&caller.data().door);
    Ok(match wait_for_others(caller, fetch(door, request)).await {
        Ok(body) => give(caller, out, cap, &body),
        Err(code) => refuse(caller, code),
    })
}

/// The body of an answer, wherever it was in the end; else the code.
async fn fetch(door: Arc<dyn Dispatch>, mut request: WholeRequest) -> Result<bytes::Bytes, &'static str> {
    loop {
        let payload = request.to_json();
        let called = door.dispatch(Call::new(FETCH, &payload, Streams::default()).answered_typed()).await;
        let answer = match called.map(|mut reply| reply.value::<FetchAnswer>()) {
            Ok(Some(answer)) => answer,
            Ok(None) => return Err("internal_error"),
            Err(CallError::Denied(Denial::Malformed(_))) => return Err("malformed"),
            Err(error) => return Err(code_for_guest(&error)),
        };
        let fetched = answer.map_err(|failure| match failure.kind {
            FailureKind::TooLarge => "reply_too_large",
            FailureKind::Timeout => "timed_out",
            _ => failure.code,
        })?;
        match request.follow(fetched.status, &fetched.headers) {
            Follow::No => return Ok(fetched.body),
            Follow::To(next) => request = next,
            Follow::TooOften => return Err("too_many_redirects"),
        }
    }
}

/// What came of one of many.
struct Ended {
    at: usize,
    body: Option<bytes::Bytes>,
    /// The bill for what it might have brought.
    held: Held,
}

async fn get_many(
    caller: &mut Caller<'_, Guest>,
    at: u32,
    count: u32,
    out: u32,
    cap: u32,
) -> wasmtime::Result<i32> {
    let cap = room(cap);
    let copied = copy(caller, FETCH, FETCH_REQUEST_BYTES_MAX, [(at, count)]).await?;
    let Some(asked) = copied else { return Ok(REFUSED) };
    let [urls] = asked.parts;
    let urls = match text(caller, FETCH, urls).await {
        Ok(urls) => urls,
        Err(refused) => return Ok(refused),
    };
    let urls = many::urls(&urls);
    if urls.len() > URLS_MAX {
        return Ok(refuse(caller, "too_many_inputs"));
    }
    let mut bodies: Vec<Option<bytes::Bytes>> = vec![None; urls.len()];
    // What is collected stays below what the guest has room for, and is on its bill.
    let _collected = Held::take(&caller.data().meter, u64::from(cap).min(many_bytes_max(urls.len())))
        .ok_or(Stop::OutOfMemory)?;
    let mut waiting: VecDeque<(usize, &str)> = urls.iter().copied().enumerate().collect();
    let mut open = Open::by(caller.data().clock.stepped());
    let mut bytes = many::head_bytes(urls.len());
    loop {
        while open.len() < AT_ONCE_MAX
            && let Some((at, url)) = waiting.front().copied()
        {
            let max_bytes = answer_bytes_max(cap);
            let held = match Held::take(&caller.data().meter, max_bytes) {
                Some(held) => held,
                // It has its turn when one of the others is done.
                None if open.len() > 0 => break,
                None => return Err(Stop::OutOfMemory.into()),
            };
            waiting.pop_front();
            let door = Arc::clone(&caller.data().door);
            let request = WholeRequest::get(url.to_owned(), TIME_MS_MAX, max_bytes);
            let call: BoxFuture<'static, Ended> =
                Box::pin(async move { Ended { at, body: fetch(door, request).await.ok(), held } });
            open.push(call);
        }
        let next = wait_for(caller, |caller, cx| {
            beside(caller, |_| {
                let polled = open.poll_next(cx);
                if polled.is_ready() {
                    // What the others wait for is nothing to whoever polls this run.
                    schedule::goes_on();
                }
                polled
            })
        });
        let Some(Ended { at, body, held }) = next.await else { break };
        drop(held);
        bytes += body.as_ref().map_or(0, |it| it.len() as u64);
        // Nobody waits for the rest: it does not fit whatever they bring.
        if bytes > u64::from(cap) {
            return Ok(refuse(caller, "reply_too_large"));
        }
        if let Some(place) = bodies.get_mut(at) {
            *place = body;
        }
    }
    let reply = many::encode(&bodies);
    Ok(give(caller, out, cap, &reply))
}

/// No more than all of them can bring.
fn many_bytes_max(urls: usize) -> u64 {
    (urls as u64).saturating_mul(FETCHED_BYTES_MAX).saturating_add(many::head_bytes(urls))
}
