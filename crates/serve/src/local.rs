//! The way in for whoever owns the data directory: a socket in it, that the file system lets nobody else open. Whoever
//! comes by it is the tenant of the command line, and needs no token: they could write one.

use std::{sync::Arc, time::Duration};

use axum::{Extension, Router};
use tokio::{
    net::UnixListener,
    sync::{Semaphore, watch},
};

use crate::{App, listen::Connection};

/// Connections at once: the command line makes one, for one request.
const CONNECTIONS_MAX: usize = 64;
/// How long a listener that cannot accept rests.
const REST: Duration = Duration::from_millis(50);

/// Marks a request that came by that socket.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Local;

/// Serves until it is dropped.
pub async fn serve_local(listener: UnixListener, app: App, router: Router) {
    let router = router.layer(Extension(Local));
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let (_ending, ending) = watch::channel(false);
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, most likely: those that are open will close.
            tokio::time::sleep(REST).await;
            continue;
        };
        let bounds = app.bounds();
        let connection = Connection { bounds, router: router.clone(), ending: ending.clone() };
        tokio::spawn(async move {
            connection.serve(stream).await;
            drop(place);
        });
    }
}
