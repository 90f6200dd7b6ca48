//! `getopts`.

use crate::state::{Env, Eval};

pub(super) async fn run(env: &mut Env, args: &[String]) -> Eval<i32> {
    let [letters, name, rest @ ..] = args else {
        env.complain("getopts: usage: getopts optstring name [arg ...]").await?;
        return Ok(2);
    };
    let words: Vec<String> = if rest.is_empty() { env.frame.args.to_vec() } else { rest.to_vec() };
    let index: usize = env.vars.get("OPTIND").and_then(|it| it.parse().ok()).unwrap_or(1).max(1);
    let silent = letters.starts_with(':');
    let word = words.get(index - 1).cloned().unwrap_or_default();
    let at = env.computed.getopts_at.max(1);
    if !word.starts_with('-') || word.len() < 2 || word == "--" {
        let end = index.min(words.len() + 1) + usize::from(word == "--");
        env.computed.getopts_at = 0;
        let _ = env.vars.set("OPTIND", end.to_string());
        let _ = env.vars.unset("OPTARG");
        let _ = env.vars.set(name, "?".into());
        return Ok(1);
    }
    let chars: Vec<char> = word.chars().collect();
    let letter = chars.get(at).copied().unwrap_or('?');
    let last = at + 1 >= chars.len();
    let known = letter != ':' && letters.trim_start_matches(':').contains(letter);
    let wants = known && letters.split_once(letter).is_some_and(|it| it.1.starts_with(':'));
    let (mut next_index, mut next_at) = if last { (index + 1, 0) } else { (index, at + 1) };
    let mut optarg = None;
    let mut value = letter.to_string();
    if !known {
        value = "?".into();
        if silent {
            optarg = Some(letter.to_string());
        } else {
            env.complain(&format!("illegal option -- {letter}")).await?;
        }
    } else if wants {
        if !last {
            optarg = Some(chars[at + 1..].iter().collect());
            (next_index, next_at) = (index + 1, 0);
        } else if let Some(argument) = words.get(index) {
            optarg = Some(argument.clone());
            next_index = index + 2;
        } else if silent {
            value = ":".into();
            optarg = Some(letter.to_string());
        } else {
            value = "?".into();
            env.complain(&format!("option requires an argument -- {letter}")).await?;
        }
    }
    let _ = env.vars.set("OPTIND", next_index.to_string());
    env.computed.getopts_at = next_at;
    match optarg {
        Some(text) => {
            let _ = env.vars.set("OPTARG", text);
        }
        None => {
            let _ = env.vars.unset("OPTARG");
        }
    }
    if !crate::syntax::is_name(name) {
        env.complain(&format!("getopts: `{name}': not a valid identifier")).await?;
        return Ok(1);
    }
    if let Err(error) = env.vars.set(name, value) {
        env.complain(&format!("getopts: {error}")).await?;
        return Ok(1);
    }
    Ok(0)
}
