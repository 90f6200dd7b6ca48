//! Every operation of a power, as JSON: `broker::kv("kv.list", br#"{"prefix":"app/"}"#)`. What each takes and answers is in
//! Drydock's own list (`drydock js --types`, `/openapi.json`).
//!
//! One function for each power, because a module imports what it names: with one for all, it would need all powers to begin.

use crate::{Error, error::filled, raw};

type Import = unsafe extern "C" fn(*const u8, u32, *const u8, u32) -> i32;

/// Values by key: `kv.get`, `kv.put`, `kv.list`, `kv.delete`, `kv.increment`.
pub fn kv(operation: &str, json: &[u8]) -> Result<Vec<u8>, Error> {
    call(raw::host_kv_call, operation, json)
}

/// Messages: `queue.publish`, `queue.poll`, `queue.lease`, `queue.ack`, `queue.nack`, and others.
pub fn queue(operation: &str, json: &[u8]) -> Result<Vec<u8>, Error> {
    call(raw::host_queue_call, operation, json)
}

/// Language models: `llm.complete`.
pub fn llm(operation: &str, json: &[u8]) -> Result<Vec<u8>, Error> {
    call(raw::host_llm_call, operation, json)
}

/// Web pages as text: `browse.fetch`.
pub fn browse(operation: &str, json: &[u8]) -> Result<Vec<u8>, Error> {
    call(raw::host_browse_call, operation, json)
}

/// Asks, and fetches the answer, which waits at the host and is as long as the call says.
fn call(import: Import, operation: &str, json: &[u8]) -> Result<Vec<u8>, Error> {
    // SAFETY: the host reads both before it returns.
    let length =
        unsafe { import(operation.as_ptr(), operation.len() as u32, json.as_ptr(), json.len() as u32) };
    let Ok(length) = usize::try_from(length) else { return Err(Error::last()) };
    filled(length, length, |out, cap| {
        // SAFETY: the host writes no more than `cap` bytes.
        unsafe { raw::host_reply(out, cap) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_host_no_broker_answers() {
        for asked in [kv("kv.get", b"{}"), queue("queue.poll", b"{}"), llm("", b""), browse("", b"")] {
            assert_eq!(asked.map_err(|it| it.code().to_owned()), Err("refused".into()));
        }
    }
}
