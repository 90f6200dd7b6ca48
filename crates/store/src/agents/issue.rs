//! What agents filed for people. A title stands for one issue: whoever files it again has seen it once more.

use std::sync::Arc;

use drydock_contract::{
    AgentId, FiledIssue,
    port::{AgentRefusal, ISSUE_BODY_BYTES_MAX, ISSUE_TITLE_BYTES_MAX},
};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{
    ISSUES_MAX, Shared,
    look::{Look, behind, rows},
    row::{bump, fits, json, room, signed},
};
use crate::{commits::Work, key_values::number};

/// Bytes of a row besides its texts, as they are counted.
const ROW_BYTES: usize = 128;

fn bytes(issue: &FiledIssue) -> i64 {
    signed(issue.title.len() + issue.body.len() + ROW_BYTES)
}

pub(super) struct File {
    pub(super) shared: Arc<Shared>,
    pub(super) issue: FiledIssue,
}

impl File {
    /// Whether it is ever kept, whatever is there.
    pub(super) fn check(issue: &FiledIssue) -> Result<(), AgentRefusal> {
        fits("the title of an issue", issue.title.len(), ISSUE_TITLE_BYTES_MAX)?;
        fits("the body of an issue", issue.body.len(), ISSUE_BODY_BYTES_MAX)?;
        if issue.title.trim().is_empty() {
            return Err(AgentRefusal::NoTitle);
        }
        Ok(())
    }
}

impl Work for File {
    type Made = Option<Result<FiledIssue, AgentRefusal>>;
    const MAKES: bool = true;

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<(Self::Made, bool)> {
        let refused = |why| Ok((Some(Err(why)), false));
        let of_id = "SELECT body FROM issue WHERE id = ?1";
        let there = conn.prepare_cached(of_id)?.query_row([self.issue.id.as_str()], |row| json(row, 0));
        if let Some(there) = there.optional()? {
            return Ok((Some(Ok(there)), false));
        }
        let of_title = "SELECT body, no FROM issue WHERE title = ?1";
        let there = conn.prepare_cached(of_title)?.query_row([self.issue.title.as_bytes()], |row| {
            Ok((json::<FiledIssue>(row, 0)?, row.get::<_, i64>(1)?))
        });
        if let Some((mut issue, no)) = there.optional()? {
            issue.seen = issue.seen.saturating_add(1);
            let body = serde_json::to_vec(&issue).unwrap_or_default();
            conn.prepare_cached("UPDATE issue SET body = ?2 WHERE no = ?1")?.execute(params![no, body])?;
            return Ok((Some(Ok(issue)), true));
        }
        let kept = conn.prepare_cached("SELECT issues FROM mark")?.query_row([], |row| number(row, 0))?;
        if kept >= ISSUES_MAX {
            return refused(AgentRefusal::TooMany { what: "issues", max: ISSUES_MAX });
        }
        let issue = FiledIssue { seen: 1, ..self.issue.clone() };
        if let Some(why) = room(conn, bytes(&issue), false, self.shared.bytes_max)? {
            return refused(why);
        }
        bump(conn, bytes(&issue))?;
        conn.prepare_cached("UPDATE mark SET issues = issues + 1")?.execute([])?;
        let body = serde_json::to_vec(&issue).unwrap_or_default();
        let text = "INSERT INTO issue (id, title, body) VALUES (?1, ?2, ?3)";
        let row = params![issue.id.as_str(), issue.title.as_bytes(), body];
        conn.prepare_cached(text)?.execute(row)?;
        Ok((Some(Ok(issue)), true))
    }
}

pub(super) struct List {
    pub(super) after: Option<AgentId>,
    pub(super) rows_max: usize,
}

impl Look for List {
    type Made = Vec<FiledIssue>;

    fn of(&self, conn: &Connection) -> rusqlite::Result<Self::Made> {
        let Some(before) = behind(conn, "SELECT no FROM issue WHERE id = ?1", self.after.as_ref())? else {
            return Ok(Vec::new());
        };
        let text = "SELECT body FROM issue WHERE no < ?1 ORDER BY no DESC LIMIT ?2";
        let mut statement = conn.prepare_cached(text)?;
        let rows = statement.query_map([before, rows(self.rows_max)], |row| json(row, 0))?;
        rows.collect()
    }
}

pub(super) struct Remove {
    pub(super) id: AgentId,
}

impl Work for Remove {
    type Made = bool;
    const MAKES: bool = false;

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<(bool, bool)> {
        let text = "DELETE FROM issue WHERE id = ?1 RETURNING body";
        let gone = conn.prepare_cached(text)?.query_row([self.id.as_str()], |row| json(row, 0)).optional()?;
        let Some(gone) = gone else { return Ok((false, false)) };
        conn.prepare_cached("UPDATE mark SET issues = issues - 1")?.execute([])?;
        bump(conn, -bytes(&gone))?;
        Ok((true, true))
    }
}
