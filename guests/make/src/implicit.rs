//! Rules that fit by their pattern: those of the makefile, then make's own.

use crate::read::Make;
use crate::rule::{Line, Pattern};
use crate::text::{filled, split};

/// How far rules may lead to rules.
const CHAIN_MAX: usize = 4;

const BUILT_IN: &[(&str, &str, &str)] = &[
    ("%.o", "%.c", "$(COMPILE.c) $(OUTPUT_OPTION) $<"),
    ("%.o", "%.cc", "$(COMPILE.cc) $(OUTPUT_OPTION) $<"),
    ("%.o", "%.cpp", "$(COMPILE.cpp) $(OUTPUT_OPTION) $<"),
    ("%.o", "%.C", "$(COMPILE.C) $(OUTPUT_OPTION) $<"),
    ("%.o", "%.s", "$(COMPILE.s) -o $@ $<"),
    ("%", "%.o", "$(LINK.o) $^ $(LOADLIBES) $(LDLIBS) -o $@"),
    ("%", "%.c", "$(LINK.c) $^ $(LOADLIBES) $(LDLIBS) -o $@"),
    ("%", "%.cc", "$(LINK.cc) $^ $(LOADLIBES) $(LDLIBS) -o $@"),
    ("%", "%.cpp", "$(LINK.cpp) $^ $(LOADLIBES) $(LDLIBS) -o $@"),
    ("%", "%.sh", "cat $< >$@ \n chmod a+x $@"),
];

/// The rules that are always there.
pub fn built_in() -> Vec<Pattern> {
    let row = |(target, need, recipe): &(&str, &str, &str)| Pattern {
        targets: vec![(*target).to_owned()],
        needs: vec![(*need).to_owned()],
        order_only: Vec::new(),
        recipe: recipe
            .split('\n')
            .map(|it| Line { text: it.to_owned(), file: "<builtin>".to_owned(), number: 0 })
            .collect(),
        built_in: true,
    };
    BUILT_IN.iter().map(row).collect()
}

/// What a rule comes to for one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub needs: Vec<String>,
    pub order_only: Vec<String>,
    pub recipe: Vec<Line>,
    pub stem: String,
    /// All targets that it makes at once.
    pub together: Vec<String>,
}

impl Make {
    /// A rule whose pattern fits a target and whose needs are there or can be made.
    pub fn implicit(&self, target: &str, depth: usize) -> Option<Found> {
        let mut fits: Vec<(usize, &Pattern, String)> = Vec::new();
        for pattern in &self.patterns {
            if pattern.recipe.is_empty() || (pattern.built_in && self.options.no_rules) {
                continue;
            }
            let stems = pattern.targets.iter().filter_map(|it| stem_of(it, target));
            if let Some(stem) = stems.min_by_key(String::len) {
                fits.push((crate::text::notdir(&stem).len(), pattern, stem));
            }
        }
        // The pattern that says most is tried first; sorting keeps the order of equals.
        fits.sort_by_key(|it| it.0);
        for chained in [false, true] {
            for (_, pattern, stem) in &fits {
                // A rule that fits anything is not used twice in a row.
                if chained
                    && (depth >= CHAIN_MAX || (pattern.built_in && pattern.targets[0] == "%" && depth > 0))
                {
                    continue;
                }
                let needs: Vec<String> = pattern.needs.iter().map(|it| fill(it, stem)).collect();
                let there = |name: &String| {
                    std::path::Path::new(name).exists()
                        || self.targets.contains_key(name)
                        || self.targets.values().any(|it| it.needs.contains(name)) && !pattern.built_in
                        || (chained && name != target && self.implicit(name, depth + 1).is_some())
                };
                if needs.iter().all(there) {
                    return Some(Found {
                        needs,
                        order_only: pattern.order_only.iter().map(|it| fill(it, stem)).collect(),
                        recipe: pattern.recipe.clone(),
                        stem: stem.clone(),
                        together: pattern.targets.iter().map(|it| fill(it, stem)).collect(),
                    });
                }
            }
        }
        None
    }
}

/// The stem, with the target's directory before it where the pattern has none.
fn stem_of(pattern: &str, target: &str) -> Option<String> {
    if pattern.contains('/') {
        return crate::text::stem(pattern, target).filter(|it| !it.is_empty()).map(str::to_owned);
    }
    split(pattern)?;
    let name = crate::text::notdir(target);
    let folder = &target[..target.len() - name.len()];
    crate::text::stem(pattern, name).filter(|it| !it.is_empty()).map(|it| format!("{folder}{it}"))
}

fn fill(pattern: &str, stem: &str) -> String {
    let name = crate::text::notdir(stem);
    let folder = &stem[..stem.len() - name.len()];
    match split(pattern) {
        Some((head, _)) if !head.contains('/') => format!("{folder}{}", filled(pattern, name)),
        _ => filled(pattern, stem),
    }
}
