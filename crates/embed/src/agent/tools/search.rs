//! `search`: full text over the files of the run. The index is the run's own, in memory; each search first looks what has
//! changed.

use std::{
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use drydock_agent::tools::{SearchArguments, ToolOutput};
use drydock_store::{FoundFile, FullText, FullTextFound, FullTextLimits, Searching};

use super::{AgentTools, ToolError, off_thread};

/// What is written of a run into its own files is nothing that it looks for.
const SKIPPED: [&str; 4] = [".git", ".drydock", "_steps.jsonl", "_events.org"];

/// The index of one run.
pub(super) fn index() -> FullText {
    let skip = SKIPPED.map(str::to_owned).into();
    FullText::new(FullTextLimits { skip, ..FullTextLimits::default() })
}

impl AgentTools {
    pub(super) async fn search(&self, wanted: SearchArguments) -> Result<ToolOutput, ToolError> {
        let (index, files) = (Arc::clone(&self.index), Arc::clone(&self.files.files));
        let given_up = Arc::<AtomicBool>::default();
        let _gives_up = GivesUp(Arc::clone(&given_up));
        let work = move || {
            let cancelled = Some(Arc::new(move || given_up.load(Ordering::Relaxed)) as _);
            let found =
                index.search(&*files, &wanted.query, &Searching { cancelled, ..Searching::default() });
            found.map(|it| told(&it)).map_err(|error| ToolError::new(error.code(), error.to_string()))
        };
        Ok(ToolOutput::text(off_thread(work).await?))
    }
}

/// Tells a search that nobody waits for it any more.
struct GivesUp(Arc<AtomicBool>);

impl Drop for GivesUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn told(found: &FullTextFound) -> String {
    let mut text = String::new();
    if found.rows.is_empty() {
        let _ = writeln!(text, "(no relevant context found in {} files)", found.files);
    }
    if found.has_some_only {
        text.push_str("No file has all of these words. Files with some of them:\n");
    }
    for FoundFile { path, line, snippet, lines_found, .. } in &found.rows {
        let more = match lines_found {
            0 | 1 => String::new(),
            more => format!(" ({more} lines)"),
        };
        let _ = writeln!(text, "[/{}:{line}]{more} {snippet}", path.trim_start_matches('/'));
    }
    if !found.is_complete {
        text.push_str("[not all files were read in time; search once more to go on]\n");
    }
    let left = found.left_out;
    for (count, why) in [
        (left.too_large, "too large"),
        (left.no_room, "beyond what an index holds"),
        (left.unreadable, "not to be read"),
    ] {
        if count > 0 {
            let _ = writeln!(text, "[{count} files were left out: {why}; `shell` looks into them (grep)]");
        }
    }
    text
}
