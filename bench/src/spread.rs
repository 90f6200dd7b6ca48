//! A median and how far the middle half strays from it.

/// Past this share of the median a figure says more about the machine than about us.
const RANGE_MAX: f64 = 0.4;

/// The three quartiles of some samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
}

impl Spread {
    /// The quartiles; all zero if there is no sample.
    pub(crate) fn of(samples: &[f64]) -> Self {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        Self { low: quantile(&sorted, 0.25), median: quantile(&sorted, 0.5), high: quantile(&sorted, 0.75) }
    }

    /// Whether the interquartile range is too wide to conclude anything.
    pub(crate) fn is_inconclusive(&self) -> bool {
        self.high - self.low > RANGE_MAX * self.median.abs()
    }
}

/// The middle of some samples.
pub(crate) fn median(samples: &[f64]) -> f64 {
    Spread::of(samples).median
}

/// Between two samples the line is straight.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let at = share * last as f64;
    let (below, above) = (at.floor() as usize, at.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * at.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_lie_between_the_samples() {
        let cases: [(&[f64], [f64; 3]); 5] = [
            (&[], [0.0, 0.0, 0.0]),
            (&[7.0], [7.0, 7.0, 7.0]),
            (&[2.0, 1.0], [1.25, 1.5, 1.75]),
            (&[5.0, 1.0, 3.0, 2.0, 4.0], [2.0, 3.0, 4.0]),
            (&[1.0, 1.0, 1.0, 100.0], [1.0, 1.0, 25.75]),
        ];
        for (samples, [low, median, high]) in cases {
            assert_eq!(Spread::of(samples), Spread { low, median, high }, "{samples:?}");
        }
    }

    #[test]
    fn a_range_beyond_two_fifths_of_the_median_concludes_nothing() {
        let spread = |low, high| Spread { low, median: 10.0, high };
        assert!(!spread(8.0, 12.0).is_inconclusive());
        assert!(spread(7.9, 12.0).is_inconclusive());
    }
}
