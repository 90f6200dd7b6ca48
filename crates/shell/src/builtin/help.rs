//! `help`: one line of use and one of meaning for everything that is the shell's own.

use super::flags;
use crate::{
    pattern::{Pattern, is_pattern},
    state::{Env, Eval},
};

/// A topic: what it is called, how it is written, what it does.
type Topic = (&'static str, &'static str, &'static str);

#[rustfmt::skip]
const TOPICS: &[Topic] = &[
    ("!", "! pipeline", "Turn success of a pipeline into failure, and failure into success."),
    (".", ". file [argument ...]", "Run the commands of a file in this shell."),
    (":", ":", "Do nothing, and succeed."),
    ("[", "[ expression ]", "Answer a question about files, texts or numbers; the same as `test'."),
    ("[[", "[[ expression ]]", "Answer a question, with patterns, regular expressions and no splitting of words."),
    ("alias", "alias [-p] [name[=value] ...]", "Define short names for commands, or show them."),
    ("bg", "bg [job ...]", "Let a stopped job go on in the background."),
    ("bind", "bind [option ...] [key:command ...]", "Accept key bindings; there is no line editor here to use them."),
    ("break", "break [n]", "Leave a loop, or n of them."),
    ("builtin", "builtin [name [argument ...]]", "Run a builtin, whatever function has the same name."),
    ("caller", "caller [n]", "Tell who called the running function, and from which line."),
    ("case", "case word in [pattern [| pattern]...) commands ;;]... esac", "Run the commands of the first pattern that the word matches."),
    ("cd", "cd [-L|-P] [directory]", "Change the working directory."),
    ("command", "command [-pVv] name [argument ...]", "Run a command, whatever function has the same name, or tell what it is."),
    ("compgen", "compgen [option ...] [word]", "Show what a word could be completed to."),
    ("complete", "complete [-pr] [option ...] [name ...]", "Say how arguments of commands are completed."),
    ("compopt", "compopt [-o|+o option] [name ...]", "Change options of a completion."),
    ("continue", "continue [n]", "Go on with the next round of a loop, or of the n-th around it."),
    ("coproc", "coproc [name] command", "Run a command beside the shell, with pipes to and from it."),
    ("declare", "declare [-aAfFgiIlnrtux] [name[=value] ...] or declare -p [name ...]", "Give variables values and attributes, or show them."),
    ("dirs", "dirs [-clpv] [+n] [-n]", "Show the directories that `pushd' remembers."),
    ("disown", "disown [-h] [-ar] [job ...]", "Forget jobs."),
    ("echo", "echo [-neE] [argument ...]", "Write the arguments to the standard output."),
    ("enable", "enable [-a] [-n] [name ...]", "List the builtins."),
    ("eval", "eval [argument ...]", "Run the arguments as a command of this shell."),
    ("exec", "exec [-cl] [-a name] [command [argument ...]]", "Run a command in the shell's place, or keep redirections."),
    ("exit", "exit [n]", "End the shell, with status n."),
    ("export", "export [-fn] [name[=value] ...] or export -p", "Let commands see variables and functions."),
    ("false", "false", "Do nothing, and fail."),
    ("fc", "fc [-lnr] [first] [last] or fc -s [old=new] [command]", "Show remembered lines, or run one again."),
    ("fg", "fg [job]", "Wait for a job."),
    ("for", "for name [in words ...]; do commands; done", "Run commands for each word."),
    ("function", "function name { commands; }", "Define a function."),
    ("getopts", "getopts optstring name [argument ...]", "Take options from arguments, one at a call."),
    ("hash", "hash [-lr] [-p path] [-dt] [name ...]", "Remember or forget where commands are."),
    ("help", "help [-dms] [pattern ...]", "Tell about what is the shell's own."),
    ("history", "history [-c] [-d offset] [n] or history -anrw [file] or history -ps argument ...", "Show or change the remembered lines."),
    ("if", "if commands; then commands; [elif commands; then commands;]... [else commands;] fi", "Run commands if others succeed."),
    ("jobs", "jobs [-lnprs] [job ...]", "List the jobs that run."),
    ("kill", "kill [-s signal | -n number | -signal] pid | job ... or kill -l [signal]", "Send a signal to a job."),
    ("let", "let argument [argument ...]", "Work out arithmetic; fail if the last result is 0."),
    ("local", "local [option] name[=value] ...", "Make variables of the running function."),
    ("mapfile", "mapfile [-d delimiter] [-n count] [-O origin] [-s count] [-t] [-u fd] [array]", "Read lines into an array."),
    ("popd", "popd [-n] [+n | -n]", "Go back to a directory that `pushd' remembers."),
    ("printf", "printf [-v name] format [arguments]", "Write the arguments in a format."),
    ("pushd", "pushd [-n] [+n | -n | directory]", "Remember the working directory and go to another."),
    ("pwd", "pwd [-LP]", "Tell the working directory."),
    ("read", "read [-ers] [-a array] [-d delimiter] [-n count] [-N count] [-p prompt] [-t timeout] [-u fd] [name ...]", "Read a line into variables."),
    ("readarray", "readarray [-d delimiter] [-n count] [-O origin] [-s count] [-t] [-u fd] [array]", "Read lines into an array; the same as `mapfile'."),
    ("readonly", "readonly [-aAf] [name[=value] ...] or readonly -p", "Make variables that cannot be changed."),
    ("return", "return [n]", "Leave a function or a sourced file, with status n."),
    ("select", "select name [in words ...]; do commands; done", "Ask for one of the words, and run commands for each answer."),
    ("set", "set [-abefhkmnptuvxBCEHPT] [-o option] [--] [argument ...]", "Switch options, or set the arguments."),
    ("shift", "shift [n]", "Drop the first n arguments."),
    ("shopt", "shopt [-pqsu] [-o] [name ...]", "Switch options, or show them."),
    ("source", "source file [argument ...]", "Run the commands of a file in this shell."),
    ("test", "test [expression]", "Answer a question about files, texts or numbers."),
    ("time", "time [-p] pipeline", "Tell how long a pipeline took."),
    ("times", "times", "Tell the time that the shell and its commands took."),
    ("trap", "trap [-lp] [[action] signal ...]", "Run an action when a signal arrives or the shell ends."),
    ("true", "true", "Do nothing, and succeed."),
    ("type", "type [-afptP] name [name ...]", "Tell what a name would run."),
    ("typeset", "typeset [-aAfFgiIlnrtux] name[=value] ... or typeset -p [name ...]", "Give variables values and attributes; the same as `declare'."),
    ("ulimit", "ulimit [-SHacdefilmnpqrstuvxR] [limit]", "Set or show limits."),
    ("umask", "umask [-p] [-S] [mode]", "Set or show what is taken from the mode of new files."),
    ("unalias", "unalias [-a] name [name ...]", "Forget aliases."),
    ("unset", "unset [-fvn] [name ...]", "Forget variables and functions."),
    ("until", "until commands; do commands; done", "Run commands until others succeed."),
    ("wait", "wait [-fn] [-p name] [job ...]", "Wait for jobs, and answer their status."),
    ("while", "while commands; do commands; done", "Run commands as long as others succeed."),
    ("{", "{ commands; }", "Run commands as one."),
];

pub(super) async fn run(env: &mut Env, args: &[String]) -> Eval<i32> {
    let Some((letters, rest)) = flags(env, "help", "dms", args).await? else { return Ok(2) };
    if rest.is_empty() {
        let lines: String = TOPICS.iter().map(|it| format!(" {}\n", it.1)).collect();
        let text = format!("The shell's own commands. `help name' tells more about one.\n\n{lines}");
        env.print(&text).await?;
        return Ok(0);
    }
    let mut status = 1;
    for wanted in rest {
        let mut found = false;
        for topic in TOPICS.iter().filter(|it| names(wanted, it.0)) {
            found = true;
            env.print(&shown(topic, &letters)).await?;
        }
        if found {
            status = 0;
        } else {
            env.complain(&format!("help: no help topics match `{wanted}'.  Try `help help'.")).await?;
        }
    }
    Ok(status)
}

/// Whether a word means a topic: its name, or a pattern of it.
fn names(wanted: &str, topic: &str) -> bool {
    // `[` and `[[` are names before they are patterns.
    wanted == topic
        || (is_pattern(wanted)
            && wanted != "["
            && wanted != "[["
            && Pattern::with_case(wanted, false).matches(topic))
}

fn shown(topic: &Topic, letters: &str) -> String {
    let (name, written, does) = topic;
    if letters.contains('d') {
        format!("{name} - {does}\n")
    } else if letters.contains('s') {
        format!("{name}: {written}\n")
    } else if letters.contains('m') {
        format!("NAME\n    {name} - {does}\n\nSYNOPSIS\n    {written}\n")
    } else {
        format!("{name}: {written}\n    {does}\n")
    }
}

#[test]
fn everything_that_is_the_shells_own_has_a_topic() {
    assert!(TOPICS.is_sorted_by_key(|it| it.0));
    let missing: Vec<&str> = super::names().filter(|name| TOPICS.iter().all(|it| it.0 != *name)).collect();
    assert!(missing.is_empty(), "no help for {missing:?}");
}
