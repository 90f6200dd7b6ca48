//! Commits as text: git's own formats and those that people write.

use bstr::{BString, ByteSlice as _};

use super::names::Names;
use crate::date::{Style, show};
use crate::fail::{Done, fatal};
use crate::object::Commit;
use crate::person::Person;
use crate::repo::Repo;

/// A format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Format {
    Oneline,
    Short,
    Medium,
    Full,
    Fuller,
    Raw,
    Reference,
    /// Its text, and whether a newline ends each commit rather than parting two.
    Own(String, bool),
}

impl Format {
    /// By what follows `--format=` or `--pretty=`.
    pub fn named(text: &str) -> Done<Self> {
        Ok(match text {
            "oneline" => Self::Oneline,
            "short" => Self::Short,
            "medium" => Self::Medium,
            "" => Self::Own(String::new(), true),
            "full" => Self::Full,
            "fuller" => Self::Fuller,
            "raw" => Self::Raw,
            "reference" => Self::Reference,
            _ => match (text.strip_prefix("format:"), text.strip_prefix("tformat:")) {
                (Some(text), _) => Self::Own(text.to_owned(), false),
                (_, Some(text)) => Self::Own(text.to_owned(), true),
                _ if text.contains('%') => Self::Own(text.to_owned(), true),
                _ => return Err(fatal(format!("invalid --pretty format: {text}"))),
            },
        })
    }

    /// Whether a newline ends each commit.
    pub fn ends_lines(&self) -> bool {
        matches!(self, Self::Oneline | Self::Reference | Self::Own(_, true))
    }
}

/// How commits are shown.
pub struct Pretty<'r> {
    pub repo: &'r Repo,
    pub format: Format,
    pub date: Style,
    /// Short hashes.
    pub short: bool,
    pub names: Option<Names>,
}

