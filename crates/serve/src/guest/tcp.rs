//! Bytes before a guest that serves: one request a connection. It is whole when its sender is done with it, or when no byte
//! of it has come for a while; then the guest's bytes are sent, and the connection is closed.

use bytes::BytesMut;
use drydock_contract::text::printable;
use drydock_embed::{CONNECTION_WALL_MAX, GAP, SERVED_REQUEST_BYTES_MAX, ServedConnection};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use super::{Counters, Went, room::Room, went};

/// Read at a time.
const PIECE_BYTES: usize = 16 << 10;

/// One connection, from its first byte to its last, within its time.
pub(super) async fn speak(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    connection: &ServedConnection,
    (counters, room): (&Counters, &Room),
) {
    let spoken = tokio::time::timeout(CONNECTION_WALL_MAX, exchange(&mut stream, connection, room)).await;
    match spoken {
        Ok(None) => {}
        Ok(Some(went)) => counters.count(went),
        Err(_) => counters.count(Went::Failed),
    }
}

/// How it went; nothing where nothing was asked.
async fn exchange(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    connection: &ServedConnection,
    room: &Room,
) -> Option<Went> {
    let mut request = BytesMut::new();
    loop {
        request.reserve(PIECE_BYTES);
        // For the first byte there is as much time as for all of it.
        let is_first = request.is_empty();
        let reading = stream.read_buf(&mut request);
        let read = match is_first {
            true => reading.await,
            false => match tokio::time::timeout(GAP, reading).await {
                Ok(read) => read,
                Err(_) => break,
            },
        };
        match read {
            Ok(0) => break,
            Ok(_) if request.len() as u64 > SERVED_REQUEST_BYTES_MAX => {
                return Some(went(&connection.refuse(request.len() as u64).await));
            }
            Ok(_) => {}
            // It went away in the middle of its request.
            Err(_) => return None,
        }
    }
    if request.is_empty() {
        return None;
    }
    let Some(reserved) = room.wait().await else { return Some(Went::Refused) };
    match connection.request(request.freeze()).await {
        Ok(Ok(response)) => {
            let response = reserved.hold(response);
            let sent = async {
                stream.write_all(&response).await?;
                stream.shutdown().await
            };
            // Who does not want its answer any more has it all the same.
            let _ = sent.await;
            Some(Went::Answered)
        }
        Ok(Err(failure)) => {
            let message = printable(&failure.message);
            tracing::error!(target: "drydock::extension", code = &*failure.code, "the guest did not answer: {message}");
            Some(Went::Failed)
        }
        Err(error) => Some(went(&error)),
    }
}
