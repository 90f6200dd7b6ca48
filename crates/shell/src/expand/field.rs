//! Words under construction: splitting, and what was quoted.

/// One word; each part knows whether it was quoted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Field {
    parts: Vec<(String, bool)>,
}

impl Field {
    fn push(&mut self, text: &str, quoted: bool) {
        match self.parts.last_mut() {
            Some((last, same)) if *same == quoted => last.push_str(text),
            _ => self.parts.push((text.to_owned(), quoted)),
        }
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = (&str, bool)> {
        self.parts.iter().map(|(text, quoted)| (text.as_str(), *quoted))
    }

    /// The word as it will be seen.
    pub(crate) fn text(self) -> String {
        let mut parts = self.parts.into_iter();
        let mut all = parts.next().map(|it| it.0).unwrap_or_default();
        for (part, _) in parts {
            all.push_str(&part);
        }
        all
    }

    /// The word as a pattern: what was quoted stands for itself.
    pub(crate) fn pattern(&self) -> String {
        let mut all = String::new();
        for (part, quoted) in &self.parts {
            if *quoted {
                crate::pattern::escape(part, &mut all);
            } else {
                all.push_str(part);
            }
        }
        all
    }

    /// The word as a regular expression: what was quoted stands for itself.
    pub(crate) fn regex(&self) -> String {
        let mut all = String::new();
        for (part, quoted) in &self.parts {
            if *quoted {
                for next in part.chars() {
                    if "\\.*+?()|[]{}^$".contains(next) {
                        all.push('\\');
                    }
                    all.push(next);
                }
            } else {
                all.push_str(part);
            }
        }
        all
    }

    /// Whether an unquoted part could be a pattern.
    pub(crate) fn may_glob(&self) -> bool {
        self.parts.iter().any(|(part, quoted)| !quoted && part.contains(['*', '?', '[', '(']))
    }
}

/// Words under construction.
#[derive(Debug)]
pub(crate) struct Fields {
    done: Vec<Field>,
    current: Option<Field>,
    /// Separators; `None` where results are not split.
    ifs: Option<String>,
    /// A blank separator ended a word; a visible one right after belongs to it.
    after_blank: bool,
    pub(crate) bytes: usize,
}

impl Fields {
    /// Words of a command: split at the characters of `ifs`.
    pub(crate) fn split(ifs: String) -> Self {
        Self { done: Vec::new(), current: None, ifs: Some(ifs), after_blank: false, bytes: 0 }
    }

    /// One word, whatever is in it.
    pub(crate) fn whole() -> Self {
        Self { done: Vec::new(), current: None, ifs: None, after_blank: false, bytes: 0 }
    }

    pub(crate) fn splits(&self) -> bool {
        self.ifs.is_some()
    }

    pub(crate) fn quoted(&mut self, text: &str) {
        self.bytes += text.len();
        self.after_blank = false;
        self.current.get_or_insert_default().push(text, true);
    }

    /// Text as typed.
    pub(crate) fn typed(&mut self, text: &str) {
        self.bytes += text.len();
        self.after_blank = false;
        self.current.get_or_insert_default().push(text, false);
    }

    /// The result of an unquoted expansion.
    pub(crate) fn result(&mut self, text: &str) {
        let Some(ifs) = self.ifs.take() else { return self.typed(text) };
        self.bytes += text.len();
        if ifs.is_empty() || !text.contains(|it| ifs.contains(it)) {
            if !text.is_empty() {
                self.after_blank = false;
                self.current.get_or_insert_default().push(text, false);
            }
            self.ifs = Some(ifs);
            return;
        }
        let mut rest = text;
        while let Some(at) = rest.find(|it| ifs.contains(it)) {
            if at > 0 {
                self.after_blank = false;
                self.current.get_or_insert_default().push(&rest[..at], false);
            }
            let separator = rest[at..].chars().next().unwrap_or(' ');
            rest = &rest[at + separator.len_utf8()..];
            let blank = matches!(separator, ' ' | '\t' | '\n');
            match (self.current.take(), blank) {
                (Some(field), _) => {
                    self.done.push(field);
                    self.after_blank = blank;
                }
                (None, true) => {}
                (None, false) if self.after_blank => self.after_blank = false,
                (None, false) => self.done.push(Field::default()),
            }
        }
        if !rest.is_empty() {
            self.after_blank = false;
            self.current.get_or_insert_default().push(rest, false);
        }
        self.ifs = Some(ifs);
    }

    /// Ends the word under construction: the border between two elements of `"$@"`.
    pub(crate) fn next(&mut self) {
        if let Some(field) = self.current.take() {
            self.done.push(field);
        }
        self.after_blank = false;
    }

    /// How many words there are so far.
    pub(crate) fn len(&self) -> usize {
        self.done.len() + usize::from(self.current.is_some())
    }

    pub(crate) fn finish(mut self) -> Vec<Field> {
        self.next();
        self.done
    }

    /// Everything as one word.
    pub(crate) fn join(self) -> Field {
        let mut fields = self.finish().into_iter();
        let mut all = fields.next().unwrap_or_default();
        for field in fields {
            all.push(" ", true);
            for (part, quoted) in field.parts {
                all.push(&part, quoted);
            }
        }
        all
    }
}
