//! Sub-agents of a run that is driven here: who may be called for, and what they ask people.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use drydock_embed::{
    agent::{Definitions, DockAgents, Event, catalogue::AGENT, definition::AgentDefinition, read_definition},
    contract::{AgentHead, AgentId, Review, port::Wanted},
};

use super::{told, view::View};
use crate::exit;

/// Between two looks whether one of them waits for a person.
pub(super) const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Reviews that are looked at, at once.
const REVIEWS_MAX: usize = 256;
/// How far above a run its parents are looked for: no sub-agent is deeper.
const DEPTH_MAX: usize = 4;

/// Finds definitions by the names of their files.
pub(super) fn definitions(folder: PathBuf) -> Arc<Definitions> {
    Arc::new(move |name: &str| defined_in(&folder, name))
}

/// The agent of that name in a folder. A model says the name: it is a file's in the folder, or it is nobody's.
fn defined_in(folder: &Path, name: &str) -> Option<AgentDefinition> {
    let is_plain = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0']);
    let files = ["md", "org"].iter().filter(|_| is_plain).map(|it| folder.join(format!("{name}.{it}")));
    files.filter(|it| it.is_file()).find_map(|it| read_definition(&it).ok())
}

/// What sub-agents of a run ask. The call of their parent waits for the answer, and no event of that says so.
pub(super) struct Questions {
    told: BTreeSet<AgentId>,
    has_called: bool,
}

impl Questions {
    /// Of a run that is this far: one that had turns before may go on with a sub-agent that it called for then.
    pub(super) fn of(head: &AgentHead) -> Self {
        Self { told: BTreeSet::new(), has_called: head.steps > 0 }
    }

    /// Something happened in the run.
    pub(super) fn happened(&mut self, event: &Event) {
        self.has_called |= matches!(event, Event::Calling { tool, .. } if tool == AGENT);
    }

    /// Whether there is a sub-agent that could ask.
    pub(super) fn may_come(&self) -> bool {
        self.has_called
    }

    /// Tells each question once. Where they cannot be read now, the next look tells them.
    pub(super) async fn tell(&mut self, agents: &DockAgents, run: &AgentId, view: &mut View) {
        let waiting = agents.reviews(None, Wanted::Pending, REVIEWS_MAX).await.unwrap_or_default();
        for review in waiting {
            let is_new = review.run != *run && !self.told.contains(&review.id);
            if !is_new || !is_below(agents, &review.run, run).await {
                continue;
            }
            view.wipe();
            exit::warn(&format!(
                "sub-agent {} waits for a person: review {}: {}\n`drydock review approve {} --once` says yes",
                review.run,
                review.id,
                told::short(&review.title),
                review.id
            ));
            self.told.insert(review.id);
        }
    }
}

/// What a run and its sub-agents ask people, the oldest first.
pub(super) async fn waiting(agents: &DockAgents, run: &AgentId) -> anyhow::Result<Vec<Review>> {
    let mut all = Vec::new();
    for review in agents.reviews(None, Wanted::Pending, REVIEWS_MAX).await? {
        if review.run == *run || is_below(agents, &review.run, run).await {
            all.push(review);
        }
    }
    Ok(all)
}

/// Whether a run is below another one: called for by it, or by one that is.
async fn is_below(agents: &DockAgents, run: &AgentId, above: &AgentId) -> bool {
    let mut at = run.clone();
    for _ in 0..DEPTH_MAX {
        match agents.show(&at).await.ok().and_then(|it| it.parent) {
            Some(parent) if parent == *above => return true,
            Some(parent) => at = parent,
            None => break,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_a_model_names_is_a_file_of_the_folder_or_nobodys() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("agents");
        std::fs::create_dir(&folder).unwrap();
        for file in ["agents/ada.md", "agents/.hidden.md", "out.md"] {
            std::fs::write(root.path().join(file), "---\nname: ada\n---\nBe kind.").unwrap();
        }
        std::os::unix::fs::symlink(root.path().join("out.md"), folder.join("link.md")).unwrap();
        assert_eq!(defined_in(&folder, "ada").unwrap().prompt, "Be kind.");
        for name in
            ["", ".hidden", "../out", "../agents/ada", "/etc/passwd", "ada\0", "x\\ada", "link", "bob"]
        {
            assert!(defined_in(&folder, name).is_none(), "{name:?}");
        }
    }
}
