//! A way out that leads nowhere: for a machine that must not have one, by its type.

use std::{io, net::IpAddr};

use crate::{
    dial::{Connection, Dial},
    host::HostName,
    pin::Pinned,
    resolve::{Pending, Resolve},
};

/// Knows no name, and connects to nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nowhere;

impl Resolve for Nowhere {
    fn resolve<'a>(&'a self, _: &'a HostName, _: usize) -> Pending<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(std::future::ready(Err(io::ErrorKind::NetworkUnreachable.into())))
    }
}

impl Dial for Nowhere {
    fn dial<'a>(&'a self, _: &'a Pinned) -> Pending<'a, io::Result<Box<dyn Connection>>> {
        Box::pin(std::future::ready(Err(io::ErrorKind::NetworkUnreachable.into())))
    }
}
