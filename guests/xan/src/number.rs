//! Numbers in cells: what counts as one, and what is known of many of them.

/// A number as a cell spells it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Whole(i64),
    Real(f64),
}

impl Number {
    /// Reads a cell; blanks around a number do not matter, and words like `inf` are no numbers.
    pub(crate) fn read(cell: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(cell.trim_ascii()).ok()?;
        let plain = |it: u8| it.is_ascii_digit() || matches!(it, b'+' | b'-' | b'.' | b'e' | b'E');
        if !text.bytes().all(plain) {
            return None;
        }
        if let Ok(whole) = text.parse() {
            return Some(Self::Whole(whole));
        }
        text.parse().ok().filter(|it: &f64| it.is_finite()).map(Self::Real)
    }

    pub(crate) fn real(self) -> f64 {
        match self {
            Self::Whole(it) => it as f64,
            Self::Real(it) => it,
        }
    }
}

/// What is known of the numbers seen so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Moments {
    pub count: u64,
    /// Whole numbers add up exactly, as far as there are only such.
    whole: i128,
    real: Option<f64>,
    mean: f64,
    squares: f64,
    pub least: Option<Extreme>,
    pub most: Option<Extreme>,
}

/// A number, and how it was written.
#[derive(Debug, Clone)]
pub(crate) struct Extreme {
    value: f64,
    pub text: Vec<u8>,
}

impl Moments {
    pub(crate) fn add(&mut self, number: Number, cell: &[u8]) {
        self.count += 1;
        match (number, &mut self.real) {
            // A 64-bit number for each of 2^63 cells fits.
            (Number::Whole(it), None) => self.whole += i128::from(it),
            (it, Some(sum)) => *sum += it.real(),
            (Number::Real(it), None) => self.real = Some(self.whole as f64 + it),
        }
        let value = number.real();
        // Welford's way: no difference of two large sums.
        let from_mean = value - self.mean;
        self.mean += from_mean / self.count as f64;
        self.squares += from_mean * (value - self.mean);
        let new = || Some(Extreme { value, text: cell.trim_ascii().to_vec() });
        if self.least.as_ref().is_none_or(|it| value < it.value) {
            self.least = new();
        }
        if self.most.as_ref().is_none_or(|it| value > it.value) {
            self.most = new();
        }
    }

    pub(crate) fn sum(&self) -> String {
        self.real.map_or_else(|| self.whole.to_string(), |it| it.to_string())
    }

    pub(crate) fn mean(&self) -> String {
        let sum = self.real.unwrap_or(self.whole as f64);
        if self.count == 0 { String::new() } else { (sum / self.count as f64).to_string() }
    }

    /// The standard deviation of all there is, not of a sample.
    pub(crate) fn deviation(&self) -> String {
        if self.count == 0 {
            return String::new();
        }
        (self.squares / self.count as f64).sqrt().to_string()
    }
}
