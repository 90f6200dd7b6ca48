//! The functions.

use std::path::Path;

use crate::Done;
use crate::read::Make;
use crate::text::{dir, notdir, patsubst, stem, suffix_at};
use crate::variable::Origin;

const NAMES: [&str; 36] = [
    "subst",
    "patsubst",
    "strip",
    "findstring",
    "filter",
    "filter-out",
    "sort",
    "word",
    "wordlist",
    "words",
    "firstword",
    "lastword",
    "dir",
    "notdir",
    "suffix",
    "basename",
    "addsuffix",
    "addprefix",
    "join",
    "wildcard",
    "realpath",
    "abspath",
    "if",
    "or",
    "and",
    "foreach",
    "call",
    "value",
    "eval",
    "origin",
    "flavor",
    "error",
    "warning",
    "info",
    "shell",
    "file",
];

/// Whether a name is a function's.
pub fn exists(name: &str) -> bool {
    NAMES.contains(&name)
}

/// Arguments as they are written.
fn arguments(text: &str, most: usize) -> Vec<&str> {
    let (mut all, mut rest) = (Vec::new(), text);
    while all.len() + 1 < most {
        match comma(rest) {
            Some(at) => {
                all.push(&rest[..at]);
                rest = &rest[at + 1..];
            }
            None => break,
        }
    }
    all.push(rest);
    all
}

/// The next comma outside of brackets of either kind, which need no `$` here.
fn comma(text: &str) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth -= 1,
            b',' if depth <= 0 => return Some(at),
            _ => {}
        }
    }
    None
}

/// Calls one with the text after its name.
pub fn call(make: &mut Make, name: &str, text: &str) -> Done<String> {
    match name {
        "if" | "or" | "and" | "foreach" | "call" | "eval" | "shell" | "file" | "error" | "warning"
        | "info" | "value" | "origin" | "flavor" => {
            return lazy(make, name, text);
        }
        _ => {}
    }
    let most = match name {
        "subst" | "patsubst" | "wordlist" => 3,
        "findstring" | "filter" | "filter-out" | "word" | "addsuffix" | "addprefix" | "join" => 2,
        _ => 1,
    };
    let mut args = Vec::new();
    for arg in arguments(text, most) {
        args.push(make.expand(arg)?);
    }
    if args.len() < most {
        return Err(
            make.stop(format!("insufficient number of arguments ({}) to function '{name}'", args.len()))
        );
    }
    let arg = |at: usize| args.get(at).map_or("", String::as_str);
    let each =
        |of: &dyn Fn(&str) -> String| arg(most - 1).split_whitespace().map(of).collect::<Vec<_>>().join(" ");
    let number = |at: usize| -> Done<usize> {
        let digits = arg(at).trim();
        digits
            .parse()
            .map_err(|_| make.stop(format!("non-numeric first argument to '{name}' function: '{digits}'")))
    };
    Ok(match name {
        "subst" if arg(0).is_empty() => format!("{}{}", arg(2), arg(1)),
        "subst" => arg(2).replace(arg(0), arg(1)),
        "patsubst" => patsubst(arg(0).trim(), arg(1).trim(), arg(2)),
        "strip" => each(&str::to_owned),
        "findstring" => {
            if arg(1).contains(arg(0)) {
                arg(0).to_owned()
            } else {
                String::new()
            }
        }
        "filter" | "filter-out" => {
            let fits = |word: &&str| {
                arg(0).split_whitespace().any(|it| stem(it, word).is_some()) == (name == "filter")
            };
            arg(1).split_whitespace().filter(fits).collect::<Vec<_>>().join(" ")
        }
        "sort" => {
            let mut words: Vec<&str> = arg(0).split_whitespace().collect();
            words.sort_unstable();
            words.dedup();
            words.join(" ")
        }
        "word" => {
            let at = number(0)?;
            if at == 0 {
                return Err(make.stop("first argument to 'word' function must be greater than 0"));
            }
            arg(1).split_whitespace().nth(at - 1).unwrap_or_default().to_owned()
        }
        "wordlist" => {
            let (from, to) = (number(0)?, number(1)?);
            arg(2)
                .split_whitespace()
                .skip(from.max(1) - 1)
                .take((to + 1).saturating_sub(from.max(1)))
                .collect::<Vec<_>>()
                .join(" ")
        }
        "words" => arg(0).split_whitespace().count().to_string(),
        "firstword" => arg(0).split_whitespace().next().unwrap_or_default().to_owned(),
        "lastword" => arg(0).split_whitespace().last().unwrap_or_default().to_owned(),
        "dir" => each(&|it| dir(it).to_owned()),
        "notdir" => each(&|it| notdir(it).to_owned()),
        "suffix" => arg(0)
            .split_whitespace()
            .filter_map(|it| suffix_at(it).map(|at| &it[at..]))
            .collect::<Vec<_>>()
            .join(" "),
        "basename" => each(&|it| suffix_at(it).map_or(it, |at| &it[..at]).to_owned()),
        "addsuffix" => each(&|it| format!("{it}{}", arg(0))),
        "addprefix" => each(&|it| format!("{}{it}", arg(0))),
        "join" => joined(arg(0), arg(1)),
        "wildcard" => {
            let found: Vec<String> = arg(0).split_whitespace().flat_map(wildcard).collect();
            let text = found.join(" ");
            make.note_foreign(&text);
            text
        }
        // `realpath` and `abspath`.
        _ => {
            let one = |it: &str| match name == "abspath" || Path::new(it).exists() {
                true => absolute(make, it),
                false => String::new(),
            };
            let text = each(&one).trim().to_owned();
            // The name of the folder we are in is in no makefile.
            let folder = make.folder.clone();
            make.note_foreign(&folder);
            text
        }
    })
}

