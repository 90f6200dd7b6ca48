//! Opens connections and sockets. The one place that does, and it takes a [`Pinned`]: there is no way to it with a name, and none with
//! an address that was not judged.
//!
//! No proxy is asked, whatever the environment says.

use std::{
    fmt, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, UdpSocket},
};

use crate::{pin::Pinned, resolve::Pending};

/// Bytes both ways.
pub trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

/// Datagrams to one address, and those that come from it.
pub trait Datagrams: Send + Sync {
    /// Sends one.
    fn send<'a>(&'a self, bytes: &'a [u8]) -> Pending<'a, io::Result<usize>>;

    /// Waits for one. What has no room in the buffer is lost.
    fn receive<'a>(&'a self, buffer: &'a mut [u8]) -> Pending<'a, io::Result<usize>>;
}

/// Opens connections and sockets to an address that was judged.
pub trait Dial: fmt::Debug + Send + Sync {
    /// Connects to the address, and to no other.
    fn dial<'a>(&'a self, to: &'a Pinned) -> Pending<'a, io::Result<Box<dyn Connection>>>;

    /// A socket for datagrams to the address, and to no other. Whoever has none says so.
    fn open<'a>(&'a self, to: &'a Pinned) -> Pending<'a, io::Result<Box<dyn Datagrams>>> {
        let _ = to;
        Box::pin(std::future::ready(Err(io::ErrorKind::Unsupported.into())))
    }
}

/// TCP and UDP, straight to the address.
#[derive(Debug, Default)]
pub struct TcpDialler;

impl Dial for TcpDialler {
    fn dial<'a>(&'a self, to: &'a Pinned) -> Pending<'a, io::Result<Box<dyn Connection>>> {
        Box::pin(async move {
            let stream = TcpStream::connect(to.address()).await?;
            stream.set_nodelay(true)?;
            Ok(Box::new(stream) as Box<dyn Connection>)
        })
    }

    fn open<'a>(&'a self, to: &'a Pinned) -> Pending<'a, io::Result<Box<dyn Datagrams>>> {
        Box::pin(async move {
            let any: IpAddr = match to.address().is_ipv4() {
                true => Ipv4Addr::UNSPECIFIED.into(),
                false => Ipv6Addr::UNSPECIFIED.into(),
            };
            let socket = UdpSocket::bind((any, 0)).await?;
            // The kernel drops what comes from anybody else, and tells of an address where nobody listens.
            socket.connect(to.address()).await?;
            Ok(Box::new(socket) as Box<dyn Datagrams>)
        })
    }
}

impl Datagrams for UdpSocket {
    fn send<'a>(&'a self, bytes: &'a [u8]) -> Pending<'a, io::Result<usize>> {
        Box::pin(self.send(bytes))
    }

    fn receive<'a>(&'a self, buffer: &'a mut [u8]) -> Pending<'a, io::Result<usize>> {
        Box::pin(self.recv(buffer))
    }
}
