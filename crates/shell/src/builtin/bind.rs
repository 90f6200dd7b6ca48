//! `bind`: start-up files bind keys, and must not fail because there is no line editor here. Its options are read as bash
//! reads them; nothing is bound, so nothing is listed.

use crate::state::{Env, Eval};

pub(super) async fn run(env: &mut Env, args: &[String]) -> Eval<i32> {
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let Some(flags) = arg.strip_prefix('-').filter(|it| !it.is_empty()) else { break };
        if flags == "-" {
            break;
        }
        for (at, letter) in flags.char_indices() {
            match letter {
                'l' | 'p' | 'P' | 'v' | 'V' | 's' | 'S' | 'X' => {}
                'm' | 'q' | 'u' | 'r' | 'f' | 'x' => {
                    if at + 1 == flags.len() && rest.next().is_none() {
                        env.complain(&format!("bind: -{letter}: option requires an argument")).await?;
                        return Ok(2);
                    }
                    break;
                }
                other => {
                    env.complain(&format!("bind: -{other}: invalid option")).await?;
                    return Ok(2);
                }
            }
        }
    }
    env.complain("bind: warning: line editing not enabled").await?;
    Ok(0)
}
