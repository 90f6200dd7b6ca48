//! Calls of functions.

use std::sync::Arc;

use crate::shell::{
    state::{Env, Eval, Flow},
    syntax::ast::Function,
};

/// Every so many calls the rest runs as a task of its own, so that recursion costs heap, not stack.
const CALLS_PER_TASK: u32 = 4;

impl Env {
    pub(super) async fn call(&mut self, function: &Arc<Function>, words: Vec<String>) -> Eval<()> {
        if self.call_depth >= self.shared.limits.call_depth_max {
            let max = self.shared.limits.call_depth_max;
            return Err(self.abort(format!("functions are nested deeper than {max}")));
        }
        let mut words = words.into_iter();
        words.next();
        let args = std::mem::replace(&mut self.args, Arc::new(words.collect()));
        let loops = std::mem::replace(&mut self.loops, 0);
        self.call_depth += 1;
        self.calls.push(function.name.clone());
        let line = self.line;
        let source = self.defined_in.get(&function.name).cloned().unwrap_or_else(|| self.base_name());
        self.sites.push((line, source));
        self.vars.push_scope();
        let depth = self.vars.depth();
        // Functions do not see the RETURN trap of their caller; one they set themselves stays.
        let outer = match self.has_trap("RETURN") && !self.options.functrace {
            true => Arc::make_mut(&mut self.traps).remove("RETURN"),
            false => None,
        };
        let result = if self.call_depth.is_multiple_of(CALLS_PER_TASK) {
            self.call_apart(function).await
        } else {
            self.run_command(&function.body).await
        };
        if let Ok(()) | Err(Flow::Return(_)) = result
            && self.has_trap("RETURN")
        {
            self.run_trap("RETURN").await?;
        }
        if let Some(outer) = outer
            && !self.traps.contains_key("RETURN")
        {
            Arc::make_mut(&mut self.traps).insert("RETURN".into(), outer);
        }
        while self.vars.depth() >= depth {
            self.vars.pop_scope();
        }
        self.calls.pop();
        self.sites.pop();
        self.line = line;
        self.call_depth -= 1;
        self.loops = loops;
        self.args = args;
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