fn absolute(make: &Make, path: &str) -> String {
    let whole = if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", make.folder) };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

fn joined(left: &str, right: &str) -> String {
    let (mut left, mut right) = (left.split_whitespace(), right.split_whitespace());
    let mut words = Vec::new();
    loop {
        match (left.next(), right.next()) {
            (None, None) => return words.join(" "),
            (a, b) => words.push(format!("{}{}", a.unwrap_or_default(), b.unwrap_or_default())),
        }
    }
}

/// The functions that expand their arguments themselves.
fn lazy(make: &mut Make, name: &str, text: &str) -> Done<String> {
    match name {
        "if" => {
            let args = arguments(text, 3);
            let chosen = if make.expand(args[0].trim())?.is_empty() { args.get(2) } else { args.get(1) };
            chosen.map_or(Ok(String::new()), |it| make.expand(it))
        }
        "or" | "and" => {
            let mut last = String::new();
            for arg in arguments(text, usize::MAX) {
                last = make.expand(arg.trim())?;
                if last.is_empty() == (name == "and") {
                    return Ok(last);
                }
            }
            Ok(last)
        }
        "foreach" => {
            let args = arguments(text, 3);
            let [variable, list, body] = args.as_slice() else {
                return Err(make.stop(format!(
                    "insufficient number of arguments ({}) to function 'foreach'",
                    args.len()
                )));
            };
            let variable = make.expand(variable)?.trim().to_owned();
            let list = make.expand(list)?;
            let old = make.variables.get(&variable).cloned();
            let mut all = Vec::new();
            for word in list.split_whitespace() {
                make.variables.put(&variable, word, false, Origin::Automatic);
                all.push(make.expand(body)?);
            }
            make.variables.restore(&variable, old);
            Ok(all.join(" "))
        }
        "call" => call_own(make, text),
        "eval" => {
            let text = make.expand(text)?;
            make.read_text(&text)?;
            Ok(String::new())
        }
        "shell" => {
            let line = make.expand(text)?;
            crate::recipe::shell(make, &line)
        }
        "value" => {
            let name = make.expand(text)?;
            let Some(variable) = make.variables.get(name.trim()).cloned() else { return Ok(String::new()) };
            make.note_used(name.trim(), &variable);
            Ok(variable.value)
        }
        "origin" | "flavor" => {
            let variable = make.expand(text)?;
            let found = make.variables.get(variable.trim());
            Ok(match (found, name) {
                (None, _) => "undefined".to_owned(),
                (Some(it), "origin") => it.origin.name().to_owned(),
                (Some(it), _) => if it.recursive { "recursive" } else { "simple" }.to_owned(),
            })
        }
        "file" => file(make, text),
        _ => {
            let text = make.expand(text)?;
            let place = make.stop("").place;
            match name {
                "info" => println_flushed(&text),
                "warning" => eprintln_flushed(&format!("{place}{text}")),
                _ => return Err(make.stop(text)),
            }
            Ok(String::new())
        }
    }
}

fn println_flushed(text: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stdout(), "{text}").and_then(|()| std::io::stdout().flush());
}

