//! Subscripts that are text: `unset 'm[$k]'`, `declare -n r='m["k"]'`, `test -v 'm[$k]'`.
//!
//! Quotes are taken off and plain variables looked up, once. Commands in such a text are not run:
//! they are data, wherever they came from.

use crate::state::Env;

impl Env {
    /// What a subscript written as text stands for.
    pub(crate) fn key_text(&mut self, key: &str) -> String {
        if !key.contains(['$', '"', '\'', '\\']) {
            return key.to_owned();
        }
        let mut all = String::with_capacity(key.len());
        let mut rest = key;
        let mut single = false;
        while let Some(next) = rest.chars().next() {
            rest = &rest[next.len_utf8()..];
            match next {
                '\'' => single = !single,
                '"' if !single => {}
                '\\' if !single => {
                    let escaped = rest.chars().next().unwrap_or('\\');
                    all.push(escaped);
                    rest = rest.get(escaped.len_utf8()..).unwrap_or_default();
                }
                '$' if !single => rest = self.named_value(rest, &mut all),
                other => all.push(other),
            }
        }
        all
    }

    /// Appends the value of the name that begins here; answers what follows it.
    fn named_value<'k>(&mut self, rest: &'k str, all: &mut String) -> &'k str {
        let plain = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let (name, after) = match rest.strip_prefix('{').and_then(|it| it.split_once('}')) {
            Some(inner) => inner,
            None => rest.split_at(rest.find(|it| !plain(it)).unwrap_or(rest.len())),
        };
        if let Ok(number) = name.parse::<usize>() {
            all.push_str(
                number.checked_sub(1).and_then(|at| self.frame.args.get(at)).map_or("", String::as_str),
            );
            return after;
        }
        if !crate::syntax::is_name(name) {
            all.push('$');
            return rest;
        }
        // Not a reference to an element: it could name the one being read.
        let computed = self.dynamic(name);
        let value = computed.as_ref().map_or_else(|| self.vars.get(name), |it| it.scalar());
        all.push_str(value.unwrap_or_default());
        after
    }
}
