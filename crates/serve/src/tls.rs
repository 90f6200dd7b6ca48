//! The server's side of TLS: a certificate chain and its key, as whoever starts the server read them.

use std::sync::Arc;

use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio_rustls::TlsAcceptor;

/// What connections are wrapped in.
#[derive(Clone)]
pub struct Tls(pub(crate) TlsAcceptor);

/// A certificate or a key cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadTls {
    /// The chain.
    #[error("the certificate is no PEM file with at least one certificate: {0}")]
    Certificate(String),
    /// The key.
    #[error("the key is no PEM file with a private key: {0}")]
    Key(String),
    /// Both together.
    #[error("the certificate and the key cannot be used: {0}")]
    Pair(rustls::Error),
}

impl Tls {
    /// Of a chain and a key, both as PEM.
    pub fn of_pem(certificate: &[u8], key: &[u8]) -> Result<Self, BadTls> {
        let chain: Vec<_> = CertificateDer::pem_slice_iter(certificate)
            .collect::<Result<_, _>>()
            .map_err(|error| BadTls::Certificate(error.to_string()))?;
        if chain.is_empty() {
            return Err(BadTls::Certificate("there is none in it".into()));
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| BadTls::Key(error.to_string()))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(BadTls::Pair)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(BadTls::Pair)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }
}
