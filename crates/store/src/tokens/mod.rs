//! `tokens.json`: who may ask over HTTP, and for whom. One file of the home, because a token names its tenant and not the
//! other way round.
//!
//! Of a token there is its id and the SHA-256 of its secret: whoever reads the file can ask for nothing with it. A secret
//! is 32 random bytes, so a plain hash is enough. A file that cannot be read lets nobody in.

mod document;
#[cfg(test)]
mod tests;

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use drydock_contract::{Tenant, Timestamp};
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};

use crate::home::{Durability, Home, write_atomic};
pub use document::{Ceiling, CeilingLimits, TOKENS_MAX, Token};
use document::{Document, Stamp};

/// How long what was read of the file is believed without a look at it.
const BELIEVED: Duration = Duration::from_millis(250);
/// What a token begins with, so that it is found where it should not be.
const PREFIX: &str = "dd";
const LOCK: &str = "tokens";

/// The tokens of a home.
pub struct Tokens {
    home: Home,
    seen: Mutex<Option<Seen>>,
}

/// The file as it was when it was last read.
struct Seen {
    looked: Instant,
    stamp: Option<Stamp>,
    document: Arc<Document>,
}

/// A token that was made. The text is told once.
#[derive(Debug)]
pub struct NewToken {
    /// What a caller sends: `Authorization: Bearer` and this.
    pub text: String,
    /// What is kept.
    pub token: Token,
}

/// Tokens cannot be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokensError {
    /// The file is there and makes no sense.
    #[error(
        "the tokens in `{path}` cannot be read: {problem}; nobody is let in until the file is mended or removed"
    )]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// It could not be written.
    #[error("could not write `{path}`")]
    Write {
        /// Which file.
        path: PathBuf,
        /// What the disk said.
        #[source]
        cause: std::io::Error,
    },
    /// There is no such token.
    #[error("there is no token `{0}`; `drydock token list` shows those there are")]
    Unknown(String),
    /// There are too many.
    #[error("there are {TOKENS_MAX} tokens already; remove some with `drydock token rm`")]
    TooMany,
}

impl TokensError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Damaged { .. } => "tokens_damaged",
            Self::Write { .. } => "write_failed",
            Self::Unknown(_) => "unknown_token",
            Self::TooMany => "too_many_tokens",
        }
    }
}

impl Tokens {
    /// Those of this home. Reads nothing yet.
    pub fn of(home: &Home) -> Self {
        Self { home: home.clone(), seen: Mutex::default() }
    }

    /// The token that this text is, if it is one and its time is not over.
    pub fn find(&self, text: &str, now: Timestamp) -> Result<Option<Arc<Token>>, TokensError> {
        let mut parts = text.splitn(3, '_');
        let (Some(PREFIX), Some(id), Some(secret)) = (parts.next(), parts.next(), parts.next()) else {
            return Ok(None);
        };
        let mut document = self.document()?;
        if !document.tokens.contains_key(id) {
            // It may have been made just now, by another process.
            document = self.document_after(Duration::ZERO)?;
        }
        let Some(token) = document.tokens.get(id) else { return Ok(None) };
        let is_it = same(&Sha256::digest(secret.as_bytes()), token.hash.as_bytes());
        Ok(Some(token).filter(|it| is_it && it.expires.is_none_or(|end| now < end)).cloned())
    }

    /// Every token, by id.
    pub fn all(&self) -> Result<Vec<Arc<Token>>, TokensError> {
        Ok(self.document()?.tokens.values().cloned().collect())
    }

    /// Whether there is any: then nobody is let in without one.
    pub fn any(&self) -> Result<bool, TokensError> {
        Ok(!self.document()?.tokens.is_empty())
    }

    /// Makes a token.
    pub fn add(
        &self,
        tenant: Tenant,
        ceiling: Ceiling,
        expires: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<NewToken, TokensError> {
        let (id, secret) = self.random()?;
        let hash = drydock_contract::Digest::of(secret.as_bytes());
        let token = Token { id: id.clone(), tenant, hash, created: now, expires, ceiling };
        self.change(|document| {
            if document.tokens.len() >= TOKENS_MAX {
                return Err(TokensError::TooMany);
            }
            document.tokens.insert(id.clone(), Arc::new(token.clone()));
            Ok(())
        })?;
        Ok(NewToken { text: format!("{PREFIX}_{id}_{secret}"), token })
    }

    /// Forgets a token, by its id or by itself: from now on it lets nobody in.
    pub fn remove(&self, id: &str) -> Result<(), TokensError> {
        // Whoever has only the token types that. Its secret is in no message.
        let mut parts = id.splitn(3, '_');
        let id = match (parts.next(), parts.next(), parts.next()) {
            (Some(PREFIX), Some(id), Some(_)) => id,
            _ => id,
        };
        self.change(|document| match document.tokens.remove(id) {
            Some(_) => Ok(()),
            None => {
                Err(TokensError::Unknown(id.chars().take(64).collect::<String>().escape_debug().to_string()))
            }
        })
    }

    /// An id and a secret that nobody can guess.
    fn random(&self) -> Result<(String, String), TokensError> {
        let mut bytes = [0; 38];
        getrandom::fill(&mut bytes).map_err(|error| self.unwritten(std::io::Error::other(error)))?;
        let hex = |part: &[u8]| part.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        Ok((hex(&bytes[..6]), hex(&bytes[6..])))
    }

    /// Reads, changes and writes under a lock that other processes honour.
    fn change(
        &self,
        change: impl FnOnce(&mut Document) -> Result<(), TokensError>,
    ) -> Result<(), TokensError> {
        let _lock = self.home.lock(LOCK).map_err(|cause| self.unwritten(cause))?;
        let mut document = (*self.read()?.1).clone();
        change(&mut document)?;
        let bytes = document.to_bytes();
        write_atomic(&self.path(), &[&bytes], Durability::Power).map_err(|cause| self.unwritten(cause))?;
        *self.seen.lock() = None;
        Ok(())
    }

    /// What the file says now, or said a moment ago.
    fn document(&self) -> Result<Arc<Document>, TokensError> {
        self.document_after(BELIEVED)
    }

    /// What the file says, if that was looked at longer ago; reading it takes that it has changed.
    fn document_after(&self, believed: Duration) -> Result<Arc<Document>, TokensError> {
        let mut seen = self.seen.lock();
        if let Some(seen) = seen.as_mut() {
            if seen.looked.elapsed() < believed {
                return Ok(Arc::clone(&seen.document));
            }
            if Stamp::of(&self.path()) == seen.stamp {
                seen.looked = Instant::now();
                return Ok(Arc::clone(&seen.document));
            }
        }
        *seen = None;
        let (stamp, document) = self.read()?;
        *seen = Some(Seen { looked: Instant::now(), stamp, document: Arc::clone(&document) });
        Ok(document)
    }

    fn read(&self) -> Result<(Option<Stamp>, Arc<Document>), TokensError> {
        let path = self.path();
        let (stamp, document) = document::read(&path);
        let document = document.map_err(|problem| TokensError::Damaged { path, problem })?;
        Ok((stamp, Arc::new(document)))
    }

    fn path(&self) -> PathBuf {
        self.home.root().join("tokens.json")
    }

    fn unwritten(&self, cause: std::io::Error) -> TokensError {
        TokensError::Write { path: self.path(), cause }
    }
}

/// Compared without telling by the time it takes where they differ.
fn same(one: &[u8], two: &[u8]) -> bool {
    one.len() == two.len() && one.iter().zip(two).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}
