//! The languages that sources may be in, and why the others cannot be built here.

use crate::lane_c::BuildError;

/// A language that becomes a command in the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildLanguage {
    /// Compiled by clang.
    C,
    /// Compiled by clang.
    Cxx,
    /// Bundled by esbuild, run by qjs.
    JavaScript,
    /// The same, with its types removed.
    TypeScript,
}

/// The seed's reasons: these compilers and package managers would have to run natively.
const NATIVE: [(&str, &str); 3] = [
    ("rust", "rust_crate_native_build: `cargo install` would run a native compiler and build scripts"),
    ("go", "go_package_native_build: `go get` would run a native compiler"),
    ("zig", "zig_native_build: `zig cc` would run natively"),
];

/// What people type to use them, and the language of each.
const NATIVE_TOOLS: [(&str, &str); 7] = [
    ("cargo", "rust"),
    ("rustc", "rust"),
    ("rustup", "rust"),
    ("go", "go"),
    ("gofmt", "go"),
    ("tinygo", "go"),
    ("zig", "zig"),
];

/// Why a tool of such a language is no command here, if it is one.
pub(crate) fn native_tool(name: &str) -> Option<BuildError> {
    let language = NATIVE_TOOLS.iter().find(|it| it.0 == name)?.1;
    BuildLanguage::named(language).err()
}

impl BuildLanguage {
    /// The language of that name, or why it is none.
    pub fn named(name: &str) -> Result<Self, BuildError> {
        match name {
            "c" => return Ok(Self::C),
            "c++" | "cpp" | "cxx" => return Ok(Self::Cxx),
            "js" | "javascript" => return Ok(Self::JavaScript),
            "ts" | "typescript" => return Ok(Self::TypeScript),
            _ => {}
        }
        match NATIVE.iter().find(|it| it.0 == name) {
            Some((_, why)) => Err(BuildError::LaneUnavailable((*why).to_owned())),
            None => Err(BuildError::UnsupportedLanguage(name.escape_debug().to_string())),
        }
    }

    /// How the name of its sources ends.
    pub const fn ending(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cxx => "cpp",
            Self::JavaScript => "js",
            Self::TypeScript => "ts",
        }
    }

    /// Whether a dependency can be had: a library of the sysroot. Packages of a registry come with the network.
    pub fn check_dependency(self, name: &str) -> Result<(), BuildError> {
        const LIBRARIES: [&str; 6] = ["m", "c++", "dl", "pthread", "rt", "util"];
        let known = matches!(self, Self::C | Self::Cxx) && LIBRARIES.contains(&name);
        known.then_some(()).ok_or_else(|| BuildError::InvalidDependency(name.escape_debug().to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn native_lanes_say_why_and_the_rest_is_unsupported() {
        let code = |name: &str| BuildLanguage::named(name).map_err(|it| it.code());
        assert_eq!(code("c"), Ok(BuildLanguage::C));
        assert_eq!(code("ts"), Ok(BuildLanguage::TypeScript));
        for name in ["rust", "go", "zig"] {
            assert_eq!(code(name), Err("lane_unavailable"), "{name}");
        }
        for name in ["", "cobol", "C", "-c"] {
            assert_eq!(code(name), Err("unsupported_lang"), "{name}");
        }
    }

    #[test]
    fn a_dependency_is_a_library_of_the_sysroot_or_refused() {
        assert!(BuildLanguage::C.check_dependency("m").is_ok());
        for (language, name) in [
            (BuildLanguage::C, "ssl"),
            (BuildLanguage::C, "-lm"),
            (BuildLanguage::C, ""),
            (BuildLanguage::JavaScript, "m"),
        ] {
            let refused = language.check_dependency(name).map_err(|it| it.code());
            assert_eq!(refused, Err("invalid_deps"), "{name}");
        }
    }
}
