//! The blocks that are never dialled: IANA's registries of special-purpose addresses (IPv4 and IPv6), multicast, and
//! what only looks global.
//!
//! Where a registry calls a part of a block globally reachable (192.0.0.9, 2001:3::/32, 2001:20::/28 …) the whole block is
//! refused all the same: those parts are for routing and tunnels, and nobody serves HTTP there. Blocks that are reachable as a whole (AS112,
//! 192.31.196.0/24 and 2620:4f:8000::/48) are public. The first row that fits gives the reason, so narrow rows come first.

use super::Forbidden;

/// A block of IPv4.
pub(super) struct BlockV4 {
    pub(super) start: u32,
    pub(super) length: u32,
    pub(super) forbidden: Forbidden,
}

/// A block of IPv6.
pub(super) struct BlockV6 {
    pub(super) start: u128,
    pub(super) length: u32,
    pub(super) forbidden: Forbidden,
}

const fn v4(start: [u8; 4], length: u32, block: &'static str, purpose: &'static str) -> BlockV4 {
    BlockV4 { start: u32::from_be_bytes(start), length, forbidden: Forbidden { block, purpose } }
}

/// The first four groups say where a block starts; the rest is zero but for what `low` says.
const fn v6(high: [u16; 4], low: u64, length: u32, block: &'static str, purpose: &'static str) -> BlockV6 {
    let [a, b, c, d] = high;
    let high = ((a as u128) << 48) | ((b as u128) << 32) | ((c as u128) << 16) | d as u128;
    BlockV6 { start: (high << 64) | low as u128, length, forbidden: Forbidden { block, purpose } }
}

#[rustfmt::skip]
pub(super) const V4: &[BlockV4] = &[
    v4([0, 0, 0, 0],       8,  "0.0.0.0/8",          "this network"),
    v4([10, 0, 0, 0],      8,  "10.0.0.0/8",         "private use"),
    v4([100, 64, 0, 0],    10, "100.64.0.0/10",      "carrier-grade NAT"),
    v4([127, 0, 0, 0],     8,  "127.0.0.0/8",        "loopback"),
    // Public by the registry, and on one cloud the host of every machine: agent, DHCP, DNS.
    v4([168, 63, 129, 16], 32, "168.63.129.16/32",   "platform address of a cloud"),
    v4([169, 254, 0, 0],   16, "169.254.0.0/16",     "link-local, and the metadata services of clouds"),
    v4([172, 16, 0, 0],    12, "172.16.0.0/12",      "private use"),
    v4([192, 0, 0, 0],     24, "192.0.0.0/24",       "IETF protocol assignments"),
    v4([192, 0, 2, 0],     24, "192.0.2.0/24",       "documentation"),
    v4([192, 88, 99, 0],   24, "192.88.99.0/24",     "6to4 relays, deprecated"),
    v4([192, 168, 0, 0],   16, "192.168.0.0/16",     "private use"),
    v4([198, 18, 0, 0],    15, "198.18.0.0/15",      "benchmarking"),
    v4([198, 51, 100, 0],  24, "198.51.100.0/24",    "documentation"),
    v4([203, 0, 113, 0],   24, "203.0.113.0/24",     "documentation"),
    v4([224, 0, 0, 0],     4,  "224.0.0.0/4",        "multicast"),
    v4([255, 255, 255, 255], 32, "255.255.255.255/32", "broadcast"),
    v4([240, 0, 0, 0],     4,  "240.0.0.0/4",        "reserved"),
];

#[rustfmt::skip]
pub(super) const V6: &[BlockV6] = &[
    v6([0, 0, 0, 0],           0,           128, "::/128",           "unspecified"),
    v6([0, 0, 0, 0],           1,           128, "::1/128",          "loopback"),
    v6([0, 0, 0, 0],           0xffff << 32, 96, "::ffff:0:0/96",    "embeds an IPv4 address (mapped)"),
    v6([0, 0, 0, 0],           0xffff << 48, 96, "::ffff:0:0:0/96",  "embeds an IPv4 address (translated)"),
    v6([0, 0, 0, 0],           0,           96,  "::/96",            "embeds an IPv4 address (compatible)"),
    v6([0x64, 0xff9b, 0, 0],   0,           96,  "64:ff9b::/96",     "embeds an IPv4 address (NAT64)"),
    v6([0x64, 0xff9b, 1, 0],   0,           48,  "64:ff9b:1::/48",   "embeds an IPv4 address (local NAT64)"),
    v6([0x100, 0, 0, 0],       0,           64,  "100::/64",         "discarded"),
    v6([0x100, 0, 0, 1],       0,           64,  "100:0:0:1::/64",   "dummy prefix"),
    v6([0x2001, 0, 0, 0],      0,           32,  "2001::/32",        "embeds an IPv4 address (Teredo)"),
    v6([0x2001, 2, 0, 0],      0,           48,  "2001:2::/48",      "benchmarking"),
    v6([0x2001, 0, 0, 0],      0,           23,  "2001::/23",        "IETF protocol assignments"),
    v6([0x2001, 0xdb8, 0, 0],  0,           32,  "2001:db8::/32",    "documentation"),
    v6([0x2002, 0, 0, 0],      0,           16,  "2002::/16",        "embeds an IPv4 address (6to4)"),
    v6([0x3fff, 0, 0, 0],      0,           20,  "3fff::/20",        "documentation"),
    v6([0x5f00, 0, 0, 0],      0,           16,  "5f00::/16",        "segment routing"),
    v6([0xfc00, 0, 0, 0],      0,           7,   "fc00::/7",         "unique-local"),
    v6([0xfe80, 0, 0, 0],      0,           10,  "fe80::/10",        "link-local"),
    v6([0xfec0, 0, 0, 0],      0,           10,  "fec0::/10",        "site-local, deprecated"),
    v6([0xff00, 0, 0, 0],      0,           8,   "ff00::/8",         "multicast"),
];
