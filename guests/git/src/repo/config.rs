//! git's configuration files: read as git reads them, and changed line by line so that comments stay.
//!
//! What would start a program (`core.hooksPath`, `filter.*`, `diff.*.command`, `*.textconv`, `alias.* = !…`,
//! pagers, editors) is data here and nothing more. Other files are not included.

use std::path::{Path, PathBuf};

use crate::fail::{Done, Fail, fatal};

/// More bytes are no configuration.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// One setting: `section.sub.key`, with section and key in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    pub name: String,
    /// A key alone, without `=`, is true.
    pub value: Option<String>,
    /// The line it begins at, and the one after its end.
    lines: (usize, usize),
}

/// The settings that hold, later ones before earlier ones.
#[derive(Debug, Default)]
pub struct Config {
    /// Of the user, of the repository, of the command line.
    layers: [Vec<Setting>; 3],
}

impl Config {
    /// What holds in a repository.
    pub fn load(git_dir: &Path, given: &[(String, String)]) -> Done<Self> {
        let user = match user_file() {
            Some(path) => read(&path)?,
            None => Vec::new(),
        };
        let given = given.iter().map(|(name, value)| Setting {
            name: canonical(name).unwrap_or_else(|| name.clone()),
            value: Some(value.clone()),
            lines: (0, 0),
        });
        Ok(Self { layers: [user, read(&git_dir.join("config"))?, given.collect()] })
    }

    /// What holds without a repository.
    pub fn outside() -> Done<Self> {
        Ok(Self {
            layers: [user_file().map_or_else(|| Ok(Vec::new()), |it| read(&it))?, Vec::new(), Vec::new()],
        })
    }

    /// The last value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        let name = canonical(name)?;
        let found = self.all().filter(|it| it.name == name).last()?;
        Some(found.value.as_deref().unwrap_or("true"))
    }

    /// A name that is true or false.
    pub fn truth(&self, name: &str) -> Option<bool> {
        self.get(name)
            .map(|it| !matches!(it.to_ascii_lowercase().as_str(), "false" | "no" | "off" | "0" | ""))
    }

    /// Every value of a name.
    pub fn values(&self, name: &str) -> Vec<&str> {
        let name = canonical(name).unwrap_or_default();
        self.all().filter(|it| it.name == name).map(|it| it.value.as_deref().unwrap_or("true")).collect()
    }

    /// All names and values in order.
    pub fn list(&self) -> impl Iterator<Item = (&str, &str)> {
        self.all().map(|it| (it.name.as_str(), it.value.as_deref().unwrap_or("")))
    }

    fn all(&self) -> impl Iterator<Item = &Setting> {
        self.layers.iter().flatten()
    }
}

/// The user's own file.
pub fn user_file() -> Option<PathBuf> {
    if let Ok(path) = std::env::var("GIT_CONFIG_GLOBAL") {
        return Some(path.into());
    }
    std::env::var_os("HOME").map(|home| Path::new(&home).join(".gitconfig"))
}

/// The settings of a file; none if there is no file.
pub fn read(path: &Path) -> Done<Vec<Setting>> {
    let bad = |line: usize| fatal(format!("bad config line {line} in file {}", path.display()));
    let text = text_of(path)?;
    parse(&text).map_err(bad)
}

