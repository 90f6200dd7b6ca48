//! Reads makefiles: conditions, assignments, inclusion; rules are in `rules`.

mod rules;

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::rule::{Line, Own, Pattern, Target};
use crate::text::{find_outside, split, stem};
use crate::variable::{Assign, Origin, Variables};
use crate::{Done, Stop};

/// Files inside files.
const INCLUDES_MAX: usize = 64;
/// A makefile has at most so many bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Everything that was read, and the options that matter while things are made.
#[derive(Default)]
pub struct Make {
    pub variables: Variables,
    pub targets: HashMap<String, Target>,
    /// Targets in the order they were first seen.
    pub order: Vec<String>,
    pub patterns: Vec<Pattern>,
    pub own: Vec<Own>,
    pub options: crate::cli::Options,
    /// Where we are.
    pub folder: String,
    /// The file and the line that is being read.
    pub place: Option<(String, usize)>,
    /// Recursive variables that are being expanded.
    pub open: Vec<String>,
    pub calls: usize,
    /// Text from outside of the makefiles was used that a shell would not take as it is.
    pub foreign: bool,
    /// The automatic variables of the recipe in hand that hold such text.
    pub foreign_signs: Vec<&'static str>,
    /// Targets and needs as the makefiles write them.
    pub written: HashSet<String>,
    /// How often `$(eval …)` read a text.
    pub evals: usize,
    /// The makefiles, by their paths.
    pub files: BTreeSet<String>,
    depth: usize,
    /// How many spaces the line in hand begins with.
    spaces: usize,
    context: Vec<String>,
    conditions: Vec<Condition>,
    defining: Option<Define>,
}

#[derive(Clone, Copy)]
struct Condition {
    holds: bool,
    /// One of the branches was taken already.
    taken: bool,
    outer: bool,
}

struct Define {
    name: String,
    how: Assign,
    origin: Origin,
    lines: Vec<String>,
    depth: usize,
}

/// A line that is no recipe, in one of its forms.
pub struct Assignment<'t> {
    pub name: &'t str,
    pub how: Assign,
    pub value: &'t str,
}

/// Finds `NAME = value` in any of its forms.
pub fn assignment(line: &str) -> Option<Assignment<'_>> {
    let at = find_outside(line, b"=")?;
    let before = &line[..at];
    let (name, how) = match before {
        it if it.ends_with("::") => (&it[..it.len() - 2], Assign::Simple),
        it if it.ends_with(':') => (&it[..it.len() - 1], Assign::Simple),
        it if it.ends_with('?') => (&it[..it.len() - 1], Assign::IfUnset),
        it if it.ends_with('+') => (&it[..it.len() - 1], Assign::Append),
        it if it.ends_with('!') => (&it[..it.len() - 1], Assign::Shell),
        it => (it, Assign::Recursive),
    };
    let name = name.trim();
    if find_outside(name, b":#").is_some() || (find_outside(name, b" \t").is_some()) || name.is_empty() {
        return None;
    }
    Some(Assignment { name, how, value: line[at + 1..].trim_start() })
}

