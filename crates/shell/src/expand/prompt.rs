//! Prompts: the escapes of `PS1`, `PS4` and `${x@P}`.
//!
//! The text of a prompt may hold expansions; it is a value, so they are carried out only where `eval`
//! is allowed. The escapes always are.

use crate::{
    date,
    state::{Env, Eval, Flow},
    syntax,
};

impl Env {
    pub(crate) async fn expand_prompt(&mut self, text: &str) -> Eval<String> {
        let expands = self.frame.inside_itself < super::INSIDE_MAX && self.shared.mode.eval_allowed;
        let shown = self.prompt_escapes(text, expands);
        if !expands || !shown.contains(['$', '`', '\\']) {
            return Ok(shown);
        }
        let Ok(word) = syntax::prompt_word(&shown, (&self.shared.limits).into()) else { return Ok(shown) };
        let (status, traced) = (self.status, std::mem::replace(&mut self.options.xtrace, false));
        self.frame.inside_itself += 1;
        let text = Box::pin(self.expand_one(&word)).await;
        self.frame.inside_itself -= 1;
        self.options.xtrace = traced;
        self.status = status;
        // What is wrong with a prompt was said, and costs nothing but the prompt.
        match text {
            Err(Flow::Discard) => Ok(String::new()),
            text => text,
        }
    }

    /// The working directory as prompts show it: from home, and with `PROMPT_DIRTRIM` its last parts.
    fn prompt_directory(&self) -> String {
        let home = self.vars.get("HOME").unwrap_or_default();
        let shown = match self.dirs.cwd.strip_prefix(home).filter(|_| !home.is_empty()) {
            Some(below) if below.is_empty() || below.starts_with('/') => format!("~{below}"),
            _ => self.dirs.cwd.to_string(),
        };
        let kept = self.vars.get("PROMPT_DIRTRIM").and_then(|it| it.parse::<usize>().ok()).unwrap_or(0);
        let (root, below) = match shown.strip_prefix("~/") {
            Some(below) => ("~/", below),
            None => ("", shown.trim_start_matches('/')),
        };
        let parts: Vec<&str> = below.split('/').collect();
        if kept == 0 || parts.len() <= kept || shown == "~" {
            return shown;
        }
        // Dots that would save nothing are not worth it.
        let short = format!("{root}.../{}", parts[parts.len() - kept..].join("/"));
        if short.len() < shown.len() { short } else { shown }
    }

    /// The zone of moments: a variable that commands see too, as in bash.
    pub(crate) fn zone(&self) -> Option<&str> {
        self.vars.var("TZ").filter(|it| it.attributes.exported)?.value.scalar()
    }

    /// With `expands`, a dollar that an escape gives is kept from being expanded.
    fn prompt_escapes(&mut self, text: &str, expands: bool) -> String {
        let mut all = String::with_capacity(text.len());
        let mut rest = text.chars().peekable();
        while let Some(next) = rest.next() {
            if next != '\\' {
                all.push(next);
                continue;
            }
            let Some(letter) = rest.next() else {
                all.push('\\');
                break;
            };
            let shape = match letter {
                'd' => "%a %b %d",
                't' => "%H:%M:%S",
                'T' => "%I:%M:%S",
                '@' => "%I:%M %p",
                'A' => "%H:%M",
                _ => "",
            };
            match letter {
                'a' => all.push('\u{7}'),
                'e' => all.push('\u{1b}'),
                'n' => all.push('\n'),
                'r' => all.push('\r'),
                '[' | ']' => {}
                '\\' => all.push('\\'),
                '$' if self.vars.get("EUID") == Some("0") => all.push('#'),
                '$' if expands => all.push_str("\\$"),
                '$' => all.push('$'),
                'u' => all.push_str(self.vars.get("USER").unwrap_or("agent")),
                'h' => {
                    let host = self.vars.get("HOSTNAME").unwrap_or("drydock");
                    all.push_str(host.split('.').next().unwrap_or_default());
                }
                'H' => all.push_str(self.vars.get("HOSTNAME").unwrap_or("drydock")),
                's' => all.push_str(self.identity.name.rsplit('/').next().unwrap_or_default()),
                'v' => all.push_str("5.2"),
                'V' => all.push_str("5.2.15"),
                'j' => all.push_str(&self.jobs.listed().len().to_string()),
                'l' => all.push_str("tty"),
                '!' => all.push_str(&self.history.current().to_string()),
                '#' => all.push_str(&self.computed.lines.max(1).to_string()),
                'w' | 'W' => {
                    let shown = self.prompt_directory();
                    let last = shown.rsplit('/').next().filter(|it| letter == 'W' && !it.is_empty());
                    for letter in last.unwrap_or(&shown).chars() {
                        // A directory's name is a name: what follows expands none of it.
                        if matches!(letter, '$' | '`' | '"' | '\\') {
                            all.push('\\');
                        }
                        all.push(letter);
                    }
                }
                'D' if rest.peek() == Some(&'{') => {
                    rest.next();
                    let shape: String = rest.by_ref().take_while(|it| *it != '}').collect();
                    all.push_str(&date::format(&shape, self.seconds_now(), self.zone()));
                }
                '0'..='7' => {
                    let mut value = letter.to_digit(8).unwrap_or(0);
                    for _ in 0..2 {
                        let Some(digit) = rest.peek().and_then(|it| it.to_digit(8)) else { break };
                        value = value * 8 + digit;
                        rest.next();
                    }
                    all.push(char::from((value & 0xff) as u8));
                }
                _ if !shape.is_empty() => all.push_str(&date::format(shape, self.seconds_now(), self.zone())),
                other => {
                    all.push('\\');
                    all.push(other);
                }
            }
        }
        all
    }

    fn seconds_now(&self) -> i64 {
        i64::try_from(self.shared.clock.now().0 / 1_000_000_000).unwrap_or(0)
    }
}
