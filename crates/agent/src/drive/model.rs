//! The model's turn.

use drydock_abi::{
    broker::{Answer, Failure},
    llm::{Asked, COMPLETE, Complete, Completion},
};
use drydock_contract::{
    Call, CallError, Denial, Dispatch, Reply, ReviewKind, Streams, port::AGENT_EVENT_BYTES_MAX,
};

use super::{DriveError, Driving, Stop, review::Question};
use crate::{Event, Next, Purse, RunEnd, compact, cut::beginning, next, run::judge_calls};

/// What may go better another time: such a run is worth resuming, and ends under one name.
const PASSING: &[&str] = &[
    "model_rate_limited",
    "model_failed",
    "timed_out",
    "answer_cut_off",
    "connect_failed",
    "open_failed",
    "send_failed",
    "recv_failed",
    "no_answer",
    "saturated",
];

/// Of what a server says that failed, what is kept.
const MESSAGE_BYTES_MAX: usize = 2_000;

impl Driving<'_> {
    /// Asks the model for its turn, and writes it down.
    pub(super) async fn complete(&mut self) -> Result<Option<Stop>, DriveError> {
        let began = self.now_ms();
        let answer = match Asked::of(self.request()) {
            Ok(asked) => {
                let work = ask(self.driver.door, asked);
                self.unless_cancelled(work).await
            }
            Err(bad) => Some(Ok(Err(Failure::new("model_bad_request", bad.to_string())))),
        };
        let end = match answer {
            None => RunEnd::Cancelled,
            Some(Ok(Ok(turn))) => match judge(&turn) {
                Ok(()) => {
                    let at_ms = self.now_ms();
                    let Completion { content, tool_calls, stop_reason, usage, .. } = turn;
                    let (step, ms) = (self.run.steps() + 1, at_ms.saturating_sub(began));
                    let turn = Event::Turn { at_ms, step, content, tool_calls, stop_reason, usage, ms };
                    // Escapes make a text longer: only what is kept counts.
                    match turn.to_json().len() {
                        0..=AGENT_EVENT_BYTES_MAX => {
                            self.keep(vec![turn]).await?;
                            return Ok(None);
                        }
                        bytes => failed(too_large(bytes)),
                    }
                }
                Err(failure) => failed(failure),
            },
            Some(Ok(Err(failure))) => failed(failure),
            Some(Err(CallError::Denied(denial))) => return self.refused(denial).await,
            Some(Err(CallError::Failed(fault))) => failed(Failure::new(fault.code(), fault.to_string())),
        };
        self.end(end).await.map(Some)
    }

    /// The transcript as it is, and what the model may do.
    fn request(&self) -> Complete {
        let (run, options) = (&self.run, self.run.options());
        let offered = |name: &str| options.tools.as_ref().is_none_or(|all| all.iter().any(|it| it == name));
        let tools = self.offered.iter();
        let tools = tools.filter(|it| it.name == crate::tools::DONE || offered(&it.name));
        Complete {
            system: Some(run.system().to_owned()).filter(|it| !it.is_empty()),
            messages: run.transcript().to_vec(),
            tools: tools.cloned().collect(),
            max_tokens: options.max_tokens,
            temperature: options.temperature,
            deltas: self.driver.host.deltas(),
            model: options.model,
            ..Complete::default()
        }
    }

    /// The gate said no to asking the model.
    async fn refused(&mut self, denial: Denial) -> Result<Option<Stop>, DriveError> {
        let purses = [Purse::Tokens, Purse::CostMicros].into_iter();
        let empty = match denial {
            Denial::BudgetExceeded { what, .. } => purses.clone().find(|it| it.as_str() == what),
            _ => None,
        };
        if let Some(purse) = empty
            && let Next::AskForMore(purse) = next::spent(&self.run, &self.run.options(), purse)
        {
            self.ask_for_more(purse).await?;
            return Ok(None);
        }
        if let Some(grant) = self.grant_to_ask_for(&denial, None) {
            let title = format!("to ask the model: {denial}");
            self.ask(vec![Question { grant: Some(grant), ..Question::new(ReviewKind::Grant, title) }])
                .await?;
            return Ok(None);
        }
        let end = match denial {
            Denial::Cancelled => RunEnd::Cancelled,
            denial => RunEnd::Failed { code: denial.code().into(), message: in_words(&denial) },
        };
        self.end(end).await.map(Some)
    }

    /// Replaces the older part of the transcript by a summary: the model's, or, where it gives none, one by hand.
    pub(super) async fn compact(&mut self, messages: usize) -> Result<(), DriveError> {
        let options = self.run.options();
        let replaced = self.run.transcript().get(1..=messages).unwrap_or_default().to_vec();
        let asked = Asked::of(compact::request(&replaced, self.run.task(), &options)).ok();
        let answer = match asked {
            Some(asked) => {
                let work = ask(self.driver.door, asked);
                self.unless_cancelled(work).await
            }
            None => None,
        };
        let (text, usage) = match answer {
            Some(Ok(Ok(turn))) => {
                let text =
                    Some(turn.content).filter(|it| turn.tool_calls.is_empty() && !it.trim().is_empty());
                (text, Some(turn.usage))
            }
            // Whatever it was: the run can go on without, and what is lasting shows at the next turn.
            _ => (None, None),
        };
        let text = text.unwrap_or_else(|| compact::by_hand(&replaced, &options));
        let summary = compact::framed(&text, replaced.len(), &options);
        let at_ms = self.now_ms();
        self.keep(vec![Event::Compacted { at_ms, messages: messages as u64, summary, usage }]).await
    }
}

