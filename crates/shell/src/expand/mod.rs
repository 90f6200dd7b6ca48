//! Expansion: a word of the tree becomes words of a command. Nothing that comes out is parsed again.

mod field;
mod find;
mod key;
mod number;
mod ops;
mod param;
mod process;
mod prompt;
pub(crate) mod quote;
mod replace;
mod substitute;
mod transform;

use drydock_contract::BoxFuture;

pub(crate) use field::{Field, Fields};
pub(crate) use find::{Found, INSIDE_MAX};

use super::{
    glob::glob,
    pattern::{Pattern, TIRED},
    state::{Env, Eval, Flow},
    syntax::ast::{ParamName, ParamOp, Piece, Subscript, Word},
};

/// A word this long is worth a look at the sum of all.
const BIG_BYTES: usize = 1 << 16;

impl Env {
    /// Separators of words.
    pub(crate) fn ifs(&self) -> String {
        match self.vars.var("IFS") {
            Some(var) => var.value.scalar().unwrap_or(" \t\n").to_owned(),
            None => " \t\n".to_owned(),
        }
    }

    /// The words a word of a command stands for, appended to `words`.
    pub(crate) async fn expand_into(&mut self, word: &Word, words: &mut Vec<String>) -> Eval<()> {
        match word.pieces.as_slice() {
            [Piece::Quoted(text)] => words.push(text.clone()),
            [Piece::Text(text)] if !text.contains(['*', '?', '[', '(']) => words.push(text.clone()),
            pieces => {
                let mut fields = Fields::split(self.ifs());
                self.expand_pieces(pieces, false, &mut fields).await?;
                self.check_size(&fields)?;
                let bytes = fields.bytes;
                for field in fields.finish() {
                    if field.may_glob() && !self.options.noglob {
                        self.glob_into(field, words).await?;
                    } else {
                        words.push(field.text());
                    }
                }
                if bytes >= BIG_BYTES || words.len().is_multiple_of(256) {
                    self.check_all(words)?;
                }
            }
        }
        if words.len() > self.shared.limits.words_max {
            let max = self.shared.limits.words_max;
            return Err(self.abort(format!("a command has more than {max} words; --line-memory allows more")));
        }
        Ok(())
    }

    async fn glob_into(&mut self, field: Field, words: &mut Vec<String>) -> Eval<()> {
        let pattern = field.pattern();
        if !super::pattern::is_pattern(&pattern) {
            words.push(field.text());
            return Ok(());
        }
        match glob(self, &pattern).and_then(|found| self.not_ignored(found)) {
            Err(text) => Err(self.abort(text)),
            Ok(found) if !found.is_empty() => {
                words.extend(found);
                Ok(())
            }
            Ok(_) if self.options.failglob => {
                let text = format!("no match: {}", field.text());
                self.complain(&text).await?;
                Err(Flow::Discard)
            }
            Ok(_) => {
                if !self.options.nullglob {
                    words.push(field.text());
                }
                Ok(())
            }
        }
    }

    /// Without what `GLOBIGNORE` names.
    fn not_ignored(&self, mut found: Vec<String>) -> Result<Vec<String>, String> {
        let Some(list) = self.vars.get("GLOBIGNORE").filter(|it| !it.is_empty()) else { return Ok(found) };
        let fold = self.options.nocaseglob;
        let parts = super::glob::split_colons(list).into_iter();
        let patterns: Vec<Pattern> = parts.map(|it| Pattern::with_case(it, fold)).collect();
        found.retain(|name| {
            // A `*` of the list does not reach across a slash.
            let hit = |it: &Pattern| {
                it.matches(name) && (!name.contains('/') || it.literal().is_some() || list.contains('/'))
            };
            !matches!(name.as_str(), "." | "..") && !patterns.iter().any(hit)
        });
        if patterns.iter().any(Pattern::tired) { Err(TIRED.to_owned()) } else { Ok(found) }
    }

    /// Ends the run if the pattern gave up: its answers are none.
    pub(crate) fn not_tired(&self, pattern: &Pattern) -> Eval<()> {
        if pattern.tired() { Err(self.abort(TIRED.to_owned())) } else { Ok(()) }
    }

    /// All words of a command together, and whether there is time for more of them: neither is asked
    /// for each little word.
    fn check_all(&self, words: &[String]) -> Eval<()> {
        self.check_expired()?;
        let max = self.shared.limits.variable_bytes_max;
        if words.iter().map(String::len).sum::<usize>() > max {
            return Err(self.abort(format!(
                "the words of a command have more than {max} bytes; --line-memory allows more"
            )));
        }
        Ok(())
    }

