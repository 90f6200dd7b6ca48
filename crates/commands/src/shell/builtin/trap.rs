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
    if let Ok(number) = name.parse::<usize>() {
        let known = number.checked_sub(1).and_then(|at| super::signals::NAMES.get(at));
        return if number == 0 { Some("EXIT".into()) } else { known.map(|it| (*it).to_owned()) };
    }
    let other = ["EXIT", "DEBUG", "ERR", "RETURN"];
    (other.contains(&name.as_str()) || super::signals::NAMES.contains(&name.as_str())).then_some(name)
}

pub(super) async fn run(env: &mut Env, args: &[String]) -> Eval<i32> {
    let args: Vec<&String> = args.iter().filter(|it| *it != "--").collect();
    if args.first().is_some_and(|it| it.as_str() == "-l") {
        return super::signals::list(env, "trap", &[]).await;
    }
    if args.is_empty() || args[0] == "-p" {
        let asked: Vec<String> = args.iter().skip(1).filter_map(|name| normal(name)).collect();
        let mut lines: Vec<String> = Vec::new();
        // The order in which bash lists them.
        let order = ["EXIT"].into_iter().chain(super::signals::NAMES).chain(["DEBUG", "ERR", "RETURN"]);
        for name in order {
            let Some(trap) = env.traps.get(name) else { continue };
            if !asked.is_empty() && !asked.iter().any(|it| it == name) {
                continue;
            }
            let real = !matches!(name, "EXIT" | "ERR" | "DEBUG" | "RETURN");
            let shown = if real { format!("SIG{name}") } else { name.to_owned() };
            lines.push(format!("trap -- {} {shown}\n", quote::single(&trap.text)));
        }
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
        // An action that is no script is an error when the trap is due, and not before.
        let script = match syntax::parse(&text, env.shared.limits.parse()) {
            Ok(script) => Some(Arc::new(script)),
            Err(error) => {
                let happens =
                    names.iter().any(|name| matches!(normal(name).as_deref(), Some("EXIT" | "ERR")));
                if happens {
                    env.complain(&format!("trap: {error}")).await?;
                    return Ok(2);
                }
                None
            }
        };
        trap = Some(Trap { text, script });
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
