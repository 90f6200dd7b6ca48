//! `secrets`: over a signer that knows one secret.

use std::sync::Arc;

use drydock_abi::secret::SIGN_DATA_BYTES_MAX;
use drydock_caps::{
    broker::{Broker as _, Brokered},
    secrets::Secrets,
};
use drydock_contract::{
    SecretName, SignAlgorithm, Tenant,
    port::{SecretSignature, SignError, Signer},
};
use drydock_gate::{CapSpec, Gate};
use drydock_testkit::FixedClock;
use serde_json::{Value, json};

use crate::{
    fakes::clock,
    suite::{Ask, Case, Later, Refusal, Who},
};

pub(crate) struct OfSecrets;

struct OneKey;

impl Signer for OneKey {
    fn sign(
        &self,
        _: &Tenant,
        name: &SecretName,
        algorithm: Option<SignAlgorithm>,
        _: &[u8],
    ) -> Result<SecretSignature, SignError> {
        match (name.as_str(), algorithm) {
            ("KEY", Some(SignAlgorithm::Ed25519)) => Err(SignError::Algorithm(SignAlgorithm::HmacSha256)),
            ("KEY", _) => {
                let (algorithm, bytes) = (SignAlgorithm::HmacSha256, vec![7; 32]);
                Ok(SecretSignature { algorithm, bytes, public_key: None })
            }
            _ => Err(SignError::Unknown),
        }
    }
}

fn sign(more: &Value) -> Ask {
    let mut request = json!({ "name": "KEY", "data": "x" });
    for (name, value) in more.as_object().unwrap() {
        request[name] = value.clone();
    }
    Ask::json(&request)
}

impl Case for OfSecrets {
    fn spec(&self) -> &'static CapSpec {
        &Secrets::SPEC
    }

    fn bounds(&self) -> &'static [&'static str] {
        Secrets::BOUNDS
    }

    fn behind(&self, gate: Gate, at: &Arc<FixedClock>) -> Gate {
        gate.with(Brokered::new(Secrets::new(Arc::new(OneKey)), clock(at)))
    }

    fn elsewhere(&self) -> (&'static str, &'static str) {
        ("OTHER", "denied")
    }

    fn good<'a>(&'a self, _: &'static str, _: &'a Who) -> Later<'a, Ask> {
        Box::pin(async { sign(&json!({})) })
    }

    fn malformed(&self, _: &'static str) -> Vec<Ask> {
        vec![sign(&json!({ "name": "a/b" })), sign(&json!({ "algorithm": "none" }))]
    }

    fn refusals<'a>(&'a self, _: &'static str, _: &'a Who) -> Later<'a, Vec<Refusal>> {
        let data = "x".repeat(usize::try_from(SIGN_DATA_BYTES_MAX).unwrap() + 1);
        Box::pin(async move {
            vec![
                Refusal::judged("too_large", sign(&json!({ "data": data }))),
                Refusal::acting("unknown_secret", sign(&json!({ "name": "MISSING" }))),
                Refusal::acting("wrong_algorithm", sign(&json!({ "algorithm": "ed25519" }))),
            ]
        })
    }
}
