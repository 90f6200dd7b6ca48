//! The tree against a model a page long: full paths in one map. Whatever the calls, both answer
//! alike, hold the same files, and the meter ends at nothing.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const NOW: Timestamp = Timestamp(1);

#[derive(Debug, Clone)]
enum Act {
    Mkdir(String),
    Rmdir(String),
    Write(String, u16, Vec<u8>),
    Resize(String, u16),
    Unlink(String),
    Rename(String, String),
    Link(String, String),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let path = || proptest::collection::vec("[ab]", 1..4).prop_map(|names| names.join("/"));
    let bytes = proptest::collection::vec(any::<u8>(), 0..40);
    let act = prop_oneof![
        4 => path().prop_map(Act::Mkdir),
        1 => path().prop_map(Act::Rmdir),
        4 => (path(), 0..300u16, bytes).prop_map(|(p, at, b)| Act::Write(p, at, b)),
        1 => (path(), 0..300u16).prop_map(|(p, len)| Act::Resize(p, len)),
        2 => path().prop_map(Act::Unlink),
        4 => (path(), path()).prop_map(|(a, b)| Act::Rename(a, b)),
        2 => (path(), path()).prop_map(|(a, b)| Act::Link(a, b)),
    ];
    proptest::collection::vec(act, 0..60)
}

/// `None` is a directory, `Some` the number of a file.
#[derive(Debug, Default)]
struct Model {
    names: BTreeMap<String, Option<usize>>,
    contents: Vec<Vec<u8>>,
}

impl Model {
    /// What the path names, if everything above it is a directory.
    fn get(&self, path: &str) -> FileResult<Option<Option<usize>>> {
        for (end, _) in path.match_indices('/') {
            match self.names.get(&path[..end]) {
                None => return Err(FileError::NotFound),
                Some(Some(_)) => return Err(FileError::NotADirectory),
                Some(None) => {}
            }
        }
        Ok(self.names.get(path).copied())
    }

    fn has_below(&self, path: &str) -> bool {
        self.names.keys().any(|it| it.strip_prefix(path).is_some_and(|it| it.starts_with('/')))
    }

    fn file(&mut self, path: &str, create: bool) -> FileResult<&mut Vec<u8>> {
        let at = match self.get(path)? {
            Some(None) => return Err(FileError::IsADirectory),
            Some(Some(at)) => at,
            None if !create => return Err(FileError::NotFound),
            None => {
                self.contents.push(Vec::new());
                let at = self.contents.len() - 1;
                self.names.insert(path.into(), Some(at));
                at
            }
        };
        Ok(&mut self.contents[at])
    }

    fn act(&mut self, act: &Act) -> FileResult<()> {
        match act {
            Act::Mkdir(path) => match self.get(path)? {
                Some(_) => return Err(FileError::Exists),
                None => drop(self.names.insert(path.clone(), None)),
            },
            Act::Rmdir(path) => match self.get(path)? {
                None => return Err(FileError::NotFound),
                Some(Some(_)) => return Err(FileError::NotADirectory),
                Some(None) if self.has_below(path) => return Err(FileError::NotEmpty),
                Some(None) => drop(self.names.remove(path)),
            },
            Act::Unlink(path) => match self.get(path)? {
                None => return Err(FileError::NotFound),
                Some(None) => return Err(FileError::IsADirectory),
                Some(Some(_)) => drop(self.names.remove(path)),
            },
            Act::Write(path, at, bytes) => {
                let content = self.file(path, true)?;
                if !bytes.is_empty() {
                    let end = usize::from(*at) + bytes.len();
                    content.resize(content.len().max(end), 0);
                    content[usize::from(*at)..end].copy_from_slice(bytes);
                }
            }
            Act::Resize(path, len) => self.file(path, false)?.resize((*len).into(), 0),
            Act::Link(from, to) => match (self.get(from)?, self.get(to)) {
                (None, _) => return Err(FileError::NotFound),
                (Some(None), _) => return Err(FileError::Denied),
                (_, Err(error)) => return Err(error),
                (_, Ok(Some(_))) => return Err(FileError::Exists),
                (Some(file), Ok(None)) => drop(self.names.insert(to.clone(), file)),
            },
            Act::Rename(from, to) => return self.rename(from, to),
        }
        Ok(())
    }