fn text_of(path: &Path) -> Done<String> {
    match std::fs::metadata(path) {
        Ok(about) if about.len() > FILE_BYTES_MAX => {
            return Err(fatal(format!("{}: larger than a configuration may be", path.display())));
        }
        Ok(about) if about.is_dir() => return Ok(String::new()),
        Ok(_) => {}
        Err(_) => return Ok(String::new()),
    }
    let bytes = std::fs::read(path).map_err(|cause| fatal(format!("{}: {cause}", path.display())))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// `Section.Sub.Key` with what does not depend on case in lower case.
pub fn canonical(name: &str) -> Option<String> {
    let (section, rest) = name.split_once('.')?;
    let key = rest.rsplit('.').next()?;
    let sub = &rest[..rest.len() - key.len()];
    let legal =
        |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let starts = key.bytes().next().is_some_and(|it| it.is_ascii_alphabetic());
    (legal(section) && legal(key) && starts)
        .then(|| format!("{}.{sub}{}", section.to_ascii_lowercase(), key.to_ascii_lowercase()))
}

/// Reads a whole text, or names the line that is wrong.
pub fn parse(text: &str) -> Result<Vec<Setting>, usize> {
    let lines: Vec<&str> = text.strip_prefix('\u{feff}').unwrap_or(text).split('\n').collect();
    let (mut found, mut section, mut at) = (Vec::new(), String::new(), 0);
    while at < lines.len() {
        let mut rest = lines[at].trim_start();
        if let Some(head) = rest.strip_prefix('[') {
            let (name, more) = header(head).ok_or(at + 1)?;
            section = name;
            rest = more.trim_start();
        }
        if rest.is_empty() || rest.starts_with(['#', ';']) {
            at += 1;
            continue;
        }
        let start = at;
        let end = rest.find(|it: char| !it.is_ascii_alphanumeric() && it != '-').unwrap_or(rest.len());
        let (key, after) = (rest[..end].to_ascii_lowercase(), rest[end..].trim_start());
        if key.is_empty() || section.is_empty() {
            return Err(at + 1);
        }
        let value = match after.strip_prefix('=') {
            Some(value) => Some(self::value(value, &lines, &mut at)?),
            None if after.is_empty() || after.starts_with(['#', ';']) => None,
            None => return Err(at + 1),
        };
        at += 1;
        found.push(Setting { name: format!("{section}.{key}"), value, lines: (start, at) });
    }
    Ok(found)
}

/// `section]`, `section "sub"]` or `section.sub]`, and what follows.
fn header(text: &str) -> Option<(String, &str)> {
    let end = text.find([' ', '\t', ']'])?;
    let section = text[..end].to_ascii_lowercase();
    let rest = text[end..].trim_start();
    if let Some(rest) = rest.strip_prefix(']') {
        return (!section.is_empty()).then_some((section, rest));
    }
    let mut sub = String::new();
    let mut letters = rest.strip_prefix('"')?.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => sub.push(letters.next()?.1),
            '"' => {
                let rest = rest[at + 2..].trim_start().strip_prefix(']')?;
                return Some((format!("{section}.{sub}"), rest));
            }
            other => sub.push(other),
        }
    }
    None
}

/// A value, which a backslash at a line's end carries on.
fn value(first: &str, lines: &[&str], at: &mut usize) -> Result<String, usize> {
    let (mut text, mut quoted, mut kept) = (String::new(), false, 0);
    let mut letters = first.trim_start().trim_end_matches('\r').chars();
    loop {
        match letters.next() {
            None if quoted => return Err(*at + 1),
            None => break,
            Some('"') => {
                quoted = !quoted;
                kept = text.len();
            }
            Some('#' | ';') if !quoted => break,
            Some('\\') => match letters.next() {
                None => {
                    *at += 1;
                    letters = lines.get(*at).copied().unwrap_or_default().trim_end_matches('\r').chars();
                }
                Some(letter) => {
                    text.push(match letter {
                        'n' => '\n',
                        't' => '\t',
                        'b' => '\u{8}',
                        '"' | '\\' => letter,
                        _ => return Err(*at + 1),
                    });
                    kept = text.len();
                }
            },
            Some(letter) => {
                text.push(letter);
                if quoted || !letter.is_whitespace() {
                    kept = text.len();
                }
            }
        }
    }
    text.truncate(kept);
    Ok(text)
}

