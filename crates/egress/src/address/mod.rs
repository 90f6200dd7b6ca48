//! Decides whether an address may be dialled.
//!
//! An address is public, or it is in one of the blocks of [`blocks`], and the reason names the block. What embeds an IPv4
//! address (mapped, NAT64, 6to4, Teredo, ISATAP …) is refused whatever it embeds: who connects to it reaches a gateway of
//! this network, which decides anew where it leads. Of IPv6 only what is allotted for global unicast (2000::/3) is public,
//! so a block that IANA gives away tomorrow is refused until somebody has looked at it.
//!
//! Pure: nothing here resolves or connects, and no grant is known here.

mod blocks;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use blocks::{V4, V6};

/// The block that an address is in, and why nothing there is dialled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Forbidden {
    /// The block, as its registry writes it.
    pub block: &'static str,
    /// What the block is for.
    pub purpose: &'static str,
}

/// IPv6 that nobody has been given, or that is not for hosts.
const NOT_GLOBAL: Forbidden = Forbidden { block: "not 2000::/3", purpose: "outside of global unicast" };
/// The last 64 bits say it, under any prefix (RFC 5214).
const ISATAP: Forbidden = Forbidden { block: "::0:5efe:0:0/96", purpose: "embeds an IPv4 address (ISATAP)" };

/// Refuses every address that is not globally reachable, or that embeds another one.
pub fn judge(address: IpAddr) -> Result<(), Forbidden> {
    match address {
        IpAddr::V4(address) => judge_v4(address),
        IpAddr::V6(address) => judge_v6(address),
    }
}

fn judge_v4(address: Ipv4Addr) -> Result<(), Forbidden> {
    let bits = u32::from(address);
    let block = V4.iter().find(|row| (bits ^ row.start) >> (32 - row.length) == 0);
    block.map_or(Ok(()), |row| Err(row.forbidden))
}

fn judge_v6(address: Ipv6Addr) -> Result<(), Forbidden> {
    let bits = u128::from(address);
    if let Some(row) = V6.iter().find(|row| (bits ^ row.start) >> (128 - row.length) == 0) {
        return Err(row.forbidden);
    }
    let groups = address.segments();
    if groups[4] & 0xfcff == 0 && groups[5] == 0x5efe {
        return Err(ISATAP);
    }
    if groups[0] & 0xe000 != 0x2000 {
        return Err(NOT_GLOBAL);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_refuses_its_first_and_its_last_address() {
        for row in V4 {
            let last = row.start | u32::MAX.checked_shr(row.length).unwrap_or(0);
            for bits in [row.start, last] {
                assert!(judge(Ipv4Addr::from(bits).into()).is_err(), "{bits:#x}");
            }
        }
        for row in V6 {
            let last = row.start | u128::MAX.checked_shr(row.length).unwrap_or(0);
            for bits in [row.start, last] {
                assert!(judge(Ipv6Addr::from(bits).into()).is_err(), "{bits:#x}");
            }
        }
    }

    #[test]
    fn a_block_starts_where_its_text_says() {
        let text = |address: IpAddr, length: u32| format!("{address}/{length}");
        for row in V4 {
            assert_eq!(text(Ipv4Addr::from(row.start).into(), row.length), row.forbidden.block);
        }
        for row in V6 {
            let (address, length) = row.forbidden.block.split_once('/').unwrap();
            let address: Ipv6Addr = address.parse().unwrap();
            assert_eq!((u128::from(address), length), (row.start, row.length.to_string().as_str()));
        }
    }

    #[test]
    fn the_neighbours_of_a_block_are_public() {
        let public = [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "191.255.255.255",
            "192.0.1.0",
            "192.0.3.0",
            "192.88.98.255",
            "192.88.100.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "198.51.99.255",
            "198.51.101.0",
            "203.0.112.255",
            "203.0.114.0",
            "223.255.255.255",
            "2000::1",
            "2001:200::1",
            "2001:db7:ffff::1",
            "2001:db9::1",
            "2003::1",
            "2606:4700::1111",
            "3ffe::1",
            "3fff:1000::1",
        ];
        for text in public {
            assert_eq!(judge(text.parse().unwrap()), Ok(()), "{text}");
        }
    }
}
