//! The prompt: lines are typed, edited, remembered and run one after another in one shell.

use std::{borrow::Cow, cell::RefCell, rc::Rc};

use drydock_embed::{
    Dock, DockShell,
    contract::{Limits, Streams},
};
use rustyline::{
    Config, Context, Editor, Helper,
    completion::Completer,
    error::ReadlineError,
    highlight::{CmdKind, Highlighter},
    hint::Hinter,
    history::FileHistory,
    validate::{ValidationContext, ValidationResult, Validator},
};

use super::{complete, explain_end, status, until_interrupted};
use crate::{exit, home, show, streams};

const HISTORY_LINES_MAX: usize = 10_000;

/// Reads and runs lines until `exit` or the end of the input.
pub(super) fn run(dock: &Dock, shell: DockShell, limits: &Limits) -> anyhow::Result<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let names = complete::Names::of(dock);
    let shell = Rc::new(RefCell::new(shell));
    let config = Config::builder()
        .max_history_size(HISTORY_LINES_MAX)?
        .history_ignore_space(true)
        .completion_type(rustyline::CompletionType::List)
        .build();
    let mut editor: Editor<Typist, FileHistory> = Editor::with_config(config)?;
    editor.set_helper(Some(Typist { names, shell: Rc::clone(&shell) }));
    let remembered = home::path()?.join("history");
    // The first time there is none.
    let _ = editor.load_history(&remembered);
    let mut last = 0;
    loop {
        let prompt = format!("{} $ ", show::plain(shell.borrow().cwd()));
        let line = match editor.readline(&prompt) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error.into()),
        };
        if line.trim().is_empty() {
            continue;
        }
        let _ = editor.add_history_entry(line.as_str());
        if let Err(error) = editor.save_history(&remembered) {
            exit::warn(&format!("could not write `{}`: {error}", remembered.display()));
        }
        let mut shell = shell.borrow_mut();
        let cancel = shell.canceller();
        let ran = runtime.block_on(async {
            let streams =
                Streams { stdin: streams::typed()?, stdout: streams::stdout()?, stderr: streams::stderr()? };
            anyhow::Ok(until_interrupted(cancel, shell.run_line(&line, streams)).await?)
        });
        match ran {
            Ok((report, _)) => {
                last = status(&report);
                explain_end(&report, limits);
                if report.limit.as_deref() == Some("cancelled") {
                    new_line();
                }
                if report.exited {
                    break;
                }
            }
            Err(error) => exit::warn(&format!("error: {error:#}")),
        }
    }
    runtime.shutdown_background();
    Ok(last)
}

/// The prompt after a Ctrl-C stands on a line of its own.
fn new_line() {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), b"\n");
}

/// What the editor asks while somebody types.
struct Typist {
    names: complete::Names,
    shell: Rc<RefCell<DockShell>>,
}

impl Helper for Typist {}

impl Hinter for Typist {
    type Hint = String;
}

impl Completer for Typist {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(complete::candidates(&self.names, &self.shell.borrow(), &line[..at]))
    }
}

impl Validator for Typist {
    fn validate(&self, typed: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let limits = drydock_embed::shell::ShellLimits::default();
        Ok(match drydock_embed::shell::explain(typed.input(), &limits) {
            Err(error) if error.incomplete => ValidationResult::Incomplete,
            _ => ValidationResult::Valid(None),
        })
    }
}

impl Highlighter for Typist {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        let Some((before, word, after)) = complete::first_word(line) else { return Cow::Borrowed(line) };
        let known = self.names.has(word) || self.shell.borrow().names_with(word).iter().any(|it| it == word);
        let colour = if known { 32 } else { 31 };
        Cow::Owned(format!("{before}\x1b[{colour}m{word}\x1b[0m{after}"))
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Owned(format!("\x1b[1;34m{}\x1b[0m{}", prompt.trim_end_matches("$ "), "$ "))
    }

    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        true
    }
}
