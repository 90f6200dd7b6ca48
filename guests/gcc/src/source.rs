//! What a file is, by its name, as gcc tells.

/// A kind of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Compiled by clang, as C or as C++.
    Source(Language),
    /// Handed to the linker as it is: an object, an archive, anything with another name.
    Linked,
    /// A header, which alone gives a precompiled one.
    Header,
}

/// A language that clang is told to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    C,
    Cxx,
    /// Preprocessed C, assembly and others that clang tells by the name.
    Named,
}

/// The kind of `path`, where `-x` says nothing.
pub(crate) fn kind(path: &str) -> Kind {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.').map(|it| it.1) {
        Some("c") => Kind::Source(Language::C),
        Some("cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C") => Kind::Source(Language::Cxx),
        Some("i" | "ii" | "s" | "S" | "sx" | "ll" | "bc") => Kind::Source(Language::Named),
        Some("h" | "hh" | "hpp" | "hxx" | "H") => Kind::Header,
        _ => Kind::Linked,
    }
}

/// What `-x NAME` says; nothing if it says that names count again.
pub(crate) fn language(name: &str) -> Option<Language> {
    match name {
        "none" => None,
        "c++" | "c++-header" => Some(Language::Cxx),
        "c" | "c-header" => Some(Language::C),
        _ => Some(Language::Named),
    }
}

/// The last part of a path without its ending: the name of what is made of it.
pub(crate) fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_a_file_is() {
        let cases = [
            ("a.c", Kind::Source(Language::C)),
            ("src/x.y.cpp", Kind::Source(Language::Cxx)),
            ("x.C", Kind::Source(Language::Cxx)),
            ("x.s", Kind::Source(Language::Named)),
            ("x.h", Kind::Header),
            ("x.o", Kind::Linked),
            ("lib.d/x", Kind::Linked),
            ("", Kind::Linked),
        ];
        for (path, want) in cases {
            assert_eq!(kind(path), want, "{path}");
        }
    }

    #[test]
    fn a_stem_is_the_name_without_its_last_ending() {
        for (path, want) in [("a/b.c", "b"), ("x.y.c", "x.y"), ("noend", "noend"), (".c", ".c"), ("-", "-")] {
            assert_eq!(stem(path), want, "{path}");
        }
    }
}
