//! The powers a principal may hold, as a closed list and as a set of bits.
//!
//! The list is the seed's (`002`, capability profiles), `tool` and `code` for code mode (seed `000`), `instance` for
//! what is called from outside (seeds `001` and `002`), `process` for what goes on after its call (seeds `002` and `004`),
//! `serve` for whoever listens for a guest, and `search` for what an agent asks the web (seed `002`). A name that is not on
//! it grants nothing.

use std::{fmt, str::FromStr};

macro_rules! caps {
    ($($variant:ident $text:literal $doc:literal,)*) => {
        /// One power. Having its name here does not make it reachable: a grant does.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Cap { $(#[doc = $doc] $variant,)* }

        impl Cap {
            /// Every power, in the order of the profiles table.
            pub const ALL: &'static [Cap] = &[$(Cap::$variant,)*];

            /// The stable name used in profiles, audit records and messages.
            pub const fn as_str(self) -> &'static str {
                match self { $(Cap::$variant => $text,)* }
            }

            /// One sentence for people.
            pub const fn summary(self) -> &'static str {
                match self { $(Cap::$variant => $doc,)* }
            }
        }
    };
}

caps! {
    Vfs "vfs" "Reads and writes the files of its own session.",
    Commands "commands" "Sees which commands there are.",
    Exec "exec" "Starts a registered command.",
    Kv "kv" "Keeps values by key, per tenant.",
    Secrets "secrets" "Signs with a secret it can never read.",
    Queue "queue" "Passes messages between guests of a tenant.",
    Tcp "tcp" "Sends bytes over TCP to a host that a grant names, and reads what comes back.",
    Udp "udp" "Sends one datagram to a host that a grant names, and reads one back.",
    Tls "tls" "Sends bytes over verified TLS to a host that a grant names, and reads what comes back.",
    Net "net" "Makes HTTP requests to public addresses.",
    Llm "llm" "Asks a language model.",
    Browse "browse" "Reads a web page as text.",
    Posix "posix" "Runs programs that expect a POSIX-like environment.",
    Parallel "parallel" "Maps a command over many inputs at once.",
    Tool "tool" "Calls the tools that its program was handed.",
    Code "code" "Runs programs in JavaScript and Python.",
    Instance "instance" "Makes instances of modules that are called from outside: handlers and kernels.",
    Process "process" "Starts commands that go on after the call, waits for them and ends them.",
    Serve "serve" "Listens where its grant says, for a guest that answers.",
    Search "search" "Searches the web with a provider that the host configured.",
}

/// The text names no power.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a capability")]
pub struct UnknownCap(String);

impl FromStr for Cap {
    type Err = UnknownCap;

    fn from_str(text: &str) -> Result<Self, UnknownCap> {
        Cap::ALL
            .iter()
            .copied()
            .find(|cap| cap.as_str() == text)
            .ok_or_else(|| UnknownCap(text.escape_default().to_string()))
    }
}

impl serde::Serialize for Cap {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl fmt::Display for Cap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of powers. Empty unless something is put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CapSet(u32);

impl CapSet {
    /// No power at all.
    pub const EMPTY: CapSet = CapSet(0);

    /// The set of exactly these powers.
    pub const fn of(caps: &[Cap]) -> Self {
        let mut bits = 0;
        let mut at = 0;
        while at < caps.len() {
            bits |= 1 << caps[at] as u32;
            at += 1;
        }
        Self(bits)
    }

    /// This set and one more power.
    #[must_use]
    pub const fn with(self, cap: Cap) -> Self {
        Self(self.0 | 1 << cap as u32)
    }

    /// Both sets together.
    #[must_use]
    pub const fn union(self, other: CapSet) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the power is in the set.
    pub const fn contains(self, cap: Cap) -> bool {
        self.0 & (1 << cap as u32) != 0
    }

    /// The powers of the set, in the order of [`Cap::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Cap> {
        Cap::ALL.iter().copied().filter(move |cap| self.contains(*cap))
    }
}

impl FromIterator<Cap> for CapSet {
    fn from_iter<I: IntoIterator<Item = Cap>>(caps: I) -> Self {
        caps.into_iter().fold(Self::EMPTY, Self::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_capability_round_trips_through_its_name_and_fits_the_set() {
        for cap in Cap::ALL {
            assert_eq!(cap.as_str().parse::<Cap>().as_ref(), Ok(cap));
            assert!(CapSet::EMPTY.with(*cap).contains(*cap));
            assert!(!CapSet::EMPTY.contains(*cap));
        }
        assert!("root".parse::<Cap>().is_err());
    }
}
