//! What `declare -p`, `export` and their like list.

use super::declare::Wanted;
use crate::{
    expand::quote,
    show,
    state::{Env, Eval},
    vars::{Value, Var},
};

impl Env {
    pub(super) async fn print_one(&mut self, name: &str) -> Eval<()> {
        let computed = match name {
            "FUNCNAME" if !self.frame.is_in_function() => return self.print("declare -a FUNCNAME\n").await,
            "FUNCNAME" | "BASH_SOURCE" | "BASH_LINENO" | "PIPESTATUS" | "DIRSTACK" | "BASH_ALIASES"
            | "BASH_CMDS" | "GROUPS" => self.dynamic(name).map(|value| Var { value, ..Var::default() }),
            "BASHOPTS" | "SHELLOPTS" => {
                let attributes = self.vars.own(name).map(|it| it.attributes).unwrap_or_default();
                self.dynamic(name).map(|value| Var { value, attributes })
            }
            _ => None,
        };
        match computed.or_else(|| self.vars.own(name).cloned()) {
            Some(var) => {
                let line = quote::declaration(name, &var) + "\n";
                self.print(&line).await
            }
            None => {
                self.complain(&format!("declare: {name}: not found")).await?;
                self.status = 1;
                Ok(())
            }
        }
    }

    pub(super) async fn print_function(&mut self, name: &str, names_only: bool) -> Eval<()> {
        match self.definitions.functions.get(name).cloned() {
            // Whoever debugs is told where it stands.
            Some(function) if names_only && self.options.shopt("extdebug").is_some_and(|it| *it) => {
                let file = self.definitions.defined_in.get(name).cloned();
                let file = file.unwrap_or_else(|| self.identity.base_name());
                self.print(&format!("{name} {} {file}\n", function.source.line)).await
            }
            Some(_) if names_only => self.print(&format!("{name}\n")).await,
            Some(function) => self.print(&format!("{}\n", show::function(&function))).await,
            None => {
                self.status = 1;
                Ok(())
            }
        }
    }

    pub(super) async fn list_declared(&mut self, by: &str, wanted: Wanted) -> Eval<()> {
        if wanted.functions || wanted.names_only {
            let mut names: Vec<String> = self.definitions.functions.keys().cloned().collect();
            names.sort_unstable();
            for name in names {
                if wanted.names_only {
                    self.print(&format!("declare -f {name}\n")).await?;
                } else {
                    self.print_function(&name, false).await?;
                }
            }
            return Ok(());
        }
        let mut text = String::new();
        for name in self.vars.names() {
            let Some(var) = self.vars.own(&name) else { continue };
            let fits = match by {
                "export" => var.attributes.exported,
                "readonly" => var.attributes.readonly,
                "local" => self.vars.is_local(&name),
                _ => {
                    (!wanted.map || matches!(var.value, Value::Assoc(_)))
                        && (!wanted.array || matches!(var.value, Value::Indexed(_)))
                        && (wanted.exported.is_none() || var.attributes.exported)
                        && (!wanted.readonly || var.attributes.readonly)
                        && (wanted.integer.is_none() || var.attributes.integer)
                        && (wanted.nameref.is_none() || var.attributes.nameref)
                }
            };
            if !fits {
                continue;
            }
            let plain = matches!(by, "declare" | "typeset") && !wanted.print && wanted.plain();
            if !plain {
                text.push_str(&quote::declaration(&name, var));
                text.push('\n');
            } else if let Some(line) = quote::listed(&name, var) {
                text.push_str(&line);
                text.push('\n');
            }
        }
        self.print(&text).await
    }
}