impl Make {
    /// Reads a file.
    pub fn read_file(&mut self, path: &str) -> Done<bool> {
        if self.depth >= INCLUDES_MAX {
            return Err(self.stop(format!("{path}: makefiles are nested too deeply")));
        }
        if std::fs::metadata(path).is_ok_and(|it| it.len() > FILE_BYTES_MAX) {
            return Err(self.stop(format!("{path}: a makefile has at most 16 MiB")));
        }
        let bytes = match path {
            "-" => {
                let mut bytes = Vec::new();
                self.foreign |= std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes).is_ok();
                bytes
            }
            path => match std::fs::read(facts::name::path(path)) {
                Ok(bytes) => bytes,
                Err(_) => return Ok(false),
            },
        };
        let whole = if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", self.folder) };
        self.files.insert(whole);
        let list = self.variables.get("MAKEFILE_LIST").map(|it| it.value.clone()).unwrap_or_default();
        self.variables.put("MAKEFILE_LIST", &format!("{list} {path}"), false, Origin::File);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (old, conditions) = (self.place.take(), std::mem::take(&mut self.conditions));
        self.depth += 1;
        let done = self.lines(&text, path, 1);
        self.depth -= 1;
        self.place = old;
        self.conditions = conditions;
        done.map(|()| true)
    }

    /// Reads a text that `$(eval …)` made.
    pub fn read_text(&mut self, text: &str) -> Done {
        if self.depth >= INCLUDES_MAX {
            return Err(self.stop("evals are nested too deeply"));
        }
        self.evals += 1;
        let (file, line) = self.place.clone().unwrap_or(("eval".to_owned(), 1));
        let context = std::mem::take(&mut self.context);
        let conditions = std::mem::take(&mut self.conditions);
        let defining = self.defining.take();
        self.depth += 1;
        let done = self.lines(text, &file, line);
        self.depth -= 1;
        (self.context, self.conditions, self.defining) = (context, conditions, defining);
        self.place = Some((file, line));
        done
    }

    fn lines(&mut self, text: &str, file: &str, first: usize) -> Done {
        let lines: Vec<&str> = text.split('\n').map(|it| it.strip_suffix('\r').unwrap_or(it)).collect();
        self.context.clear();
        let mut at = 0;
        while at < lines.len() {
            let number = first + at;
            self.place = Some((file.to_owned(), number));
            let mut whole = lines[at].to_owned();
            while continues(&whole) && at + 1 < lines.len() {
                at += 1;
                whole.push('\n');
                whole.push_str(lines[at]);
            }
            at += 1;
            self.line(&whole, file, number)?;
        }
        if self.defining.take().is_some() {
            return Err(self.stop("missing 'endef', unterminated 'define'"));
        }
        if !self.conditions.is_empty() {
            return Err(self.stop("missing 'endif'"));
        }
        self.place = None;
        Ok(())
    }

    fn active(&self) -> bool {
        self.conditions.last().is_none_or(|it| it.holds && it.outer)
    }

    fn line(&mut self, whole: &str, file: &str, number: usize) -> Done {
        if self.defining.is_some() {
            return self.define_line(whole);
        }
        if whole.starts_with('\t') && !self.context.is_empty() {
            if self.active() {
                self.recipe_line(&whole[1..], file, number);
            }
            return Ok(());
        }
        let joined = join(whole);
        let line = without_comment(&joined);
        let trimmed = line.trim_start();
        let word = trimmed.split([' ', '\t', '(']).next().unwrap_or_default();
        if matches!(word, "ifeq" | "ifneq" | "ifdef" | "ifndef" | "else" | "endif") {
            return self.condition(word, trimmed[word.len()..].trim_start());
        }
        if !self.active() || trimmed.trim_end().is_empty() {
            return Ok(());
        }
        self.spaces = whole.len() - whole.trim_start_matches(' ').len();
        if whole.starts_with('\t')
            && assignment(trimmed).is_none()
            && find_outside(trimmed, b":").is_none()
            && !trimmed.starts_with('$')
        {
            return Err(self.stop("recipe commences before first target"));
        }
        self.directive(word, trimmed, file, number)
    }

    fn directive(&mut self, word: &str, line: &str, file: &str, number: usize) -> Done {
        let rest = line[word.len()..].trim_start();
        let plain = assignment(line).is_some_and(|it| it.name == word);
        match word {
            "include" | "-include" | "sinclude" if !plain => {
                self.context.clear();
                let names = self.expand(rest)?;
                for name in names.split_whitespace().flat_map(|it| {
                    if it.contains(['*', '?']) { crate::function::wildcard(it) } else { vec![it.to_owned()] }
                }) {
                    let place = self.place.clone();
                    let found = self.read_file(&name)?;
                    self.place = place;
                    if !found && word == "include" {
                        return Err(Stop {
                            text: format!("{name}: No such file or directory"),
                            ..self.stop("")
                        });
                    }
                }
                Ok(())
            }
            "define" if !plain => self.define(rest, Origin::File),
            "override" if !plain => match rest.strip_prefix("define ") {
                Some(rest) => self.define(rest, Origin::Override),
                None => self.assign_line(rest, Origin::Override).map(drop),
            },
            "undefine" if !plain => {
                let name = self.expand(rest)?;
                self.variables.remove(name.trim());
                Ok(())
            }
            "export" | "unexport" if !plain => self.export(word == "export", rest),
            "vpath" => Err(self.stop("vpath is not here")),
            "private" if !plain => self.assign_line(rest, Origin::File).map(drop),
            _ => {
                if self.assign_line(line, Origin::File)? {
                    return Ok(());
                }
                self.rule(line, file, number)
            }
        }
    }

    fn assign_line(&mut self, line: &str, origin: Origin) -> Done<bool> {
        let Some(found) = assignment(line) else { return Ok(false) };
        let name = self.expand(found.name)?;
        self.context.clear();
        self.assign(name.trim(), found.how, found.value, origin)?;
        Ok(true)
    }

    /// Gives a variable a value.
    pub fn assign(&mut self, name: &str, how: Assign, value: &str, origin: Origin) -> Done {
        if name.is_empty() {
            return Err(self.stop("empty variable name"));
        }
        match how {
            Assign::Recursive => self.variables.put(name, value, true, origin),
            Assign::Simple => {
                let value = self.expand(value)?;
                self.variables.put(name, &value, false, origin);
            }
            Assign::IfUnset if self.variables.get(name).is_some() => {}
            Assign::IfUnset => self.variables.put(name, value, true, origin),
            Assign::Shell => {
                let line = self.expand(value)?;
                let output = crate::recipe::shell(self, &line)?;
                self.variables.put(name, &output, true, origin);
            }
            Assign::Append => {
                let old = self.variables.get(name).cloned();
                let recursive = old.as_ref().is_none_or(|it| it.recursive);
                let value = if recursive { value.to_owned() } else { self.expand(value)? };
                let text = match &old {
                    Some(old) if !old.value.is_empty() => format!("{} {value}", old.value),
                    _ => value,
                };
                if old.as_ref().is_some_and(|it| it.origin == Origin::CommandLine)
                    && origin != Origin::Override
                {
                    return Ok(());
                }
                // From here on it looks as if the makefile said it.
                if let Some(old) = old {
                    self.note_used(name, &old);
                }
                self.variables.put(name, &text, recursive, origin);
            }
        }
        Ok(())
    }

    fn export(&mut self, wanted: bool, rest: &str) -> Done {
        if rest.is_empty() {
            self.variables.export_all = wanted;
            return Ok(());
        }
        if let Some(found) = assignment(rest) {
            let name = self.expand(found.name)?;
            self.assign(name.trim(), found.how, found.value, Origin::File)?;
            self.variables.exported.insert(name.trim().to_owned(), wanted);
            return Ok(());
        }
        let names = self.expand(rest)?;
        self.variables.exported.extend(names.split_whitespace().map(|it| (it.to_owned(), wanted)));
        Ok(())
    }

    fn define(&mut self, rest: &str, origin: Origin) -> Done {
        let (name, how) = match assignment(rest) {
            Some(found) => (found.name, found.how),
            None => (rest.trim(), Assign::Recursive),
        };
        let name = self.expand(name)?;
        self.context.clear();
        self.defining =
            Some(Define { name: name.trim().to_owned(), how, origin, lines: Vec::new(), depth: 0 });
        Ok(())
    }

    fn define_line(&mut self, whole: &str) -> Done {
        let Some(define) = &mut self.defining else { return Ok(()) };
        let word = whole.split_whitespace().next().unwrap_or_default();
        if word == "endef" && !whole.starts_with('\t') {
            if define.depth == 0 {
                if let Some(Define { name, how, origin, lines, .. }) = self.defining.take() {
                    return self.assign(&name, how, &lines.join("\n"), origin);
                }
                return Ok(());
            }
            define.depth -= 1;
        } else if word == "define" && !whole.starts_with('\t') {
            define.depth += 1;
        }
        define.lines.push(whole.to_owned());
        Ok(())
    }

    fn condition(&mut self, word: &str, rest: &str) -> Done {
        match word {
            "endif" => {
                if self.conditions.pop().is_none() {
                    return Err(self.stop("extraneous 'endif'"));
                }
            }
            "else" => {
                let Some(last) = self.conditions.last().copied() else {
                    return Err(self.stop("extraneous 'else'"));
                };
                let inner = rest.split([' ', '\t', '(']).next().unwrap_or_default();
                let next = match inner {
                    "" => !last.taken,
                    _ if last.taken || !last.outer => false,
                    inner => self.test(inner, rest[inner.len()..].trim_start())?,
                };
                if let Some(top) = self.conditions.last_mut() {
                    top.holds = next;
                    top.taken |= next;
                }
            }
            word => {
                let outer = self.active();
                let holds = outer && self.test(word, rest)?;
                self.conditions.push(Condition { holds, taken: holds, outer });
            }
        }
        Ok(())
    }

    fn test(&mut self, word: &str, rest: &str) -> Done<bool> {
        match word {
            "ifdef" | "ifndef" => {
                let name = self.expand(rest)?;
                let there = self.variables.get(name.trim()).is_some_and(|it| !it.value.is_empty());
                Ok(there == (word == "ifdef"))
            }
            "ifeq" | "ifneq" => {
                let (left, right) = sides(rest).ok_or_else(|| self.stop("invalid syntax in conditional"))?;
                let same = self.expand(left)? == self.expand(right)?;
                Ok(same == (word == "ifeq"))
            }
            other => Err(self.stop(format!("extraneous text after 'else' directive: {other}"))),
        }
    }
}

