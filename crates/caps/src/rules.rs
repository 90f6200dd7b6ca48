//! Rules about arguments that are text, as commands have them and tools among others.

use drydock_contract::{Must, Scalar};

/// Rules that a denial proposes at most; for an argument list that takes more, nothing is proposed.
pub(crate) const PROPOSED_MAX: usize = 48;

/// The longest text that a rule can hold.
pub(crate) const TEXT_BYTES_MAX: usize = 4096;

/// Whether a text is what a rule says.
pub(crate) fn text_keeps(text: &str, must: &Must) -> bool {
    let is = |scalar: &Scalar| matches!(scalar, Scalar::Text(wanted) if wanted == text);
    match must {
        Must::Equal(scalar) => is(scalar),
        Must::OneOf(scalars) => scalars.iter().any(is),
        // A head with a slash means what lies below it, and `..` leads out again.
        Must::StartWith(head) => text.starts_with(head) && !(head.contains('/') && climbs(text)),
        Must::HaveLengthAtMost(most) => text.chars().count() as u64 <= *most,
        // A text is no number, however much it looks like one: who reads it decides how.
        Must::LieBetween { .. } => false,
    }
}

/// Whether a path has a part that leads upwards.
fn climbs(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use drydock_contract::{Cap, Pattern, Terms};

    use super::*;

    #[test]
    fn a_path_that_must_begin_below_a_directory_does_not_lead_out_of_it() {
        let cases = [
            // head   text             kept
            ("out/", "out/a", true),
            ("out/", "out/a..b/..c", true),
            ("out/", "out/../b", false),
            ("out/", "out/..", false),
            ("/data/", "/data/x/../../etc/passwd", false),
            ("out", "out/../b", true), // says nothing of directories
            ("v", "v1..2", true),
        ];
        for (head, text, kept) in cases {
            assert_eq!(text_keeps(text, &Must::StartWith(head.into())), kept, "{head:?} {text:?}");
        }
    }

    #[test]
    fn a_grant_of_files_names_none_because_it_would_bind_none() {
        let named = Terms::of(Pattern::exact("/d"));
        assert!(crate::judge_terms(Cap::Vfs, &named).unwrap_err().contains("--dir"));
        assert!(crate::judge_terms(Cap::Vfs, &Terms::default()).is_ok());
        assert!(crate::judge_terms(Cap::Kv, &named).is_ok());
    }
}
