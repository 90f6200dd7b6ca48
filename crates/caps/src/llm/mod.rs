//! `llm`: asks a language model for its next turn. A grant names the model; where it is served, and with which key, is the
//! host's to know (`models`). Servers are asked through `egress` (`completion`), and paid from the session's budget (`charge`).

mod policy;
mod request;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use drydock_abi::{
    broker::{Answer, Failure},
    llm::{Asked, COMPLETE, COMPLETE_BYTES_MAX, COMPLETION_BYTES_MAX, Completion, Usage},
};
use drydock_contract::{CallError, Cap, Denial};
use drydock_egress::Egress;
use drydock_gate::{Audited, CapSpec, Capability, Class, Import, Operation, Permit, Refused, Session};

pub use crate::models::{Endpoint, KeySource, Model, ModelSource, Patience, Prices, Served};
use crate::{
    broker::{Broker, Policy},
    charge::{self, Charge},
    completion,
    program::short,
};

/// Turns of one principal in flight.
const IN_FLIGHT_MAX: u32 = 64;

/// The models that there are, and the way to their servers.
pub struct Llm {
    egress: Arc<Egress>,
    models: Arc<ModelSource>,
}

impl Llm {
    /// Over a way out, and whoever knows models.
    pub fn new(egress: Arc<Egress>, models: Arc<ModelSource>) -> Self {
        Self { egress, models }
    }
}

impl Broker for Llm {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Llm,
        operations: &[Operation {
            name: COMPLETE,
            class: Class::Fetch,
            request_bytes_max: COMPLETE_BYTES_MAX,
            in_flight_max: Some(IN_FLIGHT_MAX),
            audited: Audited::Everything,
            summary: "One turn of a language model, as JSON with `model` and `messages`. Subject: the model's name.",
        }],
        imports: &[Import {
            module: "env",
            name: "host_llm_call",
            signature: "(op: i32, op_len: i32, req: i32, req_len: i32) -> i32",
        }],
    };
    const REPLY_BYTES_MAX: u64 = 2 * COMPLETION_BYTES_MAX as u64;
    const BOUNDS: &'static [&'static str] = &[];
    type Request = Asked;
    type Ready = Asked;
    type Value = Completion;

    fn decode(_: &str, payload: &[u8]) -> Result<Asked, Denial> {
        request::decode(payload)
    }

    fn digested(request: &Asked) -> [&[u8]; 2] {
        [COMPLETE.as_bytes(), request.json()]
    }

    fn subject(request: &Asked) -> &str {
        &request.request().model
    }

    fn check(_: &Policy, _: &Session, request: Asked) -> Result<Asked, Refused> {
        policy::check(request)
    }

    fn label(ready: &Asked) -> Arc<str> {
        short(&ready.request().model)
    }

    async fn act<C: Capability>(
        &self,
        permit: &Permit<'_, C>,
        ready: Asked,
    ) -> Result<Answer<Completion>, CallError> {
        let name = &ready.request().model;
        let model = match (self.models)(name) {
            Ok(Some(model)) => model,
            Ok(None) => {
                let name = name.chars().take(80).collect::<String>().escape_debug().to_string();
                let message = format!(
                    "no model `{name}` is configured here: it wants a table of its own in [models] of drydock.toml"
                );
                return Ok(Err(Failure::new("unknown_model", message)));
            }
            Err(why) => return Ok(Err(Failure::new("model_config", why))),
        };
        tracing::trace!(target: "drydock::hop", "caps/llm: {name} is asked: {:?}", model.served);
        let charge = Charge::reserve(permit.session().spec().budget.as_ref(), model.prices, &ready)?;
        let (mut answer, counted): (_, fn(&Completion, &Asked) -> Usage) = match &model.served {
            Served::Scripted(script) => (script.answer(&ready), |turn, _| turn.usage),
            Served::Replay(run) => (run.answer(&ready), |turn, _| turn.usage),
            Served::At(endpoint) => {
                let known = charge.known();
                (completion::complete(&self.egress, endpoint, permit, &ready, known).await?, charge::counted)
            }
        };
        if let Ok(turn) = &mut answer {
            turn.usage = charge.settle(counted(turn, &ready));
        }
        Ok(answer)
    }
}
