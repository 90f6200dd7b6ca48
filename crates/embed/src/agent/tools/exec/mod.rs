//! The trusted tools: `git`, `publish` and `image`. They act with the host's own rights in one working directory of a
//! person, and so want three things: that the run was opened with such a directory, that a person configured what they do,
//! and a grant that names each of them. A grant with a star names none.
//!
//! Nothing that an agent says chooses a program, an argument, a variable, a remote or a server (`native::Word`).

mod git;
mod image;
mod native;
mod publish;
mod reach;
mod settings;
mod workdir;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use drydock_agent::tools::Aspect;
use drydock_contract::{Cap, Terms, Timestamp};
use drydock_gate::{Grant, GrantSet};

pub use settings::{BadExec, ExecSettings, GitSettings, ImageSettings, PublishSettings};
pub use workdir::workdir_files;

use super::ToolError;
use crate::{Dock, SecretSource};
use image::Drawn;
use settings::{Git, Images, Publish};

/// Images of one run, however many of the attempts brought one.
pub const IMAGES_MAX: u32 = 2;

/// The tools that want trust.
pub const EXEC_TOOLS: [&str; 3] = ["agent.git", "agent.publish", "agent.image"];

/// The trust grant: the three tools by their names.
pub fn exec_grant() -> Grant {
    // The names are ours, so none is refused.
    Grant::of(Cap::Tool).within(Terms::of(EXEC_TOOLS.iter().filter_map(|it| it.parse().ok())))
}

/// What a run needs for the trusted tools.
pub struct Exec {
    workdir: PathBuf,
    home: PathBuf,
    git: Git,
    publish: Option<Publish>,
    images: Option<Images>,
    secrets: Option<Arc<SecretSource>>,
    images_left: AtomicU32,
}

impl Exec {
    /// For this working directory, as configured. Keys are read by `secrets` when they are needed.
    pub fn new(
        workdir: &Path,
        settings: &ExecSettings,
        secrets: Option<Arc<SecretSource>>,
        home: &Path,
    ) -> Result<Self, BadExec> {
        let failed = |cause| BadExec::Workdir { path: workdir.display().to_string(), cause };
        let workdir = workdir.canonicalize().map_err(failed)?;
        let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
        // Whoever could write the engine's own data could grant itself anything.
        let has_data = home.starts_with(&workdir) || workdir.starts_with(&home);
        if workdir.parent().is_none() || has_data {
            return Err(BadExec::TooMuch(workdir.display().to_string()));
        }
        let git = settings.git.judge(&workdir)?;
        let publish = settings.publish.as_ref().map(|it| it.judge(&workdir)).transpose()?;
        settings.keep_out(std::slice::from_ref(&workdir))?;
        Ok(Self {
            git,
            publish,
            images: settings.image.as_ref().map(|it| it.judge()).transpose()?,
            workdir,
            home,
            secrets,
            images_left: AtomicU32::new(IMAGES_MAX),
        })
    }

    /// The directory that everything is about.
    pub fn workdir(&self) -> &Path {
        &self.workdir
    }

    /// So many images were asked for before the run was interrupted.
    pub fn images_were_asked_for(&self, attempts: u32) {
        self.images_left.store(IMAGES_MAX.saturating_sub(attempts), Ordering::Relaxed);
    }

    /// Whether there is something to publish by.
    pub(super) fn publishes(&self) -> bool {
        self.publish.is_some()
    }

    pub(super) async fn git(&self, message: &str) -> Result<String, ToolError> {
        git::commit(&self.git, &self.workdir, message).await
    }

    pub(super) async fn publish(&self, now: Timestamp) -> Result<String, ToolError> {
        match &self.publish {
            Some(publish) => publish::publish(publish, &self.workdir, now).await,
            None => Err(ToolError::new(
                "not_configured",
                "a person configures what `publish` does (`exec.publish`)",
            )),
        }
    }

    pub(super) async fn image(
        &self,
        (dock, principal): (&Dock, &str),
        prompt: &str,
        aspect: Aspect,
    ) -> Result<Drawn, ToolError> {
        let left = |it: u32| it.checked_sub(1);
        if self.images_left.fetch_update(Ordering::AcqRel, Ordering::Relaxed, left).is_err() {
            let why = format!("a run asks for {IMAGES_MAX} images at most, and this one did");
            return Err(ToolError::new("too_many_images", why));
        }
        let Some(images) = &self.images else {
            let why = "a person configures who draws for `image` (`exec.image`)";
            return Err(ToolError::new("not_configured", why));
        };
        let asking = image::Asking { dock, principal, secrets: self.secrets.as_ref(), home: &self.home };
        image::draw(asking, images, prompt, aspect).await
    }
}

/// Whether a grant names the tool itself: trust is not given by a star.
pub(super) fn is_trusted(grants: &GrantSet, tool: &str, now: Timestamp) -> bool {
    grants.named_exactly(Cap::Tool, now).iter().any(|it| it.strip_prefix("agent.") == Some(tool))
}
