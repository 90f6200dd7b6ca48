//! What one call takes of its session's budget: the call itself and the bytes of its request, which are spent when it
//! acts, and room for its reply, of which the rest is given back when it is over.

use drydock_contract::{Budget, Denial, Reply, Unit};

/// Reserved, and given back as far as it is not spent.
pub(crate) struct Reserved<'a> {
    budget: Option<&'a Budget>,
    request_bytes: u64,
    reply_bytes: u64,
    is_begun: bool,
}

impl<'a> Reserved<'a> {
    /// Reserves all of it or nothing. A reply may take as much as is left, if that is less than the most it can be: with
    /// nothing left there is no call.
    pub(crate) fn take(
        budget: Option<&'a Budget>,
        request_bytes: u64,
        reply_bytes_max: u64,
    ) -> Result<Self, Denial> {
        let Some(budget) = budget else {
            return Ok(Self { budget: None, request_bytes: 0, reply_bytes: 0, is_begun: false });
        };
        if budget.left(Unit::Fuel) == Some(0) {
            return Err(Denial::spent("fuel"));
        }
        if !budget.reserve(Unit::Calls, 1) {
            return Err(Denial::spent("calls"));
        }
        if !budget.reserve(Unit::Bytes, request_bytes) {
            budget.settle(Unit::Calls, 1);
            return Err(Denial::spent("bytes"));
        }
        let reply_bytes = budget.reserve_up_to(Unit::Bytes, reply_bytes_max);
        let reserved = Self { budget: Some(budget), request_bytes, reply_bytes, is_begun: false };
        if reply_bytes == 0 && reply_bytes_max > 0 {
            return Err(Denial::spent("bytes"));
        }
        Ok(reserved)
    }

    /// The call acts: whatever comes of it, it was made.
    pub(crate) fn begin(&mut self) {
        self.is_begun = true;
    }

    /// Pays for a reply. One that is longer than all that was left is not handed over.
    pub(crate) fn pay(&mut self, reply: &Reply) -> Result<(), Denial> {
        let Some(budget) = self.budget else { return Ok(()) };
        // An answer that travels as a value is as long as what its digest is made of.
        let bytes = reply.digested.as_ref().map_or(reply.payload.len(), |it| it.len()) as u64;
        let short = bytes.saturating_sub(self.reply_bytes);
        if !budget.reserve(Unit::Bytes, short) {
            return Err(Denial::spent("bytes"));
        }
        self.reply_bytes = (self.reply_bytes + short).saturating_sub(bytes);
        Ok(())
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        let Some(budget) = self.budget else { return };
        budget.settle(Unit::Bytes, self.reply_bytes);
        if !self.is_begun {
            budget.settle(Unit::Calls, 1);
            budget.settle(Unit::Bytes, self.request_bytes);
        }
    }
}
