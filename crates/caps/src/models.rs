//! Which models there are, as the host configured them: where each is served, in which format, with whose key and at what
//! price. A guest names a model, and nothing else of this.

use std::{fmt, sync::Arc, time::Duration};

use drydock_abi::llm::{Recorded, Script, Usage, wire::Dialect};
use drydock_egress::{Secret, Target};
use serde_json::{Map, Value};

/// Finds a model by its name: none where nobody configured it, and why not where it cannot be used.
pub type ModelSource = dyn Fn(&str) -> Result<Option<Arc<Model>>, String> + Send + Sync;

/// Reads a key at the moment when it is needed.
pub type KeySource = dyn Fn() -> Result<Secret, String> + Send + Sync;

/// One model.
#[derive(Debug, Clone)]
pub struct Model {
    /// Who answers.
    pub served: Served,
    /// What its tokens cost, if anybody said.
    pub prices: Option<Prices>,
}

/// Who answers for a model.
#[derive(Debug, Clone)]
pub enum Served {
    /// A file of turns.
    Scripted(Script),
    /// A run of an agent, whose model it was.
    Replay(Arc<Recorded>),
    /// A server.
    At(Box<Endpoint>),
}

/// A server of models, and how it is asked.
#[derive(Clone)]
pub struct Endpoint {
    /// What it speaks.
    pub dialect: Dialect,
    /// Where requests go.
    pub target: Target,
    /// What it calls the model.
    pub model: String,
    /// Its key, if it wants one.
    pub key: Option<Arc<KeySource>>,
    /// Members of every request's body, in the place of ours.
    pub extra: Map<String, Value>,
    /// How long it is waited for, and how often it is asked.
    pub patience: Patience,
}

/// How long somebody waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For the whole turn, with all tries and what is waited between them.
    pub total_max: Duration,
    /// While nothing comes.
    pub idle_max: Duration,
    /// How often the server is asked.
    pub attempts_max: u32,
    /// What is waited before the second try, about; twice as long before each further one.
    pub pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            total_max: Duration::from_secs(375),
            idle_max: Duration::from_secs(120),
            attempts_max: 3,
            pause: Duration::from_secs(1),
        }
    }
}

/// What a million tokens cost, in millionths of the money that the operator thinks in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Prices {
    /// Read.
    pub input_micros: u64,
    /// Read, and known from before.
    pub cached_input_micros: u64,
    /// Written.
    pub output_micros: u64,
}

impl Prices {
    /// What a turn costs, rounded up.
    pub fn of(&self, usage: &Usage) -> u64 {
        let cached = usage.cached_input_tokens.min(usage.input_tokens);
        let read = u128::from(usage.input_tokens - cached) * u128::from(self.input_micros);
        let known = u128::from(cached) * u128::from(self.cached_input_micros);
        let written = u128::from(usage.output_tokens) * u128::from(self.output_micros);
        u64::try_from((read + known + written).div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// Without the key, and without what whoever configured it may have put into `extra`.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({:?} at {}:{})", self.dialect, self.target.host(), self.target.port())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_of_a_model_has_neither_its_key_nor_what_requests_carry_besides() {
        let key: Arc<KeySource> = Arc::new(|| Secret::new(b"k3y".to_vec()).map_err(|it| it.to_string()));
        let endpoint = Endpoint {
            dialect: Dialect::OpenAi,
            target: "https://models.test/v1?token=k3y".parse().unwrap(),
            model: "m".into(),
            key: Some(key),
            extra: serde_json::json!({ "api_key": "k3y" }).as_object().cloned().unwrap(),
            patience: Patience::default(),
        };
        let model = Model { served: Served::At(Box::new(endpoint.clone())), prices: None };
        for told in [format!("{endpoint:?}"), format!("{endpoint:#?}"), format!("{model:?}")] {
            assert!(told.contains("models.test:443"), "{told}");
            assert!(!told.contains("k3y") && !told.contains("api_key"), "{told}");
        }
    }

    #[test]
    fn a_turn_costs_what_its_tokens_cost_and_never_less() {
        let prices =
            Prices { input_micros: 3_000_000, cached_input_micros: 300_000, output_micros: 15_000_000 };
        let usage = |input_tokens, cached_input_tokens, output_tokens| Usage {
            input_tokens,
            cached_input_tokens,
            output_tokens,
            ..Usage::default()
        };
        for (usage, want) in [
            (usage(0, 0, 0), 0),
            (usage(1000, 0, 100), 4500),
            (usage(1000, 900, 0), 570),
            (usage(0, 1, 0), 0),
            (usage(1, 1, 0), 1),
            (usage(u64::MAX, 0, u64::MAX), u64::MAX),
        ] {
            assert_eq!(prices.of(&usage), want, "{usage:?}");
        }
    }
}
