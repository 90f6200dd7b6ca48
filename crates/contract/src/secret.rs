//! What a secret is called, and what it can be asked for. There is no type for its value here, and no way to it.

use std::{fmt, str::FromStr};

/// What a secret is called: 1 to 64 letters, digits and underscores.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretName(String);

/// The text is no name of a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no name of a secret: use 1 to 64 letters, digits and underscores")]
pub struct BadSecretName(String);

impl SecretName {
    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SecretName {
    type Err = BadSecretName;

    fn from_str(text: &str) -> Result<Self, BadSecretName> {
        let legal =
            (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        match legal {
            true => Ok(Self(text.to_owned())),
            // Somebody may have typed the secret itself: no more of it than says which one was meant.
            false => Err(BadSecretName(text.chars().take(80).collect::<String>().escape_debug().to_string())),
        }
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl serde::Serialize for SecretName {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.0)
    }
}

impl<'de> serde::Deserialize<'de> for SecretName {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        <String as serde::Deserialize>::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// How a secret signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum SignAlgorithm {
    /// HMAC with SHA-256: 32 bytes, which whoever knows the secret can check.
    #[serde(rename = "hmac-sha256")]
    HmacSha256,
    /// Ed25519: 64 bytes, which anybody can check who knows the public key.
    #[serde(rename = "ed25519")]
    Ed25519,
}

impl SignAlgorithm {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::HmacSha256, Self::Ed25519];

    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::HmacSha256 => "hmac-sha256",
            Self::Ed25519 => "ed25519",
        }
    }
}

impl fmt::Display for SignAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_has_a_plain_name() {
        for (text, fits) in [
            ("API_KEY", true),
            ("0", true),
            ("", false),
            ("a-b", false),
            ("a/b", false),
            ("a\0b", false),
            ("ä", false),
            (&"x".repeat(64), true),
            (&"x".repeat(65), false),
        ] {
            assert_eq!(text.parse::<SecretName>().is_ok(), fits, "{text}");
        }
        let json = serde_json::to_string(&SignAlgorithm::ALL).unwrap();
        assert_eq!(json, r#"["hmac-sha256","ed25519"]"#);
    }
}
