//! All figures of a run, as a table for people and as JSON.

use serde_json::{Value, json};

use crate::{figure::Figure, machine};

/// The head of the table.
pub(crate) const HEAD: [&str; 6] = ["figure", "ours", "peer", "ratio (IQR)", "must reach", "met"];

/// What one run of the benchmarks found.
pub(crate) struct Report {
    pub(crate) figures: Vec<Figure>,
    /// Groups that could not be measured, and why.
    pub(crate) failures: Vec<String>,
    pub(crate) cores: usize,
    pub(crate) load: (f64, f64),
}

impl Report {
    pub(crate) fn begin() -> Self {
        let load = machine::load();
        Self { figures: Vec::new(), failures: Vec::new(), cores: machine::cores(), load: (load, load) }
    }

    pub(crate) fn end(&mut self) {
        self.load.1 = machine::load();
    }

    /// One line about where and under what load.
    pub(crate) fn circumstances(&self) -> String {
        format!("{} cores, load average {:.2} before and {:.2} after", self.cores, self.load.0, self.load.1)
    }

    pub(crate) fn text(&self) -> String {
        let rows: Vec<[String; 6]> = self.figures.iter().map(Figure::row).collect();
        let mut widths = HEAD.map(|it| it.chars().count());
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let line = |cells: [&str; 6]| {
            let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
            format!("{}\n", padded.collect::<Vec<_>>().join(" | ").trim_end())
        };
        let mut text = line(HEAD);
        text.push_str(&widths.map(|width| "-".repeat(width)).join("-+-"));
        text.push('\n');
        rows.iter().for_each(|row| text.push_str(&line(row.each_ref().map(String::as_str))));
        text.push_str(&format!("\n{}\n", self.circumstances()));
        self.failures.iter().for_each(|it| text.push_str(&format!("not measured: {it}\n")));
        text
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "cores": self.cores,
            "load_before": self.load.0,
            "load_after": self.load.1,
            "figures": self.figures.iter().map(Figure::json).collect::<Vec<_>>(),
            "not_measured": self.failures,
        })
    }
}
