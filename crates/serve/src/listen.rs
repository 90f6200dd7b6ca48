//! Connections: as many as may be, each with its time to say what it wants and to take what it asked for, and an end that
//! waits for what was begun.

use std::{sync::Arc, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    sync::{Semaphore, watch},
};

use crate::{App, Bounds, Tls, pace::Paced};

/// How long a listener that cannot accept rests.
const REST: Duration = Duration::from_millis(50);

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drained {
    /// Everything that was begun was answered.
    Whole,
    /// Some connections were cut off when the time for it was over.
    Cut(usize),
}

/// Serves until `end` comes, and then until what was begun is answered.
pub async fn serve(
    listener: TcpListener,
    tls: Option<Tls>,
    app: App,
    router: Router,
    end: impl Future<Output = ()>,
) -> Drained {
    let bounds = app.0.settings.bounds;
    let places = Arc::new(Semaphore::new(bounds.connections_max));
    let (ending, is_ending) = watch::channel(false);
    let mut end = std::pin::pin!(end);
    loop {
        // A connection is taken once there is a place for it; until then it waits where the system keeps it.
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await.ok()?;
            Some((listener.accept().await.ok()?.0, place))
        };
        let accepted = tokio::select! {
            biased;
            () = &mut end => break,
            accepted = next => accepted,
        };
        let Some((stream, place)) = accepted else {
            // Out of descriptors, most likely: those that are open will close.
            tokio::time::sleep(REST).await;
            continue;
        };
        // Answers are small and whole: waiting for more to send with them only delays them.
        let _ = stream.set_nodelay(true);
        let connection = Connection { bounds, router: router.clone(), ending: is_ending.clone() };
        let (app, tls) = (app.clone(), tls.clone());
        app.0.metrics.accepted.add();
        app.0.metrics.connections.add();
        tokio::spawn(async move {
            match tls {
                None => connection.serve(stream).await,
                Some(tls) => {
                    let shaken = tokio::time::timeout(bounds.header_read_max, tls.0.accept(stream)).await;
                    if let Ok(Ok(stream)) = shaken {
                        connection.serve(stream).await;
                    }
                }
            }
            app.0.metrics.connections.sub();
            drop(place);
        });
    }
    app.drain();
    drop(listener);
    ending.send_replace(true);
    let all = u32::try_from(bounds.connections_max).unwrap_or(u32::MAX);
    match tokio::time::timeout(bounds.drain_max, places.acquire_many(all)).await {
        Ok(_) => Drained::Whole,
        Err(_) => Drained::Cut(bounds.connections_max.saturating_sub(places.available_permits())),
    }
}

/// One connection.
pub(crate) struct Connection {
    pub(crate) bounds: Bounds,
    pub(crate) router: Router,
    pub(crate) ending: watch::Receiver<bool>,
}

impl Connection {
    pub(crate) async fn serve(mut self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let Bounds { header_bytes_max, headers_max, header_read_max, .. } = self.bounds;
        let service = TowerToHyperService::new(self.router);
        // What comes in has its times below; what goes out has its own here.
        let stream = Paced::new(stream, self.bounds.pace());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(header_read_max)
            .max_header_size(header_bytes_max)
            .max_buf_size(header_bytes_max.max(MIN_BUFFER))
            .max_headers(headers_max)
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        // What it answers borrows the channel, which must not go on to another thread.
        let ending = async { drop(self.ending.wait_for(|it| *it).await) };
        tokio::select! {
            // What goes wrong here is the other end's, or was answered already.
            ended = connection.as_mut() => drop(ended),
            () = ending => {
                connection.as_mut().graceful_shutdown();
                let _ = connection.await;
            }
        }
    }
}

/// The least that a connection buffers.
const MIN_BUFFER: usize = 16 << 10;
