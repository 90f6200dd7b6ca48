//! The prompt: lines are typed, edited, remembered and run one after another in one shell.

use std::{borrow::Cow, cell::RefCell, rc::Rc, sync::Arc};

use drydock_embed::{
    Dock, DockShell, ExplainError, WordReader,
    contract::{Limits, Streams, exit::LIMITED},
    gate::DenialLog,
    shell::{ShellLimits, TypedWords},
};
use rustyline::{
    Config, Context, Editor, Helper,
    completion::Completer,
    error::ReadlineError,
    highlight::{CmdKind, Highlighter},
    hint::Hinter,
    history::FileHistory,
    validate::Validator,
};

use super::{colour, complete, explain_end, lines, session, status, until_interrupted};
use crate::{
    cli::{grants, run},
    exit, home, show, streams,
};

const HISTORY_LINES_MAX: usize = 10_000;

/// Reads and runs lines until `exit` or the end of the input.
pub(super) fn run(dock: &Dock, shell: DockShell, log: &DenialLog, limits: &Limits) -> anyhow::Result<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let names = complete::Names::of(dock);
    let shell = Rc::new(RefCell::new(shell));
    let config = Config::builder()
        .max_history_size(HISTORY_LINES_MAX)?
        .history_ignore_space(true)
        .completion_type(rustyline::CompletionType::List)
        .build();
    let mut editor: Editor<Typist, FileHistory> = Editor::with_config(config)?;
    let reader = Arc::new(tokio::runtime::Builder::new_current_thread().enable_all().build()?);
    lines::bind(&mut editor, &goes_on(dock, Arc::clone(&reader)));
    let words =
        Words { reader: dock.word_reader(), runtime: reader, last: (String::new(), TypedWords::default()) };
    editor.set_helper(Some(Typist { names, shell: Rc::clone(&shell), words: RefCell::new(words) }));
    let remembered = home::path()?.join("history");
    // The first time there is none.
    let _ = editor.load_history(&remembered);
    let last = loop {
        let prompt = format!("{} $ ", show::plain(shell.borrow().cwd()));
        let typed = typed(&mut editor, &prompt)?;
        let at_end = matches!(typed, Typed::End);
        let line = match typed {
            Typed::Text(line) if line.trim().is_empty() => continue,
            Typed::Text(line) => {
                let _ = editor.add_history_entry(line.as_str());
                if let Err(error) = editor.save_history(&remembered) {
                    exit::warn(&format!("could not write `{}`: {error}", remembered.display()));
                }
                line
            }
            Typed::GivenUp => {
                shell.borrow_mut().interrupt();
                continue;
            }
            // Ctrl-D is `exit`, EXIT trap and all.
            Typed::End => {
                let _ = std::io::Write::write_all(&mut std::io::stderr(), b"exit\n");
                "exit".to_owned()
            }
        };
        let mut shell = shell.borrow_mut();
        let interrupt = shell.interrupter();
        let ran = runtime.block_on(async {
            let streams = Streams {
                stdin: streams::typed()?,
                stdout: streams::stdout()?,
                stderr: streams::stderr()?,
                ..Streams::default()
            };
            anyhow::Ok(until_interrupted(interrupt, shell.run_line(&line, streams)).await?)
        });
        match ran {
            Ok((report, _)) => {
                explain_end(&report, limits);
                session::tell(&report);
                grants::tell_to(run::PRINCIPAL, &log.take());
                if report.limit.as_deref() == Some("cancelled") {
                    new_line();
                }
                if report.exited || at_end {
                    break status(&report);
                }
            }
            Err(error) => {
                exit::warn(&format!("error: {error:#}"));
                if at_end {
                    break LIMITED;
                }
            }
        }
    };
    runtime.shutdown_background();
    Ok(last)
}

