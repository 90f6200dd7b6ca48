//! One turn of a model whose server is asked: through `egress` like any other request, again where that may help, and never
//! past the end of its time.
//!
//! The key is put into a header by `egress`, which takes it out of whatever comes back. Redirects are not followed: the key
//! is for one server.

use core::net::SocketAddr;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use drydock_abi::{
    broker::{Answer, Failure},
    llm::{
        Asked, COMPLETE_BYTES_MAX, Completion, Deltas, RECEIVED_BYTES_MAX,
        wire::{AnswerReader, BadAnswer, error_text},
    },
};
use drydock_contract::{CallError, Fault};
use drydock_egress::{
    Caller, Decoding, Egress, FailureKind, FetchError, HeaderMap, HeaderName, HeaderValue, InjectedHeader,
    Limits, Method, Policy, PrivateRule, Redirects, Request, Response, Rules, Secrets, Target, judge,
};
use drydock_gate::{Capability, Permit};

use crate::{
    charge::Known,
    fetch::{Told, held},
    models::{Endpoint, KeySource, Patience},
};

/// As much of an error as is looked at for its sentence.
const ERROR_BYTES_MAX: usize = 64 << 10;
/// The longest wait that a server may ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);

/// A try that brought nothing.
enum Failed {
    /// For good.
    Final(Failure),
    /// It may go better, perhaps after so long.
    Transient(Failure, Option<Duration>),
    /// Not the server's doing.
    Call(CallError),
}

/// Asks until there is a turn, or no hope or no time for one.
pub(crate) async fn complete<C: Capability>(
    egress: &Egress,
    endpoint: &Endpoint,
    permit: &Permit<'_, C>,
    asked: &Asked,
    known: &Known,
) -> Result<Answer<Completion>, CallError> {
    let Patience { total_max, attempts_max, pause, .. } = endpoint.patience;
    let request = asked.request();
    let wanted = request.timeout_ms.map(Duration::from_millis);
    let left = permit.session().deadline().map(|it| it.at().saturating_duration_since(Instant::now()));
    let until = Instant::now() + [wanted, left].into_iter().flatten().fold(total_max, Duration::min);
    let body = endpoint.dialect.body(request, &endpoint.model, &endpoint.extra);
    let key = endpoint.key.as_ref().map(|it| (&**it, endpoint.dialect.key_header()));
    let policy = match only(&endpoint.target, key) {
        Ok(policy) => policy,
        Err(why) => {
            let message = format!("the key of this model is not to be had: {why}");
            return Ok(Err(Failure::new("model_key", message)));
        }
    };
    let mut attempt = 1;
    loop {
        let time = until.saturating_duration_since(Instant::now());
        let (deltas, request_bytes) = (request.deltas.as_ref(), asked.json().len());
        let one = Try { egress, endpoint, policy: &policy, time, deltas, request_bytes, known };
        let (failure, wait) = match one.run(permit, body.clone()).await {
            Ok(mut turn) => {
                turn.usage.attempts = attempt;
                return Ok(Ok(turn));
            }
            Err(Failed::Call(error)) => return Err(error),
            Err(Failed::Final(failure)) => return Ok(Err(told(failure, attempt))),
            Err(Failed::Transient(failure, wait)) => (failure, wait),
        };
        let left = until.saturating_duration_since(Instant::now());
        let wait = wait
            .unwrap_or_else(|| jittered(pause * 2_u32.saturating_pow(attempt - 1), permit.entropy().seed()));
        if attempt >= attempts_max || wait >= left {
            return Ok(Err(told(failure, attempt)));
        }
        held(egress.pause(wait)).await;
        attempt += 1;
    }
}

/// Half of it to one and a half: those who were refused together do not come back together.
fn jittered(pause: Duration, seed: u64) -> Duration {
    let fraction = f64::from(u32::try_from(seed >> 32).unwrap_or_default()) / f64::from(u32::MAX);
    pause.mul_f64(0.5 + fraction)
}

fn told(failure: Failure, attempts: u32) -> Failure {
    if attempts == 1 {
        return failure;
    }
    Failure { message: format!("{} (after {attempts} tries)", failure.message), ..failure }
}

/// What a server may be asked with a key of the host's: it alone, the key in this header behind this text. An address that
/// is not public was opened by whoever wrote it as the server's; a name that leads to one was not.
pub(crate) fn only(target: &Target, key: Option<(&KeySource, (&str, &str))>) -> Result<Policy, String> {
    let private = target.literal().filter(|it| judge(*it).is_err());
    let opened = private.map(|address| PrivateRule(SocketAddr::new(address, target.port())));
    let rules = Rules::only(target, opened.into_iter().collect());
    let Some((key, (name, before))) = key else { return Ok(Policy::new(rules, Vec::new())) };
    let mut secrets = Secrets::default();
    secrets.put("KEY", key()?);
    let place = format!("{}:{}", target.host(), target.port());
    let header = InjectedHeader::parse(&place, &format!("{name}: {before}{{{{secret:KEY}}}}"), &secrets);
    Ok(Policy::new(rules, vec![header.map_err(|error| error.to_string())?]))
}

/// One request.
struct Try<'a> {
    egress: &'a Egress,
    endpoint: &'a Endpoint,
    policy: &'a Policy,
    time: Duration,
    deltas: Option<&'a Deltas>,
    request_bytes: usize,
    known: &'a Known,
}

