//! `set` and `shopt`.

/// What `set -o` and `shopt` switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Options {
    pub(crate) errexit: bool,
    pub(crate) nounset: bool,
    pub(crate) xtrace: bool,
    pub(crate) pipefail: bool,
    pub(crate) noglob: bool,
    pub(crate) noclobber: bool,
    pub(crate) allexport: bool,
    pub(crate) noexec: bool,
    pub(crate) verbose: bool,
    pub(crate) errtrace: bool,
    pub(crate) functrace: bool,
    pub(crate) nullglob: bool,
    pub(crate) failglob: bool,
    pub(crate) dotglob: bool,
    pub(crate) globstar: bool,
    pub(crate) nocaseglob: bool,
    pub(crate) nocasematch: bool,
    pub(crate) lastpipe: bool,
    pub(crate) inherit_errexit: bool,
    pub(crate) extglob: bool,
    pub(crate) xpg_echo: bool,
    pub(crate) other: bool,
}

/// Letters of `set`, and their long names, in the order of `$-`.
const LETTERS: [(char, &str); 11] = [
    ('a', "allexport"),
    ('e', "errexit"),
    ('f', "noglob"),
    ('h', "hashall"),
    ('n', "noexec"),
    ('u', "nounset"),
    ('v', "verbose"),
    ('x', "xtrace"),
    ('C', "noclobber"),
    ('E', "errtrace"),
    ('T', "functrace"),
];

const LONG: [&str; 12] = [
    "allexport",
    "errexit",
    "errtrace",
    "functrace",
    "hashall",
    "noclobber",
    "noexec",
    "noglob",
    "nounset",
    "pipefail",
    "verbose",
    "xtrace",
];

/// Names `shopt` knows and that change nothing here.
const HARMLESS: [&str; 17] = [
    "autocd",
    "cdspell",
    "checkwinsize",
    "cmdhist",
    "complete_fullquote",
    "expand_aliases",
    "extquote",
    "force_fignore",
    "globasciiranges",
    "histappend",
    "huponexit",
    "interactive_comments",
    "progcomp",
    "promptvars",
    "sourcepath",
    "patsub_replacement",
    "globskipdots",
];

impl Options {
    /// The switch of a `set -o` name.
    pub(crate) fn long(&mut self, name: &str) -> Option<&mut bool> {
        Some(match name {
            "errexit" => &mut self.errexit,
            "nounset" => &mut self.nounset,
            "xtrace" => &mut self.xtrace,
            "pipefail" => &mut self.pipefail,
            "noglob" => &mut self.noglob,
            "noclobber" => &mut self.noclobber,
            "allexport" => &mut self.allexport,
            "noexec" => &mut self.noexec,
            "verbose" => &mut self.verbose,
            "errtrace" => &mut self.errtrace,
            "functrace" => &mut self.functrace,
            "hashall"
            | "braceexpand"
            | "posix"
            | "monitor"
            | "notify"
            | "history"
            | "interactive-comments"
            | "emacs"
            | "vi"
            | "physical"
            | "privileged"
            | "keyword"
            | "onecmd"
            | "ignoreeof"
            | "histexpand"
            | "nolog" => &mut self.other,
            _ => return None,
        })
    }

    pub(crate) fn letter(&mut self, letter: char) -> Option<&mut bool> {
        let name = LETTERS.iter().find(|row| row.0 == letter).map(|row| row.1);
        match name {
            Some(name) => self.long(name),
            None if "bBkmpPtH".contains(letter) => Some(&mut self.other),
            None => None,
        }
    }

    /// The switch of a `shopt` name.
    pub(crate) fn shopt(&mut self, name: &str) -> Option<&mut bool> {
        Some(match name {
            "nullglob" => &mut self.nullglob,
            "failglob" => &mut self.failglob,
            "dotglob" => &mut self.dotglob,
            "globstar" => &mut self.globstar,
            "nocaseglob" => &mut self.nocaseglob,
            "nocasematch" => &mut self.nocasematch,
            "lastpipe" => &mut self.lastpipe,
            "inherit_errexit" => &mut self.inherit_errexit,
            "extglob" => &mut self.extglob,
            "xpg_echo" => &mut self.xpg_echo,
            name if HARMLESS.contains(&name) => &mut self.other,
            _ => return None,
        })
    }

    /// `$-`.
    pub(crate) fn flags(mut self) -> String {
        let mut flags = String::new();
        for (letter, name) in LETTERS {
            if letter == 'C' {
                flags.push('B');
            }
            if letter == 'h' || self.long(name).is_some_and(|it| *it) {
                flags.push(letter);
            }
        }
        flags
    }

    /// Names that are on.
    pub(crate) fn list(mut self) -> Vec<&'static str> {
        LONG.into_iter().filter(|name| *name == "hashall" || self.long(name).is_some_and(|it| *it)).collect()
    }

    /// Every `set -o` name, and whether it is on.
    pub(crate) fn all(mut self) -> Vec<(&'static str, bool)> {
        LONG.into_iter().map(|name| (name, self.long(name).is_some_and(|it| *it))).collect()
    }
}
