//! `compgen` and `complete`: words that begin so, and what scripts say about completing others.
//!
//! Nobody completes anything here; what `complete` was told is kept and told again.

use std::sync::Arc;

use crate::{
    pattern::Pattern,
    state::{Env, Eval, Flow},
    vars::Value,
};

/// Commands that completions are kept for.
const NAMES_MAX: usize = 4_096;

/// The letter of each action that has one.
const ACTIONS: [(&str, char); 13] = [
    ("alias", 'a'),
    ("builtin", 'b'),
    ("command", 'c'),
    ("directory", 'd'),
    ("export", 'e'),
    ("file", 'f'),
    ("group", 'g'),
    ("job", 'j'),
    ("keyword", 'k'),
    ("service", 's'),
    ("user", 'u'),
    ("variable", 'v'),
    ("function", '\0'),
];

/// Options and their values, and the words after them.
#[derive(Default)]
struct Asked {
    options: Vec<(char, String)>,
    words: Vec<String>,
}

impl Asked {
    fn read(args: &[String]) -> Result<Self, char> {
        let mut asked = Self::default();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let Some(flags) = arg.strip_prefix('-').filter(|it| !it.is_empty()) else {
                asked.words.push(arg.clone());
                continue;
            };
            if flags == "-" {
                asked.words.extend(rest.cloned());
                break;
            }
            for (at, letter) in flags.char_indices() {
                if "AoGWFCXPS".contains(letter) {
                    let inline = &flags[at + 1..];
                    let value =
                        if inline.is_empty() { rest.next().cloned() } else { Some(inline.to_owned()) };
                    asked.options.push((letter, value.ok_or(letter)?));
                    break;
                }
                if !"abcdefgjksuvprDEI".contains(letter) {
                    return Err(letter);
                }
                asked.options.push((letter, String::new()));
            }
        }
        Ok(asked)
    }

    fn has(&self, letter: char) -> bool {
        self.options.iter().any(|it| it.0 == letter)
    }

    fn value(&self, letter: char) -> Option<&str> {
        self.options.iter().rev().find(|it| it.0 == letter).map(|it| it.1.as_str())
    }
}

pub(super) async fn compgen(env: &mut Env, args: &[String]) -> Eval<i32> {
    let asked = match Asked::read(args) {
        Ok(asked) => asked,
        Err(letter) => {
            env.complain(&format!("compgen: -{letter}: invalid option")).await?;
            return Ok(2);
        }
    };
    let prefix = asked.words.first().cloned().unwrap_or_default();
    let mut found = Vec::new();
    for (letter, value) in &asked.options {
        let action = match letter {
            'W' => {
                match listed(env, value).await? {
                    Some(words) => found.extend(words),
                    None => return Ok(1),
                }
                continue;
            }
            'A' if !is_action(value) => {
                env.complain(&format!("compgen: {value}: invalid action name")).await?;
                return Ok(2);
            }
            'A' => value.as_str(),
            letter => ACTIONS.iter().find(|row| row.1 == *letter).map_or("", |row| row.0),
        };
        found.extend(words_of(env, action, &prefix));
    }
    found.retain(|word| word.starts_with(&prefix));
    if let Some(name) = asked.value('F').map(str::to_owned) {
        found.extend(called(env, &name, &prefix).await?);
    }
    if let Some(line) = asked.value('C').map(str::to_owned) {
        found.extend(printed(env, &line, &prefix).await?);
    }
    if let Some(pattern) = asked.value('X') {
        let (pattern, keep) = match pattern.strip_prefix('!') {
            Some(rest) => (rest, true),
            None => (pattern, false),
        };
        let pattern = Pattern::with_case(
            &pattern.replace("\\&", "\u{1}").replace('&', &prefix).replace('\u{1}', "&"),
            false,
        );
        found.retain(|word| pattern.matches(word) == keep);
    }
    let (before, after) = (asked.value('P').unwrap_or_default(), asked.value('S').unwrap_or_default());
    let mut text: String = found.iter().map(|word| format!("{before}{word}{after}\n")).collect();
    let option = |name: &str| asked.options.iter().any(|it| it.0 == 'o' && it.1 == name);
    let fallback = match found.is_empty() {
        true if option("dirnames") => "directory",
        true if option("default") => "file",
        _ if option("plusdirs") => "directory",
        _ => "",
    };
    let more = words_of(env, fallback, &prefix);
    text.extend(more.iter().filter(|it| it.starts_with(&prefix)).map(|word| format!("{word}\n")));
    env.print(&text).await?;
    Ok(i32::from(text.is_empty()))
}

