//! `history` and `fc`: a script has none, and is told so as bash tells it.

use crate::shell::state::{Env, Eval};

pub(super) async fn history(env: &mut Env, args: &[String]) -> Eval<i32> {
    for arg in args {
        if let Some(letters) = arg.strip_prefix('-').filter(|it| !it.is_empty() && *it != "-") {
            if letters.chars().all(|it| "cdanrwps".contains(it)) {
                return Ok(0);
            }
            env.complain(&format!("history: {arg}: invalid option")).await?;
            return Ok(2);
        }
    }
    let numbers: Vec<&String> = args.iter().filter(|it| *it != "--").collect();
    match numbers.as_slice() {
        [] => Ok(0),
        [one] if one.parse::<i64>().is_ok() => Ok(0),
        [one] => {
            env.complain(&format!("history: {one}: numeric argument required")).await?;
            Ok(1)
        }
        _ => {
            env.complain("history: too many arguments").await?;
            Ok(1)
        }
    }
}

pub(super) async fn fc(env: &mut Env, args: &[String]) -> Eval<i32> {
    if args.first().is_some_and(|it| it.starts_with("-l")) {
        return Ok(0);
    }
    env.complain("fc: history specification out of range").await?;
    Ok(1)
}
