//! The end of leases. A lease whose time is over and whose message nobody took since still ends well: what is done is done.

use drydock_contract::{
    Timestamp,
    port::{LeaseId, Settling},
};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{
    sql::{bury, topic},
    take::remove,
};
use crate::{commits::Work, key_values::nanos};

pub(super) struct Settle {
    pub(super) topic: Vec<u8>,
    pub(super) leases: Vec<LeaseId>,
    pub(super) settling: Settling,
    pub(super) now: Timestamp,
}

impl Work for Settle {
    type Made = Vec<bool>;
    const MAKES: bool = false;

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<(Vec<bool>, bool)> {
        let Some((id, _)) = topic(conn, &self.topic)? else {
            return Ok((vec![false; self.leases.len()], false));
        };
        let text = "SELECT attempts >= attempts_max FROM message
            WHERE id = ?1 AND topic = ?2 AND attempts = ?3 AND is_leased = 1";
        let mut statement = conn.prepare_cached(text)?;
        let (mut settled, mut held, mut dead) = (Vec::new(), Vec::new(), Vec::new());
        for lease in &self.leases {
            let message = lease.message.cast_signed();
            let found: Option<bool> =
                statement.query_row(params![message, id, lease.attempt], |row| row.get(0)).optional()?;
            // One that is named twice is ended once.
            let is_new = !held.contains(&lease.message) && !dead.contains(&message);
            settled.push(found.is_some() && is_new);
            match found.filter(|_| is_new) {
                Some(true) if self.settling != Settling::Done => dead.push(message),
                Some(_) => held.push(lease.message),
                None => {}
            }
        }
        match self.settling {
            Settling::Done if held.is_empty() => {}
            Settling::Done => remove(conn, id, held.iter().copied())?,
            Settling::Again(from) => {
                if !bury(conn, &self.topic, id, &dead)? {
                    held.extend(dead.iter().map(|it| it.cast_unsigned()));
                }
                let text = "UPDATE message SET visible = ?2, is_leased = 0 WHERE id = ?1";
                let mut statement = conn.prepare_cached(text)?;
                let from = nanos(from.max(self.now));
                for message in &held {
                    statement.execute([message.cast_signed(), from])?;
                }
            }
        }
        let any = settled.contains(&true);
        Ok((settled, any))
    }
}
