//! The colours of `-C`, and `JQ_COLORS` over them.

/// Ends a colour.
pub(super) const RESET: &[u8] = b"\x1b[0m";

/// What jq 1.7 uses: null, false, true, numbers, strings, arrays, objects, keys.
const DEFAULT: [&str; 8] = ["0;90", "0;39", "0;39", "0;39", "0;32", "1;39", "1;39", "1;34"];

/// One escape sequence a kind.
pub(super) struct Colors([Vec<u8>; 8]);

impl Colors {
    /// The default, overridden by the fields of `custom` as far as it has any.
    ///
    /// A field that is no colour makes all of `custom` void, as in jq.
    pub(super) fn parse(custom: Option<&str>) -> Self {
        let mut fields = DEFAULT;
        let custom = custom.unwrap_or_default();
        let legal = |byte: u8| byte.is_ascii_digit() || matches!(byte, b';' | b':');
        if !custom.is_empty() && custom.bytes().all(legal) {
            for (field, own) in fields.iter_mut().zip(custom.split(':')) {
                *field = own;
            }
        }
        Self(fields.map(|field| format!("\x1b[{field}m").into_bytes()))
    }

    /// The colour of a kind of value.
    pub(super) fn of(&self, kind: usize) -> &[u8] {
        &self.0[kind]
    }

    /// The colour of an object's key.
    pub(super) fn key(&self) -> &[u8] {
        &self.0[7]
    }
}
