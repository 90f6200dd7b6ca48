//! `echo`.

use super::printf;
use crate::{
    state::{Env, Eval},
    text,
};

pub(super) async fn run(env: &mut Env, args: &[String]) -> Eval<i32> {
    let (mut newline, mut escapes) = (true, env.options.xpg_echo);
    let mut rest = args;
    while let [first, more @ ..] = rest {
        let letters = first.strip_prefix('-').unwrap_or_default();
        if letters.is_empty() || !letters.chars().all(|it| matches!(it, 'n' | 'e' | 'E')) {
            break;
        }
        for letter in letters.chars() {
            match letter {
                'n' => newline = false,
                'e' => escapes = true,
                _ => escapes = false,
            }
        }
        rest = more;
    }
    let mut line = rest.join(" ");
    if escapes {
        let (bytes, stopped) = printf::escaped(&without_bare_octal(&line), true);
        line = text::from_bytes(&bytes);
        newline &= !stopped;
    }
    if newline {
        line.push('\n');
    }
    let bytes = text::to_bytes(&line).into_owned();
    Ok(i32::from(!env.write(1, &bytes).await?))
}

/// For `echo` octal digits count after a `\0` only; before others the backslash stays.
fn without_bare_octal(line: &str) -> String {
    let mut all = String::with_capacity(line.len());
    let mut rest = line.chars();
    while let Some(next) = rest.next() {
        all.push(next);
        if next == '\\'
            && let Some(escaped) = rest.next()
        {
            if ('1'..='7').contains(&escaped) {
                all.push('\\');
            }
            all.push(escaped);
        }
    }
    all
}
