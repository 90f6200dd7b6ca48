//! One request that was let through: made by `egress` in the session's name, recorded, and handed over whole or as it
//! comes.
//!
//! What the network or a server did is an answer. An address that turns out not to be public is a denial, with the grant
//! that would open it.

use core::net::SocketAddr;
use std::{future::poll_fn, pin::pin, sync::Arc, time::Duration};

use drydock_abi::fetch::{
    BODY, FETCH_BODY_BYTES_MAX, FETCHED_BYTES_MAX, FailureKind, FetchAnswer, FetchFailure, Fetched, HEAD,
    STREAMED_BYTES_MAX, answer_json, frame_head, frame_of, head_json,
};
use drydock_contract::{
    CallError, Cap, Denial, Fault, Reply, Sink, Streams, Unit, host::PRIVATE, port, schedule,
};
use drydock_egress::{
    Caller, Decoding, Egress, FailureKind as Why, FetchError, HeaderMap, Limits, NotRecorded, Observation,
    Observe, Policy, Redirects, Refusal, Request, Response, Rules,
};
use drydock_gate::{AttemptLog, Permit, Session};

use bytes::Bytes;

use crate::{
    net::{Net, Ready, WayOut, not_open},
    played::{self, Is, Piece, SENTENCES},
    reach::Credentials,
};

/// Time of a request whose caller has no end of its own.
const WHOLE_MAX: Duration = Duration::from_secs(30);
/// The same for one that is read as it comes.
const STREAMED_MAX: Duration = Duration::from_secs(600);

impl WayOut for Egress {
    async fn answer(
        &self,
        permit: &Permit<'_, Net>,
        ready: Ready,
        mut streams: Streams,
    ) -> Result<Reply, CallError> {
        let streamed = matches!(streams.stdout, Sink::Stream(_));
        if let Some(tape) = played::of(permit) {
            tape.catch_up().await;
        }
        let done = ask(self, permit, ready, &mut streams.stdout, streamed).await;
        if played::of(permit).is_some()
            && let Some((piece, body)) = Piece::end(&done, streamed)
        {
            played::tell(permit, piece.with_attempts(&permit.attempts().told()), body);
        }
        Ok(reply(done?, streamed, permit.wants_typed(), streams))
    }
}

async fn ask(
    egress: &Egress,
    permit: &Permit<'_, Net>,
    ready: Ready,
    stdout: &mut Sink,
    streamed: bool,
) -> Result<FetchAnswer, CallError> {
    let session = permit.session();
    let Ready { method, target, headers, body, timeout_ms, max_bytes, decode, opened, label } = ready;
    tracing::trace!(target: "drydock::hop", "caps/net: {label} is judged, and asked if it may be");
    let rules = Rules::only(&target, opened);
    let credentials = session.spec().credentials.as_deref().and_then(|it| it.downcast_ref::<Credentials>());
    let policy = match credentials {
        Some(Credentials(held)) => held.under(rules),
        None => Policy::new(rules, Vec::new()),
    };
    let request = Request {
        method,
        target,
        headers,
        body: body.into(),
        redirects: Redirects::Return,
        decoding: if decode { Decoding::Decode } else { Decoding::AsSent },
        limits: limits(session, streamed, timeout_ms, max_bytes),
    };
    let caller = Caller {
        tenant: session.spec().tenant.clone(),
        principal: session.spec().principal.clone(),
        observer: Arc::new(Told(permit.attempts())),
    };
    let answer = match held(egress.fetch(&caller, &policy, request)).await {
        Err(error) => Err(error),
        Ok(response) if streamed => {
            let nothing =
                Fetched { status: response.status.as_u16(), headers: Vec::new(), body: Bytes::new() };
            stream(permit, response, stdout).await?.map(|()| nothing)
        }
        Ok(response) => held(whole(response)).await,
    };
    match answer {
        Ok(fetched) => Ok(Ok(fetched)),
        Err(error) => Ok(Err(failure(error)?)),
    }
}

/// Waits for the world. A connection may wake itself while it waits: that is no slice of the session's work, and nobody
/// else of the session has a turn by it (decision 0072).
pub(crate) async fn held<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|cx| {
        let polled = work.as_mut().poll(cx);
        if polled.is_pending() {
            schedule::gives_thread_back();
        }
        polled
    })
    .await
}

/// The answer as whoever asked takes it.
pub(crate) fn reply(answer: FetchAnswer, streamed: bool, wants_typed: bool, streams: Streams) -> Reply {
    if streamed {
        return Reply::of_value(answer.map(drop), streams);
    }
    let digested = answer.as_ref().ok().map(|it| it.body.clone());
    if wants_typed {
        return Reply { digested, ..Reply::of_value(answer, streams) };
    }
    let json = match &answer {
        Ok(fetched) => answer_json(fetched),
        Err(failure) => [&b"{\"error\":"[..], &failure.to_json(), b"}"].concat(),
    };
    Reply::of_bytes(json, streams)
}

/// No more time than the caller has left, no more bytes than it wants.
fn limits(session: &Session, streamed: bool, timeout_ms: Option<u64>, max_bytes: Option<u64>) -> Limits {
    let (time_max, bytes_max) = match streamed {
        true => (STREAMED_MAX, STREAMED_BYTES_MAX),
        false => (WHOLE_MAX, FETCHED_BYTES_MAX),
    };
    let left = session.deadline().map(|it| it.at().saturating_duration_since(std::time::Instant::now()));
    let asked = timeout_ms.map(Duration::from_millis);
    Limits {
        request_bytes_max: FETCH_BODY_BYTES_MAX,
        response_bytes_max: max_bytes.unwrap_or(bytes_max).min(bytes_max),
        total_max: [left, asked].into_iter().flatten().fold(time_max, Duration::min),
        ..Limits::default()
    }
}

