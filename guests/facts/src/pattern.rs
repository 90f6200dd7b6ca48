//! Names as people choose them on a command line.

/// Whether a pattern of `*`, `?` and plain letters, which is all there is here, fits the whole name.
pub fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut from, mut star) = (0, 0, None);
    while from < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(letter) if *letter == '?' || *letter == name[from] => {
                at += 1;
                from += 1;
            }
            _ => match star {
                Some((place, taken)) => {
                    star = Some((place, taken + 1));
                    (at, from) = (place + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|it| *it == '*')
}

#[test]
fn a_pattern_fits_the_whole_name_or_not_at_all() {
    let cases = [
        ("*.rs", "a.rs", true),
        ("*.rs", "a.rs~", false),
        ("a*b*c", "abbc", true),
        ("?", "é", true),
        ("?", "", false),
        ("*", "", true),
        ("", "", true),
        ("", "a", false),
        ("a**", "a", true),
    ];
    for (pattern, name, want) in cases {
        assert_eq!(fits(pattern, name), want, "{pattern:?} {name:?}");
    }
}
