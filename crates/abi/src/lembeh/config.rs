//! Payloads of cap.config.v1: `config.get.v1` and `config.list.v1`.

use super::hopper::{Hopper, Malformed, TooLong, put_h4, put_hbytes, put_hstr, put_length};

/// Its kind.
pub const KIND: &str = "config";
/// Its name.
pub const NAME: &str = "default";
/// The value of a key.
pub const GET: &str = "config.get.v1";
/// The keys with a prefix.
pub const LIST: &str = "config.list.v1";

/// The value is a secret.
pub const KEY_SECRET: u32 = 1;
/// The value cannot be changed.
pub const KEY_READONLY: u32 = 1 << 1;

/// One key of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key<'a> {
    /// Its name.
    pub key: &'a str,
    /// [`KEY_SECRET`], [`KEY_READONLY`].
    pub flags: u32,
}

/// Reads the params of `config.get.v1`: a key.
pub fn decode_get(bytes: &[u8]) -> Result<&str, Malformed> {
    one_string(bytes, "key")
}

/// Reads the params of `config.list.v1`: a prefix, maybe an empty one.
pub fn decode_list(bytes: &[u8]) -> Result<&str, Malformed> {
    one_string(bytes, "prefix")
}

fn one_string<'a>(bytes: &'a [u8], what: &'static str) -> Result<&'a str, Malformed> {
    let mut hopper = Hopper::new(bytes);
    let text = hopper.hstr(what)?;
    hopper.end()?;
    Ok(text)
}

/// Writes the params of either selector.
pub fn encode_params(key_or_prefix: &str) -> Result<Vec<u8>, TooLong> {
    let mut out = Vec::new();
    put_hstr(&mut out, key_or_prefix)?;
    Ok(out)
}

/// Reads the value of `config.get.v1`.
pub fn decode_value(bytes: &[u8]) -> Result<&[u8], Malformed> {
    let mut hopper = Hopper::new(bytes);
    let value = hopper.hbytes("value")?;
    hopper.end()?;
    Ok(value)
}

/// Writes the value of `config.get.v1`.
pub fn encode_value(value: &[u8]) -> Result<Vec<u8>, TooLong> {
    let mut out = Vec::new();
    put_hbytes(&mut out, value)?;
    Ok(out)
}

/// Reads the value of `config.list.v1`: in the order of the keys' bytes, each once.
pub fn decode_keys(bytes: &[u8]) -> Result<Vec<Key<'_>>, Malformed> {
    let mut hopper = Hopper::new(bytes);
    let count = hopper.count("keys", 8)?;
    let mut keys: Vec<Key<'_>> = Vec::new();
    for _ in 0..count {
        let (key, flags) = (hopper.hstr("key")?, hopper.h4("key flags")?);
        if flags & !(KEY_SECRET | KEY_READONLY) != 0 {
            return Err(Malformed::Value { what: "key flags", value: flags.into() });
        }
        if keys.last().is_some_and(|last| last.key >= key) {
            return Err(Malformed::Order("keys"));
        }
        keys.push(Key { key, flags });
    }
    hopper.end()?;
    Ok(keys)
}

/// Writes the value of `config.list.v1`. Sorts the keys.
pub fn encode_keys(keys: &[Key<'_>]) -> Result<Vec<u8>, TooLong> {
    let mut rows: Vec<&Key<'_>> = keys.iter().collect();
    rows.sort_by_key(|it| it.key);
    let mut out = Vec::new();
    put_length(&mut out, rows.len())?;
    for row in rows {
        put_hstr(&mut out, row.key)?;
        put_h4(&mut out, row.flags);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_are_sorted_by_their_bytes() {
        let key = |key| Key { key, flags: 0 };
        let wire = encode_keys(&[key("db.user"), key("db.pass")]).unwrap();
        assert_eq!(decode_keys(&wire), Ok(vec![key("db.pass"), key("db.user")]));
        let mut swapped = vec![2, 0, 0, 0];
        for name in ["b", "a"] {
            put_hstr(&mut swapped, name).unwrap();
            put_h4(&mut swapped, 0);
        }
        assert_eq!(decode_keys(&swapped), Err(Malformed::Order("keys")));
    }

    proptest! {
        #[test]
        fn values_round_trip(key in "[ -~]{0,20}", value in prop::collection::vec(any::<u8>(), 0..30)) {
            let params = encode_params(&key).unwrap();
            prop_assert_eq!(decode_get(&params), Ok(key.as_str()));
            prop_assert_eq!(decode_list(&params), Ok(key.as_str()));
            let wire = encode_value(&value).unwrap();
            prop_assert_eq!(decode_value(&wire), Ok(&value[..]));
        }

        #[test]
        fn no_bytes_make_the_decoders_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = decode_get(&bytes);
            let _ = decode_value(&bytes);
            let _ = decode_keys(&bytes);
        }
    }
}
