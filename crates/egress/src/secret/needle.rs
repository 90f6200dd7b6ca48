//! In which disguises a secret is looked for: as it is, in hexadecimal, and in base64 wherever its first byte falls in a
//! group of three.
//!
//! In base64 a secret in the middle of other bytes is not the base64 of the secret: the bytes before it shift the bits by
//! two or by four. What all three shifts have in common with the text is the run of characters that depend on the secret
//! alone, so that run is what is looked for; the mixed character at either end tells at most four bits. Escapes (percent
//! signs, JSON's backslashes) are not disguises here: `redact` reads them.

use aho_corasick::nfa::noncontiguous::NFA;
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use zeroize::Zeroizing;

use super::Secret;

/// All disguises of all secrets of one policy, as one machine that reads a byte at a time.
pub(crate) struct Needles {
    pub(super) machine: NFA,
    /// The longest of them.
    pub(super) bytes_max: usize,
    /// The secrets in small letters, as they would be names of headers.
    names: Vec<Zeroizing<Vec<u8>>>,
}

impl Needles {
    /// None where there is nothing to look for.
    pub(crate) fn of<'a>(secrets: impl Iterator<Item = &'a Secret>) -> Option<Self> {
        let (mut all, mut names) = (Vec::new(), Vec::new());
        for secret in secrets {
            all.extend(disguises(secret.reveal()));
            names.push(Zeroizing::new(secret.reveal().to_ascii_lowercase()));
        }
        let bytes_max = all.iter().map(|it| it.len()).max()?;
        // Fails where there are more bytes than fit into its numbers: 2^31, against 16 of at most 4,096.
        let machine = NFA::new(all.iter().map(|it| it.as_slice())).ok()?;
        Some(Self { machine, bytes_max, names })
    }

    /// Whether a header that is called so says a secret. Names come in small letters, whatever the server wrote.
    pub(crate) fn is_in_name(&self, name: &str) -> bool {
        let name = name.as_bytes();
        self.names.iter().any(|it| name.windows(it.len()).any(|part| part == it.as_slice()))
    }
}

fn disguises(secret: &[u8]) -> Vec<Zeroizing<Vec<u8>>> {
    let mut all = vec![Zeroizing::new(secret.to_vec())];
    if secret.contains(&b' ') {
        // As forms send it; what else is escaped there is read like any escape.
        all.push(Zeroizing::new(secret.iter().map(|b| if *b == b' ' { b'+' } else { *b }).collect()));
    }
    if secret.contains(&b'\\') || secret.contains(&b'"') {
        // As a text of JSON has it, letter by letter: a `%` in it begins no escape there, whatever follows.
        let mut text = Zeroizing::new(Vec::with_capacity(2 * secret.len()));
        for byte in secret {
            text.extend(matches!(byte, b'\\' | b'"').then_some(b'\\'));
            text.push(*byte);
        }
        all.push(text);
    }
    let hex = |digits: &[u8; 16]| {
        let pair = |b: &u8| [digits[usize::from(b >> 4)], digits[usize::from(b & 15)]];
        Zeroizing::new(secret.iter().flat_map(pair).collect::<Vec<u8>>())
    };
    all.push(hex(b"0123456789abcdef"));
    all.push(hex(b"0123456789ABCDEF"));
    for before in 0..3 {
        let mut bytes = Zeroizing::new(vec![0; before]);
        bytes.extend_from_slice(secret);
        // Characters that hold a bit of what stands before, and those that are full of bits that are known.
        let (start, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        for alphabet in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            let text = Zeroizing::new(alphabet.encode(bytes.as_slice()).into_bytes());
            all.push(Zeroizing::new(text[start..end].to_vec()));
        }
    }
    all
}
