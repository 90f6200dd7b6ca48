//! Asking people, hearing their answers, and handing on what they gave.

use drydock_abi::llm::{Message, ToolCall};
use drydock_contract::{AgentId, AgentUsage, Denial, Review, ReviewAnswer, ReviewKind, ReviewState};
use serde_json::{Value, json};

use super::{DriveError, Driving, Stop, call::on_what};
use crate::{
    Event, Given, OnDenial, Pending, Purse,
    cut::cut,
    run::{Place, more_of},
};

/// The longest title: a line for a person.
const TITLE_BYTES_MAX: usize = 400;

/// Of a text among the arguments, what a person is shown.
const SHOWN_TEXT_BYTES_MAX: usize = 16 << 10;
/// The same of all arguments, and of what would happen.
const SHOWN_BYTES_MAX: usize = 64 << 10;

/// What is said of a call that is over when a person is asked because of it.
const OVER: &str = "over: something that it ran was refused this; a yes is for what is called next";

/// What a person is asked.
pub(super) struct Question {
    pub(super) kind: ReviewKind,
    pub(super) title: String,
    pub(super) call: Option<String>,
    pub(super) grant: Option<Value>,
    pub(super) purse: Option<Purse>,
}

impl Question {
    pub(super) fn new(kind: ReviewKind, title: String) -> Self {
        let title = crate::cut::beginning(&title, TITLE_BYTES_MAX).to_owned();
        Self { kind, title, call: None, grant: None, purse: None }
    }
}

