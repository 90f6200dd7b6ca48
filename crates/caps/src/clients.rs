//! Who asks at a listener, by address: how many connections each has, and how many requests it made in its window.
//!
//! The table is bounded. When it is full, clients that have no connection and whose window is over are forgotten; if there
//! are none, a new one is refused: nobody's count is lost by being many.

use core::net::IpAddr;
use std::collections::HashMap;

use drydock_abi::serve::{CLIENT_CONNECTIONS_MAX, CLIENT_WINDOW_S};
use drydock_contract::Timestamp;

/// Clients that are remembered.
const CLIENTS_MAX: usize = 4_096;

/// The clients of one listener.
#[derive(Debug)]
pub(crate) struct Clients {
    calls_max: u32,
    all: HashMap<IpAddr, Client>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Client {
    connections: u32,
    window: u64,
    calls: u32,
}

/// Why a client is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turned {
    /// It has as many connections as one may have.
    Connections,
    /// It made as many requests as it may in this window, or there are too many clients to count.
    Rate,
}

impl Clients {
    pub(crate) fn new(calls_max: u32) -> Self {
        Self { calls_max, all: HashMap::new() }
    }

    pub(crate) fn calls_max(&self) -> u32 {
        self.calls_max
    }

    /// One more connection of it, which [`leave`](Self::leave) gives back.
    pub(crate) fn enter(&mut self, client: IpAddr, now: Timestamp) -> Result<(), Turned> {
        let client = self.client(client, now)?;
        if client.connections >= CLIENT_CONNECTIONS_MAX {
            return Err(Turned::Connections);
        }
        client.connections += 1;
        Ok(())
    }

    pub(crate) fn leave(&mut self, client: IpAddr) {
        if let Some(client) = self.all.get_mut(&canonical(client)) {
            client.connections = client.connections.saturating_sub(1);
        }
    }

    /// One more request of it.
    pub(crate) fn ask(&mut self, client: IpAddr, now: Timestamp) -> Result<(), Turned> {
        let calls_max = self.calls_max;
        let client = self.client(client, now)?;
        if client.calls >= calls_max {
            return Err(Turned::Rate);
        }
        client.calls += 1;
        Ok(())
    }

    /// Its row, in this window.
    fn client(&mut self, client: IpAddr, now: Timestamp) -> Result<&mut Client, Turned> {
        let (client, window) = (canonical(client), now.0 / 1_000_000_000 / u64::from(CLIENT_WINDOW_S));
        if self.all.len() >= CLIENTS_MAX && !self.all.contains_key(&client) {
            self.all.retain(|_, it| it.connections > 0 || it.window == window);
            if self.all.len() >= CLIENTS_MAX {
                return Err(Turned::Rate);
            }
        }
        let row = self.all.entry(client).or_default();
        if row.window != window {
            (row.window, row.calls) = (window, 0);
        }
        Ok(row)
    }
}

/// One address has two spellings.
fn canonical(client: IpAddr) -> IpAddr {
    client.to_canonical()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: u64) -> Timestamp {
        Timestamp(second * 1_000_000_000)
    }

    fn ip(number: u32) -> IpAddr {
        core::net::Ipv4Addr::from_bits(number).into()
    }

    #[test]
    fn each_client_has_a_window_of_its_own() {
        let mut clients = Clients::new(2);
        assert_eq!([0, 1, 2].map(|_| clients.ask(ip(1), at(59))), [Ok(()), Ok(()), Err(Turned::Rate)]);
        assert_eq!(clients.ask(ip(2), at(59)), Ok(()), "another one");
        let mapped = IpAddr::V6(core::net::Ipv4Addr::from_bits(1).to_ipv6_mapped());
        assert_eq!(clients.ask(mapped, at(59)), Err(Turned::Rate), "the same by another spelling");
        assert_eq!(clients.ask(ip(1), at(60)), Ok(()), "a new window");
    }

    #[test]
    fn one_client_has_not_all_places() {
        let mut clients = Clients::new(2);
        for _ in 0..CLIENT_CONNECTIONS_MAX {
            clients.enter(ip(1), at(0)).unwrap();
        }
        assert_eq!(clients.enter(ip(1), at(0)), Err(Turned::Connections));
        assert_eq!(clients.enter(ip(2), at(0)), Ok(()));
        clients.leave(ip(1));
        assert_eq!(clients.enter(ip(1), at(0)), Ok(()));
        clients.leave(ip(9));
    }

    #[test]
    fn the_table_is_bounded_and_nobody_is_counted_anew_by_being_forgotten() {
        let mut clients = Clients::new(1);
        for number in 0..CLIENTS_MAX as u32 {
            clients.ask(ip(number), at(0)).unwrap();
        }
        assert_eq!(clients.ask(ip(1 << 20), at(0)), Err(Turned::Rate));
        assert_eq!(clients.ask(ip(1), at(0)), Err(Turned::Rate));
        assert_eq!(clients.ask(ip(1 << 20), at(60)), Ok(()), "the others' windows are over");
        assert_eq!(clients.all.len(), 1);
    }
}
