//! Where names led before: a line for each move, the newest last.

use bstr::ByteSlice as _;

use super::Repo;
use crate::Oid;
use crate::fail::Done;
use crate::person::Person;

/// One move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    pub from: Oid,
    pub to: Oid,
    pub who: Person,
    pub why: String,
}

impl Repo {
    /// Notes that a name moved. Only HEAD, branches and the stash have logs.
    pub fn log_ref(&self, name: &str, from: Option<Oid>, to: Oid, why: &str) -> Done {
        if name != "HEAD" && name != "refs/stash" && !name.starts_with("refs/heads/") {
            return Ok(());
        }
        let who = Person::committer(&self.config)?;
        let from = from.unwrap_or_else(crate::null);
        let why = why.lines().next().unwrap_or_default();
        let line = format!("{from} {to} {who}\t{why}\n");
        crate::file::append(&self.git_dir.join("logs").join(name), line.as_bytes())
    }

    /// The moves of a name, the newest first.
    pub fn moves(&self, name: &str) -> Vec<Move> {
        let legal = name == "HEAD" || super::refs::is_legal(name);
        let text = if legal { std::fs::read(self.git_dir.join("logs").join(name)) } else { Ok(Vec::new()) };
        let mut moves: Vec<Move> = text.unwrap_or_default().lines().filter_map(parse).collect();
        moves.reverse();
        moves
    }

    /// Replaces the log by these moves, given the newest first.
    pub fn rewrite_log(&self, name: &str, moves: &[Move]) -> Done {
        let mut text = String::new();
        let mut from = crate::null();
        for it in moves.iter().rev() {
            text.push_str(&format!("{from} {} {}\t{}\n", it.to, it.who, it.why));
            from = it.to;
        }
        crate::file::replace(&self.git_dir.join("logs").join(name), text.as_bytes())
    }
}

/// One line of a log.
pub fn parse(line: &[u8]) -> Option<Move> {
    let (from, to) = (Oid::from_hex(line.get(..40)?).ok()?, Oid::from_hex(line.get(41..81)?).ok()?);
    let rest = line.get(82..)?;
    let tab = rest.find_byte(b'\t').unwrap_or(rest.len());
    let why = rest.get(tab + 1..).unwrap_or_default().to_str_lossy().into_owned();
    Some(Move { from, to, who: Person::parse(&rest[..tab])?, why })
}
