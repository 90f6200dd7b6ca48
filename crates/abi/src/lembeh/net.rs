//! Payloads of cap.net.v1: `net.tcp.connect.v1`.

use super::{
    handle::{HFLAG_READABLE, HFLAG_WRITABLE, Opened},
    hopper::{Hopper, Malformed, TooLong, put_h4, put_hstr},
};

/// Its kind.
pub const KIND: &str = "net";
/// Its name.
pub const NAME: &str = "tcp";
/// Connects.
pub const CONNECT: &str = "net.tcp.connect.v1";

/// The host may be a name.
pub const ALLOW_DNS: u32 = 1;
/// Of several addresses, those of IPv6 first.
pub const PREFER_IPV6: u32 = 1 << 1;
/// Send small writes at once.
pub const NODELAY: u32 = 1 << 2;
const KNOWN: u32 = ALLOW_DNS | PREFER_IPV6 | NODELAY;

/// Where to connect to. Well-formed, and not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connect<'a> {
    /// An address or a name: not empty, without white space.
    pub host: &'a str,
    /// Not 0.
    pub port: u16,
    /// As they were sent. Unknown bits are ignored here, other than in exec.
    pub connect_flags: u32,
}

impl Connect<'_> {
    /// The flags that mean something.
    pub const fn effective_flags(&self) -> u32 {
        self.connect_flags & KNOWN
    }
}

/// Reads the params of `net.tcp.connect.v1`.
pub fn decode_connect(bytes: &[u8]) -> Result<Connect<'_>, Malformed> {
    let mut hopper = Hopper::new(bytes);
    let host = hopper.hstr("host")?;
    let port = hopper.h2("port")?;
    let connect_flags = hopper.h4("connect flags")?;
    hopper.end()?;
    if host.is_empty() || host.chars().any(char::is_whitespace) {
        return Err(Malformed::Spelling("host"));
    }
    if port == 0 {
        return Err(Malformed::Value { what: "port", value: 0 });
    }
    Ok(Connect { host, port, connect_flags })
}

/// Writes the params of `net.tcp.connect.v1`.
pub fn encode_connect(connect: &Connect<'_>) -> Result<Vec<u8>, TooLong> {
    let mut out = Vec::new();
    put_hstr(&mut out, connect.host)?;
    out.extend_from_slice(&connect.port.to_le_bytes());
    put_h4(&mut out, connect.connect_flags);
    Ok(out)
}

/// Reads the value of `net.tcp.connect.v1`: a handle for both directions.
pub fn decode_connected(bytes: &[u8]) -> Result<Opened<'_>, Malformed> {
    Opened::decode(bytes, HFLAG_READABLE | HFLAG_WRITABLE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hosts_and_ports_that_cannot_be_are_refused() {
        let cases =
            [("a", 1, true), ("::1", 65535, true), ("", 80, false), ("a b", 80, false), ("a", 0, false)];
        for (host, port, want) in cases {
            let wire = encode_connect(&Connect { host, port, connect_flags: 0xf0 }).unwrap();
            assert_eq!(decode_connect(&wire).is_ok(), want, "{host:?}:{port}");
        }
        assert_eq!(Connect { host: "a", port: 1, connect_flags: 0xfd }.effective_flags(), 5);
    }

    proptest! {
        #[test]
        fn params_round_trip_and_no_cut_of_them_reads(host in "[!-~]{1,20}", port in 1u16.., flags in any::<u32>()) {
            let connect = Connect { host: &host, port, connect_flags: flags };
            let wire = encode_connect(&connect).unwrap();
            prop_assert_eq!(decode_connect(&wire), Ok(connect));
            for cut in 0..wire.len() {
                prop_assert!(decode_connect(&wire[..cut]).is_err());
            }
        }

        #[test]
        fn no_bytes_make_the_decoders_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = decode_connect(&bytes);
            let _ = decode_connected(&bytes);
        }
    }
}