fn continues(line: &str) -> bool {
    line.bytes().rev().take_while(|it| *it == b'\\').count() % 2 == 1
}

/// Lines that a backslash joined, with one space where it was.
fn join(whole: &str) -> String {
    if !whole.contains('\n') {
        return whole.to_owned();
    }
    let mut all = String::new();
    for (at, part) in whole.split('\n').enumerate() {
        let part = part.strip_suffix('\\').unwrap_or(part);
        match at {
            0 => all.push_str(part.trim_end()),
            _ => {
                all.push(' ');
                all.push_str(part.trim());
            }
        }
    }
    all
}

/// Up to the first `#` that no backslash stands before.
fn without_comment(line: &str) -> String {
    let bytes = line.as_bytes();
    let mut from = 0;
    while let Some(at) = find_outside(&line[from..], b"#").map(|it| from + it) {
        if at == 0 || bytes[at - 1] != b'\\' {
            return line[..at].replace("\\#", "#");
        }
        from = at + 1;
    }
    line.replace("\\#", "#")
}

/// `(a,b)`, `"a" "b"`, `'a' 'b'`.
fn sides(rest: &str) -> Option<(&str, &str)> {
    let rest = rest.trim();
    if let Some(inner) = rest.strip_prefix('(').and_then(|it| it.strip_suffix(')')) {
        let comma = find_outside(inner, b",")?;
        return Some((inner[..comma].trim_end(), inner[comma + 1..].trim_start()));
    }
    let quote = rest.chars().next().filter(|it| *it == '"' || *it == '\'')?;
    let end = rest[1..].find(quote)? + 1;
    let second = rest[end + 1..].trim();
    let other = second.chars().next().filter(|it| *it == '"' || *it == '\'')?;
    Some((&rest[1..end], second[1..].strip_suffix(other)?))
}
