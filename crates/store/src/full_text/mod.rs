//! Full text search over a tree, with SQLite's FTS5.
//!
//! A [`FullText`] is the index of one session, in memory: nothing of it is kept. Each search looks first what has changed in
//! the tree, which costs one look at each file, and reads only that. A search has a time, and what was not read within it
//! is read by the next. Links are not followed, and files that are too large or no text are counted and left out.

mod index;
mod line;
mod query;

use std::time::{Duration, Instant};

use drydock_contract::port::{FileError, Files, Interrupt, TreePath};
use parking_lot::Mutex;
use rusqlite::ErrorCode;

pub use self::query::{QUERY_BYTES_MAX, QUERY_TERMS_MAX};
use self::{
    index::Index,
    line::{FROM, TO},
    query::{Having, Query},
};

/// Files of one answer.
pub const FOUND_MAX: usize = 100;

/// What is indexed of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullTextLimits {
    /// Where it begins.
    pub root: TreePath,
    /// Names of files and directories that are not looked at, wherever they lie.
    pub skip: Vec<String>,
    /// The longest file, in bytes.
    pub file_bytes_max: u64,
    /// Files.
    pub files_max: usize,
    /// Bytes of all of them. The index takes about three times as much memory.
    pub bytes_max: u64,
}

impl Default for FullTextLimits {
    fn default() -> Self {
        Self {
            root: TreePath::root(),
            skip: vec![".git".to_owned()],
            file_bytes_max: 1 << 20,
            files_max: 10_000,
            bytes_max: 32 << 20,
        }
    }
}

/// What one search may take.
#[derive(Clone)]
pub struct Searching {
    /// Files of the answer.
    pub rows_max: usize,
    /// How long it may take, most of which is for reading what is new.
    pub wall_max: Duration,
    /// Whether nobody waits any more.
    pub cancelled: Option<Interrupt>,
}

impl std::fmt::Debug for Searching {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} rows within {:?}", self.rows_max, self.wall_max)
    }
}

impl Default for Searching {
    fn default() -> Self {
        Self { rows_max: 10, wall_max: Duration::from_secs(10), cancelled: None }
    }
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct FullTextFound {
    /// The best first.
    pub rows: Vec<FoundFile>,
    /// No file has all that was looked for: these have some of it.
    pub has_some_only: bool,
    /// Files in which was looked.
    pub files: u64,
    /// Files in which was not.
    pub left_out: LeftOut,
    /// All of the tree was seen. Where it was not, the time was up, and the next search goes on.
    pub is_complete: bool,
}

/// One file.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundFile {
    /// Its path in the tree.
    pub path: String,
    /// The line with most of what was looked for, from 1 on.
    pub line: u64,
    /// That line, or what stands around the word in it.
    pub snippet: String,
    /// Lines in which something was found.
    pub lines_found: u64,
    /// How well it fits (bm25); more is better, and only within one answer.
    pub score: f64,
}

/// Files that cannot be found, by why.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Longer than a file may be.
    pub too_large: u64,
    /// No text.
    pub binary: u64,
    /// There were too many before them, or too many bytes.
    pub no_room: u64,
    /// They could not be read.
    pub unreadable: u64,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FullTextError {
    /// The query has nothing to look for.
    #[error(
        "a search needs a word: letters or digits, a \"phrase in quotes\", or the beginning of a word and *"
    )]
    NoWord,
    /// It is too long.
    #[error("the query has {bytes} bytes, and {QUERY_BYTES_MAX} is the most; look for fewer words")]
    QueryTooLong {
        /// How long it is.
        bytes: usize,
    },
    /// It has too many words.
    #[error("the query has more than {QUERY_TERMS_MAX} words; look for fewer")]
    TooManyWords,
    /// The time was up before there was an answer.
    #[error("the search took longer than {} ms; look for fewer words, or longer beginnings", .0.as_millis())]
    TooLong(Duration),
    /// Nobody waits any more.
    #[error("the search was cancelled")]
    Cancelled,
    /// The tree cannot be read where it begins.
    #[error("the files cannot be read")]
    Tree(#[source] FileError),
    /// The index failed.
    #[error("the search failed")]
    Sql(#[from] rusqlite::Error),
}

impl FullTextError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoWord => "search_no_word",
            Self::QueryTooLong { .. } => "search_query_too_long",
            Self::TooManyWords => "search_too_many_words",
            Self::TooLong(_) => "search_too_long",
            Self::Cancelled => "cancelled",
            Self::Tree(_) => "search_no_files",
            Self::Sql(_) => "search_failed",
        }
    }
}

/// The index of one tree. Searches of it take turns.
#[derive(Debug)]
pub struct FullText {
    limits: FullTextLimits,
    index: Mutex<Option<Index>>,
}

