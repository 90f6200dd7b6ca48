//! `tcp`: sends bytes to a host and port that a grant names, and reads what comes back, or makes a connection there.
//! `egress` judges the addresses and dials; what it shares with `tls` and `udp` is in [`dialled`](crate::dialled).

mod policy;
mod request;
#[cfg(test)]
pub(crate) mod tests;

use std::any::Any;

use drydock_abi::{
    exchange::EXCHANGE_REQUEST_BYTES_MAX,
    tcp::{CONNECT, REQUEST},
};
use drydock_contract::{Cap, Denial};
use drydock_egress::Egress;
use drydock_gate::{Audited, CapSpec, Class, Import, Operation};

use crate::dialled::{Asked, Dialled, Protocol, Wire};

/// The power to send over TCP.
pub type Tcp<W = Egress> = Dialled<TcpProtocol, W>;

/// TCP, in the clear.
pub struct TcpProtocol;

/// Bytes of a host's name, as DNS has it, and some for the rest.
const CONNECT_REQUEST_BYTES_MAX: u64 = 1024;
/// Connections of one principal.
const IN_FLIGHT_MAX: u32 = 64;

impl Protocol for TcpProtocol {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Tcp,
        operations: &[
            Operation {
                name: REQUEST,
                class: Class::Fetch,
                request_bytes_max: EXCHANGE_REQUEST_BYTES_MAX,
                in_flight_max: Some(IN_FLIGHT_MAX),
                audited: Audited::Everything,
                summary: "Sends bytes and reads up to 1 MiB until the other side closes or 10 s are over. Subjects: `host:port`, `private:address:port`.",
            },
            Operation {
                name: CONNECT,
                class: Class::Fetch,
                request_bytes_max: CONNECT_REQUEST_BYTES_MAX,
                in_flight_max: Some(IN_FLIGHT_MAX),
                audited: Audited::Everything,
                summary: "A connection, as bytes both ways. Subjects: `host:port`, `private:address:port`. Asked by hosts only, so it has no encoding.",
            },
        ],
        imports: &[Import {
            module: "env",
            name: "host_tcp",
            signature: "(host: i32, host_len: i32, port: i32, req: i32, req_len: i32, out: i32, out_cap: i32) -> i32",
        }],
    };
    const WIRE: Wire = Wire::Tcp;

    fn decode(operation: &str, payload: &[u8]) -> Result<Asked, Denial> {
        request::decode(operation, payload)
    }

    fn decode_typed(operation: &str, value: Box<dyn Any + Send>) -> Option<Asked> {
        request::decode_typed(operation, value)
    }
}
