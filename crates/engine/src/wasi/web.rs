//! `/dev/http`: hosts out there for a guest that can only speak WASI (decision 0086).
//!
//! One opening is one request of the power `net`. What is written is the request (`abi::fetch`) with its length before it;
//! what is read are the frames of its answer, as `env.http_read` gives them, and then the end. Nothing is asked before
//! somebody reads, and whoever closes it lets go of the call. Where nobody granted a host, the answer says so: the device
//! is there wherever the imports are.

use drydock_abi::fetch::FETCH_REQUEST_BYTES_MAX;

use crate::{guest::Held, host::http::Answer};

const HEAD_BYTES: usize = 4;

/// One opening of the device.
#[derive(Default)]
pub(crate) struct Web {
    head: Vec<u8>,
    /// What was written of the request: never more than was given.
    request: Vec<u8>,
    /// The bill for the request, from the moment that its length is known.
    pub(crate) held: Option<Held>,
    pub(crate) answer: Option<Answer>,
}

/// What bytes that were written came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WebStep {
    /// There is more to come.
    More,
    /// A request of so many bytes begins.
    Begins(u32),
    /// One begins that is longer than any may be. It is as if nothing had been written.
    Oversized(u32),
    /// The request is whole.
    Whole(Vec<u8>),
    /// It was whole before.
    Surplus,
}

impl Web {
    /// Takes some of the bytes that are written: how many, and what they came to.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> (usize, WebStep) {
        if self.answer.is_some() {
            return (0, WebStep::Surplus);
        }
        if self.head.len() < HEAD_BYTES {
            let count = bytes.len().min(HEAD_BYTES - self.head.len());
            self.head.extend_from_slice(&bytes[..count]);
            let step = match self.length() {
                None => WebStep::More,
                Some(length) if u64::from(length) > FETCH_REQUEST_BYTES_MAX => {
                    self.head.clear();
                    WebStep::Oversized(length)
                }
                Some(length) => WebStep::Begins(length),
            };
            return (count, step);
        }
        let lacks = (self.length().unwrap_or_default() as usize).saturating_sub(self.request.len());
        let count = bytes.len().min(lacks);
        self.request.extend_from_slice(&bytes[..count]);
        match count == lacks {
            true => (count, WebStep::Whole(std::mem::take(&mut self.request))),
            false => (count, WebStep::More),
        }
    }

    /// What its head says, once it is there.
    fn length(&self) -> Option<u32> {
        self.head.first_chunk().copied().map(u32::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All steps of these writes, whatever is left of each taken again.
    fn steps(writes: &[&[u8]]) -> Vec<WebStep> {
        let (mut web, mut all) = (Web::default(), Vec::new());
        for mut rest in writes.iter().copied() {
            loop {
                let (count, step) = web.take(rest);
                rest = &rest[count..];
                let is_more = step == WebStep::More;
                all.extend((!is_more).then_some(step));
                if is_more {
                    break;
                }
                if matches!(all.last(), Some(WebStep::Whole(_) | WebStep::Oversized(_))) {
                    return all;
                }
            }
        }
        all
    }

    #[test]
    fn a_request_is_whole_wherever_its_bytes_are_cut() {
        let want = || vec![WebStep::Begins(5), WebStep::Whole(b"{url}".to_vec())];
        let frame = b"\x05\0\0\0{url}";
        assert_eq!(steps(&[frame]), want());
        for at in 0..frame.len() {
            assert_eq!(steps(&[&frame[..at], &frame[at..]]), want(), "{at}");
        }
        let bytes: Vec<&[u8]> = frame.chunks(1).collect();
        assert_eq!(steps(&bytes), want());
    }

    #[test]
    fn a_length_that_no_request_may_have_is_told_before_a_byte_of_it_is_kept() {
        assert_eq!(steps(&[&u32::MAX.to_le_bytes()]), [WebStep::Oversized(u32::MAX)]);
        let most = FETCH_REQUEST_BYTES_MAX as u32;
        assert_eq!(steps(&[&most.to_le_bytes()]), [WebStep::Begins(most)]);
        assert_eq!(steps(&[&(most + 1).to_le_bytes()]), [WebStep::Oversized(most + 1)]);
    }
}
