//! `udp.request`: one datagram to an address that was judged, and the one that it sends back.

use crate::{
    broker::OperationText,
    exchange::{datagram_input, exchange_output},
};

/// The operation.
pub const REQUEST: &str = "udp.request";

/// What programs and models are told of it.
pub const OPERATIONS: &[OperationText] = &[OperationText {
    name: REQUEST,
    title: "Send a datagram",
    description: "Sends one UDP datagram to a host and port that were granted, and waits up to 5 seconds for one from there.",
    is_read: false,
    input: datagram_input,
    output: exchange_output,
}];
