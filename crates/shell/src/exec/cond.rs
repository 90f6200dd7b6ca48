//! `[[ … ]]`, and the file tests it shares with `test`.

use std::{collections::BTreeMap, sync::Arc};

use drydock_contract::{
    BoxFuture,
    port::{FileKind, Follow},
};

use regex_automata::{meta::Regex, util::syntax};

use crate::{
    door::ReadEnd,
    expand::quote,
    fd::Fd,
    pattern::Pattern,
    state::{Env, Eval},
    stubs::Stub,
    syntax::ast::{Cond, CondOp, Word},
    vars::Value,
};

/// The longest regular expression, and the most memory one may compile to.
const REGEX_BYTES_MAX: usize = 1 << 20;

impl Env {
    /// The answer, or what is wrong with the question.
    pub(super) fn cond<'a>(&'a mut self, cond: &'a Cond) -> BoxFuture<'a, Eval<Result<bool, String>>> {
        Box::pin(async move {
            Ok(match cond {
                Cond::Not(inner) => self.cond(inner).await?.map(|yes| !yes),
                Cond::And(left, right) => match self.cond(left).await? {
                    Ok(true) => self.cond(right).await?,
                    other => other,
                },
                Cond::Or(left, right) => match self.cond(left).await? {
                    Ok(false) => self.cond(right).await?,
                    other => other,
                },
                Cond::Unary(op, word) => {
                    let text = self.expand_one(word).await?;
                    if self.options.xtrace {
                        self.trace_line(&format!("[[ -{op} {} ]]", quote::traced(&text))).await?;
                    }
                    Ok(self.unary_test(*op, &text))
                }
                Cond::Binary(left, op, right) => self.binary_cond(left, *op, right).await?,
            })
        })
    }

    async fn binary_cond(&mut self, left: &Word, op: CondOp, right: &Word) -> Eval<Result<bool, String>> {
        let left = self.expand_one(left).await?;
        // A substitution must not run twice, so what holds one is not shown.
        if self.options.xtrace && right.runs_nothing() {
            let sign = sign_of(op);
            let shown = if op == CondOp::Regex {
                self.expand_regex(right).await?
            } else if matches!(op, CondOp::Match | CondOp::NoMatch) {
                self.expand_pattern(right).await?
            } else {
                self.expand_one(right).await?
            };
            self.trace_line(&format!("[[ {} {sign} {shown} ]]", quote::traced(&left))).await?;
        }
        Ok(match op {
            CondOp::Match | CondOp::NoMatch => {
                let pattern = self.expand_pattern(right).await?;
                let exact = Pattern::with_case(&pattern, self.options.nocasematch);
                let mut hit = exact.matches(&left);
                self.not_tired(&exact)?;
                if !hit && self.options.nocasematch {
                    let folded = Pattern::with_case(&pattern, true);
                    hit = folded.matches(&left.to_lowercase());
                    self.not_tired(&folded)?;
                }
                Ok(hit == (op == CondOp::Match))
            }
            CondOp::Regex => {
                let regex = self.expand_regex(right).await?;
                self.regex_match(&left, &regex)
            }
            CondOp::Less => Ok(left < self.expand_one(right).await?),
            CondOp::Greater => Ok(left > self.expand_one(right).await?),
            CondOp::Newer | CondOp::Older | CondOp::SameFile => {
                let right = self.expand_one(right).await?;
                Ok(self.compare_files(&left, op, &right))
            }
            _ => {
                let right = self.expand_one(right).await?;
                let (left, right) = match (self.compute(&left), self.compute(&right)) {
                    (Ok(left), Ok(right)) => (left, right),
                    (Err(error), _) | (_, Err(error)) => {
                        self.complain(&format!("[[: {}", error.0)).await?;
                        return Ok(Ok(false));
                    }
                };
                Ok(match op {
                    CondOp::Eq => left == right,
                    CondOp::Ne => left != right,
                    CondOp::Lt => left < right,
                    CondOp::Le => left <= right,
                    CondOp::Gt => left > right,
                    _ => left >= right,
                })
            }
        })
    }

    fn regex_match(&mut self, text: &str, source: &str) -> Result<bool, String> {
        let translated = crate::regex::translate(source);
        let syntax =
            syntax::Config::new().case_insensitive(self.options.nocasematch).dot_matches_new_line(true);
        let regex = Regex::builder()
            .configure(Regex::config().nfa_size_limit(Some(REGEX_BYTES_MAX)))
            .syntax(syntax)
            .build(&translated)
            .map_err(|_| format!("[[: `{source}`: invalid regular expression"))?;
        let mut groups = BTreeMap::new();
        let mut captures = regex.create_captures();
        regex.captures(text, &mut captures);
        if captures.is_match() {
            for (index, group) in captures.iter().enumerate() {
                groups.insert(index as i64, group.map_or_else(String::new, |it| text[it.range()].to_owned()));
            }
        }
        let _ = self.vars.set_value("BASH_REMATCH", Value::Indexed(groups));
        Ok(captures.is_match())
    }