/// Whether a text that was typed goes on. The guest of the shell reads it: the text may have been pasted from anywhere.
fn goes_on(dock: &Dock, runtime: Arc<tokio::runtime::Runtime>) -> lines::IsIncomplete {
    let dock = dock.clone();
    Arc::new(move |text| {
        let plan = runtime.block_on(dock.explain(text, &ShellLimits::default()));
        matches!(plan, Err(ExplainError::Syntax(error)) if error.incomplete)
    })
}

/// What came from the keyboard.
enum Typed {
    Text(String),
    /// Ctrl-C.
    GivenUp,
    /// Ctrl-D, and nothing typed before it.
    End,
}

/// One text, of as many lines as it takes.
fn typed(editor: &mut Editor<Typist, FileHistory>, prompt: &str) -> anyhow::Result<Typed> {
    match editor.readline(prompt) {
        Ok(text) => Ok(Typed::Text(lines::plain(&text))),
        Err(ReadlineError::Interrupted) => Ok(Typed::GivenUp),
        Err(ReadlineError::Eof) => Ok(Typed::End),
        Err(error) => Err(error.into()),
    }
}

/// The prompt after a Ctrl-C stands on a line of its own.
fn new_line() {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), b"\n");
}

/// What the editor asks while somebody types.
struct Typist {
    names: complete::Names,
    shell: Rc<RefCell<DockShell>>,
    words: RefCell<Words>,
}

/// Nobody types more; what was pasted is not looked at.
const TYPED_BYTES_MAX: usize = 64 << 10;

/// Each key has the text read again for its colours, so a long one has none.
const COLOURED_BYTES_MAX: usize = 4 << 10;

/// What the shell's guest says of the words of a text, and what it said last.
struct Words {
    reader: WordReader,
    runtime: Arc<tokio::runtime::Runtime>,
    last: (String, TypedWords),
}

impl Words {
    fn of(&mut self, typed: &str) -> &TypedWords {
        if self.last.0 != typed {
            let limits = ShellLimits { text_bytes_max: TYPED_BYTES_MAX, ..ShellLimits::default() };
            let words = match typed.len() <= TYPED_BYTES_MAX {
                true => self.runtime.block_on(self.reader.read(typed, &limits)).unwrap_or_default(),
                false => TypedWords::default(),
            };
            self.last = (typed.to_owned(), words);
        }
        &self.last.1
    }
}

impl Helper for Typist {}

impl Hinter for Typist {
    type Hint = String;
}

impl Completer for Typist {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = lines::plain(&line[..at]);
        let last = self.words.borrow_mut().of(&typed).last;
        let word = last.and_then(|(start, role)| Some((typed.get(start as usize..)?, role)));
        // A word of several lines is not the same in both texts.
        let Some((word, role)) = word.filter(|(word, _)| line[..at].ends_with(word)) else {
            return Ok((at, Vec::new()));
        };
        Ok((at - word.len(), complete::candidates(&self.names, &self.shell.borrow(), word, role)))
    }
}

/// What is not finished never gets here: see `lines`.
impl Validator for Typist {}

impl Highlighter for Typist {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        let shell = self.shell.borrow();
        let known = |word: &str| self.names.has(word) || shell.names_with(word).iter().any(|it| it == word);
        let is_file = |word: &str| complete::is_file(&shell, word);
        let (typed, mut words) = (lines::plain(line), self.words.borrow_mut());
        let marks = match typed.len() <= COLOURED_BYTES_MAX {
            true => colour::marks(&typed, &words.of(&typed).words, known, is_file),
            false => Vec::new(),
        };
        match marks.is_empty() && !line.contains(lines::MARK) {
            true => Cow::Borrowed(line),
            false => Cow::Owned(lines::drawn(line, &marks)),
        }
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        match prompt.strip_suffix("$ ") {
            Some(place) => Cow::Owned(format!("\x1b[1;34m{place}\x1b[0m$ ")),
            None => Cow::Borrowed(prompt),
        }
    }

    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        true
    }
}
