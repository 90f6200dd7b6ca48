//! Names of revisions: `HEAD~2`, `main^`, `v1.0^{}`, `@{1}`, `stash@{0}`, `HEAD:file`, `:file`, `a..b`.

use gix_object::Kind;

use crate::Oid;
use crate::fail::{Done, Fail, fatal};
use crate::index::Index;
use crate::object::TREE;
use crate::repo::Repo;

/// What a word of a range asks for.
#[derive(Debug, Default, Clone)]
pub struct Range {
    pub wanted: Vec<Oid>,
    pub unwanted: Vec<Oid>,
    /// The two ends of `a...b` or `a..b`, for `diff`.
    pub ends: Option<(Oid, Oid, bool)>,
}

/// What git says of a word that is neither a revision nor a path.
pub fn ambiguous(word: &str) -> Fail {
    fatal(format!(
        "ambiguous argument '{word}': unknown revision or path not in the working tree.\nUse '--' to separate paths from revisions, like this:\n'git <command> [<revision>...] -- [<file>...]'"
    ))
}

impl Repo {
    /// The object that a word names; none if it names none.
    pub fn find_rev(&self, word: &str) -> Done<Option<Oid>> {
        if let Some(path) = word.strip_prefix(':') {
            return self.staged(path);
        }
        if let Some((rev, path)) = word.split_once(':')
            && !rev.contains('{')
        {
            let Some(id) = self.find_rev(rev)? else { return Ok(None) };
            return Ok(self.entry_at(self.tree_of(id)?, &self.below(path))?.map(|it| it.1));
        }
        let end = word.find(['^', '~']).unwrap_or(word.len());
        let Some(mut id) = self.named(&word[..end])? else { return Ok(None) };
        let mut rest = &word[end..];
        while let Some(sign) = rest.chars().next() {
            rest = &rest[1..];
            if sign == '^' && rest.starts_with('{') {
                let Some(close) = rest.find('}') else { return Ok(None) };
                let Some(next) = self.peeled(id, &rest[1..close])? else { return Ok(None) };
                (id, rest) = (next, &rest[close + 1..]);
                continue;
            }
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let count: usize = if digits == 0 { 1 } else { rest[..digits].parse().unwrap_or(usize::MAX) };
            rest = &rest[digits..];
            let next = match sign {
                '^' => self.parent(id, count)?,
                '~' => self.back(id, count)?,
                _ => return Ok(None),
            };
            let Some(next) = next else { return Ok(None) };
            id = next;
        }
        Ok(Some(id))
    }

    /// The object that a word names.
    pub fn rev(&self, word: &str) -> Done<Oid> {
        self.find_rev(word)?.ok_or_else(|| ambiguous(word))
    }

    /// The commit that a word names.
    pub fn rev_commit(&self, word: &str) -> Done<Oid> {
        match self.peel(self.rev(word)?)? {
            (id, Kind::Commit) => Ok(id),
            (id, kind) => Err(fatal(format!("object {id} is a {kind}, not a commit"))),
        }
    }

    fn parent(&self, id: Oid, which: usize) -> Done<Option<Oid>> {
        let (id, kind) = self.peel(id)?;
        match (kind, which) {
            (Kind::Commit, 0) => Ok(Some(id)),
            (Kind::Commit, which) => Ok(self.commit(id)?.parents.get(which - 1).copied()),
            _ => Ok(None),
        }
    }

    fn back(&self, id: Oid, count: usize) -> Done<Option<Oid>> {
        let mut at = self.parent(id, 0)?;
        for _ in 0..count {
            match at {
                Some(id) => at = self.parent(id, 1)?,
                None => break,
            }
        }
        Ok(at)
    }

    fn peeled(&self, id: Oid, to: &str) -> Done<Option<Oid>> {
        let (target, kind) = self.peel(id)?;
        Ok(match (to, kind) {
            ("", _) => Some(target),
            ("commit", Kind::Commit) | ("blob", Kind::Blob) => Some(target),
            ("object", _) => Some(id),
            ("tree", Kind::Commit | Kind::Tree) => Some(self.tree_of(target)?),
            _ => None,
        })
    }

    /// A name without signs after it.
    fn named(&self, word: &str) -> Done<Option<Oid>> {
        if let Some((name, which)) =
            word.split_once("@{").and_then(|(name, rest)| Some((name, rest.strip_suffix('}')?)))
        {
            return self.earlier(name, which);
        }
        if word.is_empty() {
            return Ok(None);
        }
        if word == "@" || word == "HEAD" {
            return self.head_id();
        }
        if word.len() == 40
            && let Ok(id) = Oid::from_hex(word.as_bytes())
        {
            return Ok(Some(id));
        }
        if let Some(name) = self.full_name(word)? {
            return self.find_ref(&name);
        }
        let own = word.bytes().all(|it| it.is_ascii_uppercase() || it == b'_');
        if own && let Some(id) = self.pseudo(word) {
            return Ok(Some(id));
        }
        let hex = word.len() >= 4 && word.len() < 40 && word.bytes().all(|it| it.is_ascii_hexdigit());
        if !hex {
            return Ok(None);
        }
        let all = self.odb.beginning(&word.to_ascii_lowercase());
        match all.as_slice() {
            [] => Ok(None),
            [id] => Ok(Some(*id)),
            many => {
                // A commit is what is most often meant.
                let kind = |id: &Oid| self.odb.read(*id).is_ok_and(|it| it.0 == Kind::Commit);
                let mut commits = many.iter().filter(|it| kind(it));
                match (commits.next(), commits.next()) {
                    (Some(id), None) => Ok(Some(*id)),
                    _ => Err(Fail {
                        status: 128,
                        text: format!("error: short object ID {word} is ambiguous\n{}", ambiguous(word).text),
                    }),
                }
            }
        }
    }

