//! What was refused to a session and to whatever it started, for whoever shows it to a person. The audit is another
//! matter: that is complete, this is short.

use drydock_contract::{Denial, DenialDetails};
use parking_lot::Mutex;

/// Different denials that are kept.
const KEPT_MAX: usize = 16;

/// The first different denials of a session.
#[derive(Debug, Default)]
pub struct DenialLog(Mutex<Vec<DenialDetails>>);

impl DenialLog {
    /// Takes what was kept since the last time.
    pub fn take(&self) -> Vec<DenialDetails> {
        std::mem::take(&mut self.0.lock())
    }

    pub(crate) fn keep(&self, denial: &Denial) {
        let mut kept = self.0.lock();
        if kept.len() < KEPT_MAX {
            let details = denial.details();
            if !kept.contains(&details) {
                kept.push(details);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_kept_once_and_many_are_kept_short() {
        let log = DenialLog::default();
        for number in 0..100 {
            let denial = Denial::UnknownCommand(format!("c{number}").into());
            log.keep(&denial);
            log.keep(&denial);
        }
        let kept = log.take();
        assert_eq!((kept.len(), kept[1].subject.as_deref()), (KEPT_MAX, Some("c1")));
        assert!(log.take().is_empty());
    }
}
