//! Reads a command line of `find`: options, starting points, and the expression.

use super::expr::{Action, Expr, Links, Plan};
use super::predicate::{Settings, primary};

/// Deeper than anybody writes, and shallow enough for a guest's stack.
const NESTING_MAX: usize = 200;

/// The plan, or what is wrong in GNU's words.
pub(super) fn parse(args: &[String]) -> Result<Plan, String> {
    let mut links = Links::Never;
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        match arg.as_str() {
            "-P" => links = Links::Never,
            "-H" => links = Links::Arguments,
            "-L" => links = Links::Always,
            "-D" => at += 1,
            "--" => {
                at += 1;
                break;
            }
            level if level.starts_with("-O") => {}
            _ => break,
        }
        at += 1;
    }
    let from = at;
    while args.get(at).is_some_and(|arg| !starts_expression(arg)) {
        at += 1;
    }
    let mut starts = args[from.min(args.len())..at.min(args.len())].to_vec();
    if starts.is_empty() {
        starts.push(".".to_owned());
    }
    let mut parser = Parser { args, at, depth: 0, settings: Settings::new(links) };
    let expr = match parser.at < args.len() {
        true => parser.list()?,
        false => Expr::Is(true),
    };
    if let Some(extra) = args.get(parser.at) {
        return Err(match extra.as_str() {
            ")" => "invalid expression; you have too many ')'".to_owned(),
            other => format!("paths must precede expression: `{other}'"),
        });
    }
    let expr = match parser.settings.acts {
        true => expr,
        false => Expr::And(vec![expr, Expr::Act(Action::Print { end: '\n', to: 0 })]),
    };
    Ok(parser.settings.into_plan(starts, expr))
}

fn starts_expression(arg: &str) -> bool {
    (arg.starts_with('-') && arg.len() > 1) || matches!(arg, "(" | ")" | "," | "!")
}

/// The place in the arguments, and what was gathered on the way.
pub(super) struct Parser<'a> {
    args: &'a [String],
    at: usize,
    depth: usize,
    pub settings: Settings,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.args.get(self.at).map(String::as_str)
    }

    /// The argument a predicate needs.
    pub(super) fn value(&mut self, name: &str) -> Result<&'a str, String> {
        let value = self.peek().ok_or_else(|| format!("missing argument to `{name}'"))?;
        self.at += 1;
        Ok(value)
    }

    /// The words up to `;`, or up to `{} +`, and whether it was the second.
    pub(super) fn command(&mut self, name: &str) -> Result<(Vec<String>, bool), String> {
        let mut words: Vec<String> = Vec::new();
        loop {
            let word = self.value(name)?;
            match word {
                ";" if words.is_empty() => return Err(format!("invalid argument `;' to `{name}'")),
                ";" => return Ok((words, false)),
                "+" if words.len() > 1 && words.last().is_some_and(|it| it == "{}") => {
                    words.pop();
                    if words.iter().any(|it| it.contains("{}")) {
                        return Err(format!("only one instance of {{}} is supported with {name} ... +"));
                    }
                    return Ok((words, true));
                }
                word => words.push(word.to_owned()),
            }
        }
    }

    fn list(&mut self) -> Result<Expr, String> {
        let mut parts = vec![self.any()?];
        while self.peek() == Some(",") {
            self.at += 1;
            parts.push(self.any()?);
        }
        Ok(one_or(parts, Expr::List))
    }

    fn any(&mut self) -> Result<Expr, String> {
        let mut parts = vec![self.all()?];
        while let Some(word @ ("-o" | "-or")) = self.peek() {
            self.at += 1;
            self.must_follow(word)?;
            parts.push(self.all()?);
        }
        Ok(one_or(parts, Expr::Or))
    }

    fn all(&mut self) -> Result<Expr, String> {
        let mut parts = vec![self.single()?];
        loop {
            match self.peek() {
                Some(word @ ("-a" | "-and")) => {
                    self.at += 1;
                    self.must_follow(word)?;
                }
                None | Some(")" | "," | "-o" | "-or") => return Ok(one_or(parts, Expr::And)),
                Some(_) => {}
            }
            parts.push(self.single()?);
        }
    }

    fn must_follow(&self, word: &str) -> Result<(), String> {
        match self.peek() {
            None => Err(format!("expected an expression after '{word}'")),
            Some(_) => Ok(()),
        }
    }

    fn single(&mut self) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > NESTING_MAX {
            return Err(format!("more than {NESTING_MAX} levels of parentheses and negations"));
        }
        let expr = self.primary();
        self.depth -= 1;
        expr
    }

    fn primary(&mut self) -> Result<Expr, String> {
        let Some(word) = self.peek() else {
            return Err(
                "invalid expression; you have used a binary operator with nothing before it.".to_owned()
            );
        };
        self.at += 1;
        match word {
            "!" | "-not" => {
                self.must_follow(word)?;
                Ok(Expr::Not(Box::new(self.single()?)))
            }
            "(" => {
                if self.peek() == Some(")") {
                    return Err("invalid expression; empty parentheses are not allowed.".to_owned());
                }
                let inner = self.list()?;
                if self.peek() != Some(")") {
                    return Err(
                        "invalid expression; I was expecting to find a ')' somewhere but did not see one."
                            .to_owned(),
                    );
                }
                self.at += 1;
                Ok(inner)
            }
            ")" => {
                self.at -= 1;
                Err("invalid expression; you have too many ')'".to_owned())
            }
            "-o" | "-or" | "-a" | "-and" | "," => Err(format!(
                "invalid expression; you have used a binary operator '{word}' with nothing before it."
            )),
            word if !starts_expression(word) => Err(format!("paths must precede expression: `{word}'")),
            word => primary(word, self),
        }
    }
}

