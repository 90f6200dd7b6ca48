//! Whoever holds the power may run programs in the languages that a grant names.

use drydock_contract::{Cap, Denial, port::Subjects};
use drydock_gate::NotAdmitted;

pub(super) fn not_admitted(language: &str, _: NotAdmitted) -> Denial {
    Denial::NotGranted {
        cap: Cap::Code,
        subjects: Subjects::cut(language),
        why: ": the grant names other languages",
    }
}
