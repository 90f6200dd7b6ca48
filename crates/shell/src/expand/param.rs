//! `${…}`: finds the value, applies the operator, puts the result where it belongs.

use std::cell::Cell;

use super::{Fields, Found, ops, replace::replace};
use crate::{
    pattern::Pattern,
    state::{Env, Eval, Flow},
    syntax::ast::{Param, ParamName, ParamOp, Subscript, Word},
    vars::Value,
};

/// Variables that bash sets itself, and that a script may ask for before it did: no command's own are called so.
const BASH_OWN: [&str; 14] = [
    "BASH_ALIASES",
    "BASH_ARGC",
    "BASH_ARGV",
    "BASH_CMDS",
    "BASH_EXECUTION_STRING",
    "BASH_REMATCH",
    "BASH_SOURCE",
    "COPROC",
    "DIRSTACK",
    "FUNCNAME",
    "MAPFILE",
    "OLDPWD",
    "OPTARG",
    "REPLY",
];

impl Env {
    pub(super) async fn expand_param(&mut self, param: &Param, quoted: bool, out: &mut Fields) -> Eval<()> {
        match &param.op {
            ParamOp::Bad => {
                self.complain(&format!("{}: bad substitution", param.typed)).await?;
                return Err(Flow::Discard);
            }
            ParamOp::Names { joined } => {
                let ParamName::Var(prefix) = &param.name else { return Ok(()) };
                let items = self.vars.names().into_iter().filter(|name| name.starts_with(prefix.as_str()));
                let items: Vec<String> = items.collect();
                if *joined && !quoted && out.splits() && self.ifs().is_empty() {
                    return self.emit(Found::One(Some(items.concat())), quoted, out);
                }
                return self.emit(Found::Many { items, joined: *joined }, quoted, out);
            }
            ParamOp::Keys { joined } => {
                let ParamName::Var(name) = &param.name else { return Ok(()) };
                let items = self.value(name).keys();
                // A quirk of bash's: what nothing separates stays one word, of keys with blanks between them.
                if *joined && !quoted && out.splits() && self.ifs().is_empty() {
                    return self.emit(Found::One(Some(items.join(" "))), quoted, out);
                }
                return self.emit(Found::Many { items, joined: *joined }, quoted, out);
            }
            _ => {}
        }
        let found = self.found(param).await?;
        match &param.op {
            ParamOp::Default { colon, word } => {
                if self.missing(&found, *colon && !of_list(param, &found), quoted) {
                    return self.operand(word, quoted, out).await;
                }
                self.emit(found, quoted, out)
            }
            ParamOp::Alternative { colon, word } => {
                if self.missing(&found, *colon && !of_list(param, &found), quoted) {
                    return Ok(());
                }
                self.operand(word, quoted, out).await
            }
            ParamOp::Assign { colon, word } => {
                if !self.missing(&found, *colon && !of_list(param, &found), quoted) {
                    return self.emit(found, quoted, out);
                }
                let text = self.expand_one(word).await?;
                self.assign_param(param, text.clone()).await?;
                self.emit(Found::One(Some(text)), quoted, out)
            }
            ParamOp::Error { colon, word } => {
                if !self.missing(&found, *colon && !of_list(param, &found), quoted) {
                    return self.emit(found, quoted, out);
                }
                let text = self.expand_one(word).await?;
                let name = label(param);
                let text = match (text.is_empty(), *colon) {
                    (true, true) => "parameter null or not set".to_owned(),
                    (true, false) => "parameter not set".to_owned(),
                    (false, _) => text,
                };
                self.complain(&format!("{name}: {text}")).await?;
                Err(self.fatal())
            }
            _ => {
                if found == Found::One(None) {
                    if self.unknown.keep
                        && matches!(param.op, ParamOp::None)
                        && let ParamName::Var(name) = &param.name
                        // Braces, and a wish for strictness, are the shell's; `$name` may be the command's.
                        && !param.typed.starts_with("${")
                        && !self.options.nounset
                        && self.vars.own(name).is_none()
                        && !self.unknown.known.contains(name)
                        && !BASH_OWN.contains(&name.as_str())
                    {
                        out.quoted(&param.typed);
                        return Ok(());
                    }
                    if self.options.nounset {
                        self.complain(&format!("{}: unbound variable", label(param))).await?;
                        return Err(self.fatal());
                    }
                }
                let result = self.apply(param, found).await?;
                self.emit(result, quoted, out)
            }
        }
    }