fn one_or(mut parts: Vec<Expr>, many: fn(Vec<Expr>) -> Expr) -> Expr {
    match parts.len() {
        1 => parts.remove(0),
        _ => many(parts),
    }
}

#[cfg(test)]
mod checks {
    use super::*;
    use proptest::prelude::*;

    fn problem(line: &str) -> Option<String> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&args).err()
    }

    #[test]
    fn expressions_are_read_or_refused_in_gnus_words() {
        for fine in [
            "",
            "a b -name x",
            "( -name a -o -name b ) -print",
            "! -type d",
            "-not ( -empty )",
            "-exec echo {} ;",
            "-exec echo {} +",
            "-name a , -name b",
            "-type f,d",
            "-maxdepth 1 -size +1k",
            "-name x -prune -o -print",
            "-perm -u+x",
            "-newermt 2024-01-01",
            "-L . -name x",
        ] {
            assert_eq!(problem(fine), None, "{fine}");
        }
        for (bad, want) in [
            ("-foo", "unknown predicate `-foo'"),
            ("-name", "missing argument to `-name'"),
            ("-name x y", "paths must precede expression: `y'"),
            ("( -name x", "invalid expression; I was expecting to find a ')' somewhere but did not see one."),
            ("-name x )", "invalid expression; you have too many ')'"),
            ("-exec echo", "missing argument to `-exec'"),
            ("-ok rm {} ;", "-ok: nobody is here to ask"),
        ] {
            assert_eq!(problem(bad).as_deref(), Some(want), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn no_words_make_the_parser_panic(
            words in prop::collection::vec(
                prop_oneof!["-?[a-z]{0,8}", "[-+/]?[0-9a-zA-Z=,]{0,5}", Just("(".to_owned()), Just(")".to_owned()),
                    Just("!".to_owned()), Just("-o".to_owned()), Just("-exec".to_owned()), Just(";".to_owned()),
                    Just("-printf".to_owned()), "\\PC{0,12}"],
                0..12,
            )
        ) {
            let _ = parse(&words);
        }
    }

    #[test]
    fn endless_nesting_is_refused() {
        let args: Vec<String> = std::iter::repeat_n("!".to_owned(), 100_000).collect();
        assert!(parse(&args).is_err());
        let args: Vec<String> = std::iter::repeat_n("(".to_owned(), 100_000).collect();
        assert!(parse(&args).is_err());
    }
}
