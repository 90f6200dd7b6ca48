//! `file_issue`: what is missing, told to whoever maintains this. The same title again is the same issue, seen once more.

use drydock_agent::tools::{FileIssueArguments, ToolOutput};
use drydock_contract::{AgentId, FiledIssue};

use super::{AgentTools, ToolError};

impl AgentTools {
    pub(super) async fn file_issue(&self, issue: FileIssueArguments) -> Result<ToolOutput, ToolError> {
        let FileIssueArguments { title, need, tried } = issue;
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let sections = [("Need", need.trim()), ("Tried", tried.trim())];
        let said = sections.iter().filter(|it| !it.1.is_empty());
        let body = said.map(|(name, text)| format!("## {name}\n{text}\n")).collect::<Vec<_>>().join("\n");
        // A call that was in flight when its run was interrupted files the same issue again, and it counts once.
        let mut hash = blake3::Hasher::new();
        for part in [self.run.as_str(), &title, &body] {
            hash.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        let mut bits = [0; 16];
        hash.finalize_xof().fill(&mut bits);
        let issue = FiledIssue {
            id: AgentId::of(u128::from_le_bytes(bits)),
            run: self.run.clone(),
            title,
            body,
            filed_ms: self.clock.now().0 / 1_000_000,
            seen: 1,
        };
        let kept = self.issues.file_issue(self.dock.tenant(), issue).await;
        let kept = kept.map_err(|error| ToolError::new("not_kept", error.to_string()))?;
        let kept = kept.map_err(|refusal| ToolError::new(refusal.code(), refusal.to_string()))?;
        let seen = match kept.seen {
            0 | 1 => String::new(),
            more => format!(" (filed {more} times by now)"),
        };
        let told = format!("issue filed: {}{seen}. Go on without what it asks for.", kept.id);
        Ok(ToolOutput { files_changed: Some(false), ..ToolOutput::text(told) })
    }
}
