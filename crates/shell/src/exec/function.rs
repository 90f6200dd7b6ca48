//! Calls of functions.

use std::sync::Arc;

use crate::{
    state::{CallSite, Env, Eval, Flow},
    syntax::ast::Function,
};

/// Every so many calls the rest runs as a task of its own, so that recursion costs heap, not stack.
const CALLS_PER_TASK: u32 = 4;

impl Env {
    pub(super) async fn call(&mut self, function: &Arc<Function>, words: Vec<String>) -> Eval<()> {
        if self.frame.depth >= self.shared.limits.call_depth_max {
            let max = self.shared.limits.call_depth_max;
            return Err(self.abort(format!("functions are nested deeper than {max}")));
        }
        let mut words = words.into_iter();
        words.next();
        let args = std::mem::replace(&mut self.frame.args, Arc::new(words.collect()));
        let loops = std::mem::replace(&mut self.frame.loops, 0);
        let line = self.trace.line;
        let source = self.definitions.defined_in.get(&function.name).cloned();
        let source = source.unwrap_or_else(|| self.identity.base_name());
        self.frame.enter(CallSite { function: function.name.clone(), line, source });
        self.vars.push_scope();
        let depth = self.vars.depth();
        // Functions do not see the RETURN trap of their caller; one they set themselves stays.
        let outer = match self.traps.has("RETURN") && !self.options.functrace {
            true => self.traps.set_mut().remove("RETURN"),
            false => None,
        };
        let result = if self.frame.depth.is_multiple_of(CALLS_PER_TASK) {
            self.call_apart(function).await
        } else {
            self.run_command(&function.body).await
        };
        if let Ok(()) | Err(Flow::Return(_)) = result
            && self.traps.has("RETURN")
        {
            self.run_trap("RETURN").await?;
        }
        if let Some(outer) = outer
            && !self.traps.set.contains_key("RETURN")
        {
            self.traps.set_mut().insert("RETURN".into(), outer);
        }
        while self.vars.depth() >= depth {
            self.vars.pop_scope();
        }
        self.frame.leave();
        self.trace.line = line;
        self.frame.loops = loops;
        self.frame.args = args;
        match result {
            Err(Flow::Return(status)) => {
                self.status = status;
                Ok(())
            }
            Err(Flow::Break(_) | Flow::Continue(_)) => Ok(()),
            other => other,
        }
    }

    async fn call_apart(&mut self, function: &Arc<Function>) -> Eval<()> {
        let hollow = self.hollow();
        let mut env = std::mem::replace(self, hollow);
        let body = Arc::clone(&function.body);
        let handle = self.shared.tasks.spawn(async move {
            let result = env.run_command(&body).await;
            (env, result)
        });
        let (env, result) = handle.await;
        *self = env;
        result
    }
}
