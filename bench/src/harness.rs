//! Contenders in turns: A, B, C, A, B, C, each a block of calls at a time.
//!
//! A slow second on a shared machine hits a whole turn and so both sides of a ratio. The figure is
//! the median over turns of the ratio of the block medians.

use std::time::Instant;

use crate::spread::{Spread, median};

/// How much to measure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) blocks: usize,
    pub(crate) calls: usize,
}

/// Runs so many calls and answers the seconds that each took.
type Block<'a> = Box<dyn FnMut(usize) -> anyhow::Result<Vec<f64>> + 'a>;

/// One who takes turns.
pub(crate) struct Contender<'a>(Block<'a>);

impl<'a> Contender<'a> {
    /// Times each call of `call`.
    pub(crate) fn calling(mut call: impl FnMut() -> anyhow::Result<()> + 'a) -> Self {
        Self::timing_itself(move |calls| {
            let mut seconds = Vec::with_capacity(calls);
            for _ in 0..calls {
                let started = Instant::now();
                call()?;
                seconds.push(started.elapsed().as_secs_f64());
            }
            Ok(seconds)
        })
    }

    /// One that reads the clock for itself: inside a runtime, or in another process.
    pub(crate) fn timing_itself(block: impl FnMut(usize) -> anyhow::Result<Vec<f64>> + 'a) -> Self {
        Self(Box::new(block))
    }
}

/// The median of every block of every contender.
pub(crate) struct Samples(Vec<Vec<f64>>);

impl Samples {
    /// A contender's median over its blocks, in seconds.
    pub(crate) fn seconds(&self, contender: usize) -> f64 {
        median(&self.0[contender])
    }

    /// What a contender's blocks took.
    pub(crate) fn spread(&self, contender: usize) -> Spread {
        Spread::of(&self.0[contender])
    }

    /// How many times longer one contender takes than another.
    pub(crate) fn ratio(&self, longer: usize, shorter: usize) -> Spread {
        let turns = self.0[longer].iter().zip(&self.0[shorter]);
        Spread::of(&turns.map(|(longer, shorter)| longer / shorter).collect::<Vec<_>>())
    }
}

impl Samples {
    /// How many seconds more one contender takes than another.
    pub(crate) fn more(&self, longer: usize, shorter: usize) -> Spread {
        let turns = self.0[longer].iter().zip(&self.0[shorter]);
        Spread::of(&turns.map(|(longer, shorter)| longer - shorter).collect::<Vec<_>>())
    }
}

/// Lets the contenders take turns, after one turn that does not count.
pub(crate) fn interleave(plan: Plan, contenders: &mut [Contender<'_>]) -> anyhow::Result<Samples> {
    let mut medians = vec![Vec::with_capacity(plan.blocks); contenders.len()];
    for turn in 0..=plan.blocks {
        for (Contender(block), medians) in contenders.iter_mut().zip(&mut medians) {
            let seconds = block(plan.calls)?;
            if turn > 0 {
                medians.push(median(&seconds));
            }
        }
    }
    Ok(Samples(medians))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn contenders_take_turns_and_the_first_turn_does_not_count() {
        let order = RefCell::new(String::new());
        let contender = |name: char, seconds: f64| {
            let order = &order;
            Contender::timing_itself(move |calls| {
                let first = !order.borrow().contains(name);
                order.borrow_mut().push(name);
                Ok(vec![if first { 1000.0 } else { seconds }; calls])
            })
        };
        let mut contenders = [contender('A', 6.0), contender('B', 2.0)];
        let samples = interleave(Plan { blocks: 2, calls: 3 }, &mut contenders).unwrap();
        drop(contenders);
        assert_eq!(order.into_inner(), "ABABAB");
        assert_eq!(samples.ratio(0, 1), Spread { low: 3.0, median: 3.0, high: 3.0 });
        assert_eq!(samples.seconds(1), 2.0);
    }
}
