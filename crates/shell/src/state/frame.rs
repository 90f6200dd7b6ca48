//! The call frame: what a function, a sourced file, a loop or a test around a command changes while it runs.

use std::sync::Arc;

/// Who called a function, and from where.
#[derive(Debug, Clone)]
pub(crate) struct CallSite {
    /// The function.
    pub(crate) function: String,
    /// The line that called it.
    pub(crate) line: u32,
    /// The text the function was defined in.
    pub(crate) source: Arc<str>,
}

/// The frame of what is being evaluated. Its lists are shared with subshells until one of them calls something.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frame {
    /// `$1` and on.
    pub(crate) args: Arc<Vec<String>>,
    /// Functions that are running, the innermost last.
    pub(crate) calls: Arc<Vec<CallSite>>,
    /// Files being sourced, and the line that did.
    pub(crate) sources: Arc<Vec<(u32, Arc<str>)>>,
    /// Functions, `eval` and `source` inside one another.
    pub(crate) depth: u32,
    pub(crate) loops: u32,
    /// Above 0, failing does not end the shell however `-e` is set.
    pub(crate) tested: u32,
    /// References and prompts inside one another.
    pub(crate) inside_itself: u32,
}

impl Frame {
    pub(super) fn fork(&self) -> Self {
        Self { loops: 0, ..self.clone() }
    }

    /// A frame with nothing around it, for a shell inside this one.
    pub(crate) fn outermost(&self, args: Vec<String>) -> Self {
        let (depth, inside_itself) = (self.depth, self.inside_itself);
        Self { args: Arc::new(args), depth, inside_itself, ..Self::default() }
    }

    /// What stays when a line ended: the arguments of the shell.
    pub(super) fn after_line(&mut self) {
        *self = Self { args: std::mem::take(&mut self.args), ..Self::default() };
    }

    pub(crate) fn is_in_function(&self) -> bool {
        !self.calls.is_empty()
    }

    pub(crate) fn enter(&mut self, site: CallSite) {
        self.depth += 1;
        Arc::make_mut(&mut self.calls).push(site);
    }

    pub(crate) fn leave(&mut self) {
        Arc::make_mut(&mut self.calls).pop();
        self.depth -= 1;
    }
}
