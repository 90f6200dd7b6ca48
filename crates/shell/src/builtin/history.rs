//! `history` and `fc`. A script remembers lines only after `set -o history`, as in bash, and what `history -s` and `-r`
//! were told.

use std::sync::Arc;

use drydock_abi::shell::TextFrom;

use crate::{
    state::{Env, Eval, History},
    text,
};

impl Env {
    /// The remembered lines, to change them.
    pub(crate) fn remembered(&mut self) -> &mut History {
        Arc::make_mut(&mut self.history)
    }

    /// Cuts the history file down to its last lines, as setting `HISTFILESIZE` does.
    pub(crate) fn shorten_history_file(&self, lines_max: usize) {
        let Some(path) = self.vars.get("HISTFILE") else { return };
        let Ok(all) = self.file_lines(path) else { return };
        if all.len() > lines_max {
            let _ = self.write_lines(path, all[all.len() - lines_max..].iter().map(String::as_str), false);
        }
    }

    /// Whether somebody would type the lines of this shell: they are remembered from session to session, and
    /// `PROMPT_COMMAND` runs before each.
    pub(crate) fn is_typed_to(&self) -> bool {
        self.identity.interactive && self.identity.text_from == TextFrom::Stdin
    }

    /// What the sessions before this one left.
    pub(super) fn begin_history(&mut self) {
        if let Some(lines) = self.vars.get("HISTSIZE").and_then(|it| it.parse().ok()) {
            self.remembered().keep(lines);
        }
        let Some(lines) = self.vars.get("HISTFILE").and_then(|it| self.file_lines(it).ok()) else { return };
        let history = self.remembered();
        lines.iter().for_each(|line| history.add(line));
        history.in_file = lines.len();
        history.forget_session();
    }

    /// Keeps the lines of this session. They are appended, unless there were more than are remembered: then those that
    /// are replace the file.
    pub(super) fn end_history(&mut self) {
        let Some(path) = self.vars.get("HISTFILE").map(str::to_owned) else { return };
        let typed = self.history.session;
        if typed == 0 {
            return;
        }
        let all = self.history.rows().len();
        let appends = typed <= all || self.options.shopt("histappend").is_some_and(|it| *it);
        let skip = if appends { all.saturating_sub(self.history.unsaved) } else { 0 };
        let _ = self.write_lines(&path, self.history.rows().skip(skip).map(|row| row.1), appends);
        if let Some(lines) = self.vars.get("HISTFILESIZE").and_then(|it| it.parse().ok()) {
            self.shorten_history_file(lines);
        }
    }

    fn file_lines(&self, path: &str) -> Result<Vec<String>, String> {
        let bytes = self.file_bytes(path)?;
        Ok(text::from_bytes(&bytes).lines().map(str::to_owned).collect())
    }

    fn write_lines<'l>(
        &self,
        path: &str,
        lines: impl Iterator<Item = &'l str>,
        append: bool,
    ) -> Result<(), String> {
        let mut all = String::new();
        for line in lines {
            all.push_str(line);
            all.push('\n');
        }
        self.file_write(path, &text::to_bytes(&all), append)
    }
}

pub(super) async fn history(env: &mut Env, args: &[String]) -> Eval<i32> {
    let Some(letters) = args.first().and_then(|it| it.strip_prefix('-')).filter(|it| !it.is_empty()) else {
        return list(env, args).await;
    };
    if letters == "-" {
        return list(env, &args[1..]).await;
    }
    if let Some(bad) = letters.chars().find(|it| !"cdanrwps".contains(*it)) {
        env.complain(&format!("history: -{bad}: invalid option")).await?;
        return Ok(2);
    }
    if letters.contains('c') {
        env.remembered().clear();
    }
    let rest = &args[1..];
    match letters.chars().find(|it| *it != 'c') {
        None => Ok(0),
        Some('s') => {
            // The line that says so is not remembered itself.
            if std::mem::take(&mut env.remembered().has_current) {
                let last = env.history.next() - 1;
                env.remembered().remove(last);
            }
            if !rest.is_empty() {
                let line = rest.join(" ");
                env.remembered().add(&line);
            }
            Ok(0)
        }
        Some('p') => print_expanded(env, rest).await,
        Some('d') => delete(env, rest).await,
        Some(letter) => with_file(env, letter, rest.first()).await,
    }
}