async fn whole(response: Response) -> Result<Fetched, FetchError> {
    let (status, headers) = (response.status.as_u16(), texts(&response.headers));
    let body = response.body.read_all().await?;
    Ok(Fetched { status, headers, body })
}

/// Writes frames as they come. Whoever reads them may stop; the session may have no more bytes to spend.
async fn stream(
    permit: &Permit<'_, Net>,
    response: Response,
    sink: &mut Sink,
) -> Result<Result<(), FetchError>, CallError> {
    let (status, headers) = (response.status.as_u16(), texts(&response.headers));
    if played::of(permit).is_some() {
        played::tell(permit, Piece::new(Is::Head(status, headers.clone())), b"");
    }
    write_head(sink, status, &headers).await?;
    let mut body = response.body;
    loop {
        // Each piece takes a turn, whether it is there already or not, so that the guest reads one at a time.
        if let Some(tape) = played::of(permit) {
            tape.catch_up().await;
        }
        let Some(piece) = held(body.next()).await else { return Ok(Ok(())) };
        let piece = match piece {
            Ok(piece) => piece,
            Err(error) => return Ok(Err(error)),
        };
        if played::of(permit).is_some() {
            played::tell(permit, Piece::new(Is::Body), &piece);
        }
        write_body(permit.session(), sink, &piece).await?;
    }
}

/// The head of an answer that is read as it comes.
pub(crate) async fn write_head(
    sink: &mut Sink,
    status: u16,
    headers: &[(String, String)],
) -> Result<(), CallError> {
    Ok(write_all(sink, &frame_of(HEAD, &head_json(status, headers))).await?)
}

/// A piece of its body, for which the session pays.
pub(crate) async fn write_body(session: &Session, sink: &mut Sink, piece: &[u8]) -> Result<(), CallError> {
    let bytes = piece.len() as u64;
    if session.spec().budget.as_ref().is_some_and(|it| !it.reserve(Unit::Bytes, bytes)) {
        return Err(Denial::spent("bytes").into());
    }
    // Pieces come out of buffers of some kilobytes.
    write_all(sink, &frame_head(BODY, u32::try_from(bytes).unwrap_or(u32::MAX))).await?;
    Ok(write_all(sink, piece).await?)
}

async fn write_all(sink: &mut Sink, mut bytes: &[u8]) -> Result<(), Fault> {
    while !bytes.is_empty() {
        let written = poll_fn(|cx| sink.poll_write(cx, bytes)).await;
        let written = written.map_err(|error| Fault::Output(error.to_string()))?;
        bytes = bytes.get(written..).unwrap_or_default();
    }
    Ok(())
}

/// Values that are no text are shown as far as they are.
fn texts(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes()))).collect()
}

/// What a guest is told of a fetch that brought nothing; what policy refused is the gate's to say.
fn failure(error: FetchError) -> Result<FetchFailure, CallError> {
    let denied = |why| Denial::HostNotGranted { cap: Cap::Net, host: "".into(), why, rules: None };
    match &error {
        FetchError::Refused(Refusal::AddressForbidden { address, port, .. }) => {
            let subject = format!("{PRIVATE}{}", SocketAddr::new(*address, *port));
            return Err(not_open(Cap::Net, &subject).into());
        }
        FetchError::Refused(Refusal::Method { .. }) => {
            return Err(denied(SENTENCES[0]).into());
        }
        FetchError::Refused(Refusal::TooManyAddresses { .. }) => {
            return Err(denied(SENTENCES[1]).into());
        }
        FetchError::SecretNeedsTls { .. } => {
            return Err(denied(SENTENCES[2]).into());
        }
        FetchError::NotRecorded(error) => return Err(Fault::Unrecorded(error.to_string()).into()),
        _ => {}
    }
    let kind = match error.kind() {
        Why::Denied => FailureKind::Denied,
        Why::Invalid => FailureKind::Invalid,
        Why::Transport => FailureKind::Transport,
        Why::TooLarge => FailureKind::TooLarge,
        Why::Timeout => FailureKind::Timeout,
        Why::Quota => FailureKind::Quota,
    };
    let cause = std::error::Error::source(&error).map(|it| format!(": {it}")).unwrap_or_default();
    Ok(FetchFailure { kind, code: error.code(), message: format!("{error}{cause}"), flag: None })
}

/// The gate has recorded that the call begins. Each of its connections is on record before it is made, with host and
/// address; how it ended is in the record of the call's end.
#[derive(Debug)]
pub(crate) struct Told(pub(crate) Arc<AttemptLog>);

impl Observe for Told {
    fn observe(&self, observation: &Observation) -> Result<(), NotRecorded> {
        match observation {
            // The record of a denial is the gate's.
            Observation::Refused { .. } => Ok(()),
            Observation::Began { attempt } => {
                let host = format!("{}:{}", attempt.host, attempt.port);
                let address = SocketAddr::new(attempt.address, attempt.port);
                self.0.begins(&host, address).map_err(|_| NotRecorded)
            }
            Observation::Ended { attempt, status, bytes_sent, bytes_received, code } => {
                self.0.ended(port::Attempt {
                    address: SocketAddr::new(attempt.address, attempt.port),
                    status: *status,
                    bytes_sent: *bytes_sent,
                    bytes_received: *bytes_received,
                    code,
                });
                Ok(())
            }
        }
    }
}
