//! Rules of a makefile: targets, what they need, and the lines of their recipes.

use super::*;

impl Make {
    pub(super) fn recipe_line(&mut self, text: &str, file: &str, number: usize) {
        let line = Line { text: text.to_owned(), file: file.to_owned(), number };
        for name in self.context.clone() {
            if let Some(pattern) = name.strip_prefix('\0') {
                if let Some(last) = self.patterns.iter_mut().rev().find(|it| it.targets.join(" ") == pattern)
                {
                    last.recipe.push(line.clone());
                }
            } else if let Some(target) = self.targets.get_mut(&name) {
                let old = target
                    .recipe
                    .as_ref()
                    .and_then(|it| it.first())
                    .filter(|_| target.fresh && !target.double_colon);
                if let Some(old) = old {
                    let lines = (format!("{file}:{number}"), format!("{}:{}", old.file, old.number));
                    crate::recipe::complain(&format!(
                        "{}: warning: overriding recipe for target '{name}'\n{}: warning: ignoring old recipe for target '{name}'",
                        lines.0, lines.1
                    ));
                    target.recipe = None;
                }
                target.fresh = false;
                match target.more.last_mut().filter(|_| target.double_colon) {
                    Some(more) => more.1.push(line.clone()),
                    None => target.recipe.get_or_insert_default().push(line.clone()),
                }
            }
        }
    }

    pub(super) fn rule(&mut self, line: &str, file: &str, number: usize) -> Done {
        let colon = find_outside(line, b":");
        let (head, after) = match colon {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => {
                let text = self.expand(line)?;
                if text.trim().is_empty() {
                    return Ok(());
                }
                // What a variable held may be a rule itself.
                if text != line && (text.contains(':') || text.contains('=')) {
                    return self.read_expanded(&text, file, number);
                }
                let spaces = self.spaces >= 8;
                return Err(self.stop(if spaces {
                    "missing separator (did you mean TAB instead of 8 spaces?)"
                } else {
                    "missing separator"
                }));
            }
        };
        let names = self.expand(head)?;
        let (double, after) = match after.strip_prefix(':') {
            Some(rest) => (true, rest),
            None => (false, after),
        };
        let (after, inline) = match find_outside(after, b";") {
            Some(at) if assignment(&after[..at]).is_none() => {
                (&after[..at], Some(after[at + 1..].trim_start()))
            }
            _ => (after, None),
        };
        let own = after.trim_start();
        let (own, overrides) =
            own.strip_prefix("override ").map_or((own, false), |it| (it.trim_start(), true));
        let own = own.strip_prefix("export ").or_else(|| own.strip_prefix("private ")).unwrap_or(own);
        if let Some(found) = assignment(own) {
            for target in names.split_whitespace() {
                self.own.push(Own {
                    target: target.to_owned(),
                    name: found.name.to_owned(),
                    how: found.how,
                    value: found.value.to_owned(),
                    overrides,
                });
            }
            self.context.clear();
            return Ok(());
        }
        let needs = self.expand(after)?;
        self.add(&names, &needs, double)?;
        if let Some(text) = inline {
            self.recipe_line(text, file, number);
        }
        Ok(())
    }

    fn read_expanded(&mut self, text: &str, file: &str, number: usize) -> Done {
        if self.assign_line(text, Origin::File)? {
            return Ok(());
        }
        for line in text.lines() {
            self.line(line, file, number)?;
        }
        Ok(())
    }

    fn add(&mut self, names: &str, needs: &str, double: bool) -> Done {
        self.context.clear();
        let names: Vec<String> = self.globbed(names);
        // `targets: pattern: needs`.
        if let Some((pattern, needs)) = needs.split_once(':').filter(|it| it.0.contains('%')) {
            let pattern = pattern.trim();
            for name in names {
                let Some(found) = stem(pattern, &name).map(str::to_owned) else {
                    crate::recipe::complain(&format!(
                        "{}target '{name}' doesn't match the target pattern",
                        self.stop("").place
                    ));
                    continue;
                };
                let filled: Vec<String> =
                    needs.split_whitespace().map(|it| crate::text::filled(it, &found)).collect();
                // A name that a pattern of files found makes no words of the makefile.
                let written = (!self.is_own_word(&name)).then(|| self.written.clone());
                self.add_one(&name, &filled.join(" "), false);
                self.written = written.unwrap_or_else(|| std::mem::take(&mut self.written));
                if let Some(target) = self.targets.get_mut(&name) {
                    target.stem = Some(found);
                }
            }
            return Ok(());
        }
        if names.iter().any(|it| split(it).is_some()) {
            let (needs, order_only) = self.parts(needs);
            let row =
                Pattern { targets: names.clone(), needs, order_only, recipe: Vec::new(), built_in: false };
            self.context = vec![format!("\0{}", names.join(" "))];
            self.patterns.push(row);
            return Ok(());
        }
        for name in names {
            if let Some(pattern) = suffix_rule(&name).filter(|_| needs.trim().is_empty()) {
                self.context.push(format!("\0{}", pattern.targets.join(" ")));
                self.patterns.push(pattern);
                continue;
            }
            self.add_one(&name, needs, double);
        }
        Ok(())
    }

    fn add_one(&mut self, name: &str, needs: &str, double: bool) {
        let (needs, order_only) = self.parts(needs);
        if !self.targets.contains_key(name) {
            self.order.push(name.to_owned());
        }
        let target = self.targets.entry(name.to_owned()).or_default();
        target.explicit = true;
        if double {
            target.double_colon = true;
            target.more.push((needs.clone(), Vec::new()));
        }
        target.fresh = true;
        target.needs.extend(needs);
        target.order_only.extend(order_only);
        self.context.push(name.to_owned());
    }

    /// Words, with the files that fit in the place of those that are patterns of the shell. The others are the
    /// makefile's own, and remembered as such.
    fn globbed(&mut self, words: &str) -> Vec<String> {
        let mut all = Vec::new();
        for word in words.split_whitespace() {
            let found = if word.contains(['*', '?', '[']) && !word.contains('%') {
                crate::function::wildcard(word)
            } else {
                Vec::new()
            };
            if found.is_empty() {
                let name = word.strip_prefix("./").filter(|it| !it.is_empty()).unwrap_or(word);
                self.written.insert(name.to_owned());
                all.push(name.to_owned());
            }
            all.extend(found);
        }
        all
    }

    fn parts(&mut self, needs: &str) -> (Vec<String>, Vec<String>) {
        match needs.split_once('|') {
            Some((usual, order_only)) => (self.globbed(usual), self.globbed(order_only)),
            None => (self.globbed(needs), Vec::new()),
        }
    }
}

/// `.c.o` as `%.o: %.c`.
fn suffix_rule(name: &str) -> Option<Pattern> {
    const KNOWN: [&str; 12] =
        [".c", ".o", ".cc", ".cpp", ".h", ".s", ".S", ".y", ".l", ".sh", ".txt", ".out"];
    let rest = name.strip_prefix('.')?;
    let (from, to) = match rest.find('.') {
        Some(at) => (&name[..=at], &name[at + 1..]),
        None => (name, ""),
    };
    (KNOWN.contains(&from) && (to.is_empty() || KNOWN.contains(&to))).then(|| Pattern {
        targets: vec![format!("%{to}")],
        needs: vec![format!("%{from}")],
        order_only: Vec::new(),
        recipe: Vec::new(),
        built_in: false,
    })
}
