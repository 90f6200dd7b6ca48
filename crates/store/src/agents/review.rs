//! Questions to people. Whether one that waits still does is asked by the caller's time, and never written down by a look.

use std::sync::Arc;

use drydock_contract::{
    AgentId, Review, ReviewAnswer, ReviewState, Tenant, Timestamp,
    port::{AgentRefusal, REVIEW_BYTES_MAX, Wanted},
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{
    REVIEWS_MAX, REVIEWS_PENDING_MAX, Shared,
    look::{Look, millis, rows},
    row::{bump, fits, json, room, signed},
};
use crate::{commits::Work, key_values::number};

const PENDING: i64 = 0;
const ANSWERED: i64 = 1;
const EXPIRED: i64 = 2;

/// The columns of a review.
const REVIEW: &str = "state, expires, body";

/// A review as it is now.
fn read(row: &Row<'_>, now: Timestamp) -> rusqlite::Result<Review> {
    let (state, expires) = (row.get::<_, i64>(0)?, row.get::<_, Option<i64>>(1)?);
    let mut review: Review = json(row, 2)?;
    let is_over = state == EXPIRED || expires.is_some_and(|it| it <= millis(now.as_millis()));
    if is_over && review.state == ReviewState::Pending {
        review.state = ReviewState::Expired;
    }
    Ok(review)
}

/// As it is kept: who answered, and why, is somebody's text too.
fn written(review: &Review) -> Result<Vec<u8>, AgentRefusal> {
    // Its values were JSON before: there is nothing in it that JSON cannot say.
    let body = serde_json::to_vec(review).unwrap_or_default();
    fits("a review", body.len(), REVIEW_BYTES_MAX).map(|()| body)
}

/// One that is new.
pub(super) struct Ask {
    pub(super) shared: Arc<Shared>,
    pub(super) tenant: Tenant,
    pub(super) review: Review,
    pub(super) version: Option<u64>,
}

impl Work for Ask {
    type Made = Option<Result<(), AgentRefusal>>;
    const MAKES: bool = false;

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<(Self::Made, bool)> {
        self.version = None;
        let refused = |why| Ok((Some(Err(why)), false));
        let review = &self.review;
        let body = match written(review) {
            Ok(body) => body,
            Err(why) => return refused(why),
        };
        let text = "SELECT no FROM run WHERE id = ?1";
        let run = conn.prepare_cached(text)?.query_row([review.run.as_str()], |row| row.get::<_, i64>(0));
        let Some(run) = run.optional()? else { return refused(AgentRefusal::Absent) };
        let text = "SELECT run FROM review WHERE id = ?1";
        let there = conn.prepare_cached(text)?.query_row([review.id.as_str()], |row| row.get::<_, i64>(0));
        match there.optional()? {
            Some(of) if of == run => return Ok((Some(Ok(())), false)),
            Some(_) => return refused(AgentRefusal::Diverged),
            None => {}
        }
        let text = "SELECT count(*) FROM review WHERE state = 0 AND (expires IS NULL OR expires > ?1)";
        let asked = millis(review.asked_ms);
        let pending = conn.prepare_cached(text)?.query_row([asked], |row| number(row, 0))?;
        if pending >= REVIEWS_PENDING_MAX {
            return refused(AgentRefusal::TooMany { what: "reviews that wait", max: REVIEWS_PENDING_MAX });
        }
        let text = "SELECT reviews FROM mark";
        let kept = conn.prepare_cached(text)?.query_row([], |row| number(row, 0))?;
        if kept >= REVIEWS_MAX {
            return refused(AgentRefusal::TooMany { what: "reviews of runs", max: REVIEWS_MAX });
        }
        let more = signed(body.len());
        if let Some(why) = room(conn, more, false, self.shared.bytes_max)? {
            return refused(why);
        }
        let version = bump(conn, more)?;
        conn.prepare_cached("UPDATE mark SET reviews = reviews + 1")?.execute([])?;
        let text = "UPDATE run SET bytes = bytes + ?2, changed = ?3 WHERE no = ?1";
        conn.prepare_cached(text)?.execute([run, more, version.cast_signed()])?;
        let text = "INSERT INTO review (id, run, state, expires, body) VALUES (?1, ?2, ?3, ?4, ?5)";
        let expires = review.expires_ms.map(millis);
        conn.prepare_cached(text)?.execute(params![review.id.as_str(), run, PENDING, expires, body])?;
        self.version = Some(version);
        Ok((Some(Ok(())), true))
    }

    fn kept(&self, _: &Self::Made) {
        if let Some(version) = self.version {
            self.shared.news.own(&self.tenant, &self.review.run, version);
        }
    }
}

pub(super) struct Find {
    pub(super) id: AgentId,
    pub(super) now: Timestamp,
}

impl Look for Find {
    type Made = Option<Review>;

    fn of(&self, conn: &Connection) -> rusqlite::Result<Self::Made> {
        let text = format!("SELECT {REVIEW} FROM review WHERE id = ?1");
        let mut statement = conn.prepare_cached(&text)?;
        statement.query_row([self.id.as_str()], |row| read(row, self.now)).optional()
    }
}

pub(super) struct List {
    pub(super) run: Option<AgentId>,
    pub(super) wanted: Wanted,
    pub(super) rows_max: usize,
    pub(super) now: Timestamp,
}

impl Look for List {
    type Made = Vec<Review>;

    fn of(&self, conn: &Connection) -> rusqlite::Result<Self::Made> {
        let of_run = match self.run {
            Some(_) => "run = (SELECT no FROM run WHERE id = ?1)",
            None => "?1 IS NULL",
        };
        let now = millis(self.now.as_millis());
        let wanted = match self.wanted {
            Wanted::Pending => "state = 0 AND (expires IS NULL OR expires > ?2)",
            Wanted::All => "?2 IS NOT NULL",
        };
        let text = format!("SELECT {REVIEW} FROM review WHERE {of_run} AND {wanted} ORDER BY no LIMIT ?3");
        let mut statement = conn.prepare_cached(&text)?;
        let run = self.run.as_ref().map(AgentId::as_str);
        let rows = statement.query_map(params![run, now, rows(self.rows_max)], |row| read(row, self.now))?;
        rows.collect()
    }
}

/// The answer to one.
pub(super) struct Answer {
    pub(super) shared: Arc<Shared>,
    pub(super) tenant: Tenant,
    pub(super) id: AgentId,
    pub(super) answer: ReviewAnswer,
    pub(super) by: String,
    pub(super) now: Timestamp,
    pub(super) version: Option<(u64, AgentId)>,
}

impl Work for Answer {
    type Made = Option<Result<Review, AgentRefusal>>;
    const MAKES: bool = false;

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<(Self::Made, bool)> {
        self.version = None;
        let refused = |why| Ok((Some(Err(why)), false));
        let text = format!("SELECT {REVIEW}, no, run, length(body) FROM review WHERE id = ?1");
        let found = conn.prepare_cached(&text)?.query_row([self.id.as_str()], |row| {
            let (no, run) = (row.get::<_, i64>(3)?, row.get::<_, i64>(4)?);
            Ok((read(row, self.now)?, no, run, row.get::<_, i64>(5)?))
        });
        let Some((mut review, no, run, bytes)) = found.optional()? else {
            return refused(AgentRefusal::Absent);
        };
        match review.state {
            ReviewState::Pending => {}
            ReviewState::Answered { .. } => return refused(AgentRefusal::Answered),
            ReviewState::Expired => return refused(AgentRefusal::Expired),
        }
        let (given, by) = (self.answer.clone(), self.by.clone());
        review.state = ReviewState::Answered { given, by, at_ms: self.now.as_millis() };
        let body = match written(&review) {
            Ok(body) => body,
            Err(why) => return refused(why),
        };
        let more = signed(body.len()) - bytes;
        let text = "UPDATE review SET state = ?2, body = ?3 WHERE no = ?1";
        conn.prepare_cached(text)?.execute(params![no, ANSWERED, body])?;
        let version = bump(conn, more)?;
        let text = "UPDATE run SET bytes = bytes + ?2, changed = ?3 WHERE no = ?1";
        conn.prepare_cached(text)?.execute([run, more, version.cast_signed()])?;
        self.version = Some((version, review.run.clone()));
        Ok((Some(Ok(review)), true))
    }

    fn kept(&self, _: &Self::Made) {
        if let Some((version, run)) = &self.version {
            self.shared.news.own(&self.tenant, run, *version);
        }
    }
}
