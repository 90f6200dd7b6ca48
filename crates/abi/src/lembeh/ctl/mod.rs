//! ZCL1, the frames of `_ctl`: one request, one response, each in a buffer of its own.

mod request;
mod response;

pub use request::{
    BadRequest, Operation, Request, decode_hub_params, decode_operation, decode_request, encode_request,
};
pub use response::{
    Capability, Description, HubMeta, Response, decode_caps, decode_description, decode_hub_opened,
    decode_response, encode_caps, encode_description, encode_refused, encode_success,
};

/// `ZCL1`.
pub const MAGIC: [u8; 4] = *b"ZCL1";
/// The only version there is.
pub const VERSION: u16 = 1;
/// How long the header of a request is.
pub const REQUEST_HEADER_BYTES: usize = 24;
/// How long the header of a response is.
pub const RESPONSE_HEADER_BYTES: usize = 20;
/// The longest payload of a request that a host takes.
pub const PAYLOAD_BYTES_MAX: u32 = 64 << 10;

/// Names every capability of the session.
pub const CAPS_LIST: u16 = 1;
/// Says what one of them is.
pub const CAPS_DESCRIBE: u16 = 2;
/// Opens one of them as a handle.
pub const CAPS_OPEN: u16 = 3;

/// CAPS_OPEN makes a handle of it.
pub const CAP_CAN_OPEN: u32 = 1;
/// It has no effects.
pub const CAP_PURE: u32 = 1 << 1;
/// It may take its time.
pub const CAP_MAY_BLOCK: u32 = 1 << 2;
/// What it answers may hold handles.
pub const CAP_PRODUCES_HANDLES: u32 = 1 << 3;
