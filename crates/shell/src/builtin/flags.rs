//! Options that are letters and nothing more, as most builtins have them.

use crate::state::{Env, Eval};

/// The letters in front of the operands, and the operands; nothing, and a message, if one is not `known`.
pub(super) async fn flags<'a>(
    env: &mut Env,
    name: &str,
    known: &str,
    args: &'a [String],
) -> Eval<Option<(String, &'a [String])>> {
    let (mut letters, mut rest) = (String::new(), args);
    while let [first, more @ ..] = rest {
        let Some(given) = first.strip_prefix('-').filter(|it| !it.is_empty()) else { break };
        rest = more;
        if given == "-" {
            break;
        }
        if let Some(bad) = given.chars().find(|it| !known.contains(*it)) {
            env.complain(&format!("{name}: -{bad}: invalid option")).await?;
            return Ok(None);
        }
        letters.push_str(given);
    }
    Ok(Some((letters, rest)))
}
