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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use base64::{Engine as _, engine::general_purpose::STANDARD};
    use drydock_embed::Dock;
    use rustls::{ClientConfig, RootCertStore, pki_types::ServerName};
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::{TcpListener, TcpStream},
    };
    use tokio_rustls::TlsConnector;

    use super::*;
    use crate::{App, ServeSettings, router, serve};

    fn pem(kind: &str, der: &[u8]) -> String {
        format!("-----BEGIN {kind}-----\n{}\n-----END {kind}-----\n", STANDARD.encode(der))
    }

    #[tokio::test]
    async fn with_a_certificate_it_speaks_tls_and_nothing_else() {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let chain = pem("CERTIFICATE", made.cert.der());
        let key = pem("PRIVATE KEY", &made.signing_key.serialize_der());
        let tls = Tls::of_pem(chain.as_bytes(), key.as_bytes()).unwrap();
        let home = tempfile::tempdir().unwrap();
        let app = App::new(Dock::open(home.path()).unwrap(), ServeSettings::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes = router(&app);
        tokio::spawn(serve(listener, Some(tls), app, routes, std::future::pending()));

        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let connector =
            TlsConnector::from(Arc::new(config.with_root_certificates(roots).with_no_client_auth()));
        let request = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        let stream = TcpStream::connect(address).await.unwrap();
        let mut stream = connector.connect(ServerName::try_from("localhost").unwrap(), stream).await.unwrap();
        stream.write_all(request).await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert!(answer.starts_with(b"HTTP/1.1 200 OK"), "{}", String::from_utf8_lossy(&answer));

        let mut plain = TcpStream::connect(address).await.unwrap();
        plain.write_all(request).await.unwrap();
        let mut answer = Vec::new();
        let _ = plain.read_to_end(&mut answer).await;
        assert!(!answer.starts_with(b"HTTP"), "{}", String::from_utf8_lossy(&answer));
    }
}
