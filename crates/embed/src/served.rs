//! Guests that serve, over a dock: whoever has a listener asks here before it binds, for each connection and for each request.
//! Nothing here listens.

use core::net::SocketAddr;
use std::{pin::pin, sync::Arc};

use bytes::Bytes;
use drydock_abi::{
    broker::Answer,
    serve::{ACCEPT, LISTEN, REQUEST, REQUEST_BYTES_MAX},
};
pub use drydock_caps::serve::subject_of as serve_subject;
use drydock_caps::serve::{Accept, Accepted, Ask, Handler, Listen, Serving};
use drydock_contract::{Call, CallError, Fault, Reply, Streams};
use tokio::sync::Semaphore;

use crate::{Dock, DockSession, HandedOver};

pub use drydock_abi::serve::REQUEST_BYTES_MAX as SERVED_REQUEST_BYTES_MAX;
pub use drydock_abi::serve::{
    CLIENT_CALLS_MAX, CONNECTION_WALL_MAX, CONNECTIONS_MAX, DISPATCH_WALL_MAX, GAP, Protocol,
    RESPONSE_BYTES_MAX, TextRequest, TextResponse, decode_response, encode_request,
};

/// Requests of one listener that run at once; the others wait within the time of their connection. Fewer than the runs that
/// a principal may have, so that what a guest starts has room.
const REQUESTS_AT_ONCE: usize = 24;

/// Who answers at a listener.
#[derive(Clone)]
pub enum ServeHandler {
    /// A serving guest that was handed over.
    Module(Arc<HandedOver>),
    /// A command of the registry: the request is its stdin, its stdout is the response.
    Command {
        /// Its name.
        name: String,
        /// Its arguments.
        args: Vec<Vec<u8>>,
    },
}

/// A registered command as the handler of a listener.
pub fn command_handler(
    name: impl Into<String>,
    args: impl IntoIterator<Item = impl Into<Vec<u8>>>,
) -> ServeHandler {
    ServeHandler::Command { name: name.into(), args: args.into_iter().map(Into::into).collect() }
}

/// What is to be served.
pub struct ServeSetup {
    /// What is spoken.
    pub protocol: Protocol,
    /// Where, as the grant has it.
    pub address: SocketAddr,
    /// How people call it: no two listeners of a tenant have one name.
    pub serve_id: String,
    /// Who answers.
    pub handler: ServeHandler,
    /// Requests of one client in a minute.
    pub client_calls_max: u32,
}

/// A listener that was let through. Whoever has it may bind the address; dropping it ends what it holds.
pub struct Served {
    serving: Arc<Serving>,
    places: Arc<Semaphore>,
    /// The module stays on the shelf.
    #[expect(dead_code, reason = "held for as long as it serves")]
    handler: ServeHandler,
}

/// A connection that was let in.
pub struct ServedConnection {
    serving: Arc<Serving>,
    places: Arc<Semaphore>,
    accepted: Accepted,
}

impl Dock {
    /// Asks to serve. A module that cannot is refused here, and not by its first request.
    pub async fn serve_guest(&self, session: &DockSession, setup: ServeSetup) -> Result<Served, CallError> {
        let ServeSetup { protocol, address, serve_id, handler, client_calls_max } = setup;
        let asked = match &handler {
            ServeHandler::Module(module) => Handler::Module(module.digest()),
            ServeHandler::Command { name, args } => {
                Handler::Command { name: name.clone(), args: args.clone() }
            }
        };
        let bytes = serve_id.len() as u64;
        let listen = Listen { protocol, address, serve_id, handler: asked, client_calls_max };
        let call = Call::typed(LISTEN, listen, bytes, Streams::default());
        let serving = taken::<Arc<Serving>>(session.gate.dispatch(session.inner(), call).await)?;
        Ok(Served { serving, places: Arc::new(Semaphore::new(REQUESTS_AT_ONCE)), handler })
    }
}

impl Served {
    /// What is spoken there.
    pub fn protocol(&self) -> Protocol {
        self.serving.protocol()
    }

    /// Lets a connection in, or says why not.
    pub async fn accept(&self, client: SocketAddr) -> Result<ServedConnection, CallError> {
        let accept = Accept { serving: Arc::clone(&self.serving), client: client.ip() };
        let call = Call::typed(ACCEPT, accept, 0, Streams::default());
        let accepted = taken::<Accepted>(self.serving.door().dispatch(call).await)?;
        Ok(ServedConnection {
            serving: Arc::clone(&self.serving),
            places: Arc::clone(&self.places),
            accepted,
        })
    }

    /// Waits until it may serve no longer: its principal or its grant was revoked, or its session cancelled.
    pub async fn ended(&self) {
        ended(&self.serving).await;
    }
}

impl ServedConnection {
    /// Has one request answered. What the guest could not is an answer too; what was refused, and what is no guest's doing,
    /// is an error.
    pub async fn request(&self, bytes: Bytes) -> Result<Answer<Bytes>, CallError> {
        let door = self.serving.door();
        if bytes.len() as u64 > REQUEST_BYTES_MAX {
            // It can only be refused, and is on record then.
            let refused = door.dispatch(Call::oversized(REQUEST, bytes.len() as u64)).await;
            return Err(refused.err().unwrap_or_else(unexpected));
        }
        let _place = self.places.acquire().await.map_err(|_| unexpected())?;
        let length = bytes.len() as u64;
        let ask = Ask { serving: Arc::clone(&self.serving), client: self.accepted.client(), bytes };
        taken(door.dispatch(Call::typed(REQUEST, ask, length, Streams::default())).await)
    }

    /// The same for a request of which so many bytes are too many, and were not read.
    pub async fn refuse(&self, bytes: u64) -> CallError {
        let refused =
            self.serving.door().dispatch(Call::oversized(REQUEST, bytes.max(REQUEST_BYTES_MAX + 1))).await;
        refused.err().unwrap_or_else(unexpected)
    }

    /// As [`Served::ended`].
    pub async fn ended(&self) {
        ended(&self.serving).await;
    }
}

fn taken<T: 'static>(reply: Result<Reply, CallError>) -> Result<T, CallError> {
    reply?.value().ok_or_else(unexpected)
}

fn unexpected() -> CallError {
    Fault::Internal("the gate answered in another form".into()).into()
}

async fn ended(serving: &Serving) {
    let [revoked, cancelled] = serving.switches();
    loop {
        let (first, second) = (pin!(revoked.listen()), pin!(cancelled.listen()));
        // A grant is taken back by nobody's switch, so it is looked at now and then.
        if !serving.still_valid() {
            return;
        }
        tokio::select! {
            () = first => {}
            () = second => {}
            () = tokio::time::sleep(LOOK_AGAIN) => {}
        }
    }
}

/// Between two looks at whether the grant still holds.
const LOOK_AGAIN: std::time::Duration = std::time::Duration::from_millis(200);
