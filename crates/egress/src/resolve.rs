//! Names to addresses, bounded in time, in threads and in how many there may be.
//!
//! [`SystemResolver`] asks the machine's own resolver (`getaddrinfo`), so that what a name means here is what it means to
//! every other program. That call cannot be cancelled: one that hangs keeps its thread and its place, and when all places
//! are taken, names do not resolve in time. Nothing here judges; whoever asks a second time may hear something else.

use std::{fmt, future::Future, io, net::IpAddr, net::ToSocketAddrs, pin::Pin, sync::Arc, time::Duration};

use tokio::sync::Semaphore;

use crate::{host::HostName, refusal::Refusal};

/// A future that can be kept in a box and sent to another thread.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// How many look-ups the machine's resolver does for us at once.
const LOOKUPS_MAX: usize = 16;

/// Turns a name into addresses.
pub trait Resolve: fmt::Debug + Send + Sync {
    /// All addresses of the name, or at least one more than `addresses_max` of them.
    fn resolve<'a>(
        &'a self,
        host: &'a HostName,
        addresses_max: usize,
    ) -> Pending<'a, io::Result<Vec<IpAddr>>>;
}

/// The machine's own resolver, on threads that may wait.
#[derive(Debug)]
pub struct SystemResolver {
    places: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(LOOKUPS_MAX)) }
    }
}

impl Resolve for SystemResolver {
    fn resolve<'a>(
        &'a self,
        host: &'a HostName,
        addresses_max: usize,
    ) -> Pending<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let place = Arc::clone(&self.places).acquire_owned().await.map_err(io::Error::other)?;
            let name = host.as_str().to_owned();
            let work = move || {
                // Held until the call is over, also where nobody waits for it any more: the bound is on threads.
                let _place = place;
                let mut addresses = Vec::new();
                // The port is not asked about: it only makes the text one that std resolves.
                for found in (name.as_str(), 0).to_socket_addrs()? {
                    if !addresses.contains(&found.ip()) {
                        addresses.push(found.ip());
                    }
                    if addresses.len() > addresses_max {
                        break;
                    }
                }
                Ok(addresses)
            };
            tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
        })
    }
}

/// Asks once, and takes neither too long nor too many.
pub(crate) async fn resolve(
    resolver: &dyn Resolve,
    host: &HostName,
    addresses_max: usize,
    time_max: Duration,
) -> Result<Vec<IpAddr>, Refusal> {
    let answer = tokio::time::timeout(time_max, resolver.resolve(host, addresses_max)).await;
    let addresses = answer
        .map_err(|_| Refusal::ResolveTimeout { host: host.clone() })?
        .map_err(|error| Refusal::Unresolved { host: host.clone(), why: error.to_string() })?;
    if addresses.is_empty() {
        return Err(Refusal::Unresolved { host: host.clone(), why: "it has no address".to_owned() });
    }
    if addresses.len() > addresses_max {
        return Err(Refusal::TooManyAddresses { host: host.clone(), addresses_max });
    }
    Ok(addresses)
}
