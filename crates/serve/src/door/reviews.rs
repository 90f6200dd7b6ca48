//! What runs of agents wait for a person to say. Answering takes a power of its own, that only a token has which names it:
//! whoever may open a run must not be the one who approves what it asks for. A yes gives no more than its caller could have given.

use drydock_contract::{AgentId, ReviewAnswer, port::Wanted};
use serde_json::json;

use super::agents::{agents, id};
use crate::{
    ask::{Answer, Ask},
    error::ApiError,
    json,
};

/// Reviews that are listed at once.
const ROWS_MAX: usize = 1_000;
/// The largest answer.
pub(crate) const ANSWER_BYTES_MAX: u64 = 64 << 10;

/// `GET /v1/reviews?run=ID&all=true`.
pub(crate) async fn list(ask: Ask) -> Answer {
    let [run, all] = ask.parameters(["run", "all"])?;
    let bad = |_| ApiError::bad("bad_parameter", "`run` is the id of a run");
    let run: Option<AgentId> = run.map(|it| it.parse().map_err(bad)).transpose()?;
    let wanted = match all.as_deref() {
        None | Some("false") => Wanted::Pending,
        Some("true") => Wanted::All,
        Some(_) => return Err(ApiError::bad("bad_parameter", "`all` is true or false")),
    };
    let reviews = agents(&ask.caller).reviews(run.as_ref(), wanted, ROWS_MAX).await?;
    Ok(json::ok(&json!({ "reviews": reviews })))
}

/// `GET /v1/reviews/{id}`.
pub(crate) async fn show(ask: Ask) -> Answer {
    ask.parameters([])?;
    Ok(json::ok(&agents(&ask.caller).review(&id(&ask, "review")?).await?))
}

/// `POST /v1/reviews/{id}/answer`: `{"answer": "once" | "session" | "limit" | "deny", "limit": N, "reason": TEXT}`.
pub(crate) async fn answer(mut ask: Ask) -> Answer {
    ask.parameters([])?;
    let (agents, id) = (agents(&ask.caller), id(&ask, "review")?);
    let review = agents.review(&id).await?;
    let given: ReviewAnswer = ask.json(ANSWER_BYTES_MAX).await?;
    if given == (ReviewAnswer::Limit { limit: 0 }) {
        return Err(ApiError::bad("bad_input", "`limit` is at least 1; {\"answer\": \"deny\"} is a no"));
    }
    ask.caller.may_answer(&agents.show(&review.run).await?, &review, &given)?;
    Ok(json::ok(&agents.answer(&id, given, &ask.caller.principal).await?))
}