/// How a name of a file is changed.
pub enum Change<'v> {
    /// The last value becomes this one.
    Set(&'v str),
    /// One more value.
    Add(&'v str),
    /// No value.
    Unset,
}

/// Changes a name in a file. Status 5 if there is nothing to take away.
pub fn change(path: &Path, name: &str, change: &Change<'_>) -> Done {
    let wanted = canonical(name).ok_or_else(|| bad_name(name))?;
    let text = text_of(path)?;
    let settings =
        parse(&text).map_err(|line| fatal(format!("bad config line {line} in file {}", path.display())))?;
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    if lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    let (section, key) = (section_of(name), name.rsplit('.').next().unwrap_or_default());
    let same: Vec<&Setting> = settings.iter().filter(|it| it.name == wanted).collect();
    match change {
        Change::Unset if same.is_empty() => return Err(crate::fail::quiet(5)),
        Change::Unset => {
            same.iter().rev().for_each(|it| drop(lines.drain(it.lines.0..it.lines.1)));
            drop_empty_section(&mut lines, &section);
        }
        Change::Set(value) if !same.is_empty() => {
            if same.len() > 1 {
                return Err(Fail {
                    status: 5,
                    text: format!(
                        "warning: {name} has multiple values\nerror: cannot overwrite multiple values with a single value\n       Use a regexp, --add or --replace-all to change {name}."
                    ),
                });
            }
            let range = same[0].lines.0..same[0].lines.1;
            lines.splice(range, [format!("\t{key} = {}", quoted(value))]);
        }
        Change::Set(value) | Change::Add(value) => {
            let line = format!("\t{key} = {}", quoted(value));
            match end_of_section(&lines, &section) {
                Some(at) => lines.insert(at, line),
                None => lines.extend([header_of(&section), line]),
            }
        }
    }
    let text = lines.join("\n") + if lines.is_empty() { "" } else { "\n" };
    crate::file::replace(path, text.as_bytes())
}

/// What git says of a name that is none.
pub fn bad_name(name: &str) -> Fail {
    match name.contains('.') {
        true => crate::fail::error(format!("invalid key: {name}")),
        false => Fail { status: 2, text: format!("error: key does not contain a section: {name}") },
    }
}

/// `section` or `section.Sub` of a name.
fn section_of(name: &str) -> String {
    let (section, rest) = name.split_once('.').unwrap_or((name, ""));
    match rest.rsplit_once('.') {
        Some((sub, _)) => format!("{}.{sub}", section.to_ascii_lowercase()),
        None => section.to_ascii_lowercase(),
    }
}

fn header_of(section: &str) -> String {
    match section.split_once('.') {
        Some((section, sub)) => format!("[{section} \"{}\"]", sub.replace('\\', "\\\\").replace('"', "\\\"")),
        None => format!("[{section}]"),
    }
}

/// The line after the last section of that name.
fn end_of_section(lines: &[String], section: &str) -> Option<usize> {
    let head = |line: &String| line.trim_start().strip_prefix('[').and_then(header).map(|it| it.0);
    let at = lines.iter().rposition(|line| head(line).is_some_and(|it| it == section))?;
    let next = lines[at + 1..].iter().position(|line| head(line).is_some());
    Some(next.map_or(lines.len(), |it| at + 1 + it))
}

/// A section with nothing in it any more goes too.
fn drop_empty_section(lines: &mut Vec<String>, section: &str) {
    fn head(line: &str) -> Option<(String, &str)> {
        line.trim_start().strip_prefix('[').and_then(header)
    }
    let at =
        lines.iter().rposition(|line| head(line).is_some_and(|it| it.0 == section && it.1.trim().is_empty()));
    if let Some(at) = at
        && lines.get(at + 1).is_none_or(|it| head(it).is_some())
    {
        lines.remove(at);
    }
}

fn quoted(value: &str) -> String {
    let text = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
    let plain = !value.starts_with(' ') && !value.ends_with(' ') && !value.contains([';', '#']);
    if plain { text } else { format!("\"{text}\"") }
}