    fn rename(&mut self, from: &str, to: &str) -> FileResult<()> {
        let node = self.get(from)?.ok_or(FileError::NotFound)?;
        let there = self.get(to)?;
        if node.is_none() && to.strip_prefix(from).is_some_and(|it| it.starts_with('/')) {
            return Err(FileError::Invalid);
        }
        match (node, there) {
            _ if from == to => return Ok(()),
            (Some(a), Some(Some(b))) if a == b => return Ok(()),
            (Some(_), Some(None)) => return Err(FileError::IsADirectory),
            (None, Some(Some(_))) => return Err(FileError::NotADirectory),
            (None, Some(None)) if self.has_below(to) => return Err(FileError::NotEmpty),
            _ => {}
        }
        let moved: Vec<_> = self
            .names
            .iter()
            .filter(|(it, _)| it.strip_prefix(from).is_some_and(|it| it.is_empty() || it.starts_with('/')))
            .map(|(it, node)| (it.clone(), *node))
            .collect();
        for (name, _) in &moved {
            self.names.remove(name);
        }
        self.names.extend(moved.into_iter().map(|(it, node)| (format!("{to}{}", &it[from.len()..]), node)));
        Ok(())
    }
}

fn act(files: &MemoryFiles, act: &Act) -> FileResult<()> {
    let path = |text: &str| TreePath::new(text).unwrap();
    let open = |text: &str, create| {
        files.open(&path(text), OpenHow { write: true, create, ..OpenHow::default() }, NOW)
    };
    match act {
        Act::Mkdir(it) => files.create_dir(&path(it), Mode::DIRECTORY, NOW),
        Act::Rmdir(it) => files.remove_dir(&path(it), NOW),
        Act::Unlink(it) => files.unlink(&path(it), NOW),
        Act::Write(it, at, bytes) => open(it, true)?.write_at((*at).into(), bytes, NOW),
        Act::Resize(it, len) => open(it, false)?.set_len((*len).into(), NOW),
        Act::Rename(from, to) => files.rename(&path(from), &path(to), NOW),
        Act::Link(from, to) => files.link(&path(from), Follow::No, &path(to), NOW),
    }
}

fn dump(files: &MemoryFiles, at: &str, into: &mut BTreeMap<String, Option<Vec<u8>>>) {
    for entry in files.read_dir(&TreePath::new(at).unwrap()).unwrap() {
        let path = if at.is_empty() { entry.name } else { format!("{at}/{}", entry.name) };
        if entry.kind == FileKind::Directory {
            dump(files, &path, into);
            into.insert(path, None);
        } else {
            into.insert(path.clone(), Some(files.read(&path).unwrap()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn the_tree_answers_as_the_model_does_and_the_meter_ends_at_nothing(acts in acts()) {
        let meter = Arc::new(Meter::new(1 << 20));
        let files = MemoryFiles::with(Arc::clone(&meter));
        let mut model = Model::default();
        for it in &acts {
            prop_assert_eq!(act(&files, it), model.act(it), "{:?} in {:?}", it, model);
        }
        let mut got = BTreeMap::new();
        dump(&files, "", &mut got);
        let want = model.names.iter().map(|(name, node)| (name.clone(), node.map(|at| model.contents[at].clone())));
        prop_assert_eq!(&got, &want.collect());
        // Deepest first.
        for (name, content) in got.iter().rev() {
            let path = TreePath::new(name).unwrap();
            let gone = if content.is_some() { files.unlink(&path, NOW) } else { files.remove_dir(&path, NOW) };
            prop_assert_eq!(gone, Ok(()), "{}", name);
        }
        prop_assert_eq!(meter.held(), 0);
    }
}
