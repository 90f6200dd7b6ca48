//! What a module needs beyond the common core of WebAssembly, told without compiling it, and said clearly where it is off.

use drydock_contract::port::{LaneSettings, WasmFeatures};

use crate::config::TABLE_ELEMENTS_MAX;

/// Sections of a module that are looked at by their head: more than this has none that a compiler made.
const SECTIONS_MAX: usize = 1024;
const IMPORT_SECTION: u8 = 2;
const TABLE_SECTION: u8 = 4;
const TAG_SECTION: u8 = 13;
/// Imports that are looked through for tags.
const IMPORTS_MAX: u32 = 10_000;
const TAG_IMPORT: u8 = 4;
const FUNCREF: u8 = 0x70;
const EXTERNREF: u8 = 0x6f;

/// The features that a module names by its sections: one with tags throws. Nothing is validated, and what cannot be
/// read needs nothing, because it will not compile either.
pub fn needed_features(wasm: &[u8]) -> WasmFeatures {
    let mut rest = Bytes(wasm.get(8..).unwrap_or_default());
    for _ in 0..SECTIONS_MAX {
        let Some(section) = rest.section() else { break };
        match section {
            (TAG_SECTION, _) => return WasmFeatures { exceptions: true },
            (IMPORT_SECTION, body) if Bytes(body).imports_a_tag() == Some(true) => {
                return WasmFeatures { exceptions: true };
            }
            _ => {}
        }
    }
    WasmFeatures::NONE
}

/// Whether a module's tables are as a pool lays them out: one at most, and not too long. Memories are one everywhere, and
/// what cannot be read will not compile, wherever that is tried.
pub(crate) fn fits_pool(wasm: &[u8]) -> bool {
    let mut rest = Bytes(wasm.get(8..).unwrap_or_default());
    for _ in 0..SECTIONS_MAX {
        let Some((id, body)) = rest.section() else { break };
        if id == TABLE_SECTION {
            let mut body = Bytes(body);
            return match (body.number(), body.byte(), body.byte(), body.number()) {
                (Some(0), ..) => true,
                (Some(1), Some(FUNCREF | EXTERNREF), Some(0 | 1), Some(elements)) => {
                    elements as usize <= TABLE_ELEMENTS_MAX
                }
                _ => false,
            };
        }
    }
    true
}

/// Why the compiler refuses a module, with the feature that is off and what to do, if it is that.
pub(crate) fn refusal(reason: &str, lane: LaneSettings) -> String {
    // The validator's own words for proposals that it was not told to accept.
    if reason.contains("legacy_exceptions") {
        return format!(
            "it needs the old form of the WebAssembly feature `exceptions`, which is not offered; rebuild it with \
             `-mllvm -wasm-use-legacy-eh=false` ({reason})"
        );
    }
    if reason.contains("exceptions proposal not enabled") && !lane.features.exceptions {
        return format!(
            "it needs the WebAssembly feature `exceptions`, which is off; register it with `--feature exceptions` \
             ({reason})"
        );
    }
    reason.to_owned()
}

/// Bytes that are read from the front.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// A number in the variable form, of at most 32 bits.
    fn number(&mut self) -> Option<u32> {
        let mut value = 0u64;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return u32::try_from(value).ok();
            }
        }
        None
    }

    fn take(&mut self, count: u32) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(count).ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    fn name(&mut self) -> Option<&'a [u8]> {
        let len = self.number()?;
        self.take(len)
    }

    fn section(&mut self) -> Option<(u8, &'a [u8])> {
        let (id, len) = (self.byte()?, self.number()?);
        Some((id, self.take(len)?))
    }

    /// Limits of a memory or a table: a flag, a minimum and perhaps a maximum.
    fn limits(&mut self) -> Option<()> {
        let flags = self.byte()?;
        self.number()?;
        if flags & 1 != 0 {
            self.number()?;
        }
        Some(())
    }

    /// Whether one of the imports is a tag; `None` if they cannot be read.
    fn imports_a_tag(&mut self) -> Option<bool> {
        for _ in 0..self.number()?.min(IMPORTS_MAX) {
            self.name()?;
            self.name()?;
            match self.byte()? {
                0 => drop(self.number()?),
                1 => {
                    self.byte()?;
                    self.limits()?;
                }
                2 => self.limits()?,
                3 => drop((self.byte()?, self.byte()?)),
                TAG_IMPORT => return Some(true),
                _ => return None,
            }
        }
        Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_with_tags_needs_exceptions_and_no_other_does() {
        let cases = [
            ("(module (func (export \"_start\")))", false),
            ("(module (tag))", true),
            ("(module (import \"a\" \"b\" (tag)))", true),
            (
                "(module (import \"a\" \"m\" (memory 1 2)) (import \"a\" \"t\" (table 1 funcref)) \
              (import \"a\" \"g\" (global i32)) (import \"a\" \"f\" (func)))",
                false,
            ),
            ("(module (import \"a\" \"m\" (memory 1)) (import \"a\" \"b\" (tag (param i32))))", true),
        ];
        for (wat, want) in cases {
            let wasm = wat::parse_str(wat).unwrap();
            assert_eq!(needed_features(&wasm).exceptions, want, "{wat}");
        }
    }

    #[test]
    fn one_short_table_fits_a_pool_and_several_or_a_long_one_do_not() {
        for (wat, want) in [
            ("(module)", true),
            ("(module (table 7 funcref))", true),
            ("(module (table 7 9 externref))", true),
            ("(module (table 1 funcref) (table 1 funcref))", false),
            ("(module (table 9000000 funcref))", false),
        ] {
            assert_eq!(fits_pool(&wat::parse_str(wat).unwrap()), want, "{wat}");
        }
    }

    #[test]
    fn bytes_that_are_no_module_need_nothing_and_cut_ones_never_panic() {
        let wasm = wat::parse_str("(module (import \"a\" \"b\" (tag)) (func (export \"_start\")))").unwrap();
        for end in 0..wasm.len() {
            let _ = (needed_features(&wasm[..end]), fits_pool(&wasm[..end]));
        }
        for bytes in [&b""[..], b"\0asm", b"\0asm\x01\0\0\0\x0d", b"\0asm\x01\0\0\0\x02\xff\xff\xff\xff\x0f"]
        {
            assert_eq!(needed_features(bytes), WasmFeatures::NONE);
        }
    }
}
