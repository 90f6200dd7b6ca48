//! `secrets`: signs with a secret of the tenant that a grant names. There is no operation that reads one, here or anywhere:
//! what is behind [`Signer`] answers signatures and nothing else.

mod policy;
mod request;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use drydock_abi::{
    broker::Answer,
    secret::{Base64, SIGN, SIGN_REQUEST_BYTES_MAX, SignRequest, Signed},
};
use drydock_contract::{
    CallError, Cap, Denial, Fault,
    port::{SecretSignature, SignError, Signer},
};
use drydock_gate::{Audited, CapSpec, Capability, Class, Import, Operation, Permit, Refused, Session};

use crate::broker::{Broker, Policy};
pub use policy::Ready;

/// The power to sign.
pub struct Secrets {
    signer: Arc<dyn Signer>,
}

impl Secrets {
    /// The power over whoever keeps secrets.
    pub fn new(signer: Arc<dyn Signer>) -> Self {
        Self { signer }
    }
}

/// The tenant keeps no such secret.
const UNKNOWN: &str = "unknown_secret";
/// The secret signs in another way.
const ALGORITHM: &str = "wrong_algorithm";

impl Broker for Secrets {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Secrets,
        operations: &[Operation {
            name: SIGN,
            class: Class::Look,
            request_bytes_max: SIGN_REQUEST_BYTES_MAX,
            in_flight_max: None,
            audited: Audited::Everything,
            summary: "Signs bytes by HMAC-SHA256 or Ed25519 with a kept secret. Subjects: names of secrets.",
        }],
        imports: &[Import {
            module: "env",
            name: "host_sign",
            signature: "(name: i32, name_len: i32, data: i32, data_len: i32, out: i32, out_cap: i32) -> i32",
        }],
    };
    const REPLY_BYTES_MAX: u64 = 1024;
    const BOUNDS: &'static [&'static str] = &[UNKNOWN, ALGORITHM];
    type Request = SignRequest;
    type Ready = Ready;
    type Value = Signed;

    fn decode(operation: &str, payload: &[u8]) -> Result<SignRequest, Denial> {
        request::decode(operation, payload)
    }

    fn digested(request: &SignRequest) -> [&[u8]; 2] {
        [request.name.as_str().as_bytes(), &request.data.0]
    }

    fn digested_besides(request: &SignRequest) -> Vec<u8> {
        request.algorithm.map(|it| format!("{it:?}").into_bytes()).unwrap_or_default()
    }

    fn subject(request: &SignRequest) -> &str {
        request.name.as_str()
    }

    fn check(_: &Policy, _: &Session, request: SignRequest) -> Result<Ready, Refused> {
        policy::check(request)
    }

    fn label(ready: &Ready) -> Arc<str> {
        ready.request.name.as_str().into()
    }

    async fn act<C: Capability>(
        &self,
        permit: &Permit<'_, C>,
        Ready { request }: Ready,
    ) -> Result<Answer<Signed>, CallError> {
        let SignRequest { name, data, algorithm } = request;
        let tenant = &permit.session().spec().tenant;
        // Not on a thread of its own: it is one look into a file that is open, and then computed.
        let signed = self.signer.sign(tenant, &name, algorithm, &data.0);
        let bound = |code, why| CallError::from(Denial::ByPower { cap: Cap::Secrets, code, why });
        match signed {
            Ok(SecretSignature { algorithm, bytes, public_key }) => {
                let public_key = public_key.map(|it| Base64(it.to_vec()));
                Ok(Ok(Signed { algorithm, signature: Base64(bytes), public_key }))
            }
            Err(SignError::Unknown) => {
                let why = format!(
                    "there is no secret `{name}` that signs: `drydock secret keep` and `drydock secret generate` make one"
                );
                Err(bound(UNKNOWN, why))
            }
            Err(SignError::Algorithm(is)) => {
                Err(bound(ALGORITHM, format!("the secret `{name}` signs by {is}")))
            }
            Err(SignError::Unavailable { code, problem }) => Err(Fault::Ledger { code, problem }.into()),
        }
    }
}
