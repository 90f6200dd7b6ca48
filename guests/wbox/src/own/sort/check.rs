//! `sort -c`: whether the input is in order, and which line is the first that is not.

use super::merge::Lines;
use super::rules::Rules;

/// The number and the text of the first line that is out of order.
pub fn first_disorder(
    rules: &Rules,
    unique: bool,
    mut lines: Lines,
) -> Result<Option<(usize, Vec<u8>)>, String> {
    let (mut before, mut number) = (Vec::new(), 0);
    while lines.next(rules.end)? {
        number += 1;
        if number > 1 {
            let order = rules.compare(&rules.line(&before), &rules.line(lines.text()));
            if order.is_gt() || (unique && order.is_eq()) {
                return Ok(Some((number, lines.text().to_vec())));
            }
        }
        before.clear();
        before.extend_from_slice(lines.text());
    }
    Ok(None)
}
