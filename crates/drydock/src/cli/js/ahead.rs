//! Compiles what a program mentions before its time begins: the first use of a command takes a second or
//! two of compiling, and a program has five in all.

use drydock_embed::{Dock, contract::port::Registry as _};

/// Compiles the commands that the text names. What cannot be compiled is for the call to tell.
pub(in crate::cli) async fn compile(dock: &Dock, text: &str) {
    let names: Vec<String> = dock.registry().names().iter().map(|it| it.as_str().to_owned()).collect();
    for name in mentioned(text, &names) {
        let _ = dock.warm(name).await;
    }
}

/// Installs the programs of the catalog that the text names and that `wanted` admits. What cannot be installed is
/// told, and stops nothing.
pub(in crate::cli) async fn install(dock: &Dock, text: &str, wanted: impl Fn(&str) -> bool) {
    let names: Vec<String> = dock.installable(true).iter().map(|it| it.as_str().to_owned()).collect();
    for name in mentioned(text, &names).into_iter().filter(|it| wanted(it)) {
        if let Err(why) = dock.install(name).await {
            crate::exit::warn(&format!("{name}: not installed: {why}"));
        }
    }
}

/// Whether it seems to import TypeScript.
pub(super) fn imports_types(text: &str) -> bool {
    text.contains("import") && [".ts'", ".ts\"", ".ts`", ".mts'", ".mts\""].iter().any(|it| text.contains(it))
}

/// What Python starts commands with, besides `commands`.
const STARTS: [&str; 4] = ["subprocess", "os.system", "os.popen", "sh("];

/// The names that follow `commands.`; with `commands.sh` or Python's ways, whose lines are text, all that occur
/// as a word.
fn mentioned<'a>(text: &str, names: &'a [String]) -> Vec<&'a str> {
    let called: Vec<&str> = text.split("commands.").skip(1).filter_map(|rest| words(rest).next()).collect();
    let in_text = called.contains(&"sh") || STARTS.iter().any(|it| text.contains(it));
    let any: Vec<&str> = if in_text { words(text).collect() } else { Vec::new() };
    let is_named = |name: &str| {
        // A program spells the name as an identifier.
        let safe = name.replace(|it: char| !it.is_ascii_alphanumeric(), "_");
        called.iter().any(|it| it.trim_end_matches('_') == safe) || any.contains(&name)
    };
    names.iter().map(String::as_str).filter(|name| is_named(name)).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !it.is_alphanumeric() && it != '_' && it != '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_a_program_mentions_are_found() {
        let names = ["[", "false", "grep", "jq", "sort", "wc", "x-y"].map(String::from);
        let found = |text: &str| mentioned(text, &names).join(" ");
        assert_eq!(found("await commands.jq({}); commands.false_()"), "false jq");
        assert_eq!(found("[3, 1].sort(); 'grep'"), "");
        assert_eq!(found("commands.x_y(); commands."), "x-y");
        assert_eq!(found("commands.sh({line: `grep -c x|wc`}).then(it => it)"), "grep wc");
        assert_eq!(found("subprocess.run(['grep', 'x'])"), "grep");
        assert_eq!(found(""), "");
        assert!(imports_types("import x from './a.ts'") && !imports_types("import x from './a.js'"));
    }
}