    fn missing(&self, found: &Found, or_empty: bool, quoted: bool) -> bool {
        match found {
            Found::One(None) => true,
            Found::One(Some(text)) => or_empty && text.is_empty(),
            // Joined by nothing, empty words are one empty text.
            Found::Many { items, joined: true } if or_empty && quoted && self.ifs().is_empty() => {
                items.iter().all(String::is_empty)
            }
            Found::Many { items, .. } => {
                items.is_empty() || (or_empty && items.len() == 1 && items[0].is_empty())
            }
        }
    }

    /// Whether a character is a byte: in the locale `C`.
    fn counts_bytes(&self) -> bool {
        let set = |name: &str| self.vars.get(name).filter(|it| !it.is_empty());
        let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
        matches!(locale, Some("C" | "POSIX"))
    }

    async fn found(&mut self, param: &Param) -> Eval<Found> {
        if !param.indirect {
            return self.find(&param.name, param.index.as_ref()).await;
        }
        if let ParamName::Var(name) = &param.name
            && param.index.is_none()
            && self.vars.own(name).is_some_and(|var| var.attributes.nameref)
        {
            return Ok(Found::One(Some(self.vars.resolve(name))));
        }
        let Some(text) = self.pointed(param).await? else {
            // An array without a first element points at nothing, and that is no mistake.
            if let ParamName::Var(name) = &param.name
                && matches!(
                    self.vars.var(name).map(|it| &it.value),
                    Some(Value::Assoc(_) | Value::Indexed(_))
                )
            {
                return Ok(Found::One(None));
            }
            self.complain(&format!("{}: invalid indirect expansion", label(param))).await?;
            return Err(Flow::Discard);
        };
        match self.find_named(&text).await? {
            Some(found) => Ok(found),
            None => {
                self.complain(&format!("{text}: invalid variable name")).await?;
                Err(Flow::Discard)
            }
        }
    }

    /// The name that `${!x}` and `${!x[@]#…}` find in a variable.
    async fn pointed(&mut self, param: &Param) -> Eval<Option<String>> {
        Ok(match self.find(&param.name, param.index.as_ref()).await? {
            Found::One(text) => text,
            Found::Many { items, .. } if items.is_empty() => None,
            Found::Many { items, .. } => Some(items.join(" ")),
        })
    }

