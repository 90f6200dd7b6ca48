//! cap.config.v1: values by their keys, which the guest reads and never changes.

use std::collections::BTreeMap;

use drydock_abi::lembeh::{
    Trace,
    config::{KEY_READONLY, KEY_SECRET, Key, decode_get, decode_list, encode_keys, encode_value},
};

/// One value.
#[derive(Clone, PartialEq, Eq)]
pub struct ConfigValue {
    /// Its bytes.
    pub value: Vec<u8>,
    /// Whether it is told as a secret.
    pub secret: bool,
}

/// Says what it is, and nothing of its bytes.
impl std::fmt::Debug for ConfigValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ConfigValue({} bytes{})", self.value.len(), if self.secret { ", secret" } else { "" })
    }
}

/// What a session is configured with. The default is nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConfigPolicy {
    /// Values by their keys.
    pub values: BTreeMap<String, ConfigValue>,
}

impl ConfigPolicy {
    /// The value of `config.get.v1`. A key that is not there is malformed: no list has it.
    pub fn judge_get(&self, params: &[u8]) -> Result<Vec<u8>, Trace> {
        let key = decode_get(params).map_err(|_| Trace::AsyncBadParams)?;
        let found = self.values.get(key).ok_or(Trace::AsyncBadParams)?;
        encode_value(&found.value).map_err(|_| Trace::AsyncOverflow)
    }

    /// The value of `config.list.v1`.
    pub fn judge_list(&self, params: &[u8]) -> Result<Vec<u8>, Trace> {
        let prefix = decode_list(params).map_err(|_| Trace::AsyncBadParams)?;
        let keys: Vec<Key<'_>> = self
            .values
            .iter()
            .filter(|(key, _)| key.starts_with(prefix))
            .map(|(key, it)| Key { key, flags: KEY_READONLY | if it.secret { KEY_SECRET } else { 0 } })
            .collect();
        encode_keys(&keys).map_err(|_| Trace::AsyncOverflow)
    }
}

#[cfg(test)]
mod tests {
    use drydock_abi::lembeh::config::{decode_keys, decode_value, encode_params};

    use super::*;

    #[test]
    fn keys_are_listed_by_their_prefix_and_values_are_read_only() {
        let value = |text: &str, secret| ConfigValue { value: text.into(), secret };
        let values =
            [("db.user", value("ada", false)), ("db.pass", value("x", true)), ("z", value("", false))];
        let policy = ConfigPolicy { values: values.map(|(key, it)| (key.to_owned(), it)).into() };
        let listed = policy.judge_list(&encode_params("db.").unwrap()).unwrap();
        let keys = decode_keys(&listed).unwrap();
        assert_eq!(
            keys.iter().map(|it| (it.key, it.flags)).collect::<Vec<_>>(),
            [("db.pass", 3), ("db.user", 2)]
        );
        let got = policy.judge_get(&encode_params("db.user").unwrap()).unwrap();
        assert_eq!(decode_value(&got), Ok(&b"ada"[..]));
        assert_eq!(policy.judge_get(&encode_params("db").unwrap()), Err(Trace::AsyncBadParams));
        assert_eq!(policy.judge_get(b"\x01\0\0\0"), Err(Trace::AsyncBadParams));
        assert!(!format!("{policy:?}").contains("ada"), "no value is shown");
    }
}
