//! `udp`: sends one datagram to a host and port that a grant names, and waits for one that comes from there. `egress` judges
//! the addresses and sends; what it shares with `tcp` and `tls` is in [`dialled`](crate::dialled).

mod policy;
mod request;
#[cfg(test)]
mod tests;

use std::any::Any;

use drydock_abi::{exchange::DATAGRAM_REQUEST_BYTES_MAX, udp::REQUEST};
use drydock_contract::{Cap, Denial};
use drydock_egress::Egress;
use drydock_gate::{Audited, CapSpec, Class, Import, Operation};

use crate::dialled::{Asked, Dialled, Protocol, Wire};

/// The power to send datagrams.
pub type Udp<W = Egress> = Dialled<UdpProtocol, W>;

/// UDP.
pub struct UdpProtocol;

/// Datagrams of one principal that wait for an answer.
const IN_FLIGHT_MAX: u32 = 64;

impl Protocol for UdpProtocol {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Udp,
        operations: &[Operation {
            name: REQUEST,
            class: Class::Fetch,
            request_bytes_max: DATAGRAM_REQUEST_BYTES_MAX,
            in_flight_max: Some(IN_FLIGHT_MAX),
            audited: Audited::Everything,
            summary: "Sends one datagram and waits up to 5 s for one from there. Subjects: `host:port`, `private:address:port`.",
        }],
        imports: &[Import {
            module: "env",
            name: "host_udp",
            signature: "(host: i32, host_len: i32, port: i32, req: i32, req_len: i32, out: i32, out_cap: i32) -> i32",
        }],
    };
    const WIRE: Wire = Wire::Udp;

    fn decode(operation: &str, payload: &[u8]) -> Result<Asked, Denial> {
        request::decode(operation, payload)
    }

    fn decode_typed(_: &str, value: Box<dyn Any + Send>) -> Option<Asked> {
        request::decode_typed(value)
    }
}