    /// Whether somebody types or reads there.
    pub(crate) fn is_terminal(&self, fd: &Fd) -> bool {
        let is_lines = |end: &Arc<dyn ReadEnd>| self.shared.mode.stdin_is_terminal && !end.is_pipe();
        fd.columns().is_some() || matches!(fd, Fd::PipeIn(end) if is_lines(end))
    }

    /// `-f name` and the rest of them.
    pub(crate) fn unary_test(&mut self, op: char, text: &str) -> bool {
        match op {
            'n' => return !text.is_empty(),
            'z' => return text.is_empty(),
            'v' => return self.is_set(text),
            'o' => return self.options.long(text).is_some_and(|it| *it),
            'R' => {
                let var = self.vars.own(text);
                return var.is_some_and(|var| var.attributes.nameref && var.value.scalar().is_some());
            }
            't' => {
                let fd = text.trim().parse().ok().and_then(|it| self.fd(it));
                return fd.is_some_and(|it| self.is_terminal(&it));
            }
            'p' if self.is_pipe(text) => return true,
            'S' | 'b' | 'c' => {
                return op == 'c' && self.stub(&self.absolute(text)).is_some_and(|it| it.test(op));
            }
            _ => {}
        }
        if text.is_empty() {
            return false;
        }
        if let Some(number) = text.strip_prefix("/dev/fd/").and_then(|it| it.parse().ok()) {
            return matches!(op, 'e' | 'a' | 'r' | 'w' | 's') && self.fds.get(number).is_some();
        }
        // The files have devices too, and no word for what they are.
        if (text.starts_with("/dev/") || self.dirs.cwd.starts_with("/dev"))
            && let Some(stub @ Stub::Device) = self.stub(&self.absolute(text))
        {
            return stub.test(op);
        }
        let follow = if matches!(op, 'h' | 'L') { Follow::No } else { Follow::Yes };
        let stat = self.tree_path(text).ok().and_then(|path| self.shared.files.stat(&path, follow).ok());
        let Some(stat) = stat else {
            return self.stub(&self.absolute(text)).is_some_and(|it| it.test(op));
        };
        match op {
            'f' => stat.kind == FileKind::File && !stat.mode.is_pipe(),
            'p' => stat.mode.is_pipe(),
            'd' => stat.kind == FileKind::Directory,
            'h' | 'L' => stat.kind == FileKind::Symlink,
            's' => stat.size > 0,
            'x' => stat.mode.has(0o111),
            'r' => stat.mode.has(0o400),
            'w' => stat.mode.has(0o200),
            'u' => stat.mode.has(0o4000),
            'g' => stat.mode.has(0o2000),
            'k' => stat.mode.has(0o1000),
            'N' => stat.modified > stat.accessed,
            _ => true,
        }
    }

    /// Whether a name is that of a pipe that is open.
    fn is_pipe(&self, text: &str) -> bool {
        let number = match text {
            "/dev/stdin" => Some(0),
            "/dev/stdout" => Some(1),
            "/dev/stderr" => Some(2),
            other => other.strip_prefix("/dev/fd/").and_then(|it| it.parse().ok()),
        };
        number.and_then(|it| self.fds.get(it)).is_some_and(|it| it.is_pipe())
    }

    /// `-v name`, `-v name[key]`.
    fn is_set(&mut self, text: &str) -> bool {
        if let Some((base, key)) = text.strip_suffix(']').and_then(|it| it.split_once('[')) {
            let value = self.value(base);
            let key = self.key_text(key);
            return match &value {
                _ if key == "@" || key == "*" => value.len() > 0,
                Value::Assoc(map) => map.get(&key).is_some(),
                other => self.compute(&key).is_ok_and(|index| other.at(index).is_some()),
            };
        }
        if let Ok(number) = text.parse::<usize>() {
            return number == 0 || self.frame.args.len() >= number;
        }
        self.scalar(text).is_some()
    }

    pub(crate) fn compare_files(&self, left: &str, op: CondOp, right: &str) -> bool {
        let stat = |name: &str| {
            let path = self.tree_path(name).ok()?;
            self.shared.files.stat(&path, Follow::Yes).ok()
        };
        match (op, stat(left), stat(right)) {
            (CondOp::Newer, Some(left), Some(right)) => left.modified > right.modified,
            (CondOp::Newer, Some(_), None) | (CondOp::Older, None, Some(_)) => true,
            (CondOp::Older, Some(left), Some(right)) => left.modified < right.modified,
            (CondOp::SameFile, Some(left), Some(right)) => left.inode == right.inode,
            _ => false,
        }
    }
}

fn sign_of(op: CondOp) -> &'static str {
    match op {
        CondOp::Match => "==",
        CondOp::NoMatch => "!=",
        CondOp::Regex => "=~",
        CondOp::Less => "<",
        CondOp::Greater => ">",
        CondOp::Eq => "-eq",
        CondOp::Ne => "-ne",
        CondOp::Lt => "-lt",
        CondOp::Le => "-le",
        CondOp::Gt => "-gt",
        CondOp::Ge => "-ge",
        CondOp::Newer => "-nt",
        CondOp::Older => "-ot",
        CondOp::SameFile => "-ef",
    }
}
