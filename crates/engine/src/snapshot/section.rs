//! A module as its sections: what is not changed stays byte for byte what it was.
//!
//! Reads no instruction and checks no type: the result goes to the compiler like every other module, and it
//! refuses what is not valid. Here only lengths and counts are looked at, each within the bytes that are there.

use super::SnapshotError;

/// Section numbers of the format.
pub(super) mod id {
    pub(in crate::snapshot) const CUSTOM: u8 = 0;
    pub(in crate::snapshot) const TYPE: u8 = 1;
    pub(in crate::snapshot) const IMPORT: u8 = 2;
    pub(in crate::snapshot) const FUNCTION: u8 = 3;
    pub(in crate::snapshot) const MEMORY: u8 = 5;
    pub(in crate::snapshot) const GLOBAL: u8 = 6;
    pub(in crate::snapshot) const EXPORT: u8 = 7;
    pub(in crate::snapshot) const CODE: u8 = 10;
    pub(in crate::snapshot) const DATA: u8 = 11;
    pub(in crate::snapshot) const DATA_COUNT: u8 = 12;
}

const HEADER: &[u8] = b"\0asm\x01\0\0\0";

/// The sections of a module, in order.
pub(super) struct Sections<'a>(Vec<(u8, &'a [u8])>);

impl<'a> Sections<'a> {
    pub(super) fn parse(wasm: &'a [u8]) -> Result<Self, SnapshotError> {
        let mut rest = Reader(wasm.strip_prefix(HEADER).ok_or_else(|| bad("it is not a module"))?);
        let mut all = Vec::new();
        while !rest.0.is_empty() {
            let id = rest.byte()?;
            let len = rest.u32()?;
            all.push((id, rest.take(len)?));
        }
        Ok(Self(all))
    }

    /// The content of the one section of that number.
    pub(super) fn get(&self, id: u8) -> Option<&'a [u8]> {
        self.0.iter().find(|it| it.0 == id).map(|it| it.1)
    }

    pub(super) fn need(&self, id: u8, what: &str) -> Result<&'a [u8], SnapshotError> {
        self.get(id).ok_or_else(|| bad(&format!("it has no {what}")))
    }

    /// The module again, with other content for some sections and without what only debuggers read.
    pub(super) fn rebuild(&self, changed: &[(u8, Vec<u8>)]) -> Vec<u8> {
        let mut wasm = HEADER.to_vec();
        for (id, content) in &self.0 {
            if *id == id::CUSTOM {
                continue;
            }
            let content = changed.iter().find(|it| it.0 == *id).map_or(*content, |it| &it.1);
            wasm.push(*id);
            put_u32(&mut wasm, content.len() as u32);
            wasm.extend_from_slice(content);
        }
        wasm
    }
}

/// Reads numbers and bytes, never past the end.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn byte(&mut self) -> Result<u8, SnapshotError> {
        let (first, rest) = self.0.split_first().ok_or_else(cut)?;
        self.0 = rest;
        Ok(*first)
    }

    pub(super) fn take(&mut self, count: u32) -> Result<&'a [u8], SnapshotError> {
        let (taken, rest) = self.0.split_at_checked(count as usize).ok_or_else(cut)?;
        self.0 = rest;
        Ok(taken)
    }

    /// A number in LEB128, at most five bytes long.
    pub(super) fn u32(&mut self) -> Result<u32, SnapshotError> {
        let mut value = 0u64;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return u32::try_from(value).map_err(|_| bad("a number is too large"));
            }
        }
        Err(bad("a number is too long"))
    }

    /// A signed number in LEB128, at most ten bytes long.
    pub(super) fn signed(&mut self) -> Result<i64, SnapshotError> {
        let mut value = 0i64;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            value |= i64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let unused = 64u32.saturating_sub(shift + 7);
                return Ok(value << unused >> unused);
            }
        }
        Err(bad("a number is too long"))
    }

    /// Skips a number of any width; its value does not matter.
    pub(super) fn skip_number(&mut self) -> Result<(), SnapshotError> {
        while self.byte()? & 0x80 != 0 {}
        Ok(())
    }
}

pub(super) fn put_u32(out: &mut Vec<u8>, mut value: u32) {
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

/// `i32.const`: the operand is signed, so an address in the upper half is a negative number.
pub(super) fn put_i32_const(out: &mut Vec<u8>, value: u32) {
    out.push(0x41);
    let mut value = value as i32;
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        let done = (value == 0 && low & 0x40 == 0) || (value == -1 && low & 0x40 != 0);
        if done {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

pub(super) fn bad(why: &str) -> SnapshotError {
    SnapshotError::Module(why.to_owned())
}

fn cut() -> SnapshotError {
    bad("it ends in the middle")
}
