//! Answers of the network as a tape has them, and the way out that has nothing else: it reads what was answered then,
//! and can reach nobody.
//!
//! Of a request there is nothing on a tape but its digest, so that no secret which went along is. What came back has
//! been through `egress`, which takes out of an answer what was put into the question.

use std::sync::Arc;

use drydock_abi::fetch::{FailureKind, FetchAnswer, FetchFailure, Fetched};
use drydock_contract::{
    BoxFuture, CallError, CallId, Cap, Denial, Fault, Reply, Sink, Streams, Timestamp, port::Attempt,
};
use drydock_egress::known_code;
use drydock_gate::{Permit, Tape};
use serde::{Deserialize, Serialize};

use crate::{
    fetch,
    net::{Net, Ready, WayOut, not_open},
};

/// Who has the answers of a tape.
pub trait Answers: Send + Sync {
    /// Waits until the next piece of the answer to this call is what the tape has next: what came before it then comes
    /// before it now.
    fn ready(&self, call: CallId) -> BoxFuture<'_, ()>;

    /// The next piece of the answer to this call.
    fn next(&self, call: CallId) -> Result<Vec<u8>, Fault>;
}

/// The way out of a replay: a tape, and nothing behind it.
#[derive(Clone)]
pub struct Played(pub Arc<dyn Answers>);

/// A piece of an answer: this as JSON behind its length, and then bytes of a body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Piece {
    /// What kind of piece.
    pub(crate) is: Is,
    /// How late it was out there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) late: Option<u64>,
    /// Connections that were made for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) attempts: Vec<Made>,
}

/// The kinds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Is {
    /// All of it; the body follows.
    Whole(u16, Vec<(String, String)>),
    /// The head of one that is read as it comes.
    Head(u16, Vec<(String, String)>),
    /// A piece of its body, which follows.
    Body,
    /// It is over.
    Ended,
    /// There is none.
    Failed(i32, String, String),
    /// An address that no grant opens.
    NotOpen(String),
    /// Policy said no, in one of its sentences.
    Refused(String),
    /// It could not be recorded.
    Unrecorded(String),
    /// What a broker answered, which follows as JSON.
    Answer,
    /// What a broker could not have, as a code and a sentence.
    Lacks(String, String),
    /// A bound of the broker's own, likewise.
    Bound(String, String),
    /// The session's budget had too little of this unit: how much was needed, and how much was left.
    Spent(String, u64, u64),
}

/// A connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Made(String, Option<u16>, u64, u64, String);

/// What policy says of an answer; the gate's own words.
pub(crate) const SENTENCES: [&str; 3] = [
    ": CONNECT and TRACE are not sent",
    ": it has more addresses than are judged",
    ": the secret for it goes over https only",
];

const KINDS: [FailureKind; 6] = [
    FailureKind::Denied,
    FailureKind::Invalid,
    FailureKind::Transport,
    FailureKind::TooLarge,
    FailureKind::Timeout,
    FailureKind::Quota,
];

impl Piece {
    pub(crate) fn new(is: Is) -> Self {
        Self { is, late: None, attempts: Vec::new() }
    }

    /// What ended a fetch; nothing where it was not the world that did.
    pub(crate) fn end(done: &Result<FetchAnswer, CallError>, streamed: bool) -> Option<(Self, &[u8])> {
        let piece = |is| (Self::new(is), &b""[..]);
        Some(match done {
            Ok(Ok(_)) if streamed => piece(Is::Ended),
            Ok(Ok(fetched)) => (Self::new(Is::Whole(fetched.status, fetched.headers.clone())), &fetched.body),
            Ok(Err(failure)) => {
                piece(Is::Failed(failure.kind as i32, failure.code.into(), failure.message.clone()))
            }
            Err(CallError::Denied(Denial::HostNotGranted { host, .. })) if !host.is_empty() => {
                piece(Is::NotOpen(host.to_string()))
            }
            Err(CallError::Denied(Denial::HostNotGranted { why, .. })) => piece(Is::Refused((*why).into())),
            Err(CallError::Failed(Fault::Unrecorded(text))) => piece(Is::Unrecorded(text.clone())),
            Err(_) => return None,
        })
    }

    pub(crate) fn encode(&self, body: &[u8]) -> Vec<u8> {
        // Texts and numbers are JSON.
        let head = serde_json::to_vec(self).unwrap_or_default();
        let length = u32::try_from(head.len()).unwrap_or(u32::MAX);
        [&length.to_le_bytes()[..], &head, body].concat()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (head, body) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
        Some((serde_json::from_slice(head).ok()?, body))
    }

    pub(crate) fn with_attempts(mut self, all: &[Attempt]) -> Self {
        let made = |it: &Attempt| {
            Made(it.address.to_string(), it.status, it.bytes_sent, it.bytes_received, it.code.into())
        };
        self.attempts = all.iter().map(made).collect();
        self
    }
}

/// Reads a piece that nobody vouches for; true if it is one.
pub fn is_piece(bytes: &[u8]) -> bool {
    Piece::decode(bytes).is_some()
}

