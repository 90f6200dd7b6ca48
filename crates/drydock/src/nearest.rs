//! "Did you mean": names that one slip of the finger turns into each other.

/// Whether two names are one or two edits apart, for names long enough that this says something.
pub(crate) fn is_near(typed: &str, known: &str) -> bool {
    let most = if known.chars().count() <= 4 { 1 } else { 2 };
    typed != known && distance(typed, known, most) <= most
}

/// Edits (a character more, less, other, or two swapped) between two names, `most + 1` if there are more.
fn distance(a: &str, b: &str, most: usize) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > most || a.len().max(b.len()) > 64 {
        return most + 1;
    }
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let other = usize::from(a[i - 1] != b[j - 1]);
            let mut least = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + other);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_is_near_and_another_word_is_not() {
        for (typed, known, want) in [
            ("timout", "timeout", true),
            ("gerp", "grep", true),
            ("jqq", "jq", true),
            ("jq", "jq", false),
            ("cat", "cut", true),
            ("python3", "printf", false),
            ("", "jq", false),
            ("sort", "head", false),
        ] {
            assert_eq!(is_near(typed, known), want, "{typed} {known}");
        }
    }
}
