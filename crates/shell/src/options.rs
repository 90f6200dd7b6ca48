//! `set` and `shopt`.

use drydock_abi::shell::Switches;

/// What `set -o` and `shopt` switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    pub(crate) history: bool,
    pub(crate) posix: bool,
    pub(crate) globskipdots: bool,
    /// The state of [`HARMLESS`].
    harmless: [bool; HARMLESS.len()],
}

impl Options {
    /// What a shell was started with.
    pub(crate) fn switch_on(&mut self, given: Switches) {
        self.errexit |= given.errexit;
        self.nounset |= given.nounset;
        self.xtrace |= given.xtrace;
        self.noglob |= given.noglob;
        self.pipefail |= given.pipefail;
    }
}

/// Letters of `set`, and their long names.
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

const LONG: [&str; 27] = [
    "allexport",
    "braceexpand",
    "emacs",
    "errexit",
    "errtrace",
    "functrace",
    "hashall",
    "histexpand",
    "history",
    "ignoreeof",
    "interactive-comments",
    "keyword",
    "monitor",
    "noclobber",
    "noexec",
    "noglob",
    "nolog",
    "notify",
    "nounset",
    "onecmd",
    "physical",
    "pipefail",
    "posix",
    "privileged",
    "verbose",
    "vi",
    "xtrace",
];

/// Switches that change nothing here, and whether they start on.
const HARMLESS: [(&str, bool); 50] = [
    ("braceexpand", true),
    ("emacs", false),
    ("hashall", true),
    ("histexpand", false),
    ("ignoreeof", false),
    ("interactive-comments", true),
    ("keyword", false),
    ("monitor", false),
    ("nolog", false),
    ("notify", false),
    ("onecmd", false),
    ("physical", false),
    ("privileged", false),
    ("vi", false),
    ("assoc_expand_once", false),
    ("autocd", false),
    ("cdable_vars", false),
    ("cdspell", false),
    ("checkhash", false),
    ("checkjobs", false),
    ("checkwinsize", true),
    ("cmdhist", true),
    ("compat31", false),
    ("compat44", false),
    ("complete_fullquote", true),
    ("direxpand", false),
    ("dirspell", false),
    ("execfail", false),
    ("expand_aliases", false),
    ("extdebug", false),
    ("extquote", true),
    ("force_fignore", true),
    ("globasciiranges", true),
    ("gnu_errfmt", false),
    ("histappend", false),
    ("histreedit", false),
    ("histverify", false),
    ("hostcomplete", true),
    ("huponexit", false),
    ("interactive_comments", true),
    ("lithist", false),
    ("localvar_inherit", false),
    ("localvar_unset", false),
    ("login_shell", false),
    ("mailwarn", false),
    ("noexpand_translation", false),
    ("patsub_replacement", true),
    ("progcomp", true),
    ("promptvars", true),
    ("sourcepath", true),
];

/// Switches of `shopt` that do something.
const SHOPT: [&str; 11] = [
    "dotglob",
    "extglob",
    "failglob",
    "globskipdots",
    "globstar",
    "inherit_errexit",
    "lastpipe",
    "nocaseglob",
    "nocasematch",
    "nullglob",
    "xpg_echo",
];

/// How many of [`HARMLESS`] are of `set -o`; the others are of `shopt`.
const HARMLESS_LONG: usize = 14;

impl Options {
    /// With every switch off.
    pub(crate) fn all_off() -> Self {
        Self { harmless: [false; HARMLESS.len()], ..Self::default() }
    }

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
            "history" => &mut self.history,
            "posix" => &mut self.posix,
            name => return harmless(&mut self.harmless[..HARMLESS_LONG], 0, name),
        })
    }

    pub(crate) fn letter(&mut self, letter: char) -> Option<&mut bool> {
        let name = LETTERS.iter().find(|row| row.0 == letter).map(|row| row.1);
        match name {
            Some(name) => self.long(name),
            None => {
                let row = [
                    ('B', "braceexpand"),
                    ('k', "keyword"),
                    ('m', "monitor"),
                    ('b', "notify"),
                    ('t', "onecmd"),
                ]
                .into_iter()
                .chain([('P', "physical"), ('p', "privileged"), ('H', "histexpand")])
                .find(|row| row.0 == letter)?;
                self.long(row.1)
            }
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
            "globskipdots" => &mut self.globskipdots,
            name => return harmless(&mut self.harmless[HARMLESS_LONG..], HARMLESS_LONG, name),
        })
    }

    /// One way of editing lines switches the other off.
    pub(crate) fn one_editor(&mut self, name: &str, on: bool) {
        let other = match name {
            "vi" => "emacs",
            "emacs" => "vi",
            _ => return,
        };
        if let Some(switch) = self.long(other).filter(|_| on) {
            *switch = false;
        }
    }

    /// `$-`.
    pub(crate) fn flags(mut self) -> String {
        const ORDER: [(char, &str); 16] = [
            ('a', "allexport"),
            ('b', "notify"),
            ('e', "errexit"),
            ('f', "noglob"),
            ('h', "hashall"),
            ('k', "keyword"),
            ('m', "monitor"),
            ('n', "noexec"),
            ('p', "privileged"),
            ('t', "onecmd"),
            ('u', "nounset"),
            ('v', "verbose"),
            ('x', "xtrace"),
            ('B', "braceexpand"),
            ('C', "noclobber"),
            ('E', "errtrace"),
        ];
        let mut flags: String = ORDER.into_iter().filter(|row| self.is_on(row.1)).map(|row| row.0).collect();
        for (letter, name) in [('H', "histexpand"), ('P', "physical"), ('T', "functrace")] {
            if self.is_on(name) {
                flags.push(letter);
            }
        }
        flags
    }

    fn is_on(&mut self, name: &str) -> bool {
        self.long(name).is_some_and(|it| *it)
    }

    /// Names of `set -o` that are on.
    pub(crate) fn list(mut self) -> Vec<&'static str> {
        LONG.into_iter().filter(|name| self.is_on(name)).collect()
    }

    /// Every `set -o` name, and whether it is on.
    pub(crate) fn all(mut self) -> Vec<(&'static str, bool)> {
        LONG.into_iter().map(|name| (name, self.is_on(name))).collect()
    }

    /// Every `shopt` name, sorted, and whether it is on.
    pub(crate) fn all_shopt(mut self) -> Vec<(&'static str, bool)> {
        let harmless = HARMLESS[HARMLESS_LONG..].iter().map(|row| row.0);
        let mut names: Vec<&'static str> = harmless.chain(SHOPT).collect();
        names.sort_unstable();
        names.into_iter().map(|name| (name, self.shopt(name).is_some_and(|it| *it))).collect()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            errexit: false,
            nounset: false,
            xtrace: false,
            pipefail: false,
            noglob: false,
            noclobber: false,
            allexport: false,
            noexec: false,
            verbose: false,
            errtrace: false,
            functrace: false,
            nullglob: false,
            failglob: false,
            dotglob: false,
            globstar: false,
            nocaseglob: false,
            nocasematch: false,
            lastpipe: false,
            inherit_errexit: false,
            extglob: false,
            xpg_echo: false,
            history: false,
            posix: false,
            globskipdots: true,
            harmless: HARMLESS.map(|row| row.1),
        }
    }
}

fn harmless<'s>(switches: &'s mut [bool], from: usize, name: &str) -> Option<&'s mut bool> {
    let at = HARMLESS.iter().skip(from).position(|row| row.0 == name)?;
    switches.get_mut(at)
}