/// Steps of SQLite's machine between looks at the clock.
const STEPS: i32 = 1_000;
/// How much of the time of a search reading may take, in hundredths.
const READING_SHARE: u32 = 80;

impl FullText {
    /// An index that has nothing yet.
    pub fn new(limits: FullTextLimits) -> Self {
        Self { limits, index: Mutex::default() }
    }

    /// Looks for something in a tree, which must be the same each time. It may take as long as it is given: that belongs on a
    /// thread that may wait.
    pub fn search(
        &self,
        tree: &dyn Files,
        query: &str,
        searching: &Searching,
    ) -> Result<FullTextFound, FullTextError> {
        let query = Query::parse(query)?;
        let began = Instant::now();
        let Some(mut index) = self.index.try_lock_for(searching.wall_max) else {
            return Err(FullTextError::TooLong(searching.wall_max));
        };
        if index.is_none() {
            *index = Some(Index::new(&self.limits)?);
        }
        let Some(at) = index.as_mut() else { return Err(FullTextError::NoWord) };
        let found = self.search_in(at, tree, &query, searching, began);
        if matches!(found, Err(FullTextError::Sql(_))) {
            // Whatever it was, the next search starts anew.
            *index = None;
        }
        found
    }

    fn search_in(
        &self,
        index: &mut Index,
        tree: &dyn Files,
        query: &Query,
        searching: &Searching,
        began: Instant,
    ) -> Result<FullTextFound, FullTextError> {
        let reading = searching.wall_max / 100 * READING_SHARE;
        let time_is_up = index::until(began + reading, searching.cancelled.clone());
        let view = tree.until(&time_is_up);
        let is_complete = index.update(view.as_deref().unwrap_or(tree), &self.limits, &time_is_up)?;
        if searching.cancelled.as_ref().is_some_and(|it| it()) {
            return Err(FullTextError::Cancelled);
        }
        let stop = index::until(began + searching.wall_max, searching.cancelled.clone());
        index.conn.progress_handler(STEPS, Some(move || stop()));
        let asked = ask(index, query, searching.rows_max.min(FOUND_MAX));
        index.conn.progress_handler(0, None::<fn() -> bool>);
        let (rows, having) = asked.map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => FullTextError::TooLong(searching.wall_max),
            _ => FullTextError::Sql(error),
        })?;
        let (files, left_out) = index.count();
        let has_some_only = having == Having::Any && !rows.is_empty();
        Ok(FullTextFound { rows, has_some_only, files, left_out, is_complete })
    }
}

/// The files that have all, or, where none has, those that have some.
fn ask(index: &Index, query: &Query, rows_max: usize) -> rusqlite::Result<(Vec<FoundFile>, Having)> {
    let all = find(index, &query.expression(Having::All), rows_max)?;
    if !all.is_empty() || query.terms() < 2 {
        return Ok((all, Having::All));
    }
    Ok((find(index, &query.expression(Having::Any), rows_max)?, Having::Any))
}

fn find(index: &Index, expression: &str, rows_max: usize) -> rusqlite::Result<Vec<FoundFile>> {
    let conn = &index.conn;
    let most = i64::try_from(rows_max).unwrap_or(i64::MAX);
    let best = {
        let text = "SELECT rowid, rank FROM file WHERE file MATCH ?1 ORDER BY rank LIMIT ?2";
        let mut statement = conn.prepare_cached(text)?;
        let rows = statement.query_map((expression, most), |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect::<rusqlite::Result<Vec<(i64, f64)>>>()?
    };
    // Marked one by one: marking costs a pass over a whole text, which only those that are shown are worth.
    let text = "SELECT path, highlight(file, 1, ?3, ?4) FROM file WHERE file MATCH ?1 AND rowid = ?2";
    let mut statement = conn.prepare_cached(text)?;
    let mut found = Vec::with_capacity(best.len());
    for (row, rank) in best {
        let asked = (expression, row, FROM.to_string(), TO.to_string());
        let marked = statement.query_row(asked, |it| Ok((it.get::<_, String>(0)?, it.get::<_, String>(1)?)));
        let (path, marked) = marked?;
        let line::Shown { line, snippet, lines_found } = line::shown(&marked);
        found.push(FoundFile { path, line, snippet, lines_found, score: -rank });
    }
    // Which of two that fit equally well comes first does not depend on which was read first.
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
    Ok(found)
}

/// Whether FTS5 understands what becomes of any text: for the fuzzers.
pub(crate) fn is_understood(query: &str) -> bool {
    let Ok(query) = Query::parse(query) else { return true };
    let understood = Index::new(&FullTextLimits { bytes_max: 1 << 20, ..FullTextLimits::default() })
        .and_then(|it| {
            it.conn.execute("INSERT INTO file (path, text) VALUES ('a', 'b c d')", [])?;
            Ok(ask(&it, &query, 3)?)
        });
    understood.is_ok()
}

#[cfg(test)]
mod tests;