async fn list(env: &mut Env, args: &[String]) -> Eval<i32> {
    let count = match args {
        [] => usize::MAX,
        [one] => match one.parse::<i64>() {
            Ok(count) => usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX),
            Err(_) => {
                env.complain(&format!("history: {one}: numeric argument required")).await?;
                return Ok(1);
            }
        },
        _ => {
            env.complain("history: too many arguments").await?;
            return Ok(1);
        }
    };
    let skip = env.history.rows().len().saturating_sub(count);
    let text: String = env.history.rows().skip(skip).map(|row| format!("{:5}  {}\n", row.0, row.1)).collect();
    env.print(&text).await?;
    Ok(0)
}

/// `!` means something at a prompt alone, so only what asks for an event fails.
async fn print_expanded(env: &mut Env, words: &[String]) -> Eval<i32> {
    for word in words {
        if word.starts_with('!') && word.len() > 1 {
            env.complain(&format!("history: {word}: history expansion failed")).await?;
            return Ok(1);
        }
        env.print(&format!("{word}\n")).await?;
    }
    Ok(0)
}

/// `-d 3`, `-d -1`, `-d 2-4`.
async fn delete(env: &mut Env, rest: &[String]) -> Eval<i32> {
    let Some(text) = rest.first() else {
        env.complain("history: -d: option requires an argument").await?;
        return Ok(2);
    };
    let number = |part: &str| -> Option<usize> {
        let value = part.parse::<i64>().ok()?;
        let number = if value < 0 { i64::try_from(env.history.next()).ok()? + value } else { value };
        usize::try_from(number).ok().filter(|it| env.history.get(*it).is_some())
    };
    let range = match text.char_indices().skip(1).find(|it| it.1 == '-') {
        Some((at, _)) => number(&text[..at]).zip(number(&text[at + 1..])),
        None => number(text).map(|it| (it, it)),
    };
    let Some((from, to)) = range.filter(|it| it.0 <= it.1) else {
        env.complain(&format!("history: {text}: history position out of range")).await?;
        return Ok(1);
    };
    for _ in from..=to {
        env.remembered().remove(from);
    }
    Ok(0)
}

/// `-r` and `-n` read lines of a file, `-w` and `-a` write them.
async fn with_file(env: &mut Env, letter: char, named: Option<&String>) -> Eval<i32> {
    let path = named.map(String::as_str).or_else(|| env.vars.get("HISTFILE")).map(str::to_owned);
    // A shell that somebody types to has a file, and one without it is told.
    let Some(path) = path else { return Ok(i32::from(env.identity.interactive)) };
    let done = match letter {
        'r' | 'n' => env.file_lines(&path).map(|lines| {
            let skip = if letter == 'n' { env.history.in_file } else { 0 };
            let history = env.remembered();
            history.in_file = lines.len();
            lines.iter().skip(skip).for_each(|line| history.add(line));
            history.unsaved = 0;
        }),
        _ => {
            let skip = if letter == 'a' { env.history.rows().len() - env.history.unsaved } else { 0 };
            let lines = env.history.rows().skip(skip).map(|row| row.1);
            let written = env.write_lines(&path, lines, letter == 'a');
            let count = env.history.rows().len();
            let history = env.remembered();
            history.in_file = if letter == 'a' { history.in_file + count - skip } else { count };
            history.unsaved = 0;
            written
        }
    };
    match done {
        Ok(()) => Ok(0),
        Err(error) => {
            env.complain(&format!("history: {path}: {error}")).await?;
            Ok(1)
        }
    }
}