impl Try<'_> {
    async fn run<C: Capability>(&self, permit: &Permit<'_, C>, body: Vec<u8>) -> Result<Completion, Failed> {
        let session = permit.session().spec();
        let request = Request {
            method: Method::POST,
            target: self.endpoint.target.clone(),
            headers: self.headers(),
            body: body.into(),
            redirects: Redirects::Return,
            decoding: Decoding::AsSent,
            limits: Limits {
                request_bytes_max: 2 * COMPLETE_BYTES_MAX,
                response_bytes_max: RECEIVED_BYTES_MAX,
                total_max: self.time,
                idle_max: self.endpoint.patience.idle_max,
                ..Limits::default()
            },
        };
        let caller = Caller {
            tenant: session.tenant.clone(),
            principal: session.principal.clone(),
            observer: Arc::new(Told(permit.attempts())),
        };
        let answer = held(self.egress.fetch(&caller, self.policy, request)).await;
        let response = answer.map_err(|error| self.unanswered(error))?;
        match response.status.as_u16() {
            200..=299 => self.turn(response).await,
            status => Err(self.refused(status, response).await),
        }
    }

    fn headers(&self) -> HeaderMap {
        let own = [("content-type", "application/json"), ("accept", "text/event-stream, application/json")];
        let all = own.iter().chain(self.endpoint.dialect.headers());
        let pairs = all.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        pairs.collect()
    }

    async fn turn(&self, mut response: Response) -> Result<Completion, Failed> {
        let kind = response.headers.get("content-type").and_then(|it| it.to_str().ok());
        let mut reader = AnswerReader::new(self.endpoint.dialect, kind);
        let (mut was_told, mut heard) = (false, 0);
        self.known.begun(self.request_bytes);
        let mut hear = |words: &str| {
            heard += words.len();
            self.known.heard(words.len());
            if let Some(Deltas(hear)) = self.deltas {
                was_told = true;
                hear(words);
            }
        };
        let ended = loop {
            match held(response.body.next()).await {
                None => break Ok(()),
                Some(Err(error)) => break Err(self.unanswered(error)),
                Some(Ok(piece)) => {
                    if let Err(error) = reader.push(&piece, &mut hear) {
                        break Err(bad(&error));
                    }
                    if reader.is_over() {
                        break Ok(());
                    }
                }
            }
        };
        // Whoever heard the beginning of a turn would hear another beginning.
        let settled = |failed| match failed {
            Failed::Transient(failure, _) if was_told => Failed::Final(failure),
            failed => failed,
        };
        ended.map_err(settled)?;
        let turn = reader.finish().map_err(|error| settled(bad(&error)))?;
        self.known.told(self.request_bytes, heard);
        Ok(turn)
    }

    /// What a status says that is none of success.
    async fn refused(&self, status: u16, mut response: Response) -> Failed {
        let wait = response.headers.get("retry-after").and_then(|it| it.to_str().ok()?.trim().parse().ok());
        let wait = wait.map(|seconds| Duration::from_secs(seconds).min(RETRY_AFTER_MAX));
        let mut body = Vec::new();
        while body.len() < ERROR_BYTES_MAX
            && let Some(Ok(piece)) = held(response.body.next()).await
        {
            body.extend_from_slice(&piece);
        }
        let code = match status {
            401 | 403 => "model_unauthorized",
            408 => "timed_out",
            429 => "model_rate_limited",
            400..=499 => "model_bad_request",
            _ => "model_failed",
        };
        let message = format!("the model's server answered {status}: {}", error_text(&body));
        let failure = Failure::new(code, message);
        match status {
            408 | 429 | 500..=599 => Failed::Transient(failure, wait),
            _ => Failed::Final(failure),
        }
    }

    /// Why nothing came.
    fn unanswered(&self, error: FetchError) -> Failed {
        if let FetchError::NotRecorded(error) = &error {
            return Failed::Call(Fault::Unrecorded(error.to_string()).into());
        }
        let cause = std::error::Error::source(&error).map(|it| format!(": {it}")).unwrap_or_default();
        let code = match error.kind() {
            FailureKind::Timeout => "timed_out",
            FailureKind::TooLarge => "answer_too_large",
            _ => error.code(),
        };
        let hint = match code {
            "address_forbidden" => "; if that is meant, write the address itself as the model's base URL",
            "secret_needs_tls" => "; use https, or the address itself of a server in your own network",
            _ => "",
        };
        let failure = Failure::new(code, format!("the model's server: {error}{cause}{hint}"));
        let settled = matches!(error, FetchError::Certificate { .. } | FetchError::TrustStore { .. });
        match error.kind() {
            FailureKind::Transport | FailureKind::Timeout if !settled => Failed::Transient(failure, None),
            _ => Failed::Final(failure),
        }
    }
}

fn bad(error: &BadAnswer) -> Failed {
    let failure = Failure::new(error.code(), error.to_string());
    match error.is_transient() {
        true => Failed::Transient(failure, None),
        false => Failed::Final(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_were_refused_together_come_back_at_different_times() {
        let pause = Duration::from_millis(100);
        let waits: Vec<Duration> = (0..=8).map(|it: u64| jittered(pause, u64::MAX / 8 * it)).collect();
        assert_eq!(waits[0], pause / 2);
        assert!(waits.iter().all(|it| (pause / 2..=pause * 3 / 2).contains(it)), "{waits:?}");
        assert!(waits.is_sorted_by(|one, next| one < next), "{waits:?}");
    }
}
