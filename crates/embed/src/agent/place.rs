//! Where a run's files are: in memory, or in a workspace that outlives the process; and the directories of the host that
//! are seen in them.

use std::{path::Path, sync::Arc};

use drydock_contract::{AgentId, port::Files};
use drydock_store::{Links, Mounts, Quota, Volume, WorkspaceName};

use super::{AgentError, AgentFiles, AgentPowers, tools::exec::workdir_files};
use crate::{Base, Dock, Mount, Room, Tree, tape::Deck, tree::TREE_BYTES_MAX};

/// The files of a run.
#[derive(Clone)]
pub(super) struct Place {
    /// All of them.
    pub(super) files: Arc<dyn Files>,
    /// The workspace that keeps them, if one does.
    pub(super) workspace: Option<WorkspaceName>,
    /// Where the shell begins.
    pub(super) cwd: String,
    /// What redirections may reach.
    pub(super) roots: Vec<String>,
    /// Directories under copy-on-write.
    pub(super) bases: Arc<Vec<Base>>,
}

/// Where a run sees the directory that its trusted tools work in.
const WORKDIR: &str = "/workdir";

/// What the name of a run's own workspace begins with.
const OWN: &str = "agent-";

/// The name of a run's own workspace.
pub(super) fn own_workspace(run: &AgentId) -> String {
    format!("{OWN}{run}")
}

/// Whose own workspace it is, if it is called like one.
pub fn run_of_workspace(name: &str) -> Option<AgentId> {
    name.strip_prefix(OWN)?.parse().ok()
}

impl AgentPowers {
    /// The workspace of a run with these powers.
    pub(super) fn workspace(&self, run: &AgentId) -> Result<Option<WorkspaceName>, AgentError> {
        let name = match &self.files {
            AgentFiles::Memory => return Ok(None),
            AgentFiles::Own => own_workspace(run),
            AgentFiles::Workspace(name) => name.clone(),
        };
        Ok(Some(name.parse()?))
    }
}

impl Place {
    /// Opens the files of a run, making its workspace if that is missing. A deck stands between the run and what others
    /// have, too, where it is recorded or replayed.
    pub(super) fn open(
        dock: &Dock,
        powers: &AgentPowers,
        run: &AgentId,
        deck: Option<&dyn Deck>,
    ) -> Result<Self, AgentError> {
        let workspace = powers.workspace(run)?;
        let dirs = powers.dirs.iter().map(|it| it.parse()).collect::<Result<Vec<Mount>, _>>()?;
        let room = Room::new(TREE_BYTES_MAX, None, Links::Inside);
        let home = dock.home().tenant(dock.tenant());
        let tree = match deck {
            None => Tree::open(&home, workspace.as_ref(), &dirs, room)?,
            Some(deck) => Tree::on(deck, &home, workspace.as_ref(), &dirs, room)?,
        };
        let place = match tree {
            Some(Tree { files, roots, cwd, bases }) => {
                Self { files, workspace, cwd, roots, bases: Arc::new(bases) }
            }
            None => Self {
                files: crate::empty_tree(TREE_BYTES_MAX),
                workspace,
                cwd: format!("/{}", Volume::Workspace.name()),
                roots: Volume::ALL.iter().map(|it| format!("/{}", it.name())).collect(),
                bases: Arc::default(),
            },
        };
        match (&powers.workdir, powers.exec) {
            (Some(workdir), true) => place.in_workdir(workdir, &dirs, deck.is_some()),
            _ => Ok(place),
        }
    }

    /// The same with the directory that the trusted tools work in, without its repositories: what the run could write there
    /// would be run when trusted code commits.
    fn in_workdir(self, workdir: &Path, dirs: &[Mount], is_taped: bool) -> Result<Self, AgentError> {
        if is_taped {
            let why =
                "what the trusted tools do is on no tape; open it without `exec`, or without recording it";
            return Err(AgentError::BadChange(why.into()));
        }
        // What trusted code starts or pushes to is somewhere on this machine, and an agent must not have written it.
        if let Some(dir) = dirs.iter().find(|it| it.is_written()) {
            let dir = dir.host().display();
            let why = format!(
                "with `exec` the working directory is the only one that a run writes at once; mount `{dir}` as `:ro` or `:cow`"
            );
            return Err(AgentError::BadChange(why));
        }
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let ours = real(workdir);
        if let Some(dir) =
            dirs.iter().map(|it| real(it.host())).find(|it| it.starts_with(&ours) || ours.starts_with(it))
        {
            let (dir, ours) = (dir.display(), ours.display());
            let why = format!(
                "`{dir}` and the working directory `{ours}` are one inside the other; mount only one"
            );
            return Err(AgentError::BadChange(why));
        }
        let mut all = Mounts::over(Arc::clone(&self.files));
        let mounted = all.mount(WORKDIR, workdir_files(workdir, Quota::default())?);
        mounted.map_err(crate::OpenTreeError::from)?;
        let roots = std::iter::once(WORKDIR.to_owned()).chain(self.roots).collect();
        Ok(Self { files: Arc::new(all), roots, cwd: WORKDIR.to_owned(), ..self })
    }

    /// The same files for a sub-agent: it works where its parent works.
    pub(super) fn of_child(&self) -> Self {
        self.clone()
    }
}
