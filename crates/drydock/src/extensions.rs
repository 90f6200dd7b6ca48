//! What holds for all extensions of this process: the operator's list of hosts, and where secrets are read. The environment
//! and files of whoever started it are looked at here, and nowhere below.

use std::{
    io::{self, Read as _},
    sync::Arc,
};

use anyhow::Context as _;
use drydock_embed::{
    ExtensionSettings, KeyRef, SecretRef,
    egress::{Rules, SECRET_BYTES_MAX},
};

use crate::{home, taped};

/// Hosts that extensions may reach, with commas between them.
const ALLOW_LIST: &str = "EXT_EGRESS_ALLOWLIST";

pub(crate) fn settings() -> anyhow::Result<ExtensionSettings> {
    let bad = || format!("{ALLOW_LIST} cannot be read");
    if taped::is_played() {
        let listed = taped::optional(ALLOW_LIST, || None);
        let allow_list = listed.map(|it| Rules::parse_list(&it)).transpose().with_context(bad)?;
        return Ok(ExtensionSettings { allow_list, secrets: None });
    }
    let listed = match std::env::var(ALLOW_LIST) {
        Ok(text) => taped::optional(ALLOW_LIST, || Some(text)),
        Err(std::env::VarError::NotPresent) => None,
        Err(error) => return Err(error).with_context(bad),
    };
    let allow_list = listed.map(|it| Rules::parse_list(&it)).transpose().with_context(bad)?;
    Ok(ExtensionSettings { allow_list, secrets: Some(Arc::new(secret)) })
}

/// The value that a reference leads to.
pub(crate) fn secret(from: &SecretRef) -> io::Result<Vec<u8>> {
    match from {
        SecretRef::Env(name) => match std::env::var(name) {
            Ok(value) => Ok(value.into_bytes()),
            Err(_) => Err(io::Error::new(io::ErrorKind::NotFound, "there is no such variable")),
        },
        SecretRef::File(path) => read_secret_file(path),
        SecretRef::Registered | SecretRef::Kept => {
            Err(io::Error::new(io::ErrorKind::NotFound, "it is registered nowhere"))
        }
    }
}

/// The value of a key that the host sends along itself.
pub(crate) fn key(from: &KeyRef) -> io::Result<Vec<u8>> {
    let home = home::path().map_err(io::Error::other)?;
    from.read(&home, &secret)
}

/// As much as a secret may have, and a little more, which makes it none.
pub(crate) fn read_secret_file(path: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(SECRET_BYTES_MAX as u64 + 16).read_to_end(&mut bytes)?;
    Ok(bytes)
}
