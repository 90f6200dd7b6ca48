//! The names that commits have, for `--decorate`, `%d` and `name-rev`-like hints.

use std::collections::HashMap;

use crate::Oid;
use crate::fail::Done;
use crate::repo::Repo;
use crate::repo::refs::{Head, short};

/// The names of each commit, in the order git shows them.
pub struct Names {
    all: HashMap<Oid, Vec<String>>,
}

impl Names {
    /// All names there are.
    pub fn load(repo: &Repo) -> Done<Self> {
        let mut all: HashMap<Oid, Vec<String>> = HashMap::new();
        let head = repo.head()?;
        let mut refs = repo.list_refs("refs/")?;
        refs.reverse();
        if let Some(id) = repo.head_id()? {
            let text = match &head {
                Head::Branch(name) => format!("HEAD -> {}", short(name)),
                Head::Detached(_) => "HEAD".to_owned(),
            };
            all.entry(id).or_default().push(text);
        }
        for (name, id) in refs {
            if head == Head::Branch(name.clone()) {
                continue;
            }
            let Ok((target, _)) = repo.peel(id) else { continue };
            let text = match name.strip_prefix("refs/tags/") {
                Some(tag) => format!("tag: {tag}"),
                None if name == "refs/stash" => name.clone(),
                None => short(&name).to_owned(),
            };
            all.entry(target).or_default().push(text);
        }
        Ok(Self { all })
    }

    /// `HEAD -> main, tag: v1`, or nothing.
    pub fn of(&self, id: Oid) -> Option<String> {
        self.all.get(&id).map(|it| it.join(", "))
    }
}
