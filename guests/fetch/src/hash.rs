//! Hashes as registries write them.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha2::{Digest as _, Sha256, Sha512};

/// What the bytes of a package must hash to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hash {
    /// `sha512-BASE64`, as npm writes it.
    Sha512(Vec<u8>),
    /// Hexadecimal, as Python's indexes write it.
    Sha256(Vec<u8>),
}

impl Hash {
    /// Reads `sha512-…`, `sha256-…`, or 64 hexadecimal digits. Weaker ones are none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        // Several may be named with blanks between them; the strongest is the one that counts.
        let words = || text.split_whitespace();
        let base64 = |prefix: &str| {
            words().find_map(|it| STANDARD.decode(it.strip_prefix(prefix)?.split('?').next()?).ok())
        };
        if let Some(bytes) = base64("sha512-").filter(|it| it.len() == 64) {
            return Some(Self::Sha512(bytes));
        }
        if let Some(bytes) = base64("sha256-").filter(|it| it.len() == 32) {
            return Some(Self::Sha256(bytes));
        }
        let hex = text.strip_prefix("sha256:").or_else(|| text.strip_prefix("sha256=")).unwrap_or(text);
        let is_hex = hex.len() == 64 && hex.bytes().all(|it| it.is_ascii_hexdigit());
        let pair = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = is_hex.then(|| (0..64).step_by(2).map(pair).collect()).flatten();
        bytes.map(Self::Sha256)
    }

    /// Whether these are the bytes.
    pub(crate) fn is_of(&self, bytes: &[u8]) -> bool {
        match self {
            Self::Sha512(want) => Sha512::digest(bytes)[..] == want[..],
            Self::Sha256(want) => Sha256::digest(bytes)[..] == want[..],
        }
    }

    /// As people compare it.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Sha512(bytes) => format!("sha512-{}", STANDARD.encode(bytes)),
            Self::Sha256(bytes) => {
                let hex: String = bytes.iter().map(|it| format!("{it:02x}")).collect();
                format!("sha256:{hex}")
            }
        }
    }
}

#[test]
fn a_hash_is_strong_or_it_is_none() {
    let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let hash = Hash::parse(hex);
    assert!(hash.as_ref().is_some_and(|it| it.is_of(b"abc") && !it.is_of(b"abd")));
    assert_eq!(hash.map(|it| it.shown()), Some(format!("sha256:{hex}")));
    let both = format!("sha1-AAAA sha512-{}", STANDARD.encode(Sha512::digest(b"abc")));
    assert!(Hash::parse(&both).is_some_and(|it| it.is_of(b"abc")));
    for bad in ["", "sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0=", "sha512-AAAA", "md5:x", "ba78", &"z".repeat(64)] {
        assert_eq!(Hash::parse(bad), None, "{bad}");
    }
}
