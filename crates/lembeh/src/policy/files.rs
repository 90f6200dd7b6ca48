//! cap.files.v1: which files are seen, and which of them can be opened.

use drydock_abi::lembeh::{
    Trace,
    files::{ENTRY_READABLE, Entry, decode_list, decode_open, encode_entries},
};

/// A file that the session sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Opaque, stable for the run.
    pub id: Vec<u8>,
    /// What a person reads.
    pub display: String,
    /// As on the wire.
    pub flags: u32,
}

/// What a session sees. The default is nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilesPolicy {
    /// The files of the root, which is the only scope there is.
    pub files: Vec<Seen>,
    /// The longest scope.
    pub scope_bytes_max: u32,
    /// How many files a list may have.
    pub entries_max: u32,
    /// The longest id in a list.
    pub id_bytes_max: u32,
    /// The longest display in a list.
    pub display_bytes_max: u32,
    /// How much of a file is read before it looks as if it ended; 0 is all of it.
    pub read_bytes_max: u64,
    /// Only files whose names end so are seen; none is all of them.
    pub extensions: Vec<String>,
}

impl Default for FilesPolicy {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            scope_bytes_max: 256,
            entries_max: 256,
            id_bytes_max: 256,
            display_bytes_max: 256,
            read_bytes_max: 0,
            extensions: Vec::new(),
        }
    }
}

impl FilesPolicy {
    /// Judges the params of `files.list.v1`, and gives its value: never a part of the list.
    pub fn judge_list(&self, params: &[u8]) -> Result<Vec<u8>, Trace> {
        let scope = decode_list(params).map_err(|_| Trace::AsyncBadParams)?;
        if scope.len() as u64 > u64::from(self.scope_bytes_max) {
            return Err(Trace::AsyncBadParams);
        }
        if !scope.is_empty() {
            return Err(Trace::FileDenied);
        }
        let long = |it: &Seen| {
            it.id.len() as u64 > u64::from(self.id_bytes_max)
                || it.display.len() as u64 > u64::from(self.display_bytes_max)
        };
        if self.files.len() as u64 > u64::from(self.entries_max) || self.files.iter().any(long) {
            return Err(Trace::AsyncOverflow);
        }
        let mut entries: Vec<Entry<'_>> = Vec::with_capacity(self.files.len());
        for Seen { id, display, flags } in &self.files {
            entries.push(Entry { id, display, flags: *flags });
        }
        encode_entries(&entries).map_err(|_| Trace::AsyncOverflow)
    }

    /// Judges the params of `files.open.v1`, and gives the file.
    pub fn judge_open(&self, params: &[u8]) -> Result<&Seen, Trace> {
        let id = decode_open(params).map_err(|_| Trace::AsyncBadParams)?;
        let file = self.files.iter().find(|it| it.id == id).ok_or(Trace::FileNotFound)?;
        if file.flags & ENTRY_READABLE == 0 {
            return Err(Trace::FileNotReadable);
        }
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use drydock_abi::lembeh::files::{ENTRY_DIRECTORY, decode_entries, encode_list, encode_open};

    use super::*;

    #[test]
    fn the_root_is_listed_whole_or_not_at_all_and_only_what_is_readable_opens() {
        let file = |name: &str, flags| Seen { id: name.into(), display: name.to_owned(), flags };
        let files = vec![file("b", ENTRY_READABLE), file("a", ENTRY_DIRECTORY)];
        let policy = FilesPolicy { files, ..FilesPolicy::default() };
        let value = policy.judge_list(&encode_list("").unwrap()).unwrap();
        let names: Vec<&str> = decode_entries(&value).unwrap().iter().map(|it| it.display).collect();
        assert_eq!(names, ["a", "b"]);
        let list =
            |policy: &FilesPolicy, scope| policy.judge_list(&encode_list(scope).unwrap()).unwrap_err().code();
        assert_eq!(list(&policy, "docs"), "t_file_denied");
        assert_eq!(list(&policy, ".."), "t_async_bad_params");
        assert_eq!(list(&FilesPolicy { scope_bytes_max: 3, ..policy.clone() }, "docs"), "t_async_bad_params");
        assert_eq!(list(&FilesPolicy { entries_max: 1, ..policy.clone() }, ""), "t_async_overflow");
        assert_eq!(list(&FilesPolicy { id_bytes_max: 0, ..policy.clone() }, ""), "t_async_overflow");
        let open = |id: &str| {
            policy
                .judge_open(&encode_open(id.as_bytes()).unwrap())
                .map_or_else(|trace| trace.code(), |it| &it.display)
        };
        assert_eq!(open("b"), "b");
        assert_eq!(open("a"), "t_file_not_readable");
        assert_eq!(open("c"), "t_file_not_found");
    }
}
