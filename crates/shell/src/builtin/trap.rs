//! `trap`: what to do at the end, at a failure, before each command, or when `kill` sends a signal.
//!
//! The action is parsed when it is set. Text that came out of an expansion may not carry syntax into
//! it unless `eval` is allowed: the action is parsed once, like everything.

use std::sync::Arc;

use crate::{
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
    let (mut args, mut prints) = (args, args.is_empty());
    while let [first, rest @ ..] = args {
        match first.as_str() {
            "-l" => return super::signals::list(env, "trap", &[]).await,
            "-p" => prints = true,
            "--" => {
                args = rest;
                break;
            }
            "-" => break,
            other if other.starts_with('-') => {
                env.complain(&format!("trap: {other}: invalid option")).await?;
                return Ok(2);
            }
            _ => break,
        }
        args = rest;
    }
    if prints || args.is_empty() {
        return print(env, args).await;
    }
    let unsigned = !args[0].is_empty() && args[0].bytes().all(|it| it.is_ascii_digit());
    let (action, names) = match args {
        [only] if only == "-" || normal(only).is_none() => {
            env.announce("trap: usage: trap [-lp] [[arg] signal_spec ...]").await?;
            return Ok(2);
        }
        [_] => (None, args),
        // A number alone is a signal, and no command.
        [_, ..] if unsigned => (None, args),
        [first, names @ ..] if first == "-" => (None, names),
        [first, names @ ..] => (Some(first.clone()), names),
        [] => return Ok(0),
    };
    // An action that is no script is an error when the trap is due, and not before.
    let trap = action.map(|text| {
        let script = syntax::parse(&text, (&env.shared.limits).into()).ok().map(Arc::new);
        Trap { text, script, inert: false }
    });
    let mut status = 0;
    let traps = env.traps.set_mut();
    // A subshell that sets one forgets those of the shell around it.
    traps.retain(|_, trap| !trap.inert);
    let mut strangers = Vec::new();
    for word in names {
        match (normal(word), &trap) {
            (Some(name), Some(trap)) => drop(traps.insert(name, trap.clone())),
            (Some(name), None) => drop(traps.remove(&name)),
            (None, _) => strangers.push(word),
        }
    }
    let handled: Vec<u8> = traps.keys().filter_map(|it| super::signals::number(it)).collect();
    if env.traps.owns_inbox {
        env.traps.inbox.handle(handled.into_iter().filter(|it| *it > 0));
        env.tell_interrupts();
    }
    for word in strangers {
        env.complain(&format!("trap: {word}: invalid signal specification")).await?;
        status = 1;
    }
    Ok(status)
}

async fn print(env: &mut Env, args: &[String]) -> Eval<i32> {
    let asked: Vec<String> = args.iter().filter_map(|name| normal(name)).collect();
    let mut text = String::new();
    // As asked for, or in the order of their numbers.
    let order = ["EXIT"].into_iter().chain(super::signals::NAMES).chain(["DEBUG", "ERR", "RETURN"]);
    let names: Vec<&str> = match asked.is_empty() {
        true => order.collect(),
        false => asked.iter().map(String::as_str).collect(),
    };
    for name in names {
        let Some(trap) = env.traps.set.get(name) else { continue };
        let real = !matches!(name, "EXIT" | "ERR" | "DEBUG" | "RETURN");
        let shown = if real { format!("SIG{name}") } else { name.to_owned() };
        text.push_str(&format!("trap -- '{}' {shown}\n", trap.text.replace('\'', "'\\''")));
    }
    let written = env.write(1, &crate::text::to_bytes(&text)).await?;
    Ok(i32::from(!written))
}
