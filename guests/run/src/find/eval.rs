//! What an expression says of one file, and what its actions do.

use super::expr::{Action, Count, Expr, Plan, Stamp, Test};
use super::output::Outputs;
use super::run::Runs;
use super::walk::{Entry, Next};
use super::{ls, printf};
use facts::{Facts, Kind, Time};

/// A search that is going on.
pub(super) struct Search<'a> {
    pub plan: &'a Plan,
    pub now: Time,
    pub outputs: Outputs,
    pub runs: Runs<'a>,
    pub failed: bool,
    next: Next,
}

impl<'a> Search<'a> {
    pub(super) fn new(plan: &'a Plan, outputs: Outputs, runs: Runs<'a>) -> Self {
        Self { plan, now: Time::now(), outputs, runs, failed: false, next: Next::Descend }
    }

    /// Evaluates the expression for one entry.
    pub(super) fn meet(&mut self, entry: &Entry<'_>) -> Next {
        self.next = Next::Descend;
        self.holds(&self.plan.expr, entry);
        self.next
    }

    /// Complains, and remembers that the search was not all well.
    pub(super) fn fail(&mut self, problem: &str) {
        self.outputs.flush();
        crate::complain("find", problem);
        self.failed = true;
    }

    fn holds(&mut self, expr: &'a Expr, entry: &Entry<'_>) -> bool {
        match expr {
            Expr::Is(value) => *value,
            Expr::Not(inner) => !self.holds(inner, entry),
            Expr::And(parts) => parts.iter().all(|it| self.next != Next::Quit && self.holds(it, entry)),
            Expr::Or(parts) => parts.iter().any(|it| self.next != Next::Quit && self.holds(it, entry)),
            Expr::List(parts) => {
                let mut last = false;
                for part in parts {
                    last = self.next != Next::Quit && self.holds(part, entry);
                }
                last
            }
            Expr::Test(test) => self.test(test, entry),
            Expr::Act(action) => self.act(action, entry),
        }
    }

    fn test(&self, test: &Test, entry: &Entry<'_>) -> bool {
        match test {
            Test::Name(glob, case) => return glob.fits(entry.name(), *case),
            Test::Path(glob, case) => return glob.fits(&entry.path, *case),
            Test::Regex(regex) => return regex.is_match(&entry.path),
            Test::LinkText(glob, case) => {
                let is_link = entry.kind() == Some(Kind::Symlink);
                return is_link && entry.link_text().is_some_and(|it| glob.fits(&it, *case));
            }
            Test::Kind(letters) => return entry.kind().is_some_and(|it| letters.contains(it.letter())),
            Test::TargetKind(letters) => {
                return letters.contains(entry.target_kind().map_or('l', Kind::letter));
            }
            Test::Empty => return is_empty(entry),
            _ => {}
        }
        entry.facts().is_some_and(|facts| self.of_facts(test, &facts))
    }

    fn of_facts(&self, test: &Test, facts: &Facts) -> bool {
        match test {
            Test::Size(count, unit) => count.fits(facts.size.div_ceil(*unit)),
            Test::Days(stamp, count) => {
                let age = self.now.seconds - stamp_of(facts, *stamp).seconds;
                count.fits(u64::try_from(age.div_euclid(calendar::DAY_SECONDS)).unwrap_or(0))
            }
            Test::Minutes(stamp, count) => minutes(self.now, stamp_of(facts, *stamp), *count),
            Test::NewerThan(stamp, than) => stamp_of(facts, *stamp) > *than,
            Test::Mode(bits) => bits.fits(facts.mode),
            Test::Links(count) => count.fits(facts.links),
            Test::Inode(count) => count.fits(facts.inode),
            Test::Same { device, inode } => (facts.device, facts.inode) == (*device, *inode),
            Test::Owner(count) => count.fits(u64::from(facts.owner)),
            Test::Group(count) => count.fits(u64::from(facts.group)),
            // Whoever runs here owns everything.
            Test::Owned(bit) => facts.mode & bit != 0,
            // Asked before the facts were.
            Test::Name(..)
            | Test::Path(..)
            | Test::LinkText(..)
            | Test::Regex(_)
            | Test::Kind(_)
            | Test::TargetKind(_)
            | Test::Empty => false,
        }
    }

    fn act(&mut self, action: &'a Action, entry: &Entry<'_>) -> bool {
        match action {
            Action::Print { end, to } => {
                self.outputs.write(*to, &entry.path);
                self.outputs.write(*to, end.encode_utf8(&mut [0; 4]));
            }
            Action::Printf { format, to } => self.outputs.write(*to, &printf::fill(format, entry)),
            Action::Ls { to } => self.outputs.write(*to, &ls::line(entry)),
            Action::Prune => {
                if !self.plan.children_first {
                    self.next = Next::Skip;
                }
            }
            Action::Quit => self.next = Next::Quit,
            Action::Delete => return self.delete(entry),
            Action::Each { command, place } => {
                self.outputs.flush();
                let (held, problem) = self.runs.one(command, *place, &entry.path);
                // Only false, as with a command that ran and failed: the search itself went well.
                if let Some(problem) = problem {
                    crate::complain("find", &problem);
                }
                return held;
            }
            Action::Many { batch } => {
                self.outputs.flush();
                self.failed |= !self.runs.gather(*batch, &entry.path);
            }
        }
        true
    }

    fn delete(&mut self, entry: &Entry<'_>) -> bool {
        if entry.path == "." {
            return true;
        }
        let gone = match entry.kind() {
            Some(Kind::Directory) => std::fs::remove_dir(entry.place()),
            _ => std::fs::remove_file(entry.place()),
        };
        if let Err(error) = gone {
            self.fail(&format!("cannot delete '{}': {}", entry.path, place::reason(&error)));
            return false;
        }
        true
    }
}

fn is_empty(entry: &Entry<'_>) -> bool {
    match entry.kind() {
        Some(Kind::Directory) => {
            std::fs::read_dir(entry.place()).is_ok_and(|mut listing| listing.next().is_none())
        }
        Some(Kind::File) => entry.facts().is_some_and(|facts| facts.size == 0),
        _ => false,
    }
}

fn stamp_of(facts: &Facts, stamp: Stamp) -> Time {
    match stamp {
        Stamp::Accessed => facts.accessed,
        Stamp::Changed => facts.changed,
        Stamp::Modified => facts.modified,
    }
}

/// Minutes are not rounded: `+N` is older than N minutes, `-N` younger, and `N` the minute before.
fn minutes(now: Time, then: Time, count: Count) -> bool {
    let age = (now.seconds - then.seconds) as f64 + (f64::from(now.nanos) - f64::from(then.nanos)) / 1e9;
    let of = |number: u64| number as f64 * 60.0;
    match count {
        Count::More(number) => age > of(number),
        Count::Less(number) => age < of(number),
        Count::Exactly(number) => age > of(number) - 60.0 && age <= of(number),
    }
}