impl Driving<'_> {
    /// The grant that a person may be asked for where this was refused; none where the run does not ask, where no grant
    /// would help, or where they were asked before.
    pub(super) fn grant_to_ask_for(&self, denial: &Denial, call: Option<&str>) -> Option<Value> {
        let grant = serde_json::from_str(&denial.remedy()?.to_json()).ok()?;
        self.may_ask(denial.code(), &grant, call).then_some(grant)
    }

    /// Whether a person is asked for this grant.
    pub(super) fn may_ask(&self, code: &str, grant: &Value, call: Option<&str>) -> bool {
        let asks = self.run.bounds().is_some_and(|it| it.on_denial == OnDenial::Ask);
        (asks || code == REVIEW_NEEDED) && self.run.may_ask_for(grant, call)
    }

    /// The event of a question.
    pub(super) fn asked(&self, question: Question) -> Event {
        let at_ms = self.now_ms();
        let wait_ms = self.run.bounds().and_then(|it| it.review_wait_ms);
        let Question { kind, title, call, grant, purse } = question;
        Event::Asked {
            at_ms,
            review: self.driver.host.fresh_id(),
            call,
            kind,
            title,
            grant,
            purse,
            expires_ms: wait_ms.map(|it| at_ms.saturating_add(it)),
        }
    }

    /// Writes questions down, and then asks them.
    pub(super) async fn ask(&mut self, questions: Vec<Question>) -> Result<(), DriveError> {
        let events = questions.into_iter().map(|it| self.asked(it)).collect();
        self.keep(events).await?;
        self.put_new().await
    }

    /// Puts what was written into the queue. Whoever was killed in between had written the question: it is put again, and
    /// the queue has it once.
    pub(super) async fn put_new(&mut self) -> Result<(), DriveError> {
        let new: Vec<_> = self.run.pending().keys().filter(|it| !self.put.contains(it)).cloned().collect();
        for id in new {
            self.put(&id).await?;
            self.put.push(id);
        }
        Ok(())
    }

    async fn put(&mut self, id: &AgentId) -> Result<(), DriveError> {
        let Some(pending) = self.run.pending().get(id).cloned() else { return Ok(()) };
        let call = self.call_of(&pending).map(|(call, is_over)| (call.clone(), is_over));
        let (mut what, mut title) = (json!({}), pending.title);
        if let Some((call, is_over)) = &call {
            let (arguments, mut not_shown) = shown(Value::Object(call.arguments.clone()));
            what = json!({ "tool": call.name, "arguments": arguments });
            if pending.kind == ReviewKind::Grant {
                title = format!("{title}; wanted by `{}`{}", call.name, on_what(call));
            }
            if *is_over {
                what["call"] = OVER.into();
            }
            if pending.kind == ReviewKind::Tool
                && let Some(preview) = self.driver.host.preview(call).await
            {
                let (preview, hidden) = shown(preview);
                what["preview"] = preview;
                not_shown = not_shown.max(hidden);
            }
            // Nobody says yes to what they cannot see without being told so, in whichever list they read; lists cut the end.
            if not_shown > 0 {
                what["not_shown"] = not_shown.into();
                title =
                    format!("{not_shown} BYTES OF IT ARE NOT SHOWN HERE (see the run's last turn): {title}");
            }
        }
        if let Some(purse) = pending.purse {
            let AgentUsage { input_tokens, output_tokens, cost_micros, .. } = self.run.usage();
            let options = self.run.options();
            let first = match purse {
                Purse::Tokens => options.tokens_max,
                Purse::CostMicros => options.cost_micros_max,
            };
            what = json!({
                "unit": purse,
                "budget": first,
                "spent": { "tokens": input_tokens.saturating_add(output_tokens), "cost_micros": cost_micros },
            });
        }
        let review = Review {
            id: id.clone(),
            run: self.driver.hold.run().clone(),
            call: pending.call,
            kind: pending.kind,
            title,
            what,
            grant: pending.grant,
            asked_ms: pending.asked_ms,
            expires_ms: pending.expires_ms,
            state: ReviewState::Pending,
        };
        if let Err(refusal) = self.driver.agents.ask(self.driver.tenant, review).await? {
            let reason = format!("nobody can be asked: {refusal}");
            self.heard(vec![(id.clone(), Some(ReviewAnswer::Deny { reason }))]).await?;
        }
        Ok(())
    }

    /// The call that a question is about, and whether it is over: what it ran was refused something, and the question is
    /// about later ones.
    fn call_of(&self, pending: &Pending) -> Option<(&ToolCall, bool)> {
        let id = pending.call.as_ref()?;
        if let Some(open) = self.run.open_turn() {
            let call = open.calls.iter().find(|it| it.call.id == *id)?;
            return Some((&call.call, matches!(call.place, Place::Answered { .. })));
        }
        let turn = self.run.transcript().iter().rev().find_map(|it| match it {
            Message::Assistant { tool_calls, .. } => Some(tool_calls),
            _ => None,
        })?;
        turn.iter().find(|it| it.id == *id).map(|it| (it, true))
    }

    /// Looks for answers. Where there is none the run pauses: nobody holds anything for it.
    pub(super) async fn wait(&mut self) -> Result<Option<Stop>, DriveError> {
        self.put_new().await?;
        let (mut answers, mut until_ms) = (Vec::new(), None::<u64>);
        for id in self.run.pending().keys() {
            let review = self.driver.agents.review(self.driver.tenant, id, self.driver.clock.now()).await?;
            match review.map(|it| (it.state, it.expires_ms)) {
                Some((ReviewState::Pending, expires)) => {
                    until_ms = until_ms.into_iter().chain(expires).min();
                }
                Some((ReviewState::Answered { given, .. }, _)) => answers.push((id.clone(), Some(given))),
                // One that somebody took away has no answer any more.
                Some((ReviewState::Expired, _)) | None => answers.push((id.clone(), None)),
            }
        }
        if self.run.pending().is_empty() {
            return Ok(None);
        }
        if answers.is_empty() {
            self.note_waiting().await?;
            return Ok(Some(Stop::Paused { until_ms }));
        }
        self.heard(answers).await?;
        Ok(None)
    }

    /// Writes answers down, and hands on what they give.
    async fn heard(&mut self, answers: Vec<(AgentId, Option<ReviewAnswer>)>) -> Result<(), DriveError> {
        let at_ms = self.now_ms();
        let (options, given_before) = (self.run.options(), self.run.given().len());
        let more: Vec<(Purse, u64)> = answers
            .iter()
            .filter_map(|(id, answer)| {
                let purse = self.run.pending().get(id)?.purse?;
                Some((purse, more_of(answer.as_ref()?, purse, &options)))
            })
            .collect();
        let event = |(review, answer)| Event::Answered { at_ms, review, answer };
        self.keep(answers.into_iter().map(event).collect()).await?;
        for (purse, amount) in more.into_iter().filter(|it| it.1 > 0) {
            self.driver.host.more(purse, amount);
        }
        for given in self.run.given().get(given_before..).unwrap_or_default().to_vec() {
            self.give(&given).await?;
        }
        Ok(())
    }

    /// Hands a grant on. One that the session does not take is told to the model: its calls are refused as before.
    pub(super) async fn give(&mut self, given: &Given) -> Result<(), DriveError> {
        if let Err(why) = self.driver.host.give(given).await {
            let at_ms = self.now_ms();
            let text = format!("[A grant that a person gave cannot be given to the session: {why}.]");
            self.keep(vec![Event::Said { at_ms, text }]).await?;
        }
        Ok(())
    }

    /// The purse is empty: whoever may fill it is asked.
    pub(super) async fn ask_for_more(&mut self, purse: Purse) -> Result<(), DriveError> {
        let title = format!("the run has no {} left for another turn: give it more?", purse.in_words());
        self.ask(vec![Question { purse: Some(purse), ..Question::new(ReviewKind::Budget, title) }]).await
    }
}

/// A value that a review has room for, and how many bytes at least were left out of it.
fn shown(value: Value) -> (Value, usize) {
    let mut missing = 0;
    let mut short = |text: &str, bytes_max: usize| {
        let short = cut(text, bytes_max, None)?;
        missing += text.len().saturating_sub(short.len()).max(1);
        Some(Value::from(short))
    };
    let value = match value {
        Value::Object(members) => {
            let each = members.into_iter().map(|(name, it)| {
                let short = it.as_str().and_then(|text| short(text, SHOWN_TEXT_BYTES_MAX));
                (name, short.unwrap_or(it))
            });
            Value::Object(each.collect())
        }
        other => other,
    };
    let value = short(&value.to_string(), SHOWN_BYTES_MAX).unwrap_or(value);
    (value, missing)
}

/// The code of a refusal that only a person's word lifts.
const REVIEW_NEEDED: &str = "review_needed";
