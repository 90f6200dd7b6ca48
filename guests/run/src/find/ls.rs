//! `-ls`: a line as `ls -dils` has it.

use super::walk::Entry;
use facts::{Kind, Time, owner};

/// Files older than half a year show their year instead of the time of day.
const RECENT_SECONDS: i64 = 15_778_476;

/// The line, with its end.
pub(super) fn line(entry: &Entry<'_>) -> String {
    let Some(facts) = entry.facts() else { return String::new() };
    let user = owner::user(facts.owner).unwrap_or_else(|| facts.owner.to_string());
    let group = owner::group(facts.group).unwrap_or_else(|| facts.group.to_string());
    let time = facts.modified;
    let piece = |letter| time.piece(letter).unwrap_or_default();
    let age = Time::now().seconds - time.seconds;
    let clock = if (0..RECENT_SECONDS).contains(&age) { piece('R') } else { format!(" {}", piece('Y')) };
    let target = match facts.kind {
        Kind::Symlink => format!(" -> {}", entry.link_text().unwrap_or_default()),
        _ => String::new(),
    };
    format!(
        "{:9} {:6} {} {:3} {:8} {:8} {:8} {} {} {clock} {}{target}\n",
        facts.inode,
        facts.blocks.div_ceil(2),
        facts.mode_text(),
        facts.links,
        user,
        group,
        facts.size,
        piece('b'),
        piece('e'),
        entry.path,
    )
}
