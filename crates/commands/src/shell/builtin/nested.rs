//! `bash` and `sh` as commands, and scripts called by their path: a shell inside this one, with nothing
//! of it but exported variables, open files and the working directory. It parses text, so it is
//! refused like `eval` unless that is allowed.

use std::sync::Arc;

use crate::shell::{
    options::Options,
    state::{Env, Eval},
    syntax, text,
    vars::{Value, Vars},
};

use super::source::{allowed, read_whole};

/// Names that mean this shell.
pub(crate) const NAMES: [&str; 3] = ["bash", "dash", "sh"];

/// `bash [options] [-c LINE [NAME [ARGS]] | FILE [ARGS] | -s [ARGS]]`.
pub(crate) async fn run(env: &mut Env, words: &[String]) -> Eval<i32> {
    let (name, mut rest) = (&words[0], &words[1..]);
    if !allowed(env, name).await? {
        return Ok(126);
    }
    let mut setting = Vec::new();
    let (mut line, mut from_stdin, mut check_only) = (false, false, false);
    while let [first, more @ ..] = rest {
        match first.as_str() {
            "--" => {
                rest = more;
                break;
            }
            "--version" => {
                env.print("GNU bash, version 5.2.0(1)-drydock (wasm32-unknown-wasi)\n").await?;
                return Ok(0);
            }
            "--norc" | "--noprofile" | "--posix" | "--login" | "-l" | "-i" => rest = more,
            "-o" | "+o" | "-O" | "+O" => {
                setting.extend(rest.iter().take(2).cloned());
                rest = more.get(1..).unwrap_or_default();
            }
            flags if flags.len() > 1 && (flags.starts_with('-') || flags.starts_with('+')) => {
                let (sign, letters) = flags.split_at(1);
                line |= letters.contains('c');
                from_stdin |= letters.contains('s');
                check_only |= letters.contains('n');
                let others: String = letters.chars().filter(|it| !"csnli".contains(*it)).collect();
                if !others.is_empty() {
                    setting.push(format!("{sign}{others}"));
                    if others.ends_with('o') {
                        setting.extend(more.first().cloned());
                        rest = more.get(1..).unwrap_or_default();
                        continue;
                    }
                }
                rest = more;
            }
            _ => break,
        }
    }
    let (source, zero, args) = match rest {
        [] if line => {
            env.complain(&format!("{name}: -c: option requires an argument")).await?;
            return Ok(2);
        }
        [source, more @ ..] if line => {
            let zero = more.first().cloned().unwrap_or_else(|| name.clone());
            (source.clone(), zero, more.get(1..).unwrap_or_default())
        }
        [path, more @ ..] if !from_stdin => match script(env, path).await? {
            Ok(source) => (source, path.clone(), more),
            Err(status) => return Ok(status),
        },
        args => {
            let Some(fd) = env.fd(0) else { return Ok(0) };
            let bytes = read_whole(env, &fd).await;
            (text::from_bytes(&bytes), name.clone(), args)
        }
    };
    start(env, &source, &zero, args, &setting, check_only).await
}

/// A script called by its path.
pub(crate) async fn run_file(env: &mut Env, words: &[String]) -> Eval<i32> {
    if !allowed(env, &words[0]).await? {
        return Ok(126);
    }
    match script(env, &words[0]).await? {
        Ok(source) => start(env, &source, &words[0], &words[1..], &[], false).await,
        Err(status) => Ok(status),
    }
}

/// The text of a script, or the status of not having one.
async fn script(env: &mut Env, path: &str) -> Eval<Result<String, i32>> {
    let fd = match env.open_for_reading(path) {
        Ok(fd) => fd,
        Err(error) => {
            env.complain(&format!("{path}: {error}")).await?;
            return Ok(Err(127));
        }
    };
    let bytes = read_whole(env, &fd).await;
    // What is not a text is a module or data, and no shell runs either.
    if bytes.iter().take(80).any(|byte| *byte == 0) {
        env.complain(&format!(
            "{path}: cannot execute binary file; `drydock commands add` registers a module"
        ))
        .await?;
        return Ok(Err(126));
    }
    let first = text::from_bytes(bytes.split(|byte| *byte == b'\n').next().unwrap_or_default());
    if let Some(interpreter) = first.strip_prefix("#!") {
        let mut words = interpreter.split_whitespace();
        let base = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
        let mut program = words.next().map(base).unwrap_or_default();
        if program == "env" {
            program = words.find(|it| !it.starts_with('-')).map(base).unwrap_or_default();
        }
        if !NAMES.contains(&program.as_str()) {
            env.complain(&format!(
                "{path}: {program}: bad interpreter: only shell scripts are run by their path"
            ))
            .await?;
            return Ok(Err(126));
        }
    }
    Ok(Ok(text::from_bytes(&bytes)))
}

async fn start(
    env: &mut Env,
    source: &str,
    name: &str,
    args: &[String],
    setting: &[String],
    check_only: bool,
) -> Eval<i32> {
    let script = match syntax::parse(source, env.shared.limits.parse()) {
        Ok(script) => Arc::new(script),
        Err(error) => {
            env.complain(&format!("{name}: {error}")).await?;
            return Ok(2);
        }
    };
    if check_only {
        return Ok(0);
    }
    let mut inner = env.fork();
    inner.vars = only_exported(env);
    inner.functions = Arc::default();
    inner.traps = Arc::default();
    inner.options = Options::default();
    inner.args = Arc::new(args.to_vec());
    inner.name = name.into();
    inner.calls.clear();
    inner.sourced = 0;
    inner.tested = 0;
    inner.status = 0;
    for pair in setting.chunk_by(|first, _| first.ends_with('o') || first.ends_with('O')) {
        let mut words = pair.to_vec();
        let shopt = words[0].ends_with('O');
        if shopt {
            words[0] = if words[0].starts_with('+') { "-u" } else { "-s" }.to_owned();
        }
        let status = match shopt {
            true => super::set::shopt(&mut inner, &words).await?,
            false => super::set::set(&mut inner, &words).await?,
        };
        if status != 0 {
            return Ok(2);
        }
    }
    env.run_apart(inner, script).await
}

fn only_exported(env: &Env) -> Vars {
    let mut vars = Vars::new(env.shared.limits.variable_bytes_max);
    for (name, value) in env.vars.exported() {
        let var = vars.entry(&name);
        var.value = Value::Scalar(value.to_string());
        var.attributes.exported = true;
    }
    let level = env.vars.get("SHLVL").and_then(|it| it.parse::<u32>().ok()).unwrap_or(1);
    for (name, value) in [("IFS", " \t\n"), ("OPTIND", "1"), ("PS4", "+ "), ("PWD", env.cwd.as_str())] {
        vars.entry(name).value = Value::Scalar(value.to_owned());
    }
    for name in ["BASH_VERSION", "BASH", "HOSTNAME", "OSTYPE", "MACHTYPE", "HOSTTYPE", "UID", "EUID", "PPID"]
    {
        if let Some(value) = env.vars.get(name) {
            vars.entry(name).value = Value::Scalar(value.to_owned());
        }
    }
    vars.entry("SHLVL").value = Value::Scalar(level.saturating_add(1).to_string());
    vars.entry("PWD").attributes.exported = true;
    vars
}
