//! Whoever signs with secrets that are kept. There is no operation that reads one.

use crate::{SecretName, SignAlgorithm, Tenant};

/// Signs in the name of a tenant.
pub trait Signer: Send + Sync {
    /// Signs these bytes with the tenant's secret of that name: in the way that is asked for, or in the one way that the
    /// secret has. Blocks for as long as a look into an open file takes.
    fn sign(
        &self,
        tenant: &Tenant,
        name: &SecretName,
        algorithm: Option<SignAlgorithm>,
        data: &[u8],
    ) -> Result<SecretSignature, SignError>;
}

/// A signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretSignature {
    /// How it was made.
    pub algorithm: SignAlgorithm,
    /// 32 or 64 bytes.
    pub bytes: Vec<u8>,
    /// By which anybody can check it, where there is such a key.
    pub public_key: Option<[u8; 32]>,
}

/// Why there is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// The tenant keeps no such secret.
    #[error("there is no secret of that name that signs")]
    Unknown,
    /// The secret signs otherwise.
    #[error("the secret signs by {0}")]
    Algorithm(SignAlgorithm),
    /// What is kept cannot be had: the file, or the key that it is sealed with.
    #[error("{problem}")]
    Unavailable {
        /// The stable code.
        code: &'static str,
        /// What is wrong, and what to do.
        problem: String,
    },
}
