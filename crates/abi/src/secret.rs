//! `secret.sign`: a signature by a secret that nobody can read. Requests and answers as values and as JSON.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use drydock_contract::{SecretName, SignAlgorithm};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::{Value, json};

use crate::broker::{Blob, OperationText, object, text};

/// The operation.
pub const SIGN: &str = "secret.sign";
/// The most that is signed at once.
pub const SIGN_DATA_BYTES_MAX: u64 = 1 << 20;
/// The largest request that is read: the data in base64, and room for everything else.
pub const SIGN_REQUEST_BYTES_MAX: u64 = 2 << 20;

/// What programs and models are told of it.
pub const OPERATIONS: &[OperationText] = &[OperationText {
    name: SIGN,
    title: "Sign with a secret",
    description: "Signs bytes with a secret of the tenant that was granted by name: HMAC-SHA256 with a kept value, Ed25519 \
                  with a generated key. The secret itself is never shown. The signature is base64.",
    is_read: true,
    input,
    output,
}];

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignRequest {
    /// By which secret.
    pub name: SecretName,
    /// What is signed.
    pub data: Blob,
    /// How, if it matters: a secret signs in one way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<SignAlgorithm>,
}

/// A signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signed {
    /// How it was made.
    pub algorithm: SignAlgorithm,
    /// The bytes.
    pub signature: Base64,
    /// By which anybody can check it; of Ed25519.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<Base64>,
}

/// Bytes that are base64 in JSON, whatever they are: a signature that happens to be text is no text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base64(pub Vec<u8>);

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        STANDARD.decode(text).map(Self).map_err(|_| D::Error::custom("this is no base64"))
    }
}

fn input() -> Value {
    let algorithms: Vec<_> = SignAlgorithm::ALL.iter().map(|it| it.as_str()).collect();
    object(
        json!({
            "name": text("The name of the secret"),
            "data": Blob::schema("What is signed"),
            "algorithm": { "type": "string", "enum": algorithms, "description": "How; the secret's own way by default" },
        }),
        &["name", "data"],
    )
}

fn output() -> Value {
    let algorithms: Vec<_> = SignAlgorithm::ALL.iter().map(|it| it.as_str()).collect();
    object(
        json!({
            "algorithm": { "type": "string", "enum": algorithms },
            "signature": text("The signature in base64: 32 bytes of HMAC-SHA256, 64 of Ed25519"),
            "public_key": text("The public key of Ed25519 in base64"),
        }),
        &["algorithm", "signature"],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::parse;

    #[test]
    fn a_request_names_a_secret_and_says_nothing_that_nobody_knows() {
        for (text, fits) in [
            (r#"{"name":"KEY","data":"a"}"#, true),
            (r#"{"name":"KEY","data":{"base64":"AA=="},"algorithm":"ed25519"}"#, true),
            (r#"{"name":"KEY"}"#, false),
            (r#"{"name":"a/b","data":""}"#, false),
            (r#"{"name":"KEY","data":"","algorithm":"md5"}"#, false),
            (r#"{"name":"KEY","data":"","value":"x"}"#, false),
        ] {
            assert_eq!(parse::<SignRequest>(SIGN, text.as_bytes()).is_ok(), fits, "{text}");
        }
    }

    #[test]
    fn a_signature_is_base64_even_where_it_is_text() {
        let signed = Signed {
            algorithm: SignAlgorithm::HmacSha256,
            signature: Base64(b"text".to_vec()),
            public_key: None,
        };
        let json = serde_json::to_string(&signed).unwrap();
        assert_eq!(json, r#"{"algorithm":"hmac-sha256","signature":"dGV4dA=="}"#);
        assert_eq!(serde_json::from_str::<Signed>(&json).unwrap(), signed);
    }
}
