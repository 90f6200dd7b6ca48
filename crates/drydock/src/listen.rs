//! A listener before which many may wait: a burst of connections that finds the system's queue full is told nothing, and
//! tries again a second later. Its connections tell soon whether what they send is read.

use std::{io, net::SocketAddr};

use socket2::SockRef;
use tokio::net::{TcpListener, TcpSocket};

/// Connections that wait to be accepted; the system may have a lower bound of its own.
const WAITING_MAX: u32 = 4_096;
/// Bytes that the system keeps of what a connection was given and cannot send yet. It would keep megabytes: of those nobody
/// could tell for a long time whether they are read. What was sent and not acknowledged is none of them, so a distant reader
/// is as fast as without it.
const UNSENT_BYTES_MAX: u32 = 64 << 10;

/// Listens there.
pub(crate) fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    // The connections that it accepts have it from here, at no cost of their own. A system without it tells later who reads.
    let _ = SockRef::from(&socket).set_tcp_notsent_lowat(UNSENT_BYTES_MAX);
    socket.bind(address)?;
    socket.listen(WAITING_MAX)
}
