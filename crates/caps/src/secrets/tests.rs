//! Proofs for `secrets`: what is signed for whom, what is refused, and that nothing else is answered.

use std::sync::{Arc, Mutex};

use drydock_abi::{
    broker::{Answer, Blob},
    secret::{SIGN, SIGN_DATA_BYTES_MAX, SIGN_REQUEST_BYTES_MAX, SignRequest, Signed},
};
use drydock_contract::{
    Call, CallError, Cap, GrantSpec, Node, SecretName, SignAlgorithm, Streams, Tenant,
    port::{AuditRecord, SecretSignature, SignError, Signer},
};
use drydock_gate::{Gate, GateSettings, Grant, Session, SessionSpec};
use drydock_testkit::{FixedClock, MemoryJournal, principal};

use super::Secrets;
use crate::broker::{Broker as _, Brokered};

/// Signs with what it was asked for, so that a test sees it.
#[derive(Default)]
struct Shown(Mutex<Vec<String>>);

impl Signer for Shown {
    fn sign(
        &self,
        tenant: &Tenant,
        name: &SecretName,
        algorithm: Option<SignAlgorithm>,
        data: &[u8],
    ) -> Result<SecretSignature, SignError> {
        self.0.lock().unwrap().push(format!("{tenant} {name} {}", data.len()));
        match name.as_str() {
            "GONE" => Err(SignError::Unknown),
            "BROKEN" => {
                Err(SignError::Unavailable { code: "secret_key_unavailable", problem: "no key".into() })
            }
            _ if algorithm == Some(SignAlgorithm::Ed25519) => {
                Err(SignError::Algorithm(SignAlgorithm::HmacSha256))
            }
            _ => Ok(SecretSignature {
                algorithm: SignAlgorithm::HmacSha256,
                bytes: vec![7; 32],
                public_key: None,
            }),
        }
    }
}

struct Yard {
    gate: Arc<Gate>,
    journal: Arc<MemoryJournal>,
    signer: Arc<Shown>,
}

impl Yard {
    fn new(settings: GateSettings) -> Self {
        let (clock, journal) = (Arc::new(FixedClock::default()), Arc::new(MemoryJournal::default()));
        let signer = Arc::new(Shown::default());
        let secrets = Brokered::new(Secrets::new(Arc::clone(&signer) as _), Arc::clone(&clock) as _);
        let gate = Gate::new(settings, clock, Arc::clone(&journal) as _).with(secrets);
        Self { gate: Arc::new(gate), journal, signer }
    }

    fn session(&self, tenant: &str, names: &[&str]) -> Session {
        let spec = serde_json::json!({ "cap": "secrets", "subjects": names }).to_string();
        let grant = Grant::from_spec(&GrantSpec::parse(spec.as_bytes()).unwrap(), None);
        let (grants, tenant) = ([grant].into_iter().collect(), tenant.parse().unwrap());
        self.gate.open(SessionSpec { grants, tenant, ..SessionSpec::new(principal("me")) }).unwrap()
    }

    async fn sign(&self, me: &Session, name: &str, data: &[u8]) -> Result<Signed, CallError> {
        let data = Blob(data.into());
        let request = SignRequest { name: name.parse().unwrap(), data, algorithm: None };
        let mut reply = self.gate.dispatch(me, Call::typed(SIGN, request, 9, Streams::default())).await?;
        Ok(reply.value::<Answer<Signed>>().unwrap().unwrap())
    }

    /// Written behind the calls: all that there are so far.
    fn records(&self) -> Vec<AuditRecord> {
        self.gate.flush().unwrap();
        self.journal.records()
    }

    async fn code(&self, me: &Session, payload: &[u8]) -> &'static str {
        let answer = self.gate.dispatch(me, Call::new(SIGN, payload, Streams::default())).await;
        answer.err().map_or("ok", |it| it.code())
    }
}

#[tokio::test]
async fn a_granted_secret_signs_in_the_name_of_its_tenant_and_the_record_has_its_name_alone() {
    let yard = Yard::new(GateSettings::default());
    for tenant in ["dev", "other"] {
        let me = yard.session(tenant, &["KEY"]);
        let signed = yard.sign(&me, "KEY", b"canary-data").await.unwrap();
        assert_eq!((signed.signature.0.len(), signed.algorithm), (32, SignAlgorithm::HmacSha256));
    }
    assert_eq!(*yard.signer.0.lock().unwrap(), ["dev KEY 11", "other KEY 11"]);
    let records = format!("{:?}", yard.records());
    assert!(records.contains("KEY") && !records.contains("canary"), "{records}");
    // Two of each: before it acts and when it is over.
    assert_eq!(yard.records().len(), 4);
}

#[tokio::test]
async fn each_refusal_has_its_code_and_a_record() {
    let yard = Yard::new(GateSettings::default());
    let me = yard.session("dev", &["KEY", "GONE", "BROKEN"]);
    let nobody = yard.gate.open(SessionSpec::new(principal("nobody"))).unwrap();
    let ask = |name: &str| format!(r#"{{"name":"{name}","data":"x"}}"#).into_bytes();
    let too_much = {
        let data = "x".repeat(SIGN_DATA_BYTES_MAX as usize + 1);
        format!(r#"{{"name":"KEY","data":"{data}"}}"#).into_bytes()
    };
    for (who, payload, want) in [
        (&me, ask("KEY"), "ok"),
        (&me, ask("GONE"), "unknown_secret"),
        (&me, ask("BROKEN"), "secret_key_unavailable"),
        (&me, br#"{"name":"KEY","data":"x","algorithm":"ed25519"}"#.to_vec(), "wrong_algorithm"),
        (&me, ask("OTHER"), "denied"),
        (&nobody, ask("KEY"), "denied"),
        (&me, ask("a/b"), "malformed"),
        (&me, b"\xff".to_vec(), "malformed"),
        (&me, too_much, "too_large"),
        (&me, vec![b' '; SIGN_REQUEST_BYTES_MAX as usize + 1], "too_large"),
    ] {
        let before = yard.records().len();
        assert_eq!(yard.code(who, &payload).await, want);
        assert!(yard.records().len() > before, "{want}");
    }
    // Who names no secret learns nothing of which there are: only granted names got as far as the signer.
    let asked = yard.signer.0.lock().unwrap().clone();
    assert_eq!(asked, ["dev KEY 1", "dev GONE 1", "dev BROKEN 1", "dev KEY 1"]);
    yard.gate.revoke(&Node::Principal(Tenant::default(), "me".parse().unwrap())).unwrap();
    assert_eq!(yard.code(&me, &ask("KEY")).await, "revoked");
    let slow = Yard::new(GateSettings { calls_max: 1, ..GateSettings::default() });
    let me = slow.session("dev", &["KEY"]);
    assert_eq!(slow.code(&me, &ask("KEY")).await, "ok");
    assert_eq!(slow.code(&me, &ask("KEY")).await, "rate_limited");
    let cancelled = slow.session("other", &["KEY"]);
    cancelled.cancel();
    assert_eq!(slow.code(&cancelled, &ask("KEY")).await, "cancelled");
}

#[test]
fn signing_is_all_that_can_be_asked_and_no_answer_has_room_for_a_value() {
    let operations: Vec<_> = Secrets::SPEC.operations.iter().map(|it| it.name).collect();
    assert_eq!((operations, Secrets::SPEC.cap), (vec!["secret.sign"], Cap::Secrets));
}