/// Tells the session's tape, if it has one, a piece of an answer; the session's clock follows the world's.
pub(crate) fn tell(permit: &Permit<'_, impl drydock_gate::Capability>, mut piece: Piece, body: &[u8]) {
    let spec = permit.session().spec();
    let Some(tape) = &spec.tape else { return };
    piece.late = tape.late().map(|it| it.0);
    tape.answered(permit.call(), &piece.encode(body));
    follow(permit, piece.late);
}

fn follow(permit: &Permit<'_, impl drydock_gate::Capability>, late: Option<u64>) {
    if let (Some(clock), Some(late)) = (&permit.session().spec().clock, late) {
        clock.reach(Timestamp(late));
    }
}

/// The tape of a session that is recorded.
pub(crate) fn of<'a>(permit: &'a Permit<'_, impl drydock_gate::Capability>) -> Option<&'a Arc<dyn Tape>> {
    permit.session().spec().tape.as_ref()
}

/// The answer to this call, whole, and the world's lateness and connections with it.
pub(crate) async fn next_whole(
    answers: &dyn Answers,
    permit: &Permit<'_, impl drydock_gate::Capability>,
) -> Result<(Is, Vec<u8>), CallError> {
    if let Some(tape) = of(permit) {
        tape.catch_up().await;
    }
    answers.ready(permit.call()).await;
    let bytes = answers.next(permit.call())?;
    let (piece, body) = Piece::decode(&bytes).ok_or_else(broken)?;
    follow(permit, piece.late);
    replay_attempts(permit, piece.attempts)?;
    Ok((piece.is, body.to_vec()))
}

/// The tape has something else here.
pub(crate) fn broken() -> Fault {
    Fault::Internal("the tape has no such answer here".into())
}

fn replay_attempts(
    permit: &Permit<'_, impl drydock_gate::Capability>,
    attempts: Vec<Made>,
) -> Result<(), CallError> {
    let log = permit.attempts();
    for Made(address, status, bytes_sent, bytes_received, code) in attempts {
        let address = address.parse().map_err(|_| broken())?;
        log.ended(Attempt { address, status, bytes_sent, bytes_received, code: known_code(&code) });
    }
    Ok(())
}

impl WayOut for Played {
    async fn answer(
        &self,
        permit: &Permit<'_, Net<Self>>,
        _: Ready,
        mut streams: Streams,
    ) -> Result<Reply, CallError> {
        let streamed = matches!(streams.stdout, Sink::Stream(_));
        loop {
            if let Some(tape) = of(permit) {
                tape.catch_up().await;
            }
            self.0.ready(permit.call()).await;
            let bytes = self.0.next(permit.call())?;
            let (piece, body) = Piece::decode(&bytes).ok_or_else(broken)?;
            follow(permit, piece.late);
            replay_attempts(permit, piece.attempts)?;
            let answer: FetchAnswer = match piece.is {
                Is::Head(status, headers) if streamed => {
                    fetch::write_head(&mut streams.stdout, status, &headers).await?;
                    continue;
                }
                Is::Body if streamed => {
                    fetch::write_body(permit.session(), &mut streams.stdout, body).await?;
                    continue;
                }
                Is::Ended if streamed => {
                    return Ok(Reply::of_value(Ok::<(), FetchFailure>(()), streams));
                }
                Is::Whole(status, headers) if !streamed => {
                    Ok(Fetched { status, headers, body: body.to_vec().into() })
                }
                Is::Failed(kind, code, message) => {
                    let kind = KINDS.into_iter().find(|it| *it as i32 == kind).ok_or_else(broken)?;
                    Err(FetchFailure { kind, code: known_code(&code), message, flag: None })
                }
                Is::NotOpen(subject) => return Err(not_open(Cap::Net, &subject).into()),
                Is::Refused(why) => {
                    let why = SENTENCES.into_iter().find(|it| *it == why).ok_or_else(broken)?;
                    return Err(
                        Denial::HostNotGranted { cap: Cap::Net, host: "".into(), why, rules: None }.into()
                    );
                }
                Is::Unrecorded(text) => return Err(Fault::Unrecorded(text).into()),
                _ => return Err(broken().into()),
            };
            return Ok(fetch::reply(answer, streamed, permit.wants_typed(), streams));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_piece_is_read_as_it_is_written() {
        let headers = vec![("a".to_owned(), "b".to_owned())];
        for is in [
            Is::Whole(200, headers.clone()),
            Is::Head(404, headers),
            Is::Body,
            Is::Ended,
            Is::Failed(5, "timeout".into(), "late".into()),
            Is::NotOpen("private:127.0.0.1:1".into()),
            Is::Answer,
            Is::Lacks("timed_out".into(), "late".into()),
            Is::Bound("queue_full".into(), "full".into()),
            Is::Spent("tokens".into(), 7, u64::MAX),
        ] {
            let piece = Piece {
                is,
                late: Some(7),
                attempts: vec![Made("127.0.0.1:1".into(), None, 1, 2, "ok".into())],
            };
            assert_eq!(Piece::decode(&piece.encode(b"body")), Some((piece, &b"body"[..])));
        }
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_reader_of_pieces(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = is_piece(&bytes);
        }
    }
}