pub(super) async fn fc(env: &mut Env, args: &[String]) -> Eval<i32> {
    let (mut letters, mut rest) = (String::new(), args);
    while let [first, more @ ..] = rest {
        let is_number = first.parse::<i64>().is_ok();
        let Some(flags) = first.strip_prefix('-').filter(|it| !it.is_empty() && !is_number) else { break };
        rest = more;
        if flags == "-" {
            break;
        }
        if let Some(bad) = flags.chars().find(|it| !"elnrs".contains(*it)) {
            env.complain(&format!("fc: -{bad}: invalid option")).await?;
            return Ok(2);
        }
        letters.push_str(flags);
        if flags.ends_with('e') {
            // `-e -` is `-s`; any other editor wants a person.
            letters.extend(rest.first().filter(|it| *it == "-").map(|_| 's'));
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    let has = |letter: char| letters.contains(letter);
    if has('s') {
        return again(env, rest).await;
    }
    if !has('l') {
        let known = env.history.rows().len() > usize::from(env.history.has_current);
        let why = if known {
            "refused: nobody is here to edit; `fc -s` runs a line again"
        } else {
            "history specification out of range"
        };
        env.complain(&format!("fc: {why}")).await?;
        return Ok(1);
    }
    let last = before_current(env);
    let from = match rest.first() {
        Some(text) => numbered(env, text),
        None => Some(last.saturating_sub(15).max(env.history.rows().next().map_or(1, |it| it.0))),
    };
    let to = match rest.get(1) {
        Some(text) => numbered(env, text),
        None => Some(last),
    };
    if env.history.rows().len() == 0 {
        return Ok(0);
    }
    let Some((from, to)) = from.zip(to) else {
        env.complain("fc: history specification out of range").await?;
        return Ok(1);
    };
    let mut numbers: Vec<usize> = (from.min(to)..=from.max(to)).collect();
    if from > to || has('r') {
        numbers.reverse();
    }
    let mut text = String::new();
    for number in numbers {
        let Some(line) = env.history.get(number) else { continue };
        let shown = if has('n') { String::new() } else { number.to_string() };
        text.push_str(&format!("{shown}\t {line}\n"));
    }
    env.print(&text).await?;
    Ok(0)
}

/// The number of the last line before the one that runs.
fn before_current(env: &Env) -> usize {
    env.history.next().saturating_sub(1 + usize::from(env.history.has_current))
}

/// The line a number, a negative one or the beginning of a line stands for.
fn numbered(env: &Env, text: &str) -> Option<usize> {
    let (first, last) = (env.history.rows().next()?.0, before_current(env));
    match text.parse::<i64>() {
        Ok(back) if back <= 0 => {
            let back = usize::try_from(back.unsigned_abs()).ok()?.max(1);
            Some((last + 1).saturating_sub(back).clamp(first, last.max(first)))
        }
        Ok(number) => usize::try_from(number).ok().map(|it| it.clamp(first, last.max(first))),
        Err(_) => {
            env.history.rows().rev().find(|row| row.0 <= last && row.1.starts_with(text)).map(|it| it.0)
        }
    }
}

/// `fc -s old=new line`: runs a line again.
async fn again(env: &mut Env, rest: &[String]) -> Eval<i32> {
    if !super::source::allowed(env, "fc").await? {
        return Ok(126);
    }
    let (changes, rest) = rest.split_at(rest.iter().take_while(|it| it.contains('=')).count());
    let wanted = rest.first().map_or("-1", String::as_str);
    let line = numbered(env, wanted).and_then(|it| env.history.get(it)).map(str::to_owned);
    let Some(mut line) = line else {
        env.complain("fc: no command found").await?;
        return Ok(1);
    };
    for (old, new) in changes.iter().filter_map(|it| it.split_once('=')) {
        line = line.replace(old, new);
    }
    // In the place of the line that asked for it.
    if std::mem::take(&mut env.remembered().has_current) {
        let last = env.history.next() - 1;
        env.remembered().remove(last);
    }
    env.remembered().add(&line);
    env.write(2, &text::to_bytes(&format!("{line}\n"))).await?;
    super::source::run_again(env, line).await
}
