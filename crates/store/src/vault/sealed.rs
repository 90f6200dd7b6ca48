//! A secret as a cell: `1 | kind | public key, of a pair | nonce, 12 bytes | ciphertext | tag, 16 bytes`.
//!
//! What stands before the nonce, the tenant and the name are bound to it: changed, it opens nothing. A reference to a secret
//! is text in the same place, and begins with a letter.

use drydock_contract::{SecretName, Tenant};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use zeroize::Zeroizing;

use super::key::VaultKey;

const VERSION: u8 = 1;
const VALUE: u8 = b'v';
const ED25519: u8 = b'e';
const PUBLIC_KEY_BYTES: usize = 32;
/// What else is ever sealed under this key is bound to another word.
const CONTEXT: &[u8] = b"drydock secret";

/// What is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Bytes that somebody else knows too.
    Value,
    /// The seed of a key pair.
    Ed25519 {
        /// The half that everybody may know.
        public_key: [u8; PUBLIC_KEY_BYTES],
    },
}

/// A cell, read and not opened.
pub(super) struct Sealed<'a> {
    pub(super) kind: Kind,
    head: &'a [u8],
    nonce: [u8; NONCE_LEN],
    sealed: &'a [u8],
}

impl<'a> Sealed<'a> {
    /// Reads a cell; nothing if it is no kept secret.
    pub(super) fn read(cell: &'a [u8]) -> Option<Self> {
        let (kind, head_bytes) = match cell {
            [VERSION, VALUE, ..] => (Kind::Value, 2),
            [VERSION, ED25519, rest @ ..] => {
                let public_key = *rest.first_chunk()?;
                (Kind::Ed25519 { public_key }, 2 + PUBLIC_KEY_BYTES)
            }
            _ => return None,
        };
        let (head, rest) = cell.split_at_checked(head_bytes)?;
        let (nonce, sealed) = rest.split_first_chunk()?;
        Some(Self { kind, head, nonce: *nonce, sealed })
    }

    /// What was sealed, if it was under this key and for this tenant and name.
    pub(super) fn open(
        &self,
        key: &VaultKey,
        tenant: &Tenant,
        name: &SecretName,
    ) -> Option<Zeroizing<Vec<u8>>> {
        let bound = Aad::from(bound_to(self.head, tenant, name));
        let mut bytes = Zeroizing::new(self.sealed.to_vec());
        let nonce = Nonce::assume_unique_for_key(self.nonce);
        let opened = aead(key)?.open_in_place(nonce, bound, &mut bytes).ok()?.len();
        bytes.truncate(opened);
        Some(bytes)
    }
}

/// Seals a value. Nothing if the machine gives no randomness.
pub(super) fn seal(
    key: &VaultKey,
    tenant: &Tenant,
    name: &SecretName,
    kind: Kind,
    value: &[u8],
) -> Option<Vec<u8>> {
    let mut cell = match kind {
        Kind::Value => vec![VERSION, VALUE],
        Kind::Ed25519 { public_key } => [&[VERSION, ED25519][..], &public_key].concat(),
    };
    let bound = Aad::from(bound_to(&cell, tenant, name));
    // At random: an installation would have to keep billions of secrets before two of them met.
    let mut nonce = [0; NONCE_LEN];
    getrandom::fill(&mut nonce).ok()?;
    let mut bytes = Zeroizing::new(Vec::with_capacity(value.len() + CHACHA20_POLY1305.tag_len()));
    bytes.extend_from_slice(value);
    let unique = Nonce::assume_unique_for_key(nonce);
    aead(key)?.seal_in_place_append_tag(unique, bound, &mut *bytes).ok()?;
    cell.extend_from_slice(&nonce);
    cell.extend_from_slice(&bytes);
    Some(cell)
}

fn aead(key: &VaultKey) -> Option<LessSafeKey> {
    UnboundKey::new(&CHACHA20_POLY1305, key.bytes()).ok().map(LessSafeKey::new)
}

/// Neither names of tenants nor of secrets have a NUL in them, so no two of these are the same.
fn bound_to(head: &[u8], tenant: &Tenant, name: &SecretName) -> Vec<u8> {
    [CONTEXT, tenant.as_str().as_bytes(), name.as_str().as_bytes(), head].join(&0)
}
