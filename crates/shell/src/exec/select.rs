//! `select`: a menu, a question, and the body for each answer.
//!
//! The menu and the question go to stderr and the answer comes from stdin, so a script that is given its answers works as
//! one that a person sits at.

use super::compound::Round;
use crate::{
    builtin,
    state::{Env, Eval, Flow},
    syntax::{Script, ast::Word},
};

/// How wide the menu may be where nobody says.
const COLUMNS: usize = 80;

impl Env {
    pub(super) async fn select(&mut self, name: &str, words: Option<&[Word]>, body: &Script) -> Eval<()> {
        let items = self.items(words).await?;
        if !crate::syntax::is_name(name) {
            self.complain(&format!("`{name}': not a valid identifier")).await?;
            self.status = 1;
            return Ok(());
        }
        self.status = 0;
        if items.is_empty() {
            return Ok(());
        }
        let line = self.trace.line;
        let mut shown = false;
        loop {
            self.at_line(line);
            let Some(answer) = self.choose(&items, &mut shown).await? else {
                self.status = 1;
                return self.print("\n").await;
            };
            let chosen = answer.trim().parse::<usize>().ok().and_then(|it| items.get(it.wrapping_sub(1)));
            if let Err(error) = self.vars.set(name, chosen.cloned().unwrap_or_default()) {
                self.complain(&error.to_string()).await?;
                return Err(Flow::Discard);
            }
            if let Round::Stop = self.round(body).await? {
                return Ok(());
            }
            // A body that empties the answer asks for the menu.
            shown = self.vars.get("REPLY").is_some_and(|it| !it.is_empty());
        }
    }

    /// Asks until there is an answer; none at the end of the input.
    async fn choose(&mut self, items: &[String], shown: &mut bool) -> Eval<Option<String>> {
        loop {
            self.step().await?;
            if !std::mem::replace(shown, true) {
                let width = self.vars.get("COLUMNS").and_then(|it| it.parse().ok()).unwrap_or(COLUMNS);
                let text = menu(items, width);
                self.write(2, &crate::text::to_bytes(&text)).await?;
            }
            let prompt = self.vars.get("PS3").unwrap_or("#? ").to_owned();
            self.write(2, &crate::text::to_bytes(&prompt)).await?;
            if builtin::read_line(self).await? != 0 {
                return Ok(None);
            }
            let answer = self.vars.get("REPLY").unwrap_or_default().to_owned();
            if !answer.is_empty() {
                return Ok(Some(answer));
            }
            *shown = false;
        }
    }
}

/// The items with their numbers, in columns where one row would not do.
fn menu(items: &[String], width: usize) -> String {
    let digits = items.len().to_string().len();
    let widest = items.iter().map(|it| it.chars().count()).max().unwrap_or(0);
    let cell = widest + digits + ") ".len() + 2;
    let columns = (width / cell).max(1);
    let mut rows = items.len().div_ceil(columns);
    // What fits into one row is easier to read below one another.
    if rows == 1 {
        rows = items.len();
    }
    let mut text = String::new();
    for row in 0..rows {
        let mut line = String::new();
        for (at, index) in (row..items.len()).step_by(rows).enumerate() {
            let digits = if at == 0 { rows.to_string().len() } else { digits };
            let spaces = (at * cell).saturating_sub(line.chars().count());
            line.push_str(&" ".repeat(spaces));
            line.push_str(&format!("{:digits$}) {}", index + 1, items[index]));
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[test]
fn a_menu_has_columns_only_where_one_row_would_not_do() {
    let items = |count: usize| (1..=count).map(|it| format!("item{it}")).collect::<Vec<_>>();
    assert_eq!(menu(&items(2), 80), "1) item1\n2) item2\n");
    assert_eq!(menu(&items(3), 24), "1) item1  3) item3\n2) item2\n");
    assert_eq!(menu(&items(1), 0), "1) item1\n");
}
