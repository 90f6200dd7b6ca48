//! Snapshots of a run's workspace: one after each turn that may have changed files, as `RUN.STEP`, within a quota. The
//! oldest goes first.

use drydock_contract::AgentId;
use drydock_store::{OpenWorkspaceError, WorkspaceName, Workspaces};

/// How much the snapshots of one run may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotQuota {
    /// How many there are; 0 for none at all.
    pub count_max: usize,
    /// Bytes of all of them.
    pub bytes_max: u64,
}

impl Default for SnapshotQuota {
    fn default() -> Self {
        Self { count_max: 16, bytes_max: 256 << 20 }
    }
}

/// The snapshots of one run.
#[derive(Debug, Clone)]
pub(super) struct Snapshots {
    pub(super) all: Workspaces,
    pub(super) workspace: WorkspaceName,
    pub(super) run: AgentId,
    pub(super) quota: SnapshotQuota,
}

/// What the snapshot after a step is called.
fn name(run: &AgentId, step: u64) -> Result<WorkspaceName, OpenWorkspaceError> {
    format!("{run}.{step}").parse()
}

impl Snapshots {
    /// Keeps the workspace as it is after this step, and forgets the oldest ones until all fit. One that is there already
    /// is kept as it is.
    pub(super) fn keep(&self, step: u64) -> Result<(), OpenWorkspaceError> {
        if self.quota.count_max == 0 {
            return Ok(());
        }
        match self.all.snapshot(&self.workspace, &name(&self.run, step)?) {
            Ok(()) => self.prune(),
            Err(OpenWorkspaceError::Exists(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Forgets all of them.
    pub(super) fn forget(&self) -> Result<(), OpenWorkspaceError> {
        for (step, _) in self.kept()? {
            self.all.remove_snapshot(&self.workspace, &name(&self.run, step)?)?;
        }
        Ok(())
    }

    /// The newest one of that step or an earlier one.
    pub(super) fn at(&self, step: u64) -> Result<Option<(u64, WorkspaceName)>, OpenWorkspaceError> {
        let found = self.kept()?.into_iter().rev().find(|(kept, _)| *kept <= step);
        found.map(|(kept, _)| Ok((kept, name(&self.run, kept)?))).transpose()
    }

    fn prune(&self) -> Result<(), OpenWorkspaceError> {
        let kept = self.kept()?;
        let (mut count, mut bytes) =
            (kept.len(), kept.iter().fold(0, |sum: u64, it| sum.saturating_add(it.1)));
        for (step, size) in kept {
            if count <= self.quota.count_max && bytes <= self.quota.bytes_max {
                break;
            }
            self.all.remove_snapshot(&self.workspace, &name(&self.run, step)?)?;
            (count, bytes) = (count - 1, bytes.saturating_sub(size));
        }
        Ok(())
    }

    /// Steps and sizes, the oldest first.
    fn kept(&self) -> Result<Vec<(u64, u64)>, OpenWorkspaceError> {
        let mut kept: Vec<(u64, u64)> = Vec::new();
        for (name, bytes) in self.all.snapshot_sizes(&self.workspace)? {
            let step = name.as_str().strip_prefix(self.run.as_str()).and_then(|it| it.strip_prefix('.'));
            kept.extend(step.and_then(|it| it.parse().ok()).map(|step: u64| (step, bytes)));
        }
        kept.sort_unstable();
        Ok(kept)
    }
}

#[cfg(test)]
mod tests {
    use drydock_contract::{Tenant, Timestamp};
    use drydock_store::{Home, Quota};

    use super::*;

    fn snapshots(home: &Home, quota: SnapshotQuota) -> Snapshots {
        let all = Workspaces::of(&home.tenant(&Tenant::default()), Quota::default());
        let workspace: WorkspaceName = "w".parse().unwrap();
        all.open_or_create(&workspace).unwrap();
        Snapshots { all, workspace, run: AgentId::of(7), quota }
    }

    #[test]
    fn the_oldest_snapshot_goes_first_and_a_step_that_is_gone_is_answered_by_an_earlier_one() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path()).unwrap();
        let ours = snapshots(&home, SnapshotQuota { count_max: 2, bytes_max: u64::MAX });
        let other = Snapshots { run: AgentId::of(8), ..ours.clone() };
        let live = ours.all.open(&ours.workspace).unwrap();
        other.keep(1).unwrap();
        for step in [1, 2, 5, 12] {
            live.put("at", step.to_string().as_bytes(), Timestamp(0)).unwrap();
            ours.keep(step).unwrap();
        }
        let steps = |it: &Snapshots| it.kept().unwrap().into_iter().map(|it| it.0).collect::<Vec<_>>();
        assert_eq!((steps(&ours), steps(&other)), (vec![5, 12], vec![1]));
        assert_eq!(ours.at(11).unwrap().unwrap().0, 5);
        assert!(ours.at(4).unwrap().is_none());
        let (_, name) = ours.at(12).unwrap().unwrap();
        ours.all.fork_snapshot(&ours.workspace, &name, &"copy".parse().unwrap()).unwrap();
        assert_eq!(ours.all.open(&"copy".parse().unwrap()).unwrap().get("at").unwrap(), b"12");
        ours.forget().unwrap();
        assert_eq!((steps(&ours), steps(&other)), (vec![], vec![1]));
    }

    #[test]
    fn too_many_bytes_leave_the_newest_or_none_and_a_quota_of_none_keeps_none() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path()).unwrap();
        let ours = snapshots(&home, SnapshotQuota { count_max: 9, bytes_max: 1 });
        ours.keep(1).unwrap();
        assert!(ours.kept().unwrap().is_empty());
        let none = Snapshots { quota: SnapshotQuota { count_max: 0, bytes_max: u64::MAX }, ..ours };
        none.keep(2).unwrap();
        assert!(none.kept().unwrap().is_empty());
    }
}
