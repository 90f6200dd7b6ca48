//! `bash` and `sh` as commands, and scripts called by their path: a shell inside this one, with nothing
//! of it but exported variables, open files and the working directory.
//!
//! A script is a text like the line itself if it was there before the line and nothing in the line wrote
//! it. Any other text (`-c`, stdin, a file of this line's making) is refused like `eval` unless that is
//! allowed.

use std::sync::{Arc, atomic::Ordering};

use drydock_abi::shell::TextFrom;
use drydock_contract::exit;

use crate::{
    exec::Discarded,
    fd::Fd,
    inbox::Inbox,
    state::{Env, Eval, Flow},
    text,
    vars::Value,
};

use super::{
    source::{allowed, read_whole},
    startup,
};

const HELP: &str = "GNU bash, version 5.2.15(1)-release-(wasm32-unknown-wasi)
Usage:\tbash [GNU long option] [option] ...
\tbash [GNU long option] [option] script-file ...
Shell options:
\t-irsD or -c command or -O shopt_option\t\t(invocation only)
\t-abefhkmnptuvxBCEHPT or -o option
";

/// Names that mean this shell.
pub(crate) const NAMES: [&str; 3] = ["bash", "dash", "sh"];

/// `bash [options] [-c LINE [NAME [ARGS]] | FILE [ARGS] | -s [ARGS]]`.
pub(crate) async fn run(env: &mut Env, words: &[String]) -> Eval<i32> {
    run_text(env, words, false).await
}

/// A line of a recipe: run like a script if `make` says which makefiles it is made of, all of them were
/// there before the line, and nothing in the line wrote them.
pub(crate) async fn run_recipe(env: &mut Env, words: &[String], makefiles: &[String]) -> Eval<i32> {
    if env.shared.mode.eval_allowed {
        return run(env, words).await;
    }
    if makefiles.is_empty() {
        let why = "a value from outside of the makefile would become code";
        env.complain(&format!("make: refused: {why}; pass --eval to allow it")).await?;
        return Ok(i32::from(exit::DENIED));
    }
    for path in makefiles {
        let known = env.open_for_reading(path).is_ok_and(|fd| was_there(env, path, &fd));
        if !known {
            let why = "only a makefile that was there before this line is run";
            env.complain(&format!("{path}: refused: {why}; pass --eval to allow it")).await?;
            return Ok(i32::from(exit::DENIED));
        }
    }
    run_text(env, words, true).await
}

