//! What is asked: to listen somewhere, to take a connection, to answer a request. Travels typed, because only a host asks for
//! it: no guest listens. A connection and a request are about the listener that they came by, and nothing in them says
//! another.

use core::net::{IpAddr, SocketAddr};
use std::{any::Any, sync::Arc};

use bytes::Bytes;
use drydock_abi::serve::{ACCEPT, LISTEN, Protocol, REQUEST};

use crate::serving::{Handler, Serving};

/// A listener that is to be. Reply: [`Arc<Serving>`], which whoever binds the address keeps.
pub struct Listen {
    /// What is spoken.
    pub protocol: Protocol,
    /// Where.
    pub address: SocketAddr,
    /// How people call it.
    pub serve_id: String,
    /// Who answers.
    pub handler: Handler,
    /// Requests of one client in a minute.
    pub client_calls_max: u32,
}

/// A connection that somebody made. Reply: [`Accepted`](crate::serving::Accepted).
pub struct Accept {
    /// By which listener.
    pub serving: Arc<Serving>,
    /// From whom.
    pub client: IpAddr,
}

/// A request. Reply: an `Answer<Bytes>`.
pub struct Ask {
    /// By which listener.
    pub serving: Arc<Serving>,
    /// From whom.
    pub client: IpAddr,
    /// Its bytes.
    pub bytes: Bytes,
}

/// A request, and the name that it is about.
pub struct Request {
    pub(super) subject: Arc<str>,
    pub(super) asked: Asked,
}

pub(super) enum Asked {
    Listen(Listen),
    Accept(Accept),
    Ask(Ask),
}

impl Request {
    pub(super) fn digested(&self) -> [&[u8]; 2] {
        match &self.asked {
            Asked::Listen(listen) => [self.subject.as_bytes(), listen.serve_id.as_bytes()],
            Asked::Accept(_) => [self.subject.as_bytes(), &[]],
            Asked::Ask(ask) => [self.subject.as_bytes(), &ask.bytes],
        }
    }
}

pub(super) fn decode(operation: &str, value: Box<dyn Any + Send>) -> Option<Request> {
    match operation {
        LISTEN => {
            let listen = *value.downcast::<Listen>().ok()?;
            let subject = subject_of(listen.protocol, listen.address).into();
            Some(Request { subject, asked: Asked::Listen(listen) })
        }
        ACCEPT => {
            let accept = *value.downcast::<Accept>().ok()?;
            Some(Request { subject: Arc::clone(&accept.serving.subject), asked: Asked::Accept(accept) })
        }
        REQUEST => {
            let ask = *value.downcast::<Ask>().ok()?;
            Some(Request { subject: Arc::clone(&ask.serving.subject), asked: Asked::Ask(ask) })
        }
        _ => None,
    }
}

/// What a grant names.
pub fn subject_of(protocol: Protocol, address: SocketAddr) -> String {
    let address = SocketAddr::new(address.ip().to_canonical(), address.port());
    format!("{}:{address}", protocol.as_str())
}
