//! Ids of futures are never used twice in a session, and remembering them costs little: neighbours are one range.

use std::collections::BTreeMap;

/// Every id that was accepted, as ranges that do not touch.
#[derive(Debug, Default)]
pub(super) struct UsedIds {
    /// First and last id of each.
    ranges: BTreeMap<u64, u64>,
}

impl UsedIds {
    pub(super) fn contains(&self, id: u64) -> bool {
        self.ranges.range(..=id).next_back().is_some_and(|(_, last)| id <= *last)
    }

    /// Whether another id has room in `ranges_max` ranges.
    pub(super) fn has_room(&self, id: u64, ranges_max: u32) -> bool {
        let grows = self.ending_before(id).is_some() || self.starting_after(id).is_some();
        grows || (self.ranges.len() as u64) < u64::from(ranges_max)
    }

    /// Adds an id.
    pub(super) fn insert(&mut self, id: u64) {
        if self.contains(id) {
            return;
        }
        let (before, after) = (self.ending_before(id), self.starting_after(id));
        if let Some((next, _)) = after {
            self.ranges.remove(&next);
        }
        let first = before.map_or(id, |(first, _)| first);
        self.ranges.insert(first, after.map_or(id, |(_, last)| last));
    }

    /// The range that ends just before the id.
    fn ending_before(&self, id: u64) -> Option<(u64, u64)> {
        let (first, last) = self.ranges.range(..id).next_back()?;
        (last.checked_add(1) == Some(id)).then_some((*first, *last))
    }

    /// The range that begins just after the id.
    fn starting_after(&self, id: u64) -> Option<(u64, u64)> {
        let next = id.checked_add(1)?;
        self.ranges.get(&next).map(|last| (next, *last))
    }

    #[cfg(test)]
    fn count(&self) -> usize {
        self.ranges.len()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn neighbours_are_one_range_and_the_last_id_is_like_any_other() {
        let mut ids = UsedIds::default();
        for id in [5, 7, 6, u64::MAX, u64::MAX - 1, 1] {
            assert!(!ids.contains(id));
            assert!(ids.has_room(id, 4));
            ids.insert(id);
            assert!(ids.contains(id));
        }
        assert_eq!(ids.count(), 3);
        assert!(!ids.has_room(100, 3));
        assert!(ids.has_room(8, 3), "a range that grows is none more");
    }

    proptest! {
        #[test]
        fn ranges_say_what_a_set_says(all in prop::collection::vec(0u64..60, 0..80)) {
            let (mut ids, mut set) = (UsedIds::default(), BTreeSet::new());
            for id in all {
                prop_assert_eq!(ids.contains(id), set.contains(&id));
                set.insert(id);
                ids.insert(id);
            }
            for id in 0..60 {
                prop_assert_eq!(ids.contains(id), set.contains(&id));
            }
            let ends = set.iter().filter(|id| !set.contains(&(**id + 1))).count();
            prop_assert_eq!(ids.count(), ends);
        }
    }
}
