//! Paths on the command line: names, directories, patterns, and those that are left out (`:!x`).

use std::cell::Cell;
use std::path::Path;

use bstr::{BStr, BString, ByteSlice as _};
use gix_glob::wildmatch::Mode;

use crate::fail::{Done, Fail, error, fatal};
use crate::repo::{Repo, current_dir};

/// The paths that are meant. None at all means every one.
#[derive(Debug, Default)]
pub struct Paths {
    specs: Vec<Spec>,
}

#[derive(Debug)]
struct Spec {
    typed: String,
    /// From the root; without a slash at its end.
    path: BString,
    excluded: bool,
    literal: bool,
    folder_only: bool,
    used: Cell<bool>,
}

impl Paths {
    /// From words of the command line.
    pub fn new(repo: &Repo, words: &[String]) -> Done<Self> {
        let specs = words.iter().map(|word| Spec::new(repo, word)).collect::<Done<Vec<_>>>()?;
        Ok(Self { specs })
    }

    /// Whether nothing was named.
    pub fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }

    /// Whether a path is meant.
    pub fn has(&self, path: &[u8]) -> bool {
        let path = path.strip_suffix(b"/").unwrap_or(path);
        if self.specs.iter().any(|it| it.excluded && it.fits(path)) {
            return false;
        }
        let mut included = self.specs.iter().filter(|it| !it.excluded).peekable();
        if included.peek().is_none() {
            return true;
        }
        let mut found = false;
        for spec in included {
            if spec.fits(path) {
                spec.used.set(true);
                found = true;
            }
        }
        found
    }

    /// Whether something below a directory could be meant.
    pub fn may_be_below(&self, folder: &[u8]) -> bool {
        let included: Vec<_> = self.specs.iter().filter(|it| !it.excluded).collect();
        included.is_empty()
            || included
                .iter()
                .any(|it| !it.literal || it.fits(folder) || it.path.starts_with(&[folder, b"/"].concat()))
    }

    /// The first word that meant nothing so far.
    pub fn unused(&self) -> Option<&str> {
        let plain = self.specs.iter().filter(|it| !it.excluded && !it.path.is_empty());
        plain.filter(|it| !it.used.get()).map(|it| it.typed.as_str()).next()
    }

    /// Complains about a word that meant nothing.
    pub fn all_used(&self) -> Done {
        match self.unused() {
            Some(word) => Err(unknown(word)),
            None => Ok(()),
        }
    }

    /// The names that were typed without a pattern in them.
    pub fn literals(&self) -> impl Iterator<Item = (&str, &BString)> {
        self.specs.iter().filter(|it| it.literal && !it.excluded).map(|it| (it.typed.as_str(), &it.path))
    }
}

/// What git says of a name that it does not know.
pub fn unknown(word: &str) -> Fail {
    error(format!("pathspec '{word}' did not match any file(s) known to git"))
}

impl Spec {
    fn new(repo: &Repo, word: &str) -> Done<Self> {
        let (mut text, mut excluded, mut top) = (word, false, false);
        if let Some((magic, rest)) = word.strip_prefix(":(").and_then(|it| it.split_once(')')) {
            for part in magic.split(',') {
                match part {
                    "exclude" => excluded = true,
                    "top" => top = true,
                    "literal" | "glob" | "" => {}
                    other => return Err(fatal(format!("Invalid pathspec magic '{other}' in '{word}'"))),
                }
            }
            text = rest;
        } else if let Some(rest) = word.strip_prefix(":!").or_else(|| word.strip_prefix(":^")) {
            (text, excluded) = (rest, true);
        } else if let Some(rest) = word.strip_prefix(":/") {
            (text, top) = (rest, true);
        }
        if text.is_empty() && !top {
            return Err(fatal(
                "empty string is not a valid pathspec. please use . instead if you meant to match all paths",
            ));
        }
        let bytes = facts::name::bytes(text);
        let path =
            if top { inside(repo, b"", &bytes, word)? } else { inside(repo, &repo.prefix, &bytes, word)? };
        Ok(Self {
            typed: word.to_owned(),
            literal: path.find_byteset(b"*?[\\").is_none(),
            path,
            excluded,
            folder_only: text.ends_with('/'),
            used: Cell::new(false),
        })
    }

    fn fits(&self, path: &[u8]) -> bool {
        if self.path.is_empty() {
            return true;
        }
        let below = path.strip_prefix(self.path.as_slice());
        match below {
            Some(b"") => return !self.folder_only || self.literal,
            Some(rest) if rest.starts_with(b"/") => return true,
            _ => {}
        }
        if self.literal {
            return false;
        }
        let whole = gix_glob::wildmatch(BStr::new(&self.path), BStr::new(path), Mode::empty());
        whole
            || path
                .find_iter(b"/")
                .any(|at| gix_glob::wildmatch(BStr::new(&self.path), BStr::new(&path[..at]), Mode::empty()))
    }
}

/// A path from the root, of one that is written from a directory below it.
pub fn inside(repo: &Repo, prefix: &[u8], typed: &[u8], word: &str) -> Done<BString> {
    let outside = || {
        let root = repo.root().map(|it| it.display().to_string()).unwrap_or_default();
        fatal(format!("{word}: '{word}' is outside repository at '{root}'"))
    };
    let mut parts: Vec<&[u8]> = prefix.split_str("/").filter(|it| !it.is_empty()).collect();
    let absolute;
    let mut rest = typed;
    if typed.starts_with(b"/") {
        let here = crate::repo::clean(&current_dir()?.join(crate::repo::os(typed)));
        let below = here.strip_prefix(repo.root()?).map_err(|_| outside())?;
        absolute = bytes_of(below);
        parts.clear();
        rest = &absolute;
    }
    for part in rest.split_str("/") {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop().ok_or_else(outside)?;
            }
            part => parts.push(part),
        }
    }
    Ok(parts.join(&b'/').into())
}

fn bytes_of(path: &Path) -> Vec<u8> {
    path.as_os_str().as_encoded_bytes().to_vec()
}
