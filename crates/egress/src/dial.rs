//! Opens connections. The one place that does, and it takes a [`Pinned`]: there is no way to it with a name, and none with
//! an address that was not judged.
//!
//! No proxy is asked, whatever the environment says.

use std::{fmt, io};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

use crate::{pin::Pinned, resolve::Pending};

/// Bytes both ways.
pub trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

/// Opens a connection to an address that was judged.
pub trait Dial: fmt::Debug + Send + Sync {
    /// Connects to the address, and to no other.
    fn dial<'a>(&'a self, to: &'a Pinned) -> Pending<'a, io::Result<Box<dyn Connection>>>;
}

/// TCP, straight to the address.
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
}
