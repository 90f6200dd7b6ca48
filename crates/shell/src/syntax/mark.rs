//! Where words stand in a text and what they are, for whoever types it: noted while it is parsed, as far as that comes.

use drydock_abi::shell::{TypedWord, WordRole};

use super::{
    Parser,
    ast::{Piece, Word},
};

/// The words of a text, by where they begin. A word that is read again takes the place of what was noted from there on.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    words: Vec<Mark>,
    /// What the next word is, if that is no argument.
    next: Option<WordRole>,
}

#[derive(Debug)]
struct Mark {
    start: usize,
    /// None as long as it is being read, and where the text ended in it.
    end: Option<usize>,
    role: WordRole,
}

impl Marks {
    fn push(&mut self, start: usize, end: Option<usize>, role: WordRole) {
        let kept = self.words.partition_point(|it| it.start < start);
        self.words.truncate(kept);
        self.words.push(Mark { start, end, role });
    }

    fn at(&mut self, start: usize) -> Option<&mut Mark> {
        let index = self.words.binary_search_by_key(&start, |it| it.start).ok()?;
        self.words.get_mut(index)
    }

    /// All words of a text of that length.
    pub(crate) fn words(&self, text_bytes: usize) -> impl DoubleEndedIterator<Item = TypedWord> {
        let number = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        self.words.iter().map(move |it| TypedWord {
            start: number(it.start),
            end: number(it.end.unwrap_or(text_bytes)),
            role: it.role,
        })
    }
}

impl Parser<'_> {
    /// The next word is a command's name.
    pub(super) fn mark_next_command(&mut self) {
        if let Some(marks) = &mut self.marks {
            marks.next = Some(WordRole::Command);
        }
    }

    /// A word begins here.
    pub(super) fn mark_word(&mut self) {
        if let Some(marks) = &mut self.marks {
            let role = marks.next.take().unwrap_or(WordRole::Argument);
            marks.push(self.at, None, role);
        }
    }

    /// The word that began there ends here.
    pub(super) fn mark_word_end(&mut self, start: usize, pieces: &[Piece]) {
        let Some(marks) = &mut self.marks else { return };
        if self.at == start {
            marks.words.truncate(marks.words.partition_point(|it| it.start < start));
        } else if let Some(mark) = marks.at(start) {
            mark.end = Some(self.at);
            if mark.role == WordRole::Command && !matches!(pieces, [Piece::Text(_)]) {
                mark.role = WordRole::Computed;
            }
        }
    }

    /// The text from there to here is a word of the syntax.
    pub(super) fn mark_keyword(&mut self, start: usize) {
        if let Some(marks) = &mut self.marks {
            marks.push(start, Some(self.at), WordRole::Keyword);
        }
    }

    /// What was taken for a command is the name of a function.
    pub(super) fn mark_function(&mut self, name: &Word) {
        if let Some(mark) = self.marks.as_mut().and_then(|it| it.at(name.span.start as usize)) {
            mark.role = WordRole::Argument;
        }
    }
}
