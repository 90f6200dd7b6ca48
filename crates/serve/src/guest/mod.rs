//! A listener for one guest that serves: the host listens, the guest answers. Each connection and each request is a call at
//! the gate, made through the dock; here they are read, bounded and written.
//!
//! A connection is taken once there is a place for it; until then it waits where the system keeps it, so ten thousand of them
//! hurt nobody. Who does not read what is sent to it is closed, and the responses of all of them together have a bound. Once
//! its principal or its grant is revoked the listener is closed, and with it every connection at once.

mod http;
mod room;
mod tcp;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use drydock_contract::CallError;
use drydock_embed::{CONNECTIONS_MAX, Protocol, Served, ServedConnection};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    sync::{Semaphore, watch},
};

use self::room::Room;
use crate::pace::{Pace, Paced};

/// How long a listener that cannot accept rests.
const REST: Duration = Duration::from_millis(50);

/// What a listener is bounded by.
#[derive(Debug, Clone, Copy)]
pub struct GuestBounds {
    /// How long what was begun is waited for when it ends.
    pub drain_max: Duration,
    /// Time in which no byte of a response can be written.
    pub write_pause_max: Duration,
    /// Time until a response is written, and as long waits a request for room for its own.
    pub write_max: Duration,
    /// Bytes of the responses of all connections that are made or written at once.
    pub responses_bytes_max: usize,
}

impl Default for GuestBounds {
    fn default() -> Self {
        Self {
            drain_max: Duration::from_secs(30),
            write_pause_max: Duration::from_secs(10),
            write_max: Duration::from_secs(30),
            // As many of the longest as may be made at once, and some that are written meanwhile.
            responses_bytes_max: 128 << 20,
        }
    }
}

impl GuestBounds {
    /// Any byte is progress, because there is an end to all of it.
    fn pace(&self) -> Pace {
        Pace { pause_max: self.write_pause_max, pause_bytes_min: 1, write_max: Some(self.write_max) }
    }
}

/// What came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GuestCounts {
    /// Connections that were let in.
    pub connections: u64,
    /// Connections and requests that the gate refused.
    pub refused: u64,
    /// Requests that the guest answered.
    pub answered: u64,
    /// Requests that it could not answer.
    pub failed: u64,
}

/// Why nobody listens any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuestEnd {
    /// Whoever serves was told to end, and what was begun was answered within its time.
    Told,
    /// What let it listen was taken back.
    Revoked,
}

#[derive(Default)]
struct Counters {
    connections: AtomicU64,
    refused: AtomicU64,
    answered: AtomicU64,
    failed: AtomicU64,
}

/// How a request went, for the count.
#[derive(Debug, Clone, Copy)]
enum Went {
    Answered,
    Failed,
    Refused,
}

impl Counters {
    fn count(&self, went: Went) {
        let counter = match went {
            Went::Answered => &self.answered,
            Went::Failed => &self.failed,
            Went::Refused => &self.refused,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    fn read(&self) -> GuestCounts {
        let of = |it: &AtomicU64| it.load(Ordering::Relaxed);
        GuestCounts {
            connections: of(&self.connections),
            refused: of(&self.refused),
            answered: of(&self.answered),
            failed: of(&self.failed),
        }
    }
}

/// How an error of the gate counts: what was denied was refused, and everything else failed.
fn went(error: &CallError) -> Went {
    match error {
        CallError::Denied(_) => Went::Refused,
        CallError::Failed(_) => Went::Failed,
    }
}

/// Serves until `end` comes, or until it may no longer. What was begun by then has its time to be answered.
pub async fn serve_guest(
    listener: TcpListener,
    served: Served,
    bounds: GuestBounds,
    end: impl Future<Output = ()>,
) -> (GuestEnd, GuestCounts) {
    let places_max = CONNECTIONS_MAX as usize;
    // One of the principal's places is the listener's own.
    let places = Arc::new(Semaphore::new(places_max - 1));
    let (served, counters) = (Arc::new(served), Arc::new(Counters::default()));
    let room = Arc::new(Room::new(&bounds));
    let (ending, is_ending) = watch::channel(false);
    let (mut end, mut lost) = (std::pin::pin!(end), std::pin::pin!(served.ended()));
    let why = loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await.ok()?;
            let (stream, client) = listener.accept().await.ok()?;
            Some((stream, client, place))
        };
        let accepted = tokio::select! {
            biased;
            () = &mut lost => break GuestEnd::Revoked,
            () = &mut end => break GuestEnd::Told,
            accepted = next => accepted,
        };
        let Some((stream, client, place)) = accepted else {
            // Out of descriptors, most likely: those that are open will close.
            tokio::time::sleep(REST).await;
            continue;
        };
        // Answers are small and whole: waiting for more to send with them only delays them.
        let _ = stream.set_nodelay(true);
        let (served, counters, ending) = (Arc::clone(&served), Arc::clone(&counters), is_ending.clone());
        let (stream, room) = (Paced::new(stream, bounds.pace()), Arc::clone(&room));
        tokio::spawn(async move {
            match served.accept(client).await {
                Ok(connection) => {
                    counters.connections.fetch_add(1, Ordering::Relaxed);
                    on_connection(stream, served.protocol(), connection, (&counters, &room), ending).await;
                }
                // The gate has it on record. A client is told nothing: it is closed.
                Err(error) => counters.count(went(&error)),
            }
            drop(place);
        });
    };
    drop(listener);
    ending.send_replace(true);
    let all = u32::try_from(places_max - 1).unwrap_or(u32::MAX);
    let _ = tokio::time::timeout(bounds.drain_max, places.acquire_many(all)).await;
    (why, counters.read())
}

/// One connection, for as long as it may be.
async fn on_connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    protocol: Protocol,
    connection: ServedConnection,
    (counters, room): (&Counters, &Room),
    ending: watch::Receiver<bool>,
) {
    let speaking = async {
        match protocol {
            Protocol::Http => http::speak(stream, &connection, (counters, room), ending).await,
            Protocol::Tcp => tcp::speak(stream, &connection, (counters, room)).await,
        }
    };
    tokio::select! {
        biased;
        // Dropped in the middle of whatever it does: that is what revoked means.
        () = connection.ended() => {}
        () = speaking => {}
    }
}

#[cfg(test)]
mod tests;