fn eprintln_flushed(text: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn call_own(make: &mut Make, text: &str) -> Done<String> {
    let mut args = Vec::new();
    for arg in arguments(text, usize::MAX) {
        args.push(make.expand(arg)?);
    }
    let name = args.first().map(|it| it.trim().to_owned()).unwrap_or_default();
    if exists(&name) {
        return call(make, &name, &args[1..].join(","));
    }
    let Some(body) = make.variables.get(&name).cloned() else { return Ok(String::new()) };
    make.note_used(&name, &body);
    let count = args.len().max(10);
    let old: Vec<_> = (0..count).map(|at| make.variables.get(&at.to_string()).cloned()).collect();
    for at in 0..count {
        make.variables.put(
            &at.to_string(),
            args.get(at).map_or("", String::as_str),
            false,
            Origin::Automatic,
        );
    }
    make.calls += 1;
    let value = if make.calls > 200 {
        Err(make.stop("calls are nested too deeply"))
    } else {
        make.expand(&body.value)
    };
    make.calls -= 1;
    for (at, old) in old.into_iter().enumerate() {
        make.variables.restore(&at.to_string(), old);
    }
    value
}

/// `$(file >name,text)` and `$(file <name)`.
fn file(make: &mut Make, text: &str) -> Done<String> {
    use std::io::Write as _;
    let args = arguments(text, 2);
    let target = make.expand(args[0])?;
    let target = target.trim();
    let body = args.get(1).map(|it| make.expand(it)).transpose()?;
    let cannot = |make: &Make, cause: std::io::Error| make.stop(format!("open: {target}: {cause}"));
    if let Some(path) = target.strip_prefix('<') {
        let text = std::fs::read_to_string(path.trim()).unwrap_or_default();
        let text = text.strip_suffix('\n').unwrap_or(&text);
        make.note_foreign(text);
        return Ok(text.to_owned());
    }
    let (path, append) = match target.strip_prefix(">>") {
        Some(path) => (path, true),
        None => (target.trim_start_matches('>'), false),
    };
    let opened = std::fs::OpenOptions::new()
        .create(true)
        .write(true)
        .append(append)
        .truncate(!append)
        .open(path.trim());
    let mut file = opened.map_err(|cause| cannot(make, cause))?;
    if let Some(body) = body {
        let end = if body.ends_with('\n') { "" } else { "\n" };
        write!(file, "{body}{end}").map_err(|cause| cannot(make, cause))?;
    }
    Ok(String::new())
}

/// The files that fit a pattern of the shell, sorted.
pub fn wildcard(pattern: &str) -> Vec<String> {
    if !pattern.contains(['*', '?', '[']) {
        return if Path::new(pattern).exists() { vec![pattern.to_owned()] } else { Vec::new() };
    }
    let mut found = vec![if pattern.starts_with('/') { "/".to_owned() } else { String::new() }];
    for part in pattern.split('/').filter(|it| !it.is_empty()) {
        let mut next = Vec::new();
        for base in &found {
            if !part.contains(['*', '?', '[']) {
                let path = format!("{base}{part}");
                if Path::new(&path).exists() {
                    next.push(path + "/");
                }
                continue;
            }
            let folder = if base.is_empty() { "." } else { base.as_str() };
            let mut names: Vec<String> = std::fs::read_dir(folder)
                .into_iter()
                .flatten()
                .flatten()
                .map(|it| facts::name::text(&it.file_name()))
                .collect();
            names.sort();
            let fits =
                |name: &&String| (!name.starts_with('.') || part.starts_with('.')) && matches(part, name);
            next.extend(names.iter().filter(fits).map(|it| format!("{base}{it}/")));
        }
        found = next;
    }
    found
        .into_iter()
        .map(|it| it.trim_end_matches('/').to_owned())
        .filter(|it| !pattern.ends_with('/') || Path::new(it).is_dir())
        .collect()
}

/// `*`, `?` and `[…]` over one name.
fn matches(pattern: &str, name: &str) -> bool {
    let Some(open) = pattern.find('[') else { return facts::pattern::fits(pattern, name) };
    let Some(close) = pattern[open + 2..].find(']').map(|it| open + 2 + it) else {
        return facts::pattern::fits(pattern, name);
    };
    let set: Vec<char> = pattern[open + 1..close].chars().collect();
    let (negative, set) = match set.first() {
        Some('!' | '^') => (true, &set[1..]),
        _ => (false, &set[..]),
    };
    let has = |letter: char| {
        let ranged = set.windows(3).any(|it| it[1] == '-' && it[0] <= letter && letter <= it[2]);
        (ranged || set.contains(&letter)) != negative
    };
    name.char_indices().any(|(at, letter)| {
        has(letter)
            && matches(&pattern[..open], &name[..at])
            && matches(&pattern[close + 1..], &name[at + letter.len_utf8()..])
    })
}
