//! `tls.request` and `tls.connect`: as their namesakes of `tcp`, over TLS to a server that proves to be the host. The types
//! are theirs.

use crate::{
    broker::OperationText,
    exchange::{exchange_input, exchange_output},
};

/// One request and its reply.
pub const REQUEST: &str = "tls.request";
/// A connection as bytes both ways, asked by hosts only, with the request and the answer of [`tcp`](crate::tcp).
pub const CONNECT: &str = "tls.connect";

/// What programs and models are told of it.
pub const OPERATIONS: &[OperationText] = &[OperationText {
    name: REQUEST,
    title: "Send over TLS",
    description: "Connects over TLS to a host and port that were granted, verifies the certificate for the host's name, sends \
                  bytes, and reads up to 1 MiB until the other side closes or 10 seconds are over. A reply is complete where \
                  `ended` is `closed`.",
    is_read: false,
    input: exchange_input,
    output: exchange_output,
}];
