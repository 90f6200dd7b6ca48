//! `wb`: the texts of the run's toolkits, on demand.

use drydock_agent::{
    toolkit::wb,
    tools::{ToolOutput, WbArguments},
};

use super::AgentTools;

impl AgentTools {
    pub(super) fn toolkit(&self, wanted: &WbArguments) -> ToolOutput {
        let told = wb(&self.toolkits, &wanted.args);
        let (exit_code, files_changed) = (Some(told.exit_code), Some(false));
        ToolOutput { exit_code, files_changed, ..ToolOutput::text(told.output) }
    }
}