    async fn apply(&mut self, param: &Param, found: Found) -> Eval<Found> {
        match &param.op {
            ParamOp::Length => {
                let length = match &found {
                    Found::One(text) => {
                        let text = text.as_deref().unwrap_or("");
                        if self.counts_bytes() {
                            crate::text::to_bytes(text).len()
                        } else {
                            text.chars().count()
                        }
                    }
                    Found::Many { items, .. } => items.len(),
                };
                Ok(Found::One(Some(length.to_string())))
            }
            ParamOp::RemovePrefix { longest, pattern } => {
                let pattern = self.pattern_of(pattern, false).await?;
                let found = each(found, |text| ops::remove_prefix(text, &pattern, *longest));
                self.not_tired(&pattern).map(|()| found)
            }
            ParamOp::RemoveSuffix { longest, pattern } => {
                let pattern = self.pattern_of(pattern, false).await?;
                let found = each(found, |text| ops::remove_suffix(text, &pattern, *longest));
                self.not_tired(&pattern).map(|()| found)
            }
            ParamOp::Replace { how, pattern, with } => {
                let pattern = self.pattern(pattern).await?;
                let with = self.replacement(with).await?;
                // All elements of an array share what one word may come to.
                let left = Cell::new(Some(self.shared.limits.expansion_bytes_max));
                let found = each(found, |text| {
                    let new = left.get().and_then(|left| replace(text, &pattern, &with, *how, left));
                    left.set(left.get().and_then(|left| left.checked_sub(new.as_ref()?.len())));
                    new.unwrap_or_default()
                });
                self.not_tired(&pattern)?;
                if left.get().is_some() { Ok(found) } else { Err(self.too_long()) }
            }
            ParamOp::Case { how, all, pattern } => {
                let pattern = match pattern {
                    None => None,
                    Some(word) => Some(self.pattern_of(word, false).await?),
                };
                Ok(each(found, |text| ops::change_case(text, *how, *all, pattern.as_ref())))
            }
            ParamOp::Substring { offset, length } => {
                let offset = self.arith_value(offset).await?;
                let length = match length {
                    None => None,
                    Some(length) => Some(self.arith_value(length).await?),
                };
                self.substring(param, found, offset, length).await
            }
            ParamOp::Transform('P') => match found {
                Found::One(Some(text)) => Ok(Found::One(Some(self.expand_prompt(&text).await?))),
                Found::Many { items, joined } => {
                    let mut shown = Vec::with_capacity(items.len());
                    for item in &items {
                        shown.push(self.expand_prompt(item).await?);
                    }
                    Ok(Found::Many { items: shown, joined })
                }
                other => Ok(other),
            },
            ParamOp::Transform(letter) => {
                let pointed = if param.indirect { self.pointed(param).await? } else { None };
                Ok(self.transform(param, pointed, found, *letter))
            }
            _ => Ok(found),
        }
    }

    async fn pattern(&mut self, word: &Word) -> Eval<Pattern> {
        let fold = self.options.nocasematch;
        self.pattern_of(word, fold).await
    }

    async fn pattern_of(&mut self, word: &Word, fold: bool) -> Eval<Pattern> {
        let keep = std::mem::replace(&mut self.unknown.keep, false);
        let text = self.expand_pattern(word).await;
        self.unknown.keep = keep;
        Ok(Pattern::with_case(&text?, fold))
    }

    async fn substring(
        &mut self,
        param: &Param,
        found: Found,
        offset: i64,
        length: Option<i64>,
    ) -> Eval<Found> {
        let sliced = match found {
            Found::One(None) => Ok(Found::One(None)),
            Found::One(Some(text)) => ops::slice_text(&text, offset, length).map(|it| Found::One(Some(it))),
            Found::Many { mut items, joined } => {
                let mut from = offset;
                match &param.name {
                    // The arguments count from 1, and 0 is the shell's own name.
                    ParamName::Special(_) => items.insert(0, self.identity.name.to_string()),
                    ParamName::Var(name) if !param.indirect => {
                        let value = self.value(name);
                        // Bash counts what is in a map from 1.
                        if matches!(value, Value::Assoc(_)) && offset > 0 {
                            from = offset - 1;
                        }
                        if let Value::Indexed(map) = value {
                            let end = map.keys().next_back().map_or(0, |last| last.saturating_add(1));
                            let first = if offset < 0 { end.saturating_add(offset) } else { offset };
                            from = if first < 0 {
                                -1 - items.len() as i64
                            } else {
                                map.range(..first).count() as i64
                            };
                        }
                    }
                    _ => {}
                }
                ops::slice_list(items, from, length).map(|items| Found::Many { items, joined })
            }
        };
        match sliced {
            Ok(found) => Ok(found),
            Err(text) => {
                self.complain(&text).await?;
                Err(Flow::Discard)
            }
        }
    }

