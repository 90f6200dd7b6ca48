//! Digests of requests and replies for their records, under a key of the installation.
//!
//! A plain hash of a short argument could be guessed by hashing guesses. Nobody without the key can.

use drydock_contract::port::Digested;

use crate::Capability;

/// Requests up to here are put together before they are hashed.
const SHORT_BYTES: usize = 256;

/// Makes digests.
pub(crate) struct Digester {
    key: [u8; 32],
}

impl Digester {
    pub(crate) const fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    pub(crate) fn request<C: Capability>(
        &self,
        request: &C::Request,
        payload: &[u8],
        bytes: u64,
    ) -> Digested {
        let besides = C::digested_besides(request);
        let hash = match C::digested(request) {
            // Most requests are short, and then a hasher costs more than the hash.
            None => blake3::keyed_hash(&self.key, payload),
            Some([first, second]) if first.len() + second.len() < SHORT_BYTES && besides.is_empty() => {
                let mut whole = [0; SHORT_BYTES];
                whole[..first.len()].copy_from_slice(first);
                let end = first.len() + 1 + second.len();
                whole[first.len() + 1..end].copy_from_slice(second);
                blake3::keyed_hash(&self.key, &whole[..end])
            }
            Some([first, second]) => {
                let mut hasher = blake3::Hasher::new_keyed(&self.key);
                hasher.update(first).update(&[0]).update(second);
                if !besides.is_empty() {
                    hasher.update(&[0]).update(&besides);
                }
                hasher.finalize()
            }
        };
        Digested { digest: half(&hash), bytes }
    }

    pub(crate) fn reply(&self, payload: &[u8]) -> Digested {
        Digested { digest: half(&blake3::keyed_hash(&self.key, payload)), bytes: payload.len() as u64 }
    }
}

fn half(hash: &blake3::Hash) -> [u8; 16] {
    let mut first = [0; 16];
    first.copy_from_slice(&hash.as_bytes()[..16]);
    first
}
