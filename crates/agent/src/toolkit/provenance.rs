//! Who answers for a toolkit: a signature by Ed25519 over the digest of its canonical listing.
//!
//! The listing has a line for each file (hash, size, path), so that nothing can be changed, added or taken away. A manifest
//! carries its own signature (`#+AUTHOR_DID:`, `#+SIGNATURE:`, as the seed has it) and is listed without that line; a folder
//! of a skill has a file `SIGNATURE` with these two lines and nothing else. The key is in the author's `did:key`.

use std::{borrow::Cow, fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use drydock_contract::Digest;
use ring::signature::{ED25519, UnparsedPublicKey};

use super::{
    MANIFEST, SKILL,
    folder::{Folder, FolderError, Listed},
};
use crate::text::{Outline, shown};

/// The file that carries the signature of a skill's folder.
pub const SIGNATURE_FILE: &str = "SIGNATURE";
const AUTHOR: &str = "AUTHOR_DID";
const SIGNATURE: &str = "SIGNATURE";
const KEY_PREFIX: &str = "did:key:z";
/// Multicodec: a public key of Ed25519.
const ED25519_CODE: [u8; 2] = [0xed, 0x01];

/// A public key of Ed25519 as `did:key:z…`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Did([u8; 32]);

/// The text is no such key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no `did:key:z…` of an Ed25519 key")]
pub struct BadDid(String);

impl Did {
    /// Of a public key.
    pub const fn of(public_key: [u8; 32]) -> Self {
        Self(public_key)
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.0).verify(message, signature).is_ok()
    }
}

impl fmt::Display for Did {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b] = ED25519_CODE;
        let bytes: Vec<u8> = [a, b].into_iter().chain(self.0).collect();
        write!(f, "{KEY_PREFIX}{}", bs58::encode(bytes).into_string())
    }
}

impl FromStr for Did {
    type Err = BadDid;

    fn from_str(text: &str) -> Result<Self, BadDid> {
        let bad = || BadDid(shown(text));
        // Longer than any: base58 takes time that grows with the square of its length.
        let encoded = text.strip_prefix(KEY_PREFIX).filter(|it| it.len() <= 64).ok_or_else(bad)?;
        let bytes = bs58::decode(encoded).into_vec().map_err(|_| bad())?;
        let key = bytes.strip_prefix(&ED25519_CODE).ok_or_else(bad)?;
        Ok(Self(key.try_into().map_err(|_| bad())?))
    }
}

/// Where a folder comes from, by the word of whoever reads it. What a manifest says of itself can only take trust away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Origin {
    /// Somebody else's: it must be signed.
    #[default]
    Foreign,
    /// The person's own, who named it: it may be unsigned, unless its manifest says `#+TRUST: third-party`.
    Own,
}

/// What is asked of a toolkit before anything of it is used. The default asks for a signature, by whoever it is.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    /// Where it comes from.
    pub origin: Origin,
    /// The only authors that are taken; none for all.
    pub authors: Option<Vec<Did>>,
}

/// Who answers for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Provenance {
    /// The person who named its folder.
    Unsigned,
    /// Whoever holds this key: it signed every file of it.
    Signed {
        /// The key.
        author: Did,
    },
}

/// Nobody answers for a toolkit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProvenanceError {
    /// It does not say who made it.
    #[error(
        "a toolkit of a third party says who made it (`#+AUTHOR_DID: did:key:z…`), and this one does not"
    )]
    NoAuthor,
    /// It is not signed.
    #[error("a toolkit of a third party is signed (`drydock toolkit sign`), and this one is not")]
    NoSignature,
    /// Its author is no key.
    #[error(transparent)]
    BadAuthor(#[from] BadDid),
    /// Its signature is none.
    #[error("its signature is no signature: 64 bytes in base64, alone on its line")]
    BadEncoding,
    /// It is not what was signed.
    #[error(
        "it is not what `{author}` signed: a file was changed, added or taken away, or the key is another"
    )]
    BadSignature {
        /// Who is said to have signed it.
        author: Did,
    },
    /// Its author is not one of those that are taken.
    #[error("it is signed by `{author}`, who is not among the authors that are trusted here")]
    UnknownAuthor {
        /// Who signed it.
        author: Did,
    },
    /// A file of it cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

impl ProvenanceError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoAuthor => "no_author_did",
            Self::NoSignature => "no_signature",
            Self::BadAuthor(_) => "bad_author_did",
            Self::BadEncoding => "bad_signature_encoding",
            Self::BadSignature { .. } => "bad_signature",
            Self::UnknownAuthor { .. } => "unknown_author",
            Self::Folder(error) => error.code(),
        }
    }
}

/// Judges a folder. A signature that is there is checked wherever the folder comes from.
pub(super) fn judge(
    folder: &Folder,
    says_third_party: bool,
    trust: &Trust,
) -> Result<Provenance, ProvenanceError> {
    let claim = Claim::of(folder)?;
    let may_be_unsigned = trust.origin == Origin::Own && !says_third_party && trust.authors.is_none();
    let (author, signature) = match (claim.author, claim.signature) {
        (_, None) if may_be_unsigned => return Ok(Provenance::Unsigned),
        (None, _) => return Err(ProvenanceError::NoAuthor),
        (_, None) => return Err(ProvenanceError::NoSignature),
        (Some(author), Some(signature)) => (author.parse::<Did>()?, signature),
    };
    let signature = STANDARD.decode(signature).map_err(|_| ProvenanceError::BadEncoding)?;
    if signature.len() != 64 {
        return Err(ProvenanceError::BadEncoding);
    }
    if !author.verify(&message(folder, &author)?, &signature) {
        return Err(ProvenanceError::BadSignature { author });
    }
    if trust.authors.as_ref().is_some_and(|it| !it.contains(&author)) {
        return Err(ProvenanceError::UnknownAuthor { author });
    }
    Ok(Provenance::Signed { author })
}

