//! TLS to a server that proves to be the name that was asked for, by the machine's trust store.
//!
//! Further roots count for addresses that `--allow-private` opened and for no other: a root of a test or of a local
//! service must not speak for the rest of the world. Sessions are not resumed, so that one tenant's connection says
//! nothing about another's. There is no way to switch verification off.

use std::{fmt, io, sync::Arc};

use rustls::{
    CertificateError, ClientConfig, RootCertStore,
    client::Resumption,
    pki_types::{CertificateDer, ServerName},
};
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;

use crate::{dial::Connection, error::FetchError, host::Host, pin::Pinned};

/// Which roots stand for the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorldRoots {
    /// The machine's trust store (on Unix also what `SSL_CERT_FILE` and `SSL_CERT_DIR` name, as every program reads it).
    System,
    /// None at all: only opened addresses can be reached over TLS.
    Nobody,
}

/// Whom we believe.
pub struct Trust {
    world_roots: WorldRoots,
    private_roots: Vec<CertificateDer<'static>>,
    world: OnceCell<Arc<ClientConfig>>,
    private: OnceCell<Arc<ClientConfig>>,
}

impl Trust {
    /// The world by its roots, and opened addresses by these certificates (DER) too.
    pub fn new(world_roots: WorldRoots, private_roots: Vec<Vec<u8>>) -> Self {
        let private_roots = private_roots.into_iter().map(CertificateDer::from).collect();
        Self { world_roots, private_roots, world: OnceCell::new(), private: OnceCell::new() }
    }

    async fn config(&self, to: &Pinned) -> Result<Arc<ClientConfig>, FetchError> {
        let (cell, extra) = match to.opened() {
            true => (&self.private, self.private_roots.as_slice()),
            false => (&self.world, [].as_slice()),
        };
        let config = cell.get_or_try_init(|| self.build(extra)).await?;
        Ok(Arc::clone(config))
    }

    async fn build(&self, extra: &[CertificateDer<'static>]) -> Result<Arc<ClientConfig>, FetchError> {
        let failed = |why: String| FetchError::TrustStore { why };
        let mut roots = RootCertStore::empty();
        if self.world_roots == WorldRoots::System {
            // Hundreds of files on some machines: not on a thread that others wait for.
            let load = tokio::task::spawn_blocking(rustls_native_certs::load_native_certs);
            let found = load.await.map_err(|error| failed(error.to_string()))?;
            let (usable, _) = roots.add_parsable_certificates(found.certs);
            if usable == 0 && extra.is_empty() {
                let why = found.errors.first().map_or("there is none".to_owned(), ToString::to_string);
                return Err(failed(why));
            }
        }
        for root in extra {
            roots.add(root.clone()).map_err(|error| failed(error.to_string()))?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| failed(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config.resumption = Resumption::disabled();
        Ok(Arc::new(config))
    }

    /// Speaks TLS over the connection, with the host as the name that the server must prove, and HTTP in it.
    pub(crate) async fn connect(
        &self,
        host: &Host,
        to: &Pinned,
        connection: Box<dyn Connection>,
    ) -> Result<Box<dyn Connection>, FetchError> {
        self.secure(self.config(to).await?, host, connection).await
    }

    /// The same for whoever speaks something else than HTTP: no protocol is named.
    pub(crate) async fn connect_raw(
        &self,
        host: &Host,
        to: &Pinned,
        connection: Box<dyn Connection>,
    ) -> Result<Box<dyn Connection>, FetchError> {
        let mut config = ClientConfig::clone(&*self.config(to).await?);
        config.alpn_protocols.clear();
        self.secure(Arc::new(config), host, connection).await
    }

    async fn secure(
        &self,
        config: Arc<ClientConfig>,
        host: &Host,
        connection: Box<dyn Connection>,
    ) -> Result<Box<dyn Connection>, FetchError> {
        let name = match host {
            Host::Name(name) => ServerName::try_from(name.as_str().to_owned())
                .map_err(|error| FetchError::Tls { host: host.clone(), cause: io::Error::other(error) })?,
            Host::Address(address) => ServerName::IpAddress((*address).into()),
        };
        let connector = TlsConnector::from(config);
        let stream = connector.connect(name, connection).await.map_err(|cause| failure(host, cause))?;
        Ok(Box::new(stream))
    }
}

/// Bad certificates by name; the rest as the library says it.
fn failure(host: &Host, cause: io::Error) -> FetchError {
    let host = host.clone();
    let inner = cause.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let Some(rustls::Error::InvalidCertificate(problem)) = inner else {
        return FetchError::Tls { host, cause };
    };
    let why = match problem {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => "it is not valid yet",
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "it is for another name"
        }
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "nobody who is trusted has signed it"
        }
        CertificateError::Revoked => "it was revoked",
        _ => "it is not acceptable",
    };
    FetchError::Certificate { host, why }
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let private = self.private_roots.len();
        write!(f, "Trust({:?} and {private} private roots)", self.world_roots)
    }
}
