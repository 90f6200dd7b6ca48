//! One request to a host and port, and what it sends back: what `tcp.request`, `tls.request` and `udp.request` have in
//! common. Where a request goes is not read here: that is for whoever judges it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::broker::{Blob, count, object, text};

/// The most that is sent.
pub const EXCHANGE_DATA_BYTES_MAX: u64 = 1 << 20;
/// The largest request that is read: the data in base64, and room for everything else.
pub const EXCHANGE_REQUEST_BYTES_MAX: u64 = 2 << 20;
/// The most that is read of what comes back over a connection.
pub const EXCHANGE_REPLY_BYTES_MAX: u64 = 1 << 20;
/// Nobody waits longer, from the look-up of the name to the last byte.
pub const EXCHANGE_TIME_MS_MAX: u64 = 10_000;
/// The largest datagram, and so the most that is sent or received in one.
pub const DATAGRAM_BYTES_MAX: u64 = 65_535;
/// The largest request for a datagram that is read.
pub const DATAGRAM_REQUEST_BYTES_MAX: u64 = 128 << 10;
/// Nobody waits longer for one.
pub const DATAGRAM_TIME_MS_MAX: u64 = 5_000;

/// What is asked of a host over a connection.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExchangeRequest {
    /// An address or a name.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// What is sent.
    #[serde(default)]
    pub data: Blob,
    /// Whether to say, once that is sent, that nothing more is.
    #[serde(default)]
    pub half_close: bool,
    /// Less time than there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// A shorter reply than there may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_bytes_max: Option<u64>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchanged {
    /// The bytes.
    pub data: Blob,
    /// Why there are no more.
    pub ended: Ended,
}

/// Why a reply is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The other side said so.
    Closed,
    /// Time was up.
    TimedOut,
    /// It has as many bytes as it may; there may be more.
    Full,
    /// The connection broke.
    Reset,
}

/// What is asked of a host with one datagram.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatagramRequest {
    /// An address or a name.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// What is sent.
    #[serde(default)]
    pub data: Blob,
    /// Less time than there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

fn place() -> (Value, Value) {
    let port = json!({ "type": "integer", "minimum": 1, "maximum": 65_535, "description": "Its port" });
    (text("A name or an address"), port)
}

pub(crate) fn exchange_input() -> Value {
    let (host, port) = place();
    object(
        json!({
            "host": host,
            "port": port,
            "data": Blob::schema("What is sent"),
            "half_close": { "type": "boolean", "description": "Say after it that nothing more is sent" },
            "timeout_ms": count("Less time than the 10 seconds there are"),
            "reply_bytes_max": count("A shorter reply than the 1 MiB there may be"),
        }),
        &["host", "port"],
    )
}

pub(crate) fn exchange_output() -> Value {
    object(
        json!({
            "data": Blob::schema("What came back"),
            "ended": {
                "type": "string",
                "enum": ["closed", "timed_out", "full", "reset"],
                "description": "Why there is no more of it",
            },
        }),
        &["data", "ended"],
    )
}

pub(crate) fn datagram_input() -> Value {
    let (host, port) = place();
    let (data, timeout_ms) = (Blob::schema("What is sent"), count("Less time than the 5 seconds there are"));
    object(json!({ "host": host, "port": port, "data": data, "timeout_ms": timeout_ms }), &["host", "port"])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::broker::parse;

    #[test]
    fn a_request_names_a_host_and_a_port_and_the_rest_is_usual() {
        let want = ExchangeRequest { host: "a.test".into(), port: 7, ..ExchangeRequest::default() };
        let read = parse::<ExchangeRequest>("tcp.request", br#"{"host":"a.test","port":7}"#);
        assert_eq!(read.unwrap(), want);
        for bad in [
            r#"{"host":"a.test"}"#,
            r#"{"host":"a.test","port":65536}"#,
            r#"{"host":"a.test","port":"7"}"#,
            r#"{"host":"a.test","port":7,"retry":true}"#,
            r#"["a.test",7"#,
        ] {
            assert!(parse::<ExchangeRequest>("tcp.request", bad.as_bytes()).is_err(), "{bad}");
            assert!(parse::<DatagramRequest>("udp.request", bad.as_bytes()).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_request_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse::<ExchangeRequest>("tcp.request", &bytes);
            let _ = parse::<DatagramRequest>("udp.request", &bytes);
            let _ = parse::<crate::secret::SignRequest>("secret.sign", &bytes);
        }

        #[test]
        fn what_came_back_is_the_same_after_its_json(data: Vec<u8>) {
            for ended in [Ended::Closed, Ended::TimedOut, Ended::Full, Ended::Reset] {
                let exchanged = Exchanged { data: data.clone().into(), ended };
                let json = serde_json::to_vec(&exchanged).unwrap();
                prop_assert_eq!(serde_json::from_slice::<Exchanged>(&json).unwrap(), exchanged);
            }
        }
    }
}
