//! Hunks that were not applied, as a unified diff for a person to look at.

use super::script::{FilePatch, Hunk, Op};
use super::target::Target;

pub(super) fn text(patch: &FilePatch, target: &Target, hunks: &[Hunk], reversed: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let head = |mark: &str, fallback: &str| {
        let found = patch.head.iter().rev().find(|it| it.starts_with(mark));
        found.map_or_else(|| fallback.to_owned(), |line| line[mark.len()..].to_owned())
    };
    let is_unified = patch.head.iter().any(|it| it.starts_with("+++ "));
    let (old, new) = match is_unified {
        true => (head("--- ", &target.from), head("+++ ", &target.to)),
        false => (head("*** ", &target.from), head("--- ", &target.to)),
    };
    let (old, new) = if reversed { (new, old) } else { (old, new) };
    out.extend_from_slice(format!("--- {old}\n+++ {new}\n").as_bytes());
    for hunk in hunks {
        let span = |start: usize, without: Op| match hunk.side(without).count() {
            1 => start.to_string(),
            count => format!("{start},{count}"),
        };
        let (old, new) = (span(hunk.old_start, Op::Insert), span(hunk.new_start, Op::Delete));
        out.extend_from_slice(format!("@@ -{old} +{new} @@\n").as_bytes());
        for (op, line) in &hunk.lines {
            out.push(match op {
                Op::Keep => b' ',
                Op::Delete => b'-',
                Op::Insert => b'+',
            });
            out.extend_from_slice(line);
            if !line.ends_with(b"\n") {
                out.extend_from_slice(b"\n\\ No newline at end of file\n");
            }
        }
    }
    out
}