/// `known` if the text after `-c` is as good as a script.
async fn run_text(env: &mut Env, words: &[String], known: bool) -> Eval<i32> {
    let (name, mut rest) = (&words[0], &words[1..]);
    let mut asked = Asked::default();
    while let [first, more @ ..] = rest {
        match first.as_str() {
            "--" | "-" => {
                rest = more;
                break;
            }
            "--version" => {
                env.print("GNU bash, version 5.2.15(1)-release (wasm32-unknown-wasi)\n").await?;
                return Ok(0);
            }
            "--help" => {
                env.print(HELP).await?;
                return Ok(0);
            }
            "--norc" => {
                asked.no_rc = true;
                rest = more;
            }
            "--noprofile" | "--posix" | "--login" | "--noediting" | "--verbose" | "-l" => rest = more,
            "--rcfile" | "--init-file" => {
                asked.rc = more.first().cloned();
                rest = more.get(1..).unwrap_or_default();
            }
            "-O" | "+O" => {
                asked.setting.push(rest.iter().take(2).cloned().collect());
                rest = more.get(1..).unwrap_or_default();
            }
            long if long.starts_with("--") => {
                env.complain(&format!("{name}: {long}: invalid option")).await?;
                return Ok(2);
            }
            flags if flags.len() > 1 && (flags.starts_with('-') || flags.starts_with('+')) => {
                rest = asked.flags(flags, more);
            }
            _ => break,
        }
    }
    let (line, from_stdin) = (asked.line, asked.from_stdin);
    let parses = line && !known || from_stdin || rest.is_empty() && !line;
    if parses && !allowed(env, name).await? {
        return Ok(i32::from(exit::DENIED));
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
    asked.text_from = match rest {
        _ if line => TextFrom::Argument,
        [_, ..] if !from_stdin => TextFrom::File,
        _ => TextFrom::Stdin,
    };
    start(env, &source, &zero, args, asked).await
}

/// A script called by its path.
pub(crate) async fn run_file(env: &mut Env, words: &[String]) -> Eval<i32> {
    if !env.is_executable(&words[0]) {
        env.complain(&format!("{}: Permission denied", words[0])).await?;
        return Ok(i32::from(exit::DENIED));
    }
    match script(env, &words[0]).await? {
        Ok(source) => {
            let asked = Asked { text_from: TextFrom::File, ..Asked::default() };
            start(env, &source, &words[0], &words[1..], asked).await
        }
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
    // Asked only now: what was written until here is known, and what comes later was not read.
    if !env.shared.mode.eval_allowed && !was_there(env, path, &fd) {
        let why = "refused: only a script that was there before this line is run";
        env.complain(&format!("{path}: {why}; pass --eval to allow it")).await?;
        return Ok(Err(i32::from(exit::DENIED)));
    }
    // What is not a text is a module or data, and no shell runs either.
    if bytes.iter().take(80).any(|byte| *byte == 0) {
        env.complain(&format!("{path}: cannot execute binary file")).await?;
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

/// Whether an open script was there before the line, and nothing of the line wrote it or put it there.
fn was_there(env: &Env, path: &str, fd: &Fd) -> bool {
    let Fd::File(file) = fd else { return false };
    match env.tree_path(path) {
        Ok(tree) if env.shared.mode.scripts_allowed => !env.shared.door.was_changed(&tree, &*file.file),
        _ => false,
    }
}

/// What the options of a shell ask for.
#[derive(Debug, Default)]
struct Asked {
    line: bool,
    from_stdin: bool,
    interactive: bool,
    text_from: TextFrom,
    no_rc: bool,
    rc: Option<String>,
    /// Words for `set`, or `shopt` where the first says `-O`.
    setting: Vec<Vec<String>>,
}

impl Asked {
    /// Takes `-ec` and the like, and the names that `o` wants; answers what is left.
    fn flags<'w>(&mut self, flags: &str, mut rest: &'w [String]) -> &'w [String] {
        let (sign, letters) = flags.split_at(1);
        for letter in letters.chars() {
            match letter {
                'c' => self.line = true,
                's' => self.from_stdin = true,
                'i' => self.interactive = true,
                'l' => {}
                'o' => {
                    let mut words = vec![format!("{sign}o")];
                    words.extend(rest.first().cloned());
                    rest = rest.get(1..).unwrap_or_default();
                    self.setting.push(words);
                }
                other => self.setting.push(vec![format!("{sign}{other}")]),
            }
        }
        rest
    }
}

async fn start(env: &mut Env, source: &str, name: &str, args: &[String], asked: Asked) -> Eval<i32> {
    let mut inner = env.fork();
    inner.vars = startup::variables(env);
    Arc::make_mut(&mut inner.define().functions)
        .retain(|name, _| env.definitions.exported_functions.contains(name));
    inner.define().aliases = Arc::default();
    // What is ignored stays ignored; other traps are this shell's own.
    inner.traps.set_mut().retain(|_, trap| trap.text.is_empty());
    inner.options = startup::options(env);
    inner.frame = env.frame.outermost(args.to_vec());
    inner.identity.name = name.into();
    inner.status = 0;
    inner.trace.substitutions = 0;
    inner.identity.shell_level = inner.identity.subshell;
    inner.identity.pid = inner.identity.id;
    inner.traps.own_inbox(Arc::new(Inbox::default()));
    env.shared.directory.enter(inner.identity.pid, &inner.traps.inbox);
    inner.vars.entry("PPID").value = Value::Scalar(env.identity.pid.to_string());
    inner.identity.text_from = asked.text_from;
    inner.identity.interactive = asked.interactive;
    if asked.interactive {
        startup::interactive(&mut inner);
    }
    for mut words in asked.setting {
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
    let mut texts = Vec::new();
    if let Some(path) = asked.rc.filter(|_| asked.interactive && !asked.no_rc)
        && let Ok(Ok(text)) = script(env, &path).await
    {
        texts.push((format!("{path}: "), text));
    }
    texts.push((String::new(), source.to_owned()));
    let is_typed_to = inner.is_typed_to();
    let is_stdin = asked.text_from == TextFrom::Stdin && !asked.interactive;
    inner.history = Arc::default();
    if is_typed_to {
        inner.begin_history();
    }
    env.step().await?;
    env.room_for_one(&inner)?;
    let done = env.shared.tasks.spawn(async move {
        let mut result = Ok(());
        for (label, text) in texts {
            let (end, stopped) = match is_stdin && label.is_empty() {
                true => inner.run_stdin(&text).await,
                false => inner.run_text(&text, Discarded::Line).await,
            };
            result = end;
            if let Some(error) = stopped {
                let _ = inner.complain(&format!("{label}{error}")).await;
                inner.status = 2;
            }
            if result.is_err() {
                break;
            }
        }
        if is_typed_to {
            inner.end_history();
        }
        inner.end(result).await
    });
    let status = done.await;
    if env.shared.aborted.load(Ordering::Relaxed) {
        return Err(Flow::Abort);
    }
    Ok(status)
}