    pub(crate) fn too_long(&self) -> Flow {
        let max = self.shared.limits.expansion_bytes_max;
        self.abort(format!("a word expands to more than {max} bytes; --line-memory allows more"))
    }

    fn check_size(&self, fields: &Fields) -> Eval<()> {
        if fields.bytes > self.shared.limits.expansion_bytes_max { Err(self.too_long()) } else { Ok(()) }
    }

    async fn whole_field(&mut self, word: &Word) -> Eval<Field> {
        let mut fields = Fields::whole();
        self.expand_pieces(&word.pieces, false, &mut fields).await?;
        self.check_size(&fields)?;
        Ok(fields.join())
    }

    /// The word as one text, as in an assignment.
    pub(crate) async fn expand_one(&mut self, word: &Word) -> Eval<String> {
        match word.pieces.as_slice() {
            [] => Ok(String::new()),
            [Piece::Quoted(text) | Piece::Text(text)] => Ok(text.clone()),
            _ => Ok(self.whole_field(word).await?.text()),
        }
    }

    /// The word as a pattern.
    pub(crate) async fn expand_pattern(&mut self, word: &Word) -> Eval<String> {
        Ok(self.whole_field(word).await?.pattern())
    }

    /// The word as a regular expression.
    pub(crate) async fn expand_regex(&mut self, word: &Word) -> Eval<String> {
        Ok(self.whole_field(word).await?.regex())
    }

    pub(crate) fn expand_pieces<'a>(
        &'a mut self,
        pieces: &'a [Piece],
        quoted: bool,
        out: &'a mut Fields,
    ) -> BoxFuture<'a, Eval<()>> {
        Box::pin(async move {
            for piece in pieces {
                self.expand_piece(piece, quoted, out).await?;
                self.check_size(out)?;
            }
            Ok(())
        })
    }

    async fn expand_piece(&mut self, piece: &Piece, quoted: bool, out: &mut Fields) -> Eval<()> {
        match piece {
            Piece::Text(text) if quoted => out.quoted(text),
            Piece::Text(text) => out.typed(text),
            Piece::Quoted(text) => out.quoted(text),
            Piece::Double(inner) => {
                // `"$@"` without arguments is no word at all; any other pair of quotes is one.
                if !inner.iter().any(is_list) || !inner.iter().all(is_list) {
                    out.quoted("");
                }
                self.expand_pieces(inner, true, out).await?;
            }
            Piece::Tilde(name) => {
                let home = self.tilde(name);
                out.quoted(&home);
            }
            Piece::Param(param) => self.expand_param(param, quoted, out).await?,
            Piece::Command(script) => {
                let text = self.substitute(script).await?;
                put(out, &text, quoted);
            }
            Piece::FileText(word) => {
                let text = self.file_text(word).await?;
                put(out, &text, quoted);
            }
            Piece::Arith(arith) => {
                let value = self.arith_value(arith).await?.to_string();
                put(out, &value, quoted);
            }
            Piece::Process { script, writes } => {
                let path = self.process_path(script, *writes).await?;
                out.quoted(&path);
            }
        }
        Ok(())
    }

    fn tilde(&self, name: &str) -> String {
        let known = match name {
            "" => self.vars.get("HOME"),
            "+" => Some(&*self.dirs.cwd),
            "-" => self.vars.get("OLDPWD"),
            "root" => Some("/root"),
            _ => None,
        };
        known.map_or_else(|| format!("~{name}"), str::to_owned)
    }
}

fn put(out: &mut Fields, text: &str, quoted: bool) {
    if quoted {
        out.quoted(text);
    } else {
        out.result(text);
    }
}

/// Whether a piece may stand for no word or for many: `$@` and `${a[@]}`.
fn is_list(piece: &Piece) -> bool {
    let Piece::Param(param) = piece else { return false };
    if matches!(param.op, ParamOp::Length) {
        return false;
    }
    matches!(param.op, ParamOp::Names { joined: false } | ParamOp::Keys { joined: false })
        || matches!(param.name, ParamName::Special('@'))
        || (matches!(param.index, Some(Subscript::All)) && !param.indirect)
        || (param.indirect && matches!(param.op, ParamOp::None))
}