/// The digest of everything in a folder but its signature.
pub(super) fn digest(folder: &Folder) -> Result<Digest, FolderError> {
    let manifest = match folder.has(MANIFEST) {
        true => Some(folder.text(MANIFEST)?),
        false => None,
    };
    let listed = |path: &str| match manifest {
        Some(text) if path == MANIFEST => Listed::As(Cow::Owned(without(text, &[SIGNATURE]))),
        None if path == SIGNATURE_FILE => Listed::LeftOut,
        _ => Listed::AsItIs,
    };
    Ok(Digest::of(
        format!("drydock toolkit 1\nname {}\n{}", folder.name(), folder.listing(listed)).as_bytes(),
    ))
}

/// What is signed.
fn message(folder: &Folder, author: &Did) -> Result<Vec<u8>, FolderError> {
    Ok(format!("drydock toolkit 1\nauthor {author}\ndigest {}\n", digest(folder)?).into_bytes())
}

/// What a folder says of its signature.
struct Claim {
    author: Option<String>,
    signature: Option<String>,
}

impl Claim {
    fn of(folder: &Folder) -> Result<Self, ProvenanceError> {
        let none = Self { author: None, signature: None };
        let (path, is_alone) = match (folder.has(MANIFEST), folder.has(SIGNATURE_FILE)) {
            (true, _) => (MANIFEST, false),
            (false, true) => (SIGNATURE_FILE, true),
            (false, false) => return Ok(none),
        };
        let text = folder.text(path)?;
        let outline = Outline::read(text).map_err(|_| ProvenanceError::BadEncoding)?;
        let value = |name| outline.keywords.get(name).map(str::to_owned);
        let claim = Self { author: value(AUTHOR), signature: value(SIGNATURE) };
        // The file is not part of what is signed, so nothing else may stand in it.
        let fields = claim.author.as_deref().zip(claim.signature.as_deref());
        match is_alone && fields.is_none_or(|(author, signature)| text != lines(author, signature)) {
            true => Err(ProvenanceError::BadEncoding),
            false => Ok(claim),
        }
    }
}

fn lines(author: &str, signature: &str) -> String {
    format!("#+{AUTHOR}: {author}\n#+{SIGNATURE}: {signature}\n")
}

/// The text without these keywords. Those below the first heading are no keywords, and stay.
fn without(text: &str, names: &[&str]) -> String {
    let mut is_above = true;
    let is_one = |line: &str| {
        let name = line.trim_start().strip_prefix("#+").and_then(|it| it.split_once(':')).map(|it| it.0);
        name.is_some_and(|it| names.iter().any(|name| name.eq_ignore_ascii_case(it)))
    };
    let is_heading =
        |line: &str| line.starts_with('*') && line.trim_start_matches('*').starts_with([' ', '\t']);
    let kept = text.split_inclusive('\n').filter(|line| {
        is_above &= !is_heading(line);
        !(is_above && is_one(line))
    });
    kept.collect()
}

/// A folder that is about to be signed: [`message`](Self::message) is what the key signs, and [`finish`](Self::finish) says
/// which file then has which text.
#[derive(Debug, Clone)]
pub struct Unsigned {
    folder: Folder,
    author: Did,
}

impl Unsigned {
    /// Prepares a folder for its author.
    pub fn of(folder: &Folder, author: Did) -> Result<Self, FolderError> {
        let mut prepared = Folder::new(folder.name());
        for (path, bytes) in folder.files() {
            match path {
                MANIFEST => {
                    let text = without(folder.text(MANIFEST)?, &[AUTHOR, SIGNATURE]);
                    prepared.put(path, format!("#+{AUTHOR}: {author}\n{text}").into_bytes())?;
                }
                SIGNATURE_FILE if !folder.has(MANIFEST) => {}
                _ => prepared.put(path, bytes.clone())?,
            }
        }
        if !prepared.has(MANIFEST) && !prepared.has(SKILL) {
            return Err(FolderError::Missing { shown: format!("{MANIFEST} or {SKILL}") });
        }
        Ok(Self { folder: prepared, author })
    }

    /// What is to be signed.
    pub fn message(&self) -> Result<Vec<u8>, FolderError> {
        message(&self.folder, &self.author)
    }

    /// The file that carries the signature, and its text.
    pub fn finish(&self, signature: &[u8]) -> Result<(&'static str, String), FolderError> {
        let encoded = STANDARD.encode(signature);
        match self.folder.has(MANIFEST) {
            true => Ok((MANIFEST, format!("#+{SIGNATURE}: {encoded}\n{}", self.folder.text(MANIFEST)?))),
            false => Ok((SIGNATURE_FILE, lines(&self.author.to_string(), &encoded))),
        }
    }
}
