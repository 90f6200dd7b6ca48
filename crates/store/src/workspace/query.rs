//! One SQL statement over the files, and only to look.
//!
//! Three locks, any of which would do: the connection is opened read-only, an authorizer lets nothing
//! through but reading and a list of plain functions, and SQLite's own limits are turned down. Rows,
//! bytes, time and memory are bounded.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use rusqlite::{
    Connection, ErrorCode,
    fallible_iterator::FallibleIterator as _,
    hooks::{AuthAction, AuthContext, Authorization},
    limits::Limit,
    types::ValueRef,
};

use super::Workspace;

/// How much one query may answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryLimits {
    /// Rows, before the answer is cut.
    pub rows_max: usize,
    /// Bytes of all values, before the answer is cut.
    pub bytes_max: usize,
    /// Time, before the query fails.
    pub wall_max: Duration,
}

impl Default for QueryLimits {
    fn default() -> Self {
        Self { rows_max: 1000, bytes_max: 4 << 20, wall_max: Duration::from_secs(5) }
    }
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum SqlValue {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

/// What a query answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The columns' names.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<SqlValue>>,
    /// There was more than the limits let through.
    pub cut: bool,
}

/// Why a query was not answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// It would do more than look.
    #[error("the query may only read: one SELECT over `vfs` and `tree`, with plain functions")]
    Denied,
    /// It is more than one statement, or none.
    #[error("a query is one statement")]
    NotOne,
    /// It took too long.
    #[error("the query took longer than {} ms; narrow it down", .0.as_millis())]
    TooLong(Duration),
    /// It would hold too much at once.
    #[error("the query holds more than {} MiB at once; narrow it down", MEMORY_BYTES_MAX >> 20)]
    TooMuch,
    /// SQLite does not understand it, or failed.
    #[error("the query failed")]
    Sql(#[source] rusqlite::Error),
}

impl QueryError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Denied => "query_denied",
            Self::NotOne => "query_not_one",
            Self::TooLong(_) => "query_too_long",
            Self::TooMuch => "query_too_much",
            Self::Sql(_) => "query_failed",
        }
    }
}

/// What may be called. Nothing that loads, reads files, or tells of the machine.
const FUNCTIONS: &[&str] = &[
    "abs",
    "avg",
    "cast",
    "ceil",
    "char",
    "coalesce",
    "concat",
    "concat_ws",
    "count",
    "date",
    "datetime",
    "floor",
    "format",
    "glob",
    "group_concat",
    "hex",
    "ifnull",
    "iif",
    "instr",
    "json",
    "json_array",
    "json_array_length",
    "json_each",
    "json_extract",
    "json_group_array",
    "json_group_object",
    "json_object",
    "json_tree",
    "json_type",
    "json_valid",
    "->",
    "->>",
    "julianday",
    "lag",
    "lead",
    "length",
    "like",
    "lower",
    "ltrim",
    "max",
    "min",
    "nullif",
    "octet_length",
    "printf",
    "quote",
    "rank",
    "replace",
    "round",
    "row_number",
    "rtrim",
    "sign",
    "strftime",
    "string_agg",
    "substr",
    "substring",
    "sum",
    "time",
    "total",
    "trim",
    "typeof",
    "unhex",
    "unicode",
    "unixepoch",
    "upper",
    "zeroblob",
];

/// Steps of SQLite's machine between looks at the clock and at memory: few, because each may copy a
/// value as long as they may be.
const STEPS: i32 = 100;
/// The longest value in a query, and so the longest file whose content it can name.
const VALUE_BYTES_MAX: i32 = 16 << 20;
/// What SQLite may hold beyond what it held when the query began: sorting copies what it sorts.
const MEMORY_BYTES_MAX: i64 = 256 << 20;

