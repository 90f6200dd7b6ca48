//! Digests of requests and replies for their records, under a key of the installation.
//!
//! A plain hash of a short argument could be guessed by hashing guesses. Nobody without the key can.
//!
//! Requests are short and are compared with what tapes have: a BLAKE3 under the key. A reply is as long as it is, and its
//! digest goes nowhere but into its record: HMAC-SHA-256, for which processors have instructions.

use drydock_contract::port::Digested;
use ring::hmac;

use crate::Capability;

/// Requests up to here are put together before they are hashed.
const SHORT_BYTES: usize = 256;

/// Makes digests.
pub(crate) struct Digester {
    requests: [u8; 32],
    replies: hmac::Key,
}

impl Digester {
    pub(crate) fn new(key: [u8; 32]) -> Self {
        // A key of its own: one key is for one use.
        let replies = blake3::derive_key("drydock gate: digests of replies in records", &key);
        Self { requests: key, replies: hmac::Key::new(hmac::HMAC_SHA256, &replies) }
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
            None => blake3::keyed_hash(&self.requests, payload),
            Some([first, second]) if first.len() + second.len() < SHORT_BYTES && besides.is_empty() => {
                let mut whole = [0; SHORT_BYTES];
                whole[..first.len()].copy_from_slice(first);
                let end = first.len() + 1 + second.len();
                whole[first.len() + 1..end].copy_from_slice(second);
                blake3::keyed_hash(&self.requests, &whole[..end])
            }
            Some([first, second]) => {
                let mut hasher = blake3::Hasher::new_keyed(&self.requests);
                hasher.update(first).update(&[0]).update(second);
                if !besides.is_empty() {
                    hasher.update(&[0]).update(&besides);
                }
                hasher.finalize()
            }
        };
        Digested { digest: half(hash.as_bytes()), bytes }
    }

    pub(crate) fn reply(&self, payload: &[u8]) -> Digested {
        Digested { digest: half(hmac::sign(&self.replies, payload).as_ref()), bytes: payload.len() as u64 }
    }
}

/// Both kinds of hash have 32 bytes.
fn half(hash: &[u8]) -> [u8; 16] {
    let mut first = [0; 16];
    first.copy_from_slice(&hash[..16]);
    first
}

#[test]
fn the_digest_of_a_reply_is_of_its_bytes_and_of_the_installation() {
    let of = |key: u8, reply: &[u8]| Digester::new([key; 32]).reply(reply);
    assert_eq!(of(1, b"an answer"), of(1, b"an answer"));
    assert_eq!(of(1, b"an answer").bytes, 9);
    assert_ne!(of(1, b"an answer").digest, of(1, b"another").digest);
    assert_ne!(of(1, b"an answer").digest, of(2, b"an answer").digest, "nobody without the key can guess");
    // The key of requests is not the key of replies.
    let plain = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &[1; 32]), b"an answer");
    assert_ne!(of(1, b"an answer").digest, half(plain.as_ref()));
}
