//! Named sets of powers, as the seed's table has them, with one difference: a power that reaches out of the session
//! becomes importable by a profile, and is granted only by a grant that names what it reaches (decision 0070).

use std::time::Duration;

use drydock_contract::{Cap, CapSet, Limits};

use crate::Grant;

/// Memory of one run of a command that is built in, under any profile: enough for everyday files. The
/// profiles' own figures are for what others registered.
pub const BUILTIN_MEMORY_BYTES_MAX: u64 = 256 << 20;

/// Memory that the shell and the stages of one line share.
pub const LINE_MEMORY_BYTES_MAX: u64 = 384 << 20;

/// Powers that reach out of the session: to hosts, to other guests, to secrets and to models. No profile grants them, so
/// that none becomes live by being built: hosts, topics and secrets are named by a grant.
pub const REACHING: CapSet = CapSet::of(&[
    Cap::Secrets,
    Cap::Queue,
    Cap::Tcp,
    Cap::Udp,
    Cap::Tls,
    Cap::Net,
    Cap::Llm,
    Cap::Browse,
    Cap::Search,
]);

/// A memory limit, a call timeout and a set of powers under one name.
#[derive(Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: &'static str,
    /// Memory of one run, host buffers included.
    pub memory_bytes_max: u64,
    /// Bound on one call into a guest that outlives the call, where the host chose no limits. A command has its own,
    /// longer one.
    pub call_max: Duration,
    /// The powers whose imports a guest may name: the seed's table.
    pub importable: CapSet,
}

const COMPUTE: CapSet = CapSet::of(&[Cap::Vfs]);
const MINIMAL: CapSet = COMPUTE.union(CapSet::of(&[
    Cap::Commands,
    Cap::Exec,
    Cap::Kv,
    Cap::Secrets,
    Cap::Queue,
    Cap::Tcp,
    Cap::Udp,
    Cap::Tls,
]));
const NETWORK: CapSet = MINIMAL.union(CapSet::of(&[Cap::Net, Cap::Llm, Cap::Browse]));
const POSIX: CapSet = NETWORK.union(CapSet::of(&[Cap::Posix, Cap::Parallel]));

const fn profile(name: &'static str, mebibytes: u64, seconds: u64, importable: CapSet) -> Profile {
    Profile { name, memory_bytes_max: mebibytes << 20, call_max: Duration::from_secs(seconds), importable }
}

impl Profile {
    /// Every profile, narrowest first.
    pub const ALL: &'static [Profile] = &[
        profile("compute", 64, 5, COMPUTE),
        profile("minimal", 64, 5, MINIMAL),
        profile("network", 128, 30, NETWORK),
        profile("posix", 256, 60, POSIX),
    ];

    /// The profile of that name. An unknown one is `compute`: a typing error may only take power
    /// away.
    pub fn named(name: &str) -> &'static Profile {
        Self::known(name).unwrap_or(&Self::ALL[0])
    }

    /// The profile of exactly that name.
    pub fn known(name: &str) -> Option<&'static Profile> {
        Self::ALL.iter().find(|it| it.name == name)
    }

    /// The powers that it grants by itself: those that stay inside the session and its tenant.
    pub fn granted(&self) -> CapSet {
        self.importable.iter().filter(|cap| !REACHING.contains(*cap)).collect()
    }

    /// One unconstrained grant for each power that it grants.
    pub fn grants(&self) -> impl Iterator<Item = Grant> {
        self.granted().iter().map(Grant::of)
    }

    /// The limits of a command under this profile.
    pub fn limits(&self) -> Limits {
        Limits { memory_bytes_max: self.memory_bytes_max, ..Limits::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profiles_are_the_seeds_table() {
        let rows: Vec<String> = Profile::ALL
            .iter()
            .map(|it| {
                let caps: Vec<_> = it.importable.iter().map(Cap::as_str).collect();
                format!(
                    "{} {} MiB {} s: {}",
                    it.name,
                    it.memory_bytes_max >> 20,
                    it.call_max.as_secs(),
                    caps.join(" ")
                )
            })
            .collect();
        insta::assert_snapshot!(rows.join("\n"), @r"
        compute 64 MiB 5 s: vfs
        minimal 64 MiB 5 s: vfs commands exec kv secrets queue tcp udp tls
        network 128 MiB 30 s: vfs commands exec kv secrets queue tcp udp tls net llm browse
        posix 256 MiB 60 s: vfs commands exec kv secrets queue tcp udp tls net llm browse posix parallel
        ");
    }

    #[test]
    fn no_profile_grants_a_power_that_reaches_out() {
        for profile in Profile::ALL {
            let granted: CapSet = profile.grants().map(|it| it.cap()).collect();
            assert!(REACHING.iter().all(|cap| !granted.contains(cap)), "{}", profile.name);
            assert_eq!(granted.union(REACHING), profile.importable.union(REACHING), "and every other one");
        }
        assert!(Profile::named("minimal").importable.contains(Cap::Tcp));
    }

    #[test]
    fn an_unknown_profile_is_compute() {
        for name in ["", "minimla", "Minimal", "root", "posix "] {
            assert_eq!(Profile::named(name).name, "compute", "{name:?}");
        }
    }
}
