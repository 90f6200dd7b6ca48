//! Values by key, kept for the tenant: they outlive the instance. The power `kv`.

use crate::{
    Error,
    error::{done, filled},
    raw,
};

/// The longest value.
const VALUE_BYTES_MAX: usize = 1 << 20;

/// Keeps a value, in the place of an earlier one.
pub fn put(key: &str, value: &[u8]) -> Result<(), Error> {
    // SAFETY: the host reads both before it returns.
    done(unsafe { raw::host_kv_put(key.as_ptr(), key.len() as u32, value.as_ptr(), value.len() as u32) })
}

/// The value of a key; `not_found` where there is none.
pub fn get(key: &str) -> Result<Vec<u8>, Error> {
    filled(4_096, VALUE_BYTES_MAX, |out, cap| {
        // SAFETY: the host reads the key, and writes no more than `cap` bytes, before it returns.
        unsafe { raw::host_kv_get(key.as_ptr(), key.len() as u32, out, cap) }
    })
}
