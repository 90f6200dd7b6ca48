//! `set`, `shopt`, `shift`.

use std::sync::Arc;

use crate::{
    expand::quote,
    state::{Env, Eval},
};

pub(super) async fn set(env: &mut Env, args: &[String]) -> Eval<i32> {
    if args.is_empty() {
        let mut text = String::new();
        for name in env.vars.names() {
            if let Some(line) = env.vars.own(&name).and_then(|var| quote::listed(&name, var)) {
                text.push_str(&line);
                text.push('\n');
            }
        }
        env.print(&text).await?;
        return Ok(0);
    }
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let on = arg.starts_with('-');
        match arg.as_str() {
            "--" => {
                env.frame.args = Arc::new(rest.cloned().collect());
                return Ok(0);
            }
            "-" => {
                env.options.xtrace = false;
                env.options.verbose = false;
                let words: Vec<String> = rest.cloned().collect();
                if !words.is_empty() {
                    env.frame.args = Arc::new(words);
                }
                return Ok(0);
            }
            "-o" | "+o" if rest.len() == 0 => {
                list_options(env, on).await?;
                return Ok(0);
            }
            // A plus alone is no argument.
            "+" => {}
            _ if arg.len() > 1 && arg.starts_with(['-', '+']) => {
                // Nothing is switched unless all of it can be.
                let mut options = env.options;
                let mut lists = false;
                for letter in arg.chars().skip(1) {
                    let name = match letter {
                        'o' if rest.len() == 0 => {
                            lists = true;
                            continue;
                        }
                        'o' => rest.next().cloned().unwrap_or_default(),
                        _ => String::new(),
                    };
                    let switch = match letter {
                        'o' => options.long(&name),
                        other => options.letter(other),
                    };
                    let Some(switch) = switch else {
                        let what = match letter {
                            'o' => format!("{name}: invalid option name"),
                            _ => format!("{}{letter}: invalid option", &arg[..1]),
                        };
                        env.complain(&format!("set: {what}")).await?;
                        return Ok(2);
                    };
                    *switch = on;
                    options.one_editor(&name, on);
                }
                env.options = options;
                if lists {
                    list_options(env, on).await?;
                }
            }
            _ => {
                let mut words = vec![arg.clone()];
                words.extend(rest.cloned());
                env.frame.args = Arc::new(words);
                return Ok(0);
            }
        }
    }
    Ok(0)
}

/// As a table, or as commands that make it so again.
async fn list_options(env: &mut Env, table: bool) -> Eval<()> {
    let mut text = String::new();
    for (name, on) in env.options.all() {
        text.push_str(&match (table, on) {
            (true, _) => format!("{name:<15}\t{}\n", if on { "on" } else { "off" }),
            (false, true) => format!("set -o {name}\n"),
            (false, false) => format!("set +o {name}\n"),
        });
    }
    env.print(&text).await
}

pub(super) async fn shopt(env: &mut Env, args: &[String]) -> Eval<i32> {
    let (mut set, mut quiet, mut long, mut again) = (None, false, false, false);
    let mut status = 0;
    let mut named = false;
    for arg in args {
        if let Some(letters) = arg.strip_prefix('-') {
            for letter in letters.chars() {
                match letter {
                    's' => set = Some(true),
                    'u' => set = Some(false),
                    'q' => quiet = true,
                    'o' => long = true,
                    'p' => again = true,
                    other => {
                        env.complain(&format!("shopt: -{other}: invalid option")).await?;
                        return Ok(2);
                    }
                }
            }
            continue;
        }
        named = true;
        let switch = if long { env.options.long(arg) } else { env.options.shopt(arg) };
        let Some(switch) = switch else {
            env.complain(&format!("shopt: {arg}: invalid shell option name")).await?;
            status = i32::from(!(long && set.is_some()));
            continue;
        };
        match set {
            Some(true) if arg == "expand_aliases" && !env.shared.mode.eval_allowed => {
                env.define().aliases_refused = true;
                env.complain(
                    "shopt: expand_aliases: refused: an alias is parsed as code; pass --eval to allow it",
                )
                .await?;
                status = 1;
            }
            Some(on) => *switch = on,
            None => {
                let on = *switch;
                status |= i32::from(!on);
                if again && !quiet {
                    let line = match (long, on) {
                        (true, true) => format!("set -o {arg}\n"),
                        (true, false) => format!("set +o {arg}\n"),
                        (false, true) => format!("shopt -s {arg}\n"),
                        (false, false) => format!("shopt -u {arg}\n"),
                    };
                    env.print(&line).await?;
                } else if !quiet {
                    env.print(&format!("{arg:<15}\t{}\n", if on { "on" } else { "off" })).await?;
                }
            }
        }
    }
    if !named && !quiet {
        let rows = if long { env.options.all() } else { env.options.all_shopt() };
        let mut text = String::new();
        for (name, on) in rows.into_iter().filter(|row| set.is_none_or(|wanted| wanted == row.1)) {
            text.push_str(&match (again, long, on) {
                (false, ..) => format!("{name:<15}\t{}\n", if on { "on" } else { "off" }),
                (_, true, _) => format!("set {}o {name}\n", if on { '-' } else { '+' }),
                (_, false, _) => format!("shopt -{} {name}\n", if on { 's' } else { 'u' }),
            });
        }
        env.print(&text).await?;
    }
    Ok(status)
}

pub(super) async fn shift(env: &mut Env, args: &[String]) -> Eval<i32> {
    let args = if args.first().is_some_and(|it| it == "--") { &args[1..] } else { args };
    if args.len() > 1 {
        return Err(env.too_many("shift").await?);
    }
    let count = match args.first().map(|it| it.parse::<i64>()) {
        None => 1,
        Some(Ok(count)) if count >= 0 => usize::try_from(count).unwrap_or(usize::MAX),
        _ => {
            env.complain(&format!("shift: {}: shift count out of range", args[0])).await?;
            return Ok(1);
        }
    };
    if count > env.frame.args.len() {
        return Ok(1);
    }
    env.frame.args = Arc::new(env.frame.args[count..].to_vec());
    Ok(0)
}
