//! What went wrong, in curl's numbers and words.

use serde_json::Value;

/// A transfer that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// curl's exit status.
    pub(crate) status: i32,
    pub(crate) message: String,
    /// What the host calls it, if it was the host.
    pub(crate) code: String,
    /// Whether trying again may help.
    pub(crate) transient: bool,
}

pub(crate) const UNSUPPORTED: i32 = 1;
pub(crate) const USAGE: i32 = 2;
pub(crate) const MALFORMED_URL: i32 = 3;
pub(crate) const UNRESOLVED: i32 = 6;
pub(crate) const NO_CONNECTION: i32 = 7;
pub(crate) const PARTIAL: i32 = 18;
pub(crate) const HTTP_ERROR: i32 = 22;
pub(crate) const WRITE_ERROR: i32 = 23;
pub(crate) const READ_ERROR: i32 = 26;
pub(crate) const TIMED_OUT: i32 = 28;
pub(crate) const TLS: i32 = 35;
pub(crate) const TOO_MANY_REDIRECTS: i32 = 47;
pub(crate) const EMPTY_REPLY: i32 = 52;
pub(crate) const SEND_ERROR: i32 = 55;
pub(crate) const RECEIVE_ERROR: i32 = 56;
pub(crate) const CERTIFICATE: i32 = 60;
pub(crate) const BAD_ENCODING: i32 = 61;
pub(crate) const TOO_LARGE: i32 = 63;

impl Failure {
    pub(crate) fn new(status: i32, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), code: String::new(), transient: false }
    }

    /// The host said something that cannot be read, or stopped in the middle.
    pub(crate) fn broken() -> Self {
        Self::new(EMPTY_REPLY, "Empty reply from server")
    }

    /// The host did not take the request.
    pub(crate) fn refused(code: &str) -> Self {
        let status = if code == "too_large" { SEND_ERROR } else { NO_CONNECTION };
        Self::new(status, format!("the host refused the request: {code}"))
    }

    /// What the host says of a request without an answer.
    pub(crate) fn parse(json: &[u8]) -> Self {
        let value: Value = serde_json::from_slice(json).unwrap_or_default();
        let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
        let (kind, code, message) = (text("kind"), text("code"), text("message"));
        let status = match code {
            "name_unresolved" => UNRESOLVED,
            "connect_failed" if kind == "timeout" => TIMED_OUT,
            "connect_failed" => NO_CONNECTION,
            "no_answer" => EMPTY_REPLY,
            "certificate_refused" | "no_trust_store" => CERTIFICATE,
            "tls_failed" => TLS,
            "bad_encoding" | "unknown_encoding" => BAD_ENCODING,
            "body_too_large" | "decoded_too_large" => TOO_LARGE,
            "request_too_large" | "too_large" => SEND_ERROR,
            "malformed" => MALFORMED_URL,
            _ => match kind {
                "denied" => NO_CONNECTION,
                "invalid" => MALFORMED_URL,
                "timeout" => TIMED_OUT,
                _ => RECEIVE_ERROR,
            },
        };
        let message = match (text("flag"), kind) {
            ("", _) => message.to_owned(),
            (flag, _) => format!("{message}; {flag} on drydock's command line grants it"),
        };
        let transient = kind == "timeout" || ["quota_requests", "name_unresolved"].contains(&code);
        Self { status, message, code: code.to_owned(), transient }
    }
}

/// The words that stand behind a status.
pub(crate) fn reason(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        101 => "Switching Protocols",
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        203 => "Non-Authoritative Information",
        204 => "No Content",
        205 => "Reset Content",
        206 => "Partial Content",
        300 => "Multiple Choices",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        416 => "Range Not Satisfiable",
        418 => "I'm a teapot",
        422 => "Unprocessable Content",
        425 => "Too Early",
        426 => "Upgrade Required",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        451 => "Unavailable For Legal Reasons",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_host_says_has_a_number_of_curls() {
        for (json, want) in [
            (r#"{"kind":"transport","code":"name_unresolved","message":"m"}"#, UNRESOLVED),
            (r#"{"kind":"transport","code":"connect_failed","message":"m"}"#, NO_CONNECTION),
            (
                r#"{"kind":"denied","code":"host_not_granted","message":"m","flag":"--allow-host a"}"#,
                NO_CONNECTION,
            ),
            (r#"{"kind":"timeout","code":"timeout","message":"m"}"#, TIMED_OUT),
            (r#"{"kind":"timeout","code":"connect_failed","message":"m"}"#, TIMED_OUT),
            (r#"{"kind":"transport","code":"no_answer","message":"m"}"#, EMPTY_REPLY),
            (r#"{"kind":"transport","code":"certificate_refused","message":"m"}"#, CERTIFICATE),
            (r#"{"kind":"transport","code":"protocol_error","message":"m"}"#, RECEIVE_ERROR),
            (r#"{"kind":"too_large","code":"body_too_large","message":"m"}"#, TOO_LARGE),
            (r#"{"kind":"invalid","code":"malformed","message":"m"}"#, MALFORMED_URL),
            ("nonsense", RECEIVE_ERROR),
        ] {
            assert_eq!(Failure::parse(json.as_bytes()).status, want, "{json}");
        }
        let told = Failure::parse(br#"{"kind":"denied","code":"c","message":"m","flag":"--allow-host a"}"#);
        assert!(told.message.contains("--allow-host a"), "{}", told.message);
    }
}
