//! What a shell inside this one begins with: variables, options, and what `-i` adds to them.
//!
//! `-i` means a shell that somebody would type to: it remembers its lines and keeps them in `HISTFILE`, runs
//! `PROMPT_COMMAND` before each, and an expansion that fails costs a line and not the shell. No prompt is written: nobody
//! types here.

use crate::{
    options::Options,
    state::Env,
    vars::{Value, Vars},
};

/// Where commands are for a shell that is not told.
pub(crate) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What a shell calls the one that its user would have.
pub(crate) const SHELL: &str = "/bin/bash";

/// How many lines a history file keeps, as bash has it.
const HISTORY_LINES: &str = "500";

/// Exported variables, and those every shell has.
pub(super) fn variables(env: &Env) -> Vars {
    let mut vars = Vars::new(env.shared.limits.variable_bytes_max);
    for (name, value) in env.vars.exported() {
        let var = vars.entry(name);
        var.value = Value::Scalar(value.to_owned());
        var.attributes.exported = true;
    }
    let level = env.vars.get("SHLVL").and_then(|it| it.parse::<u32>().ok()).unwrap_or(1);
    for (name, value) in [("IFS", " \t\n"), ("OPTIND", "1"), ("PS4", "+ "), ("PWD", &*env.dirs.cwd)] {
        vars.entry(name).value = Value::Scalar(value.to_owned());
    }
    for name in ["BASH_VERSION", "BASH", "HOSTNAME", "OSTYPE", "MACHTYPE", "HOSTTYPE", "UID", "EUID", "PPID"]
    {
        if let Some(value) = env.vars.get(name) {
            vars.entry(name).value = Value::Scalar(value.to_owned());
        }
    }
    for (name, value) in [("PATH", PATH), ("SHELL", SHELL)] {
        if vars.get(name).is_none() {
            vars.entry(name).value = Value::Scalar(value.to_owned());
        }
    }
    vars.entry("SHLVL").value = Value::Scalar(level.saturating_add(1).to_string());
    vars.entry("PWD").attributes.exported = true;
    // Its own options, and nobody's to set; exported they go on to the next shell.
    for name in ["BASHOPTS", "SHELLOPTS"] {
        let exported = env.vars.var(name).is_some_and(|it| it.attributes.exported);
        let attributes = &mut vars.entry(name).attributes;
        attributes.exported = exported;
        attributes.readonly = true;
    }
    vars
}

/// The options that a shell begins with: those of an exported `SHELLOPTS` are on.
pub(super) fn options(env: &mut Env) -> Options {
    let mut options = Options::default();
    if !env.vars.var("SHELLOPTS").is_some_and(|it| it.attributes.exported) {
        return options;
    }
    // A shell that a command started has them from its environment, as a text.
    let given = env.vars.get("SHELLOPTS").filter(|it| !it.is_empty()).map(str::to_owned);
    let given = given.unwrap_or_else(|| env.options.list().join(":"));
    for name in given.split(':') {
        if let Some(switch) = options.long(name) {
            *switch = true;
        }
    }
    options
}

/// What a shell begins with whose lines are typed at our own prompt, which remembers them for its editor by itself.
pub(crate) fn typed(env: &mut Env) {
    if let Some(switch) = env.options.long("history") {
        *switch = true;
    }
    if let Some(switch) = env.options.shopt("expand_aliases") {
        *switch = true;
    }
    if env.vars.get("HISTSIZE").is_none() {
        env.vars.entry("HISTSIZE").value = Value::Scalar(HISTORY_LINES.to_owned());
    }
}

/// What `-i` adds.
pub(super) fn interactive(inner: &mut Env) {
    for name in ["emacs", "histexpand", "history", "monitor"] {
        if let Some(switch) = inner.options.long(name) {
            *switch = true;
        }
    }
    if let Some(switch) = inner.options.shopt("expand_aliases") {
        *switch = true;
    }
    let file = format!("{}/.bash_history", inner.vars.get("HOME").unwrap_or_default());
    for (name, value) in [("HISTFILE", &*file), ("HISTSIZE", HISTORY_LINES), ("HISTFILESIZE", HISTORY_LINES)]
    {
        if inner.vars.get(name).is_none() {
            inner.vars.entry(name).value = Value::Scalar(value.to_owned());
        }
    }
}
