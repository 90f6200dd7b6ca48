//! `trap`. There are no signals; `EXIT` and `ERR` happen, the others are remembered.
//!
//! The action is parsed when it is set. Text that came out of an expansion may not carry syntax into
//! it unless `eval` is allowed: the action is parsed once, like everything.

use std::sync::Arc;

use crate::shell::{
    expand::quote,
    state::{Env, Eval, Trap},
    syntax,
};

fn normal(name: &str) -> Option<String> {
    let name = name.to_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name).to_owned();
    const KNOWN: [&str; 16] = [
        "EXIT", "ERR", "DEBUG", "RETURN", "INT", "TERM", "HUP", "QUIT", "PIPE", "USR1", "USR2", "ALRM",
        "CHLD", "WINCH", "TSTP", "CONT",
    ];
    match name.as_str() {
        "0" => Some("EXIT".into()),
        "1" => Some("HUP".into()),
        "2" => Some("INT".into()),
        "3" => Some("QUIT".into()),
        "15" => Some("TERM".into()),
        other if KNOWN.contains(&other) => Some(name),
        _ => None,
    }
}

pub(super) async fn run(env: &mut Env, args: &[String]) -> Eval<i32> {
    let args: Vec<&String> = args.iter().filter(|it| *it != "--").collect();
    if args.is_empty() || args[0] == "-p" || args[0] == "-l" {
        let mut lines: Vec<String> = env
            .traps
            .iter()
            .map(|(name, trap)| {
                let name = if matches!(name.as_str(), "EXIT" | "ERR" | "DEBUG" | "RETURN") {
                    name.clone()
                } else {
                    format!("SIG{name}")
                };
                format!("trap -- {} {name}\n", quote::single(&trap.text))
            })
            .collect();
        lines.sort_unstable();
        let text = lines.concat();
        env.print(&text).await?;
        return Ok(0);
    }
    let (action, names) = match args.as_slice() {
        [only] => (None, std::slice::from_ref(only)),
        [first, names @ ..] if first.as_str() == "-" => (None, names),
        [first, names @ ..] => (Some((*first).clone()), names),
        [] => return Ok(0),
    };
    let mut status = 0;
    let mut trap = None;
    if let Some(text) = action {
        let script = match syntax::parse(&text, env.shared.limits.parse()) {
            Ok(script) => Arc::new(script),
            Err(error) => {
                env.complain(&format!("trap: {error}")).await?;
                return Ok(2);
            }
        };
        trap = Some(Trap { text, script: Some(script) });
    }
    for name in names {
        let Some(name) = normal(name) else {
            env.complain(&format!("trap: {name}: invalid signal specification")).await?;
            status = 1;
            continue;
        };
        let traps = Arc::make_mut(&mut env.traps);
        match &trap {
            Some(trap) => {
                traps.insert(name, trap.clone());
            }
            None => {
                traps.remove(&name);
            }
        }
    }
    Ok(status)
}
