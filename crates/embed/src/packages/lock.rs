//! `drydock-py.lock`: which packages a directory has, and which bytes they came from.

use serde::{Deserialize, Serialize};

use super::Requirement;

/// Its name, in the directory it belongs to.
pub const LOCK_FILE: &str = "drydock-py.lock";
const VERSION: u32 = 1;
/// More than any directory has; the lock lies where programs can write.
const PACKAGES_MAX: usize = 4096;

/// One package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedPackage {
    /// Its name, in its normal form.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The hash of its wheel.
    pub sha256: String,
    /// The wheel's file name.
    pub file: String,
    /// Whether somebody asked for it; otherwise another package needs it.
    #[serde(rename = "wanted")]
    pub is_wanted: bool,
}

impl LockedPackage {
    pub(super) fn exactly(&self) -> Requirement {
        Requirement::exactly(&self.name, &self.version)
    }
}

/// All of them, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lock {
    /// The packages.
    pub packages: Vec<LockedPackage>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    packages: Vec<LockedPackage>,
}

impl Lock {
    /// Reads a lock; what it says goes to a package client, so names and versions are looked at.
    pub fn parse(text: &str) -> Result<Self, String> {
        let document: Document = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if document.version != VERSION {
            return Err(format!("version {} is not {VERSION}", document.version));
        }
        if document.packages.len() > PACKAGES_MAX {
            return Err(format!("it names more than {PACKAGES_MAX} packages"));
        }
        for package in &document.packages {
            let asked = Requirement::parse(&format!("{}=={}", package.name, package.version));
            let hash = package.sha256.len() == 64 && package.sha256.bytes().all(|it| it.is_ascii_hexdigit());
            if asked.map_err(|error| error.to_string())?.name() != package.name || !hash {
                return Err(format!("`{}` is no package with a hash", package.name.escape_default()));
            }
        }
        let mut packages = document.packages;
        packages.sort_by(|one, two| one.name.cmp(&two.name));
        if packages.windows(2).any(|pair| pair[0].name == pair[1].name) {
            return Err("a package stands twice in it".into());
        }
        Ok(Self { packages })
    }

    /// The text of it.
    pub fn to_text(&self) -> String {
        let document = Document { version: VERSION, packages: self.packages.clone() };
        let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
        text.push('\n');
        text
    }

    /// The package of that name.
    pub fn package(&self, name: &str) -> Option<&LockedPackage> {
        self.packages.iter().find(|it| it.name == name)
    }

    pub(super) fn put(&mut self, package: LockedPackage) {
        self.packages.retain(|it| it.name != package.name);
        self.packages.push(package);
        self.packages.sort_by(|one, two| one.name.cmp(&two.name));
    }

    pub(super) fn take(&mut self, name: &str) -> Option<LockedPackage> {
        let at = self.packages.iter().position(|it| it.name == name)?;
        Some(self.packages.remove(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, version: &str) -> LockedPackage {
        let file = format!("{name}-{version}-py3-none-any.whl");
        LockedPackage {
            name: name.into(),
            version: version.into(),
            sha256: "a".repeat(64),
            file,
            is_wanted: true,
        }
    }

    #[test]
    fn a_lock_reads_as_it_was_written_and_has_one_version_of_each() {
        let mut lock = Lock::default();
        lock.put(package("six", "1.16.0"));
        lock.put(package("rich", "13.7.1"));
        lock.put(package("six", "1.17.0"));
        assert_eq!(Lock::parse(&lock.to_text()), Ok(lock.clone()));
        assert_eq!(lock.packages.iter().map(|it| &*it.version).collect::<Vec<_>>(), ["13.7.1", "1.17.0"]);
        assert!(lock.take("six").is_some() && lock.take("six").is_none());
    }

    #[test]
    fn what_is_no_lock_is_refused() {
        let with = |name: &str, sha256: &str| {
            let mut lock = Lock::default();
            lock.put(LockedPackage { name: name.into(), sha256: sha256.into(), ..package("x", "1") });
            lock.to_text()
        };
        let hash = "0".repeat(64);
        assert!(Lock::parse(&with("six", &hash)).is_ok());
        for text in [
            String::new(),
            "{}".into(),
            r#"{"version":2,"packages":[]}"#.into(),
            with("-r", &hash),
            with("../x", &hash),
            with("Six", &hash),
            with("six", "short"),
        ] {
            assert!(Lock::parse(&text).is_err(), "{text}");
        }
    }
}