/// The words of `-W`: expanded where texts may be parsed again, and split at `IFS` save where a backslash stands.
async fn listed(env: &mut Env, value: &str) -> Eval<Option<Vec<String>>> {
    let expands = env.shared.mode.eval_allowed && value.contains(['$', '`']);
    let text = if expands {
        let Ok(word) = crate::syntax::prompt_word(value, (&env.shared.limits).into()) else {
            env.complain(&format!("compgen: {value}: bad substitution")).await?;
            return Ok(None);
        };
        match Box::pin(env.expand_one(&word)).await {
            Ok(text) => text,
            Err(Flow::Discard) => return Ok(None),
            Err(flow) => return Err(flow),
        }
    } else if value.contains('$') {
        env.key_text(value)
    } else {
        value.to_owned()
    };
    let ifs = env.ifs();
    let (mut words, mut word) = (Vec::new(), String::new());
    let (mut chars, mut quote) = (text.chars(), None);
    while let Some(next) = chars.next() {
        match next {
            '\\' if quote != Some('\'') => word.extend(chars.next()),
            '\'' | '"' if quote.is_none() => quote = Some(next),
            next if quote == Some(next) => quote = None,
            next if quote.is_some() => word.push(next),
            next if ifs.contains(next) => words.push(std::mem::take(&mut word)),
            next => word.push(next),
        }
    }
    words.push(word);
    words.retain(|it| !it.is_empty());
    Ok(Some(words))
}

/// Whether `-A` knows a name.
fn is_action(name: &str) -> bool {
    const OTHERS: [&str; 11] = [
        "arrayvar",
        "binding",
        "disabled",
        "enabled",
        "helptopic",
        "hostname",
        "running",
        "setopt",
        "shopt",
        "signal",
        "stopped",
    ];
    ACTIONS.iter().any(|row| row.0 == name) || OTHERS.contains(&name)
}

/// The lines that the command of `-C` writes. It is a text, and runs where texts may be parsed again.
/// As in bash its last arguments are the command, the word and the word before it.
async fn printed(env: &mut Env, line: &str, prefix: &str) -> Eval<Vec<String>> {
    if !super::source::allowed(env, "compgen").await? {
        return Ok(Vec::new());
    }
    let line = format!("{line} compgen '{}' ''", prefix.replace('\'', "'\\''"));
    let script = match crate::syntax::parse(&line, (&env.shared.limits).into()) {
        Ok(script) => Arc::new(script),
        Err(error) => {
            env.complain(&format!("compgen: {error}")).await?;
            return Ok(Vec::new());
        }
    };
    let text = Box::pin(env.substitute(&script)).await?;
    Ok(text.lines().filter(|it| !it.is_empty()).map(str::to_owned).collect())
}

/// What the function of `-F` leaves in `COMPREPLY`.
async fn called(env: &mut Env, name: &str, prefix: &str) -> Eval<Vec<String>> {
    if !env.definitions.functions.contains_key(name) {
        env.complain(&format!("compgen: warning: {name}: function not found")).await?;
        return Ok(Vec::new());
    }
    for (name, value) in [("COMP_KEY", "0"), ("COMP_TYPE", "0"), ("COMP_POINT", "0"), ("COMP_CWORD", "-1")] {
        let _ = env.vars.set(name, value.to_owned());
    }
    let _ = env.vars.unset("COMPREPLY");
    let words = vec![name.to_owned(), "compgen".to_owned(), prefix.to_owned(), String::new()];
    Box::pin(env.dispatch(words)).await?;
    Ok(env.value("COMPREPLY").elements())
}

/// Every word of one kind.
fn words_of(env: &mut Env, action: &str, prefix: &str) -> Vec<String> {
    let mut words: Vec<String> = match action {
        "alias" => env.definitions.aliases.keys().cloned().collect(),
        "builtin" | "enabled" => super::names().map(str::to_owned).collect(),
        "helptopic" => super::names().map(str::to_owned).collect(),
        "keyword" => super::lookup::KEYWORDS.map(str::to_owned).to_vec(),
        "function" => env.definitions.functions.keys().cloned().collect(),
        "export" => env.vars.exported().into_iter().map(|row| row.0.to_owned()).collect(),
        "variable" => {
            let set = |name: &String| env.vars.own(name).is_some_and(|var| var.value != Value::Unset);
            env.vars.names().into_iter().filter(set).collect()
        }
        "arrayvar" => {
            let array =
                |name: &String| matches!(env.vars.own(name).map(|var| &var.value), Some(Value::Indexed(_)));
            env.vars.names().into_iter().filter(array).collect()
        }
        "user" => vec!["root".to_owned(), env.vars.get("USER").unwrap_or("agent").to_owned()],
        "setopt" => env.options.all().into_iter().map(|row| row.0.to_owned()).collect(),
        "shopt" => env.options.all_shopt().into_iter().map(|row| row.0.to_owned()).collect(),
        "signal" => super::signals::NAMES.map(|it| format!("SIG{it}")).to_vec(),
        "command" => {
            let mut all: Vec<String> = ["alias", "builtin", "keyword", "function"]
                .iter()
                .flat_map(|kind| words_of(env, kind, prefix))
                .collect();
            all.extend(env.shared.door.command_names());
            // A door may know commands by name only; then the one that is spelled out is all there is to say.
            all.extend(env.found_command(prefix).filter(|_| !prefix.is_empty()).map(|_| prefix.to_owned()));
            all
        }
        "file" | "directory" => {
            let dotted = std::mem::replace(&mut env.options.dotglob, true);
            let pattern = match prefix.rsplit_once('/') {
                Some((place, _)) => format!("{place}/*"),
                None => "*".to_owned(),
            };
            let found = crate::glob::glob(env, &pattern).unwrap_or_default();
            env.options.dotglob = dotted;
            found.into_iter().filter(|it| action == "file" || env.unary_test('d', it)).collect()
        }
        _ => Vec::new(),
    };
    words.sort_unstable();
    words.dedup();
    words
}

