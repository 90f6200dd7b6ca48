//! One request for a guest that serves, and the response that it sets. Bytes only: what they mean is agreed between whoever
//! listens and the guest.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

/// What a run of a serving guest works on.
#[derive(Debug)]
pub struct Exchange {
    request: Bytes,
    response_bytes_max: u64,
    response: Mutex<Option<Bytes>>,
}

impl Exchange {
    /// This request, and a response of at most so many bytes.
    pub const fn new(request: Bytes, response_bytes_max: u64) -> Self {
        Self { request, response_bytes_max, response: Mutex::new(None) }
    }

    /// What is asked.
    pub const fn request(&self) -> &Bytes {
        &self.request
    }

    /// The longest response that is taken.
    pub const fn response_bytes_max(&self) -> u64 {
        self.response_bytes_max
    }

    /// Sets the response, in the place of an earlier one.
    pub fn answer(&self, response: Bytes) {
        *self.response.lock().unwrap_or_else(PoisonError::into_inner) = Some(response);
    }

    /// The response, if one was set.
    pub fn take_response(&self) -> Option<Bytes> {
        self.response.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
