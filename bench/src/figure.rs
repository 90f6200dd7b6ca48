//! One line of the table: what was measured, what it must reach, and whether it does.

use serde_json::{Value, json};

use crate::spread::Spread;

/// What a figure must reach.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bound {
    AtLeast(f64),
    AtMost(f64),
    /// Nothing: it is there to be known.
    Known,
}

/// An amount of something, kept in seconds, bytes or calls a second.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Amount {
    Seconds(f64),
    Bytes(f64),
    PerSecond(f64),
}

/// One line.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    pub(crate) group: &'static str,
    pub(crate) name: String,
    pub(crate) ours: Amount,
    pub(crate) peer: Option<Amount>,
    /// What is judged: a ratio, or seconds where there is no peer.
    pub(crate) judged: Spread,
    pub(crate) bound: Bound,
}

impl Figure {
    /// `yes`, `no`, `inconclusive`, or a dash where nothing is demanded.
    pub(crate) fn met(&self) -> &'static str {
        let met = match self.bound {
            Bound::Known => return "–",
            _ if self.judged.is_inconclusive() => return "inconclusive",
            Bound::AtLeast(least) => self.judged.median >= least,
            Bound::AtMost(most) => self.judged.median <= most,
        };
        if met { "yes" } else { "no" }
    }

    /// The cells of its row.
    pub(crate) fn row(&self) -> [String; 6] {
        let unit = if self.peer.is_some() { "×" } else { " s" };
        let Spread { low, median, high } = self.judged;
        let digits = match high {
            _ if high < 0.01 => 6,
            _ if high < 20.0 => 2,
            _ => 0,
        };
        let must = match self.bound {
            Bound::AtLeast(least) => format!("≥ {least}{unit}"),
            Bound::AtMost(most) => format!("≤ {most}{unit}"),
            Bound::Known => "–".into(),
        };
        [
            self.name.clone(),
            self.ours.text(),
            self.peer.map_or_else(|| "–".into(), |it| it.text()),
            format!("{median:.digits$}{unit} ({low:.digits$}–{high:.digits$})"),
            must,
            self.met().into(),
        ]
    }

    pub(crate) fn json(&self) -> Value {
        let (must, demanded) = match self.bound {
            Bound::AtLeast(least) => ("at_least", Some(least)),
            Bound::AtMost(most) => ("at_most", Some(most)),
            Bound::Known => ("known", None),
        };
        let Spread { low, median, high } = self.judged;
        json!({
            "group": self.group,
            "figure": self.name,
            "ours": self.ours.json(),
            "peer": self.peer.map(|it| it.json()),
            "judged": { "of": if self.peer.is_some() { "ratio" } else { "seconds" }, "median": median, "q1": low, "q3": high },
            "must": { must: demanded },
            "met": self.met(),
        })
    }
}

impl Amount {
    fn text(self) -> String {
        match self {
            Self::Seconds(it) if it < 0.000_1 => format!("{:.2} µs", it * 1e6),
            Self::Seconds(it) if it < 0.001 => format!("{:.0} µs", it * 1e6),
            Self::Seconds(it) if it < 1.0 => format!("{:.2} ms", it * 1e3),
            Self::Seconds(it) => format!("{it:.2} s"),
            Self::Bytes(it) => format!("{:.1} MiB", it / f64::from(1 << 20)),
            Self::PerSecond(it) => format!("{it:.0} /s"),
        }
    }

    fn json(self) -> Value {
        match self {
            Self::Seconds(it) => json!({ "seconds": it }),
            Self::Bytes(it) => json!({ "bytes": it }),
            Self::PerSecond(it) => json!({ "per_second": it }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_range_is_inconclusive_whatever_the_median_says() {
        let cases = [
            // bound                low   median  high   want
            (Bound::AtLeast(80.0), (95.0, 100.0, 105.0), "yes"),
            (Bound::AtLeast(80.0), (75.0, 79.0, 82.0), "no"),
            (Bound::AtMost(4.0), (3.8, 4.0, 4.1), "yes"),
            (Bound::AtMost(4.0), (4.0, 4.1, 4.2), "no"),
            (Bound::AtLeast(80.0), (70.0, 100.0, 150.0), "inconclusive"),
            (Bound::Known, (70.0, 100.0, 150.0), "–"),
        ];
        for (bound, (low, median, high), want) in cases {
            let judged = Spread { low, median, high };
            let figure = Figure {
                group: "tiny",
                name: String::new(),
                ours: Amount::Seconds(1.0),
                peer: None,
                judged,
                bound,
            };
            assert_eq!(figure.met(), want, "{bound:?} {judged:?}");
        }
    }
}
