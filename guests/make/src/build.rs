//! Makes targets: first what they need, then themselves if something is newer.

use std::collections::HashMap;

use facts::{Follow, Time};

use crate::read::Make;
use crate::recipe;
use crate::rule::{Line, Own};
use crate::variable::{Assign, Origin};
use crate::{Done, Stop};

/// Needs inside needs.
const DEPTH_MAX: usize = 500;

/// What became of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Made {
    /// When it changed last; nothing if it is no file.
    time: Option<Time>,
    /// A recipe ran for it.
    pub remade: bool,
    pub failed: bool,
}

/// The state of one run.
#[derive(Default)]
pub struct Builder {
    done: HashMap<String, Made>,
    open: Vec<String>,
    pub ran_any: bool,
}

/// Everything one recipe needs to know.
pub struct Job<'j> {
    pub target: &'j str,
    pub needs: Vec<String>,
    pub newer: Vec<String>,
    pub order_only: Vec<String>,
    pub stem: String,
    pub recipe: &'j [Line],
}

fn time_of(path: &str) -> Option<Time> {
    facts::of(&facts::name::path(path), Follow::Yes).ok().map(|it| it.modified)
}

impl Builder {
    /// Makes one target.
    pub fn update(&mut self, make: &mut Make, target: &str, by: Option<&str>) -> Done<Made> {
        if let Some(made) = self.done.get(target) {
            return Ok(*made);
        }
        if self.open.iter().any(|it| it == target) {
            let by = by.unwrap_or_default();
            recipe::complain(&format!(
                "{}: Circular {by} <- {target} dependency dropped.",
                make.options.name
            ));
            return Ok(Made { time: time_of(target), remade: false, failed: false });
        }
        if self.open.len() >= DEPTH_MAX {
            return Err(Stop::new("targets are nested too deeply"));
        }
        self.open.push(target.to_owned());
        let made = self.one(make, target, by);
        self.open.pop();
        let made = made?;
        self.done.insert(target.to_owned(), made);
        Ok(made)
    }

    fn one(&mut self, make: &mut Make, target: &str, by: Option<&str>) -> Done<Made> {
        let mut known = make.targets.get(target).cloned().unwrap_or_default();
        let mut stem = known.stem.clone().unwrap_or_default();
        let phony = make.is_phony(target);
        let mut together = Vec::new();
        if known.recipe.is_none() && !known.double_colon && !phony {
            if let Some(found) = make.implicit(target, 0) {
                let rest = std::mem::take(&mut known.needs);
                known.needs = found.needs.into_iter().chain(rest).collect();
                known.order_only.extend(found.order_only);
                known.recipe = Some(found.recipe);
                stem = found.stem;
                together = found.together;
            } else if let Some(recipe) = make
                .targets
                .get(".DEFAULT")
                .and_then(|it| it.recipe.clone())
                .filter(|_| !known.explicit && time_of(target).is_none())
            {
                known.recipe = Some(recipe);
            }
        }
        let before = time_of(target);
        if !known.explicit && known.recipe.is_none() && before.is_none() {
            return self.no_rule(make, target, by);
        }
        let saved = make.enter_own(target, &stem)?;
        let made = match known.double_colon {
            true => self.double(make, target, &known.more, before),
            false => {
                let job = (known.needs.as_slice(), known.order_only.as_slice(), known.recipe.as_deref());
                self.rule(make, target, job, &stem, before, phony)
            }
        };
        make.leave_own(saved);
        let made = made?;
        for other in together.iter().filter(|it| *it != target) {
            self.done.insert(other.clone(), Made { time: time_of(other), ..made });
        }
        Ok(made)
    }