    /// `${x:=value}`.
    async fn assign_param(&mut self, param: &Param, text: String) -> Eval<()> {
        let ParamName::Var(name) = &param.name else {
            self.complain(&format!("{}: cannot assign in this way", label(param))).await?;
            return Err(Flow::Discard);
        };
        let pointed = if param.indirect { self.pointed(param).await? } else { None };
        let result = match &param.index {
            _ if pointed.is_some() => self.vars.set(pointed.as_deref().unwrap_or(name), text),
            Some(Subscript::At { key, number }) => {
                if matches!(self.vars.var(name).map(|var| &var.value), Some(Value::Assoc(_))) {
                    let key = self.expand_one(key).await?;
                    self.vars.set_key(name, &key, text)
                } else {
                    let index = self.arith_value(number).await?;
                    self.vars.set_index(name, index, text)
                }
            }
            _ => self.vars.set(name, text),
        };
        if let Err(error) = result {
            self.complain(&error.to_string()).await?;
            return Err(Flow::Discard);
        }
        Ok(())
    }

    async fn operand(&mut self, word: &Word, quoted: bool, out: &mut Fields) -> Eval<()> {
        if !quoted && out.splits() {
            return self.split_operand(word, out).await;
        }
        self.expand_pieces(&word.pieces, quoted, out).await
    }

    /// Text typed inside `${x:-a b}` is split like a result.
    async fn split_operand(&mut self, word: &Word, out: &mut Fields) -> Eval<()> {
        use crate::syntax::ast::Piece;
        for piece in &word.pieces {
            match piece {
                Piece::Text(text) => out.result(text),
                other => self.expand_pieces(std::slice::from_ref(other), false, out).await?,
            }
        }
        Ok(())
    }

    fn emit(&mut self, found: Found, quoted: bool, out: &mut Fields) -> Eval<()> {
        match found {
            Found::One(text) => super::put(out, text.as_deref().unwrap_or(""), quoted),
            Found::Many { items, joined } => {
                if joined && (quoted || !out.splits()) {
                    let separator: String = match self.vars.var("IFS") {
                        None => " ".into(),
                        Some(_) => self.ifs().chars().take(1).collect(),
                    };
                    let text = items.join(&separator);
                    super::put(out, &text, quoted);
                    return Ok(());
                }
                // Where a visible character separates words, an empty element is a word as well.
                let separator = self.ifs().chars().next().filter(|it| !matches!(it, ' ' | '\t' | '\n'));
                if let Some(separator) = separator
                    && !quoted
                    && out.splits()
                    && items.iter().any(String::is_empty)
                {
                    out.result(&items.join(separator.encode_utf8(&mut [0; 4])));
                    return Ok(());
                }
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        if out.splits() {
                            out.next();
                        } else {
                            out.quoted(" ");
                        }
                    }
                    super::put(out, item, quoted);
                }
            }
        }
        if out.len() > self.shared.limits.words_max {
            let max = self.shared.limits.words_max;
            return Err(self.abort(format!("a command has more than {max} words; --line-memory allows more")));
        }
        Ok(())
    }
}

pub(super) fn each(found: Found, change: impl Fn(&str) -> String) -> Found {
    match found {
        Found::One(None) => Found::One(None),
        Found::One(Some(text)) => Found::One(Some(change(&text))),
        Found::Many { items, joined } => {
            Found::Many { items: items.iter().map(|it| change(it)).collect(), joined }
        }
    }
}

/// Whether an indirection ended at a list: there bash asks only whether it has elements.
fn of_list(param: &Param, found: &Found) -> bool {
    param.indirect && matches!(found, Found::Many { .. })
}

/// The parameter's name for messages.
fn label(param: &Param) -> String {
    match &param.name {
        ParamName::Var(name) if param.index.is_some() => {
            let inner = param.typed.trim_start_matches("${").trim_start_matches('!');
            inner.find(']').map_or_else(|| name.clone(), |end| inner[..=end].to_owned())
        }
        ParamName::Var(name) => name.clone(),
        ParamName::Position(number) => number.to_string(),
        ParamName::Special(sign) => sign.to_string(),
    }
}