/// One turn, at the gate.
async fn ask(door: &dyn Dispatch, asked: Asked) -> Result<Answer<Completion>, CallError> {
    let bytes = asked.json().len() as u64;
    let mut reply = door.dispatch(Call::typed(COMPLETE, asked, bytes, Streams::default())).await?;
    Ok(reply.value::<Answer<Completion>>().unwrap_or_else(|| from_bytes(&reply)))
}

/// A door that only speaks in bytes.
fn from_bytes(reply: &Reply) -> Answer<Completion> {
    let bad = |_| Failure::new("bad_answer", "the answer of the gate is no turn of a model");
    if let Some(code) = drydock_abi::broker::failure_code(&reply.payload) {
        return Err(Failure { code: code.into(), message: "the model did not answer".into() });
    }
    serde_json::from_slice(&reply.payload).map_err(bad)
}

/// What would be no turn to any later request is none.
fn judge(turn: &Completion) -> Answer<()> {
    if turn.tool_calls.len() > drydock_abi::llm::TOOL_CALLS_MAX {
        let message = format!("the model called {} tools in one turn", turn.tool_calls.len());
        return Err(Failure::new("too_many_tool_calls", message));
    }
    judge_calls(&turn.tool_calls).map_err(|why| Failure::new("bad_answer", why))?;
    Ok(())
}

fn too_large(bytes: usize) -> Failure {
    let message =
        format!("the model's turn takes {bytes} bytes to keep, and {AGENT_EVENT_BYTES_MAX} at most");
    Failure::new("answer_too_large", message)
}

/// A refusal to ask the model, with money as people write it.
fn in_words(denial: &Denial) -> String {
    match denial {
        Denial::BudgetExceeded { what, needed, left }
            if *what == Purse::CostMicros.as_str() && *needed > 0 =>
        {
            let money = |micros: u64| {
                let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            };
            format!("a turn may cost up to {}, and {} is left of the budget", money(*needed), money(*left))
        }
        denial => denial.to_string(),
    }
}

/// A run without a turn.
fn failed(Failure { code, message }: Failure) -> RunEnd {
    let message = beginning(&message, MESSAGE_BYTES_MAX).to_owned();
    match PASSING.contains(&&*code) {
        true => RunEnd::Failed { code: "model_failed".into(), message: format!("{code}: {message}") },
        false => RunEnd::Failed { code: code.into_owned(), message },
    }
}