    fn double(
        &mut self,
        make: &mut Make,
        target: &str,
        rules: &[(Vec<String>, Vec<Line>)],
        before: Option<Time>,
    ) -> Done<Made> {
        let mut all = Made { time: before, remade: false, failed: false };
        for (needs, lines) in rules {
            let always = needs.is_empty();
            let made = self.rule(
                make,
                target,
                (needs, &[], Some(lines)),
                "",
                if always { None } else { before },
                false,
            )?;
            all.remade |= made.remade;
            all.failed |= made.failed;
            all.time = made.time.or(all.time);
        }
        Ok(all)
    }

    fn no_rule(&self, make: &Make, target: &str, by: Option<&str>) -> Done<Made> {
        let text = match by {
            Some(by) => format!("No rule to make target '{target}', needed by '{by}'."),
            None => format!("No rule to make target '{target}'."),
        };
        if !make.options.keep_going {
            return Err(Stop::new(text + "  Stop."));
        }
        recipe::complain(&format!("{}: *** {text}", make.options.name));
        Ok(Made { time: None, remade: false, failed: true })
    }

    fn rule(
        &mut self,
        make: &mut Make,
        target: &str,
        (needs, order_only, lines): (&[String], &[String], Option<&[Line]>),
        stem: &str,
        before: Option<Time>,
        phony: bool,
    ) -> Done<Made> {
        let (mut newer, mut stale, mut failed, mut remade) =
            (Vec::new(), before.is_none() || phony || make.options.always, false, false);
        for need in needs {
            let made = self.update(make, need, Some(target))?;
            failed |= made.failed;
            remade |= made.remade;
            let is_newer = match (made.time, before) {
                (Some(time), Some(before)) => time > before,
                (None, _) => true,
                (Some(_), None) => true,
            };
            if is_newer || made.remade {
                stale |= is_newer || made.remade;
                if !newer.contains(need) {
                    newer.push(need.clone());
                }
            }
        }
        for need in order_only {
            failed |= self.update(make, need, Some(target))?.failed;
        }
        if failed {
            return Ok(Made { time: before, remade: false, failed: true });
        }
        let unchanged = Made { time: before, remade: false, failed: false };
        if !stale {
            return Ok(unchanged);
        }
        let Some(lines) = lines.filter(|it| !it.is_empty()) else {
            // No recipe: it counts as made if something it needs was.
            return Ok(Made { time: before, remade, failed: false });
        };
        let job = Job {
            target,
            needs: needs.to_vec(),
            newer,
            order_only: order_only.to_vec(),
            stem: stem.to_owned(),
            recipe: lines,
        };
        let ran = recipe::run(make, &job)?;
        self.ran_any |= ran.any;
        let time = time_of(target).filter(|_| !phony).or(if ran.failed {
            before
        } else {
            Some(Time::now()).filter(|_| !phony && ran.any)
        });
        Ok(Made { time, remade: ran.any || phony, failed: ran.failed })
    }
}

/// Variables that a target has for itself and what it needs, and what was there before.
pub type Saved = Vec<(String, Option<crate::variable::Variable>)>;

impl Make {
    /// Whether a target is no file.
    pub fn is_phony(&self, target: &str) -> bool {
        self.targets.get(".PHONY").is_some_and(|it| it.needs.iter().any(|it| it == target))
    }

    /// Sets a target's own variables.
    fn enter_own(&mut self, target: &str, _stem: &str) -> Done<Saved> {
        let rows: Vec<Own> =
            self.own.iter().filter(|it| crate::text::stem(&it.target, target).is_some()).cloned().collect();
        let mut saved = Saved::new();
        for row in rows {
            let name = self.expand(&row.name)?;
            saved.push((name.clone(), self.variables.get(&name).cloned()));
            let origin = if row.overrides { Origin::Override } else { Origin::File };
            self.assign(
                &name,
                if row.how == Assign::IfUnset { Assign::IfUnset } else { row.how },
                &row.value,
                origin,
            )?;
        }
        Ok(saved)
    }

    fn leave_own(&mut self, saved: Saved) {
        for (name, old) in saved.into_iter().rev() {
            self.variables.restore(&name, old);
        }
    }
}
