//! What a build is made of: files, which of them are compiled, and flags. Plain data with a key.

use bytes::Bytes;
use drydock_contract::Digest;

/// A program in C or C++.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Project {
    /// Every file that the compiler sees, by its path below the working directory.
    pub files: Vec<(String, Bytes)>,
    /// Which of them are compiled.
    pub sources: Vec<String>,
    /// Flags of each compilation, as gcc takes them.
    pub cflags: Vec<String>,
    /// Flags of the link, as gcc takes them.
    pub ldflags: Vec<String>,
    /// Whether it is linked as C++.
    pub cxx: bool,
}

/// Changes when builds of the same sources would no longer give the same module for a reason that no hash shows.
const GENERATION: &str = "drydock c lane 1";

impl Project {
    /// Two projects with one key give the same module. Every part is counted with its length, so that no two
    /// different lists look alike.
    pub(super) fn key(&self, compiler: &[Digest]) -> Digest {
        let mut all = Vec::new();
        let mut part = |bytes: &[u8]| {
            all.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            all.extend_from_slice(bytes);
        };
        part(GENERATION.as_bytes());
        for digest in compiler {
            part(digest.to_string().as_bytes());
        }
        for list in [&self.sources, &self.cflags, &self.ldflags] {
            part(&(list.len() as u64).to_le_bytes());
            list.iter().for_each(|it| part(it.as_bytes()));
        }
        part(&[u8::from(self.cxx)]);
        let mut files: Vec<_> = self.files.iter().collect();
        files.sort();
        for (path, bytes) in files {
            part(path.as_bytes());
            part(bytes);
        }
        Digest::of(&all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Project {
        Project {
            files: vec![("a.c".into(), "int a;".into()), ("b.h".into(), "".into())],
            sources: vec!["a.c".into()],
            cflags: vec!["-O2".into()],
            ..Project::default()
        }
    }

    #[test]
    fn a_key_stands_for_files_flags_and_compiler_and_not_for_their_order_on_disk() {
        let compiler = [Digest::of(b"clang")];
        let key = sample().key(&compiler);
        let mut turned = sample();
        turned.files.reverse();
        assert_eq!(turned.key(&compiler), key);
        let changes: [fn(&mut Project); 5] = [
            |it| it.files[0].1 = "int b;".into(),
            |it| it.files[0].0 = "b.c".into(),
            |it| it.cflags.push("-DX".into()),
            |it| it.ldflags.push("-lm".into()),
            |it| it.cxx = true,
        ];
        for (index, change) in changes.into_iter().enumerate() {
            let mut other = sample();
            change(&mut other);
            assert_ne!(other.key(&compiler), key, "{index}");
        }
        assert_ne!(sample().key(&[Digest::of(b"another")]), key);
        let moved = Project { ldflags: vec!["-O2".into()], cflags: Vec::new(), ..sample() };
        assert_ne!(moved.key(&compiler), key, "a flag of the link is none of the compilation");
    }
}
