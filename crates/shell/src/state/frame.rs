//! The call frame: what a function, a sourced file, a loop or a test around a command changes while it runs.

use std::sync::Arc;

/// Who called a function or sourced a file, and from where.
#[derive(Debug, Clone)]
pub(crate) struct CallSite {
    /// The function, or `source`.
    pub(crate) function: String,
    /// The line that called it.
    pub(crate) line: u32,
    /// The text the function was defined in, or the file.
    pub(crate) source: Arc<str>,
}

/// The frame of what is being evaluated. Its lists are shared with subshells until one of them calls something.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frame {
    /// `$1` and on.
    pub(crate) args: Arc<Vec<String>>,
    /// Functions that are running and files being sourced, the innermost last.
    pub(crate) calls: Arc<Vec<CallSite>>,
    /// How many of them are functions.
    functions: u32,
    /// The files among them.
    pub(crate) sources: Arc<Vec<Arc<str>>>,
    /// Functions, `eval` and `source` inside one another.
    pub(crate) depth: u32,
    /// How deep the text began that this shell was given: not at 0 for a shell inside another one.
    outermost_depth: u32,
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
        Self { args: Arc::new(args), depth, outermost_depth: depth, inside_itself, ..Self::default() }
    }

    /// What stays when a line ended: the arguments of the shell.
    pub(super) fn after_line(&mut self) {
        *self = Self { args: std::mem::take(&mut self.args), ..Self::default() };
    }

    pub(crate) fn is_in_function(&self) -> bool {
        self.functions > 0
    }

    /// Whether it is the shell's own text that runs, and nothing that this called, sourced or evaluated.
    pub(crate) fn is_outermost(&self) -> bool {
        self.depth == self.outermost_depth
    }

    pub(crate) fn enter(&mut self, site: CallSite) {
        self.depth += 1;
        self.functions += 1;
        Arc::make_mut(&mut self.calls).push(site);
    }

    pub(crate) fn leave(&mut self) {
        Arc::make_mut(&mut self.calls).pop();
        self.functions -= 1;
        self.depth -= 1;
    }

    /// A file is sourced. It counts as deeper only while its text runs.
    pub(crate) fn enter_source(&mut self, path: &str, line: u32) {
        let source: Arc<str> = path.into();
        Arc::make_mut(&mut self.sources).push(Arc::clone(&source));
        Arc::make_mut(&mut self.calls).push(CallSite { function: "source".to_owned(), line, source });
    }

    pub(crate) fn leave_source(&mut self) {
        Arc::make_mut(&mut self.sources).pop();
        Arc::make_mut(&mut self.calls).pop();
    }
}
