//! Credentials that egress puts into headers, so that no guest ever holds one.
//!
//! A [`Secret`] cannot be shown and is overwritten when it is dropped. An [`InjectedHeader`] says to which host and port
//! it goes and in which header. What comes back is read by [`redact`], which takes the secrets out again. Not promised: that no copy of a secret is left in
//! memory (the HTTP and TLS layers have buffers), and that a server which was given a secret does not send it back in a
//! disguise that nobody thought of.

mod inject;
mod needle;
mod redact;

use std::{collections::BTreeMap, sync::Arc};

use zeroize::Zeroizing;

pub use inject::{InjectedHeader, ParseInjectionError};
pub(crate) use needle::Needles;
pub(crate) use redact::Redactor;

/// What is written where a secret was.
pub const REDACTED: &[u8] = b"[redacted]";
/// A shorter one would be found in innocent text.
pub const SECRET_BYTES_MIN: usize = 8;
/// A longer one would hold back too much of a stream.
pub const SECRET_BYTES_MAX: usize = 4096;

/// A credential. Neither `Debug` nor `Display` shows it, and its bytes are overwritten when the last owner drops it.
///
/// ```compile_fail
/// let secret = drydock_egress::Secret::new(b"hunter2-hunter2".to_vec()).unwrap();
/// println!("{secret:?}");
/// ```
#[derive(Clone)]
pub struct Secret(Arc<Zeroizing<Vec<u8>>>);

/// The bytes cannot be a secret. Says nothing about what they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a secret has {SECRET_BYTES_MIN} to {SECRET_BYTES_MAX} visible ASCII characters, blanks only between them"
)]
pub struct BadSecret;

impl Secret {
    /// Takes what a header can carry. Line ends after it, which files have, are no part of it.
    pub fn new(bytes: Vec<u8>) -> Result<Self, BadSecret> {
        let mut bytes = Zeroizing::new(bytes);
        while bytes.last().is_some_and(|b| matches!(b, b'\n' | b'\r')) {
            bytes.pop();
        }
        let visible = bytes.iter().all(|b| b.is_ascii_graphic() || *b == b' ');
        let blank_ends = bytes.first() == Some(&b' ') || bytes.last() == Some(&b' ');
        let long_enough = (SECRET_BYTES_MIN..=SECRET_BYTES_MAX).contains(&bytes.len());
        if !visible || blank_ends || !long_enough {
            return Err(BadSecret);
        }
        Ok(Self(Arc::new(bytes)))
    }

    pub(crate) fn reveal(&self) -> &[u8] {
        &self.0
    }
}

/// The secrets of one installation, by name.
#[derive(Clone, Default)]
pub struct Secrets(BTreeMap<String, Secret>);

impl Secrets {
    /// Puts a secret under a name, in the place of one that was there.
    pub fn put(&mut self, name: impl Into<String>, secret: Secret) {
        self.0.insert(name.into(), secret);
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Secret> {
        self.0.get(name)
    }
}

#[cfg(test)]
mod tests;
