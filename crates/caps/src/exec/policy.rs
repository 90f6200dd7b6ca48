//! Is there such a command, and does its input fit?

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use drydock_contract::{
    ArgumentRule, Denial, IfAbsent, Must, Scalar, Terms,
    port::{Entry, Registry},
};
use drydock_gate::{Inside, Refused, Session};

use super::ExecStart;
use crate::{
    program::{self, short},
    rules::{PROPOSED_MAX, TEXT_BYTES_MAX, text_keeps},
};

/// What a name stands for.
pub(super) enum Target {
    /// A registered module.
    Module(Entry),
    /// A command of the front end itself.
    Inside(Arc<dyn Inside>, Arc<str>),
    /// A file of the session, by its path.
    File(String),
}

impl Target {
    pub(super) fn name(&self) -> Arc<str> {
        match self {
            Self::Module(entry) => entry.name.shared(),
            Self::Inside(_, name) => Arc::clone(name),
            Self::File(path) => short(path),
        }
    }
}

/// A request that may be carried out: what the name stood for when it was checked is what runs,
/// whatever is registered meanwhile.
pub struct Ready {
    pub(super) target: Target,
    pub(super) args: Vec<Vec<u8>>,
    pub(super) env: Option<Arc<[Vec<u8>]>>,
    pub(super) stdin: Bytes,
    pub(super) wall_max: Option<Duration>,
}

pub(super) fn check(
    registry: &dyn Registry,
    session: &Session,
    request: ExecStart,
) -> Result<Ready, Refused> {
    let ExecStart { name, args, env, stdin, wall_max, .. } = request;
    let inside = session.spec().inside.as_ref().filter(|it| it.offers(&name));
    let target = match (registry.lookup(&name, args.first().map(Vec::as_slice)), inside) {
        (Some(entry), _) => Target::Module(entry),
        (None, Some(inside)) => Target::Inside(Arc::clone(inside), short(&name)),
        (None, None) if program::is_path(&name) && session.spec().files.is_some() => Target::File(name),
        (None, None) => {
            let subject = short(&name);
            return Err(Refused {
                denial: Denial::UnknownCommand(Arc::clone(&subject)),
                subjects: subject.into(),
            });
        }
    };
    let limits = &session.spec().limits;
    // The environment lies beside the arguments in the guest's memory, and shares their limit.
    let own = env.iter().flatten();
    let argv: u64 = args.iter().chain(own).map(|arg| arg.len() as u64 + 1).sum();
    let parts =
        [("argv", argv, limits.argv_bytes_max), ("stdin", stdin.len() as u64, limits.stdin_bytes_max)];
    for (what, bytes, max) in parts {
        if bytes > max {
            let denial = Denial::TooLarge { what, bytes, max };
            return Err(Refused { denial, subjects: target.name().into() });
        }
    }
    Ok(Ready { target, args, env: env.map(Arc::from), stdin, wall_max })
}

/// Which words of a command a rule is about.
enum Words {
    /// Every argument.
    Every,
    /// The word of that number; 0 is the command itself.
    One(usize),
}

/// `/*`, or `/1`: as a shell counts.
fn words(argument: &str) -> Option<Words> {
    match argument.strip_prefix('/')? {
        "*" => Some(Words::Every),
        number if number.len() > 1 && number.starts_with('0') => None,
        number if number.bytes().all(|b| b.is_ascii_digit()) => number.parse().ok().map(Words::One),
        _ => None,
    }
}

pub(super) fn judge_terms(terms: &Terms) -> Result<(), String> {
    let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '+' | '*');
    for subject in terms.subjects.iter().flatten() {
        if !subject.as_str().contains('/') && !subject.as_str().chars().all(name) {
            return Err(format!(
                "field `subjects`: `{subject}` names no command: write a name, a path, or a pattern such as `git-*`; \
                 what is said of arguments goes into `rules`"
            ));
        }
    }
    for rule in &terms.rules {
        let shown = rule.argument.escape_debug();
        if words(&rule.argument).is_none() {
            return Err(format!(
                "field `rules`: `{shown}` is no argument of a command: write /1 for the first, /* for every one"
            ));
        }
        let is_text = |it: &Scalar| matches!(it, Scalar::Text(_));
        let fits = match &rule.must {
            Must::Equal(scalar) => is_text(scalar),
            Must::OneOf(scalars) => scalars.iter().all(is_text),
            Must::StartWith(_) | Must::HaveLengthAtMost(_) => true,
            Must::LieBetween { .. } => false,
        };
        if !fits {
            return Err(format!(
                "field `rules`: what is said of `{shown}` cannot be: arguments of a command are texts; write \"1\" for 1"
            ));
        }
    }
    Ok(())
}

/// Do the arguments keep the rules of a grant? One that is not UTF-8 keeps none.
pub(super) fn within(request: &ExecStart, terms: &Terms) -> bool {
    let keeps = |bytes: &[u8], rule: &ArgumentRule| {
        std::str::from_utf8(bytes).is_ok_and(|text| text_keeps(text, &rule.must))
    };
    terms.rules.iter().all(|rule| {
        let absent = rule.if_absent == IfAbsent::Allow;
        match words(&rule.argument) {
            None => false,
            Some(Words::Every) if request.args.is_empty() => absent,
            Some(Words::Every) => request.args.iter().all(|it| keeps(it, rule)),
            Some(Words::One(0)) => keeps(request.name.as_bytes(), rule),
            Some(Words::One(number)) => request.args.get(number - 1).map_or(absent, |it| keeps(it, rule)),
        }
    })
}

/// The arguments as rules, so that a grant can be proposed that is no wider: each in its place, and nothing behind the
/// last. Nothing where they are too many, too long or no text, and then nothing may be proposed: a grant without rules
/// would be wider than what was asked.
pub(super) fn exactly(request: &ExecStart) -> Option<Vec<ArgumentRule>> {
    let short = |it: &Vec<u8>| String::from_utf8(it.clone()).ok().filter(|it| it.len() <= TEXT_BYTES_MAX);
    let place = |index: usize| format!("/{}", index + 1);
    if request.args.len() >= PROPOSED_MAX {
        return None;
    }
    let each =
        request.args.iter().enumerate().map(|(index, arg)| {
            Some(ArgumentRule::new(place(index), Must::Equal(Scalar::Text(short(arg)?))))
        });
    let behind = ArgumentRule::new(place(request.args.len()), Must::OneOf(Vec::new()));
    each.chain([Some(ArgumentRule { if_absent: IfAbsent::Allow, ..behind })]).collect()
}
