//! The options that `diff`, `log` and `show` share.

use super::lines::Space;

/// How changes are shown.
#[derive(Debug, Clone)]
pub struct Options {
    pub patch: bool,
    pub stat: bool,
    pub numstat: bool,
    pub shortstat: bool,
    pub summary: bool,
    pub name_only: bool,
    pub name_status: bool,
    pub raw: bool,
    /// `-s`: nothing at all.
    pub none: bool,
    pub context: usize,
    /// Least similarity of a renamed file, of 100; none if they are not looked for.
    pub renames: Option<u32>,
    pub space: Space,
    pub zero: bool,
    pub quiet: bool,
    pub exit_code: bool,
    pub reverse: bool,
    pub full_index: bool,
    pub as_text: bool,
    pub prefixes: (String, String),
    pub stat_width: usize,
    pub filter: Option<String>,
    /// Paths are shown from here, and others not at all.
    pub relative: Option<bstr::BString>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            patch: false,
            stat: false,
            numstat: false,
            shortstat: false,
            summary: false,
            name_only: false,
            name_status: false,
            raw: false,
            none: false,
            context: 3,
            renames: Some(50),
            space: Space::Counts,
            zero: false,
            quiet: false,
            exit_code: false,
            reverse: false,
            full_index: false,
            as_text: false,
            prefixes: ("a/".to_owned(), "b/".to_owned()),
            stat_width: 80,
            filter: None,
            relative: None,
        }
    }
}

/// For the table of a command that takes them.
pub const TABLE: &[&str] = &[
    "p,u,patch",
    "stat?",
    "numstat",
    "shortstat",
    "summary",
    "name-only",
    "name-status",
    "raw",
    "s,no-patch",
    "U,unified=",
    "M,find-renames?",
    "no-renames",
    "w,ignore-all-space",
    "b,ignore-space-change",
    "ignore-space-at-eol",
    "z",
    "quiet",
    "exit-code",
    "R",
    "full-index",
    "a,text",
    "no-prefix",
    "src-prefix=",
    "dst-prefix=",
    "diff-filter=",
    "no-color",
    "color?",
    "color-words?",
    "word-diff?",
    "minimal",
    "patience",
    "histogram",
    "diff-algorithm=",
    "no-ext-diff",
    "ext-diff",
    "no-textconv",
    "textconv",
    "binary",
    "relative?",
    "compact-summary",
    "abbrev?",
    "no-abbrev",
    "patch-with-stat",
    "indent-heuristic",
    "no-indent-heuristic",
    "no-relative",
    "C,find-copies?",
    "submodule?",
];

impl Options {
    /// Takes an option; false if it is none of these.
    pub fn take(&mut self, id: &str, value: Option<&str>) -> Result<bool, String> {
        match id {
            "p" => self.patch = true,
            "stat" => {
                self.stat = true;
                if let Some(width) = value.and_then(|it| it.split(',').next()?.parse().ok()) {
                    self.stat_width = width;
                }
            }
            "patch-with-stat" => (self.patch, self.stat) = (true, true),
            "compact-summary" => (self.stat, self.summary) = (true, true),
            "numstat" => self.numstat = true,
            "shortstat" => self.shortstat = true,
            "summary" => self.summary = true,
            "name-only" => self.name_only = true,
            "name-status" => self.name_status = true,
            "raw" => self.raw = true,
            "s" => self.none = true,
            "U" => {
                self.patch = true;
                self.context = number(value)?;
            }
            "M" | "C" => {
                let text = value.unwrap_or("50%");
                let digits = text.trim_end_matches('%');
                let number: u32 =
                    digits.parse().map_err(|_| format!("invalid argument to find-renames: {text}"))?;
                let score = if text.ends_with('%') { number } else { percent(digits) };
                self.renames = Some(score.min(100));
            }
            "no-renames" => self.renames = None,
            "w" => self.space = Space::None,
            "b" => self.space = Space::Amount,
            "ignore-space-at-eol" => self.space = Space::End,
            "z" => self.zero = true,
            "quiet" => (self.quiet, self.exit_code) = (true, true),
            "exit-code" => self.exit_code = true,
            "R" => self.reverse = true,
            "full-index" => self.full_index = true,
            "a" => self.as_text = true,
            "no-prefix" => self.prefixes = Default::default(),
            "src-prefix" => self.prefixes.0 = value.unwrap_or_default().to_owned(),
            "dst-prefix" => self.prefixes.1 = value.unwrap_or_default().to_owned(),
            "diff-filter" => self.filter = value.map(str::to_owned),
            "relative" => self.relative = Some(value.unwrap_or_default().into()),
            "color-words" | "word-diff" if value != Some("none") => {
                return Err("--word-diff is not here; plain lines are".to_owned());
            }
            "ext-diff" => return Err("--ext-diff is not here: no other program is started".to_owned()),
            _ if TABLE.iter().any(|it| it.trim_end_matches(['=', '?']).split(',').any(|it| it == id)) => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether any way of showing was chosen.
    pub fn any(&self) -> bool {
        self.patch || self.is_short()
    }

    /// Whether a way of showing that is not the patch was chosen.
    pub fn is_short(&self) -> bool {
        self.stat
            || self.numstat
            || self.shortstat
            || self.summary
            || self.name_only
            || self.name_status
            || self.raw
    }
}

/// `5` means 50 of 100 and `05` means 5.
fn percent(digits: &str) -> u32 {
    let value: f64 = format!("0.{digits}").parse().unwrap_or(0.5);
    (value * 100.0) as u32
}

fn number(value: Option<&str>) -> Result<usize, String> {
    let text = value.unwrap_or_default();
    text.parse().map_err(|_| format!("-U expects a numerical value: {text}"))
}