impl Workspace {
    /// Answers one statement over `vfs(volume, path, content, mtime, size, inode, links)`, which has
    /// the files, and `tree(volume, path, kind, node, links, size, mtime, target)`, which has all.
    pub fn query(&self, sql: &str, limits: QueryLimits) -> Result<Answer, QueryError> {
        // SQLite would stop reading there and say nothing.
        if sql.contains('\0') {
            return Err(QueryError::NotOne);
        }
        let greedy = Arc::new(AtomicBool::new(false));
        let told = |error: rusqlite::Error| match error.sqlite_error_code() {
            Some(ErrorCode::AuthorizationForStatementDenied | ErrorCode::ReadOnly) => QueryError::Denied,
            // Of a function, SQLite says so only in words.
            _ if error.to_string().contains("not authorized") => QueryError::Denied,
            Some(ErrorCode::OperationInterrupted) if greedy.load(Ordering::Relaxed) => QueryError::TooMuch,
            Some(ErrorCode::OperationInterrupted) => QueryError::TooLong(limits.wall_max),
            _ => QueryError::Sql(error),
        };
        let conn = self.locked_down(limits, &greedy).map_err(QueryError::Sql)?;
        let mut rest = rusqlite::Batch::new(&conn, sql);
        let mut statement = rest.next().map_err(told)?.ok_or(QueryError::NotOne)?;
        if !matches!(rest.next(), Ok(None)) {
            return Err(QueryError::NotOne);
        }
        let columns: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
        let mut answer = Answer { columns, rows: Vec::new(), cut: false };
        let mut room = limits.bytes_max;
        let mut rows = statement.query([]).map_err(told)?;
        while let Some(row) = rows.next().map_err(told)? {
            let values = (0..answer.columns.len()).map(|at| row.get_ref(at)).collect::<Result<Vec<_>, _>>();
            let values = values.map_err(told)?;
            let bytes: usize = values.iter().map(weight).sum();
            if answer.rows.len() >= limits.rows_max || bytes > room {
                answer.cut = true;
                break;
            }
            room -= bytes;
            answer.rows.push(values.into_iter().map(owned).collect());
        }
        Ok(answer)
    }

    fn locked_down(&self, limits: QueryLimits, greedy: &Arc<AtomicBool>) -> rusqlite::Result<Connection> {
        let conn = self.db.look_again()?;
        conn.busy_timeout(limits.wall_max)?;
        conn.pragma_update(None, "query_only", true)?;
        conn.pragma_update(None, "cell_size_check", true)?;
        conn.pragma_update(None, "temp_store", "MEMORY")?;
        conn.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX)?;
        conn.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 16)?;
        conn.set_limit(Limit::SQLITE_LIMIT_EXPR_DEPTH, 200)?;
        conn.set_limit(Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000)?;
        conn.set_limit(Limit::SQLITE_LIMIT_WORKER_THREADS, 0)?;
        conn.authorizer(Some(allows));
        let end = Instant::now() + limits.wall_max;
        let (greedy, before) = (Arc::clone(greedy), memory_used());
        let stop = move || {
            if memory_used() - before > MEMORY_BYTES_MAX {
                greedy.store(true, Ordering::Relaxed);
                return true;
            }
            Instant::now() > end
        };
        conn.progress_handler(STEPS, Some(stop));
        Ok(conn)
    }
}

/// What SQLite holds in this process.
fn memory_used() -> i64 {
    // SAFETY: it takes nothing, may be called from any thread at any time, and only reads a counter.
    #[allow(unsafe_code)]
    unsafe {
        rusqlite::ffi::sqlite3_memory_used()
    }
}

fn allows(asked: AuthContext<'_>) -> Authorization {
    let plain = |name: &str| FUNCTIONS.iter().any(|it| it.eq_ignore_ascii_case(name));
    match asked.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Function { function_name } if plain(function_name) => Authorization::Allow,
        _ => Authorization::Deny,
    }
}

fn weight(value: &ValueRef<'_>) -> usize {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => 16 + bytes.len(),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => 16,
    }
}

fn owned(value: ValueRef<'_>) -> SqlValue {
    match value {
        ValueRef::Null => SqlValue::Null,
        ValueRef::Integer(it) => SqlValue::Integer(it),
        ValueRef::Real(it) => SqlValue::Real(it),
        ValueRef::Text(it) => SqlValue::Text(String::from_utf8_lossy(it).into_owned()),
        ValueRef::Blob(it) => SqlValue::Blob(it.to_vec()),
    }
}