impl Pretty<'_> {
    /// A commit, with its last newline unless the format is somebody's own.
    pub fn show(&self, commit: &Commit) -> Vec<u8> {
        match &self.format {
            Format::Own(text, _) => self.expand(text, commit, None),
            Format::Reference => self.expand("%C(auto)%h (%s, %as)", commit, None),
            Format::Oneline => {
                let mut line = format!("{}{} ", self.id(commit.id), self.decoration(commit.id)).into_bytes();
                line.extend_from_slice(&commit.subject());
                line
            }
            _ => self.long(commit),
        }
    }

    fn id(&self, id: crate::Oid) -> String {
        if self.short { self.repo.odb.short(id) } else { id.to_string() }
    }

    fn decoration(&self, id: crate::Oid) -> String {
        let names = self.names.as_ref().and_then(|it| it.of(id));
        names.map(|it| format!(" ({it})")).unwrap_or_default()
    }

    fn long(&self, commit: &Commit) -> Vec<u8> {
        let mut text = format!("commit {}{}\n", self.id(commit.id), self.decoration(commit.id)).into_bytes();
        let mut line = |name: &str, value: &[u8]| {
            text.extend_from_slice(name.as_bytes());
            text.extend_from_slice(value);
            text.push(b'\n');
        };
        if self.format == Format::Raw {
            line("tree ", commit.tree.to_string().as_bytes());
            commit.parents.iter().for_each(|it| line("parent ", it.to_string().as_bytes()));
            line("author ", commit.author.to_string().as_bytes());
            line("committer ", commit.committer.to_string().as_bytes());
        } else {
            if commit.parents.len() > 1 {
                let parents: Vec<String> = commit.parents.iter().map(|it| self.repo.odb.short(*it)).collect();
                line("Merge: ", parents.join(" ").as_bytes());
            }
            let person = |it: &Person| [&it.name, b" <".as_slice(), &it.email, b">"].concat();
            let date = |it: &Person| show(it.seconds, it.zone, &self.date).into_bytes();
            match self.format {
                Format::Fuller => {
                    line("Author:     ", &person(&commit.author));
                    line("AuthorDate: ", &date(&commit.author));
                    line("Commit:     ", &person(&commit.committer));
                    line("CommitDate: ", &date(&commit.committer));
                }
                Format::Full => {
                    line("Author: ", &person(&commit.author));
                    line("Commit: ", &person(&commit.committer));
                }
                Format::Short => line("Author: ", &person(&commit.author)),
                _ => {
                    line("Author: ", &person(&commit.author));
                    line("Date:   ", &date(&commit.author));
                }
            }
        }
        text.push(b'\n');
        let message: Vec<u8> = match self.format {
            Format::Short => [commit.subject().as_slice(), b"\n"].concat(),
            _ => commit.message.to_vec(),
        };
        let lines: Vec<&[u8]> =
            message.lines().map(|it| it.trim_end()).skip_while(|it| it.is_empty()).collect();
        let end = lines.iter().rposition(|it| !it.is_empty()).map_or(0, |it| it + 1);
        for line in &lines[..end] {
            text.extend_from_slice(b"    ");
            text.extend_from_slice(&tabs(line, self.format != Format::Raw));
            text.push(b'\n');
        }
        text
    }

    /// A format with its signs replaced. `log` is what a line of a reflog adds.
    pub fn expand(&self, format: &str, commit: &Commit, log: Option<(&str, &str)>) -> Vec<u8> {
        let mut text = Vec::new();
        let mut rest = format;
        while let Some(at) = rest.find('%') {
            text.extend_from_slice(&rest.as_bytes()[..at]);
            rest = &rest[at + 1..];
            let (value, taken) = self.sign(rest, commit, log);
            text.extend_from_slice(&value);
            rest = rest.get(taken..).unwrap_or_default();
        }
        text.extend_from_slice(rest.as_bytes());
        text
    }

    /// What a sign stands for, and how many letters it has.
    fn sign(&self, rest: &str, commit: &Commit, log: Option<(&str, &str)>) -> (Vec<u8>, usize) {
        let mut letters = rest.chars();
        let first = letters.next().unwrap_or('\0');
        let second = letters.next().unwrap_or('\0');
        let parents = |short: bool| {
            let all =
                commit.parents.iter().map(|it| if short { self.repo.odb.short(*it) } else { it.to_string() });
            all.collect::<Vec<_>>().join(" ").into_bytes()
        };
        let names = || self.names.as_ref().and_then(|it| it.of(commit.id)).unwrap_or_default();
        let one = |value: Vec<u8>| (value, 1);
        match first {
            'H' => one(commit.id.to_string().into()),
            'h' => one(self.repo.odb.short(commit.id).into()),
            'T' => one(commit.tree.to_string().into()),
            't' => one(self.repo.odb.short(commit.tree).into()),
            'P' => one(parents(false)),
            'p' => one(parents(true)),
            's' => one(commit.subject().into()),
            'b' => one(commit.body().into()),
            'B' => one([commit.message.trim_end_with(|it| it == '\n'), b"\n"].concat()),
            'f' => one(file_name(&commit.subject())),
            'd' => one(if names().is_empty() { Vec::new() } else { format!(" ({})", names()).into() }),
            'D' => one(names().into()),
            'n' => one(b"\n".to_vec()),
            '%' => one(b"%".to_vec()),
            'N' | 'e' | 'm' => one(if first == 'm' { b">".to_vec() } else { Vec::new() }),
            'a' | 'c' if second != '\0' => {
                let person = if first == 'a' { &commit.author } else { &commit.committer };
                match self.person(person, second) {
                    Some(value) => (value, 2),
                    None => (format!("%{first}").into(), 1),
                }
            }
            'g' if second == 'd' => (log.map(|it| it.0).unwrap_or_default().into(), 2),
            'g' if second == 's' => (log.map(|it| it.1).unwrap_or_default().into(), 2),
            'x' => match rest.get(1..3).and_then(|it| u8::from_str_radix(it, 16).ok()) {
                Some(byte) => (vec![byte], 3),
                None => one(b"%x".to_vec()),
            },
            'C' => {
                let named = ["red", "green", "blue", "reset"].iter().find(|it| rest[1..].starts_with(**it));
                match rest.strip_prefix("C(").and_then(|it| it.find(')')) {
                    Some(end) => (Vec::new(), end + 3),
                    None => (Vec::new(), 1 + named.map_or(0, |it| it.len())),
                }
            }
            _ => (b"%".to_vec(), 0),
        }
    }

    fn person(&self, person: &Person, letter: char) -> Option<Vec<u8>> {
        let date = |style: &Style| show(person.seconds, person.zone, style).into_bytes();
        Some(match letter {
            'n' | 'N' => person.name.to_vec(),
            'e' | 'E' => person.email.to_vec(),
            'l' | 'L' => person.email.split_str("@").next().unwrap_or_default().to_vec(),
            'd' => date(&self.date),
            'D' => date(&Style::Rfc),
            'r' | 'h' => date(&Style::Relative),
            't' => date(&Style::Unix),
            'i' => date(&Style::Iso),
            'I' => date(&Style::Strict),
            's' => date(&Style::Short),
            _ => return None,
        })
    }
}

/// A subject as the name of a file.
fn file_name(subject: &BString) -> Vec<u8> {
    let mut text: Vec<u8> = Vec::new();
    for byte in subject.iter() {
        if byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'.' {
            if !(*byte == b'.' && text.ends_with(b".")) {
                text.push(*byte);
            }
        } else if !text.is_empty() && !text.ends_with(b"-") {
            text.push(b'-');
        }
    }
    while text.last().is_some_and(|it| *it == b'-' || *it == b'.') {
        text.pop();
    }
    text
}

/// Tabs as spaces up to the next eighth column.
fn tabs(line: &[u8], expand: bool) -> Vec<u8> {
    if !expand || !line.contains(&b'\t') {
        return line.to_vec();
    }
    let mut text = Vec::new();
    let mut column = 0;
    for letter in line.chars() {
        if letter == '\t' {
            let count = 8 - column % 8;
            text.resize(text.len() + count, b' ');
            column += count;
        } else {
            text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            column += 1;
        }
    }
    text
}