    /// The full name of a branch, tag or other reference.
    pub fn full_name(&self, word: &str) -> Done<Option<String>> {
        for name in [
            word.to_owned(),
            format!("refs/{word}"),
            format!("refs/tags/{word}"),
            format!("refs/heads/{word}"),
            format!("refs/remotes/{word}"),
            format!("refs/remotes/{word}/HEAD"),
        ] {
            if name.starts_with("refs/") && self.find_ref(&name)?.is_some() {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// Where a name led before.
    fn earlier(&self, name: &str, which: &str) -> Done<Option<Oid>> {
        if let (true, Some(count)) = (name.is_empty(), which.strip_prefix('-').and_then(|it| it.parse().ok()))
        {
            return match self.branch_before(count) {
                Some(name) => self.find_rev(&name),
                None => Ok(None),
            };
        }
        let full = match name {
            "" => self.branch()?.map_or_else(|| "HEAD".to_owned(), |it| format!("refs/heads/{it}")),
            "HEAD" | "@" => "HEAD".to_owned(),
            name => match self.full_name(name)? {
                Some(full) => full,
                None => return Ok(None),
            },
        };
        let Ok(count) = which.parse::<usize>() else {
            return Err(fatal(format!("'{which}' in '{name}@{{{which}}}' is not here: only numbers are")));
        };
        let moves = self.moves(&full);
        match moves.get(count) {
            Some(it) => Ok(Some(it.to)),
            None if count == moves.len() && count > 0 => {
                Ok(moves.last().map(|it| it.from).filter(|it| !it.is_null()))
            }
            None if count == 0 => self.find_rev(name),
            None => Err(fatal(format!("log for '{name}' only has {} entries", moves.len()))),
        }
    }

    /// The branch that was left so many switches ago.
    pub fn branch_before(&self, count: usize) -> Option<String> {
        let moves = self.moves("HEAD");
        let left =
            moves.iter().filter_map(|it| it.why.strip_prefix("checkout: moving from ")?.split_once(" to "));
        left.map(|it| it.0.to_owned()).nth(count.checked_sub(1)?)
    }

    fn staged(&self, path: &str) -> Done<Option<Oid>> {
        let (stage, path) = match path.split_once(':') {
            Some((stage @ ("0" | "1" | "2" | "3"), path)) => (stage.parse().unwrap_or(0), path),
            _ => (0, path),
        };
        let index = Index::load(self)?;
        Ok(index.stage(&self.below(path), stage).map(|it| it.id))
    }

    /// A path after a colon: from the root, or from here if it begins with a dot.
    fn below(&self, path: &str) -> Vec<u8> {
        let bytes = facts::name::bytes(path);
        let from =
            if path.starts_with("./") || path.starts_with("../") { self.prefix.as_slice() } else { b"" };
        crate::pathspec::inside(self, from, &bytes, path).map_or_else(|_| bytes.to_vec(), Vec::from)
    }

    /// What lies at a path of a tree: its mode and hash.
    pub fn entry_at(&self, tree: Oid, path: &[u8]) -> Done<Option<(u32, Oid)>> {
        let mut at = (TREE, tree);
        for part in path.split(|it| *it == b'/').filter(|it| !it.is_empty()) {
            if at.0 != TREE {
                return Ok(None);
            }
            let found = self.entries(at.1)?.into_iter().find(|(name, _)| name == part);
            match found {
                Some((_, item)) => at = (item.mode, item.id),
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    /// Takes `a`, `^a`, `a..b` and `a...b` into a range; false if the word is none of them.
    pub fn add_range(&self, word: &str, range: &mut Range) -> Done<bool> {
        let commit = |word: &str| -> Done<Option<Oid>> {
            let Some(id) = self.find_rev(if word.is_empty() { "HEAD" } else { word })? else {
                return Ok(None);
            };
            let (id, kind) = self.peel(id)?;
            Ok((kind == Kind::Commit).then_some(id))
        };
        if let Some(word) = word.strip_prefix('^') {
            let Some(id) = commit(word)? else { return Ok(false) };
            range.unwanted.push(id);
            return Ok(true);
        }
        let both = word
            .split_once("...")
            .map(|it| (it, true))
            .or_else(|| word.split_once("..").map(|it| (it, false)));
        if let Some(((left, right), symmetric)) = both
            && word != ".."
            && !word.contains('/')
        {
            let (Some(left), Some(right)) = (commit(left)?, commit(right)?) else { return Ok(false) };
            range.ends = Some((left, right, symmetric));
            range.wanted.push(right);
            if symmetric {
                range.wanted.push(left);
                range.unwanted.extend(self.merge_bases(left, right)?);
            } else {
                range.unwanted.push(left);
            }
            return Ok(true);
        }
        match commit(word)? {
            Some(id) => {
                range.wanted.push(id);
                Ok(true)
            }
            None => Ok(false),
        }
    }
}