pub(super) async fn complete(env: &mut Env, args: &[String]) -> Eval<i32> {
    let asked = match Asked::read(args) {
        Ok(asked) => asked,
        Err(letter) => {
            env.complain(&format!("complete: -{letter}: invalid option")).await?;
            return Ok(2);
        }
    };
    let mut names = asked.words.clone();
    names.extend(asked.options.iter().filter(|it| "DEI".contains(it.0)).map(|it| format!("-{}", it.0)));
    if asked.has('r') {
        match names.is_empty() {
            true => env.define().completions = Arc::default(),
            false => {
                names.iter().for_each(|it| drop(Arc::make_mut(&mut env.define().completions).remove(it)))
            }
        }
        return Ok(0);
    }
    if asked.has('p') || args.is_empty() {
        return show(env, &names).await;
    }
    if names.is_empty() {
        env.announce(
            "complete: usage: complete [-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [name ...]",
        )
        .await?;
        return Ok(2);
    }
    let told = told(&asked);
    for name in names {
        if env.definitions.completions.len() < NAMES_MAX {
            Arc::make_mut(&mut env.define().completions).insert(name, told.clone());
        }
    }
    Ok(0)
}

/// The options again, in bash's order.
fn told(asked: &Asked) -> String {
    let mut text = String::new();
    for (_, value) in asked.options.iter().filter(|it| it.0 == 'o') {
        text.push_str(&format!("-o {value} "));
    }
    for (letter, value) in &asked.options {
        let short = ACTIONS.iter().find(|row| row.0 == value && row.1 != '\0').map(|row| row.1);
        match (letter, short) {
            ('A', Some(short)) => text.push_str(&format!("-{short} ")),
            ('A', None) => text.push_str(&format!("-A {value} ")),
            ('a'..='n' | 'q' | 's'..='v', _) => text.push_str(&format!("-{letter} ")),
            _ => {}
        }
    }
    for letter in ['G', 'W', 'P', 'S', 'X', 'C'] {
        if let Some(value) = asked.value(letter) {
            text.push_str(&format!("-{letter} '{}' ", value.replace('\'', "'\\''")));
        }
    }
    if let Some(value) = asked.value('F') {
        text.push_str(&format!("-F {value} "));
    }
    text
}

async fn show(env: &mut Env, names: &[String]) -> Eval<i32> {
    let (mut text, mut status) = (String::new(), 0);
    for (name, told) in &*env.definitions.completions {
        if names.is_empty() || names.contains(name) {
            text.push_str(&format!("complete {told}{name}\n"));
        }
    }
    env.print(&text).await?;
    for name in
        names.iter().filter(|it| !env.definitions.completions.contains_key(*it)).cloned().collect::<Vec<_>>()
    {
        env.complain(&format!("complete: {name}: no completion specification")).await?;
        status = 1;
    }
    Ok(status)
}

/// Only a completion that is under way has options to change, and there is none.
pub(super) async fn compopt(env: &mut Env, args: &[String]) -> Eval<i32> {
    const OPTIONS: [&str; 8] =
        ["bashdefault", "default", "dirnames", "filenames", "noquote", "nosort", "nospace", "plusdirs"];
    let named = args.windows(2).filter(|it| matches!(it[0].as_str(), "-o" | "+o")).map(|it| it[1].as_str());
    if let Some(bad) = named.into_iter().find(|it| !OPTIONS.contains(it)) {
        env.complain(&format!("compopt: {bad}: invalid option name")).await?;
        return Ok(2);
    }
    env.complain("compopt: not currently executing completion function").await?;
    Ok(1)
}
