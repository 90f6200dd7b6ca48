//! Snapshots of registered programs: made once, where a program is installed, and kept as one more module.
//!
//! The program is started in the sandbox, with its own lane, the recipe's files and no power beyond them. What it
//! takes from the host meanwhile (the time, randomness) is in the snapshot for good; decision 0047 says what
//! follows from that.

use std::{sync::Arc, time::Duration};

use drydock_contract::{
    Artifact, BoxFuture, Call, CallError, Cap, CapSet, Denial, Dispatch, Entropy, Fault, GuestTime, Limits,
    Reply, RunRequest, Sink, Source, Streams, WorkingDir,
    port::{Entry, EntryImage, EntryOptions, FileRules, Registry, SnapshotFile, SnapshotRecipe},
};
use drydock_engine::SnapshotError;
use drydock_store::{PutArtifactError, RegisterError, Registration};

use crate::{BadSetup, Dock};

/// What a program may take to initialise.
fn limits() -> Limits {
    Limits {
        memory_bytes_max: 1 << 30,
        wall_max: Duration::from_secs(60),
        fuel_max: 100_000_000_000,
        ..Limits::default()
    }
}

/// A command has no snapshot.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotCommandError {
    /// There is no such command.
    #[error(transparent)]
    Unknown(Denial),
    /// A file of the recipe cannot be put there.
    #[error(transparent)]
    Files(#[from] BadSetup),
    /// The recipe names a text that did not come with Drydock.
    #[error("`{0}` is no text that came with Drydock")]
    NoPart(String),
    /// It was not made.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// It could not be kept.
    #[error(transparent)]
    Keep(#[from] PutArtifactError),
    /// The name could not be bound to it.
    #[error(transparent)]
    Register(#[from] RegisterError),
}

impl SnapshotCommandError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown(denial) => denial.code(),
            Self::Files(_) | Self::NoPart(_) => "snapshot_recipe",
            Self::Snapshot(error) => error.code(),
            Self::Keep(error) => error.code(),
            Self::Register(error) => error.code(),
        }
    }
}

impl Dock {
    /// Snapshots a registered command after its initialisation: from now on its runs start from there, those
    /// excepted that the recipe leaves to the plain module. The snapshot is compiled before the name is bound.
    pub async fn snapshot(&self, name: &str, recipe: &SnapshotRecipe) -> Result<Entry, SnapshotCommandError> {
        let unknown = || SnapshotCommandError::Unknown(Denial::UnknownCommand(name.into()));
        let entry = self.registry.lookup(name, None).ok_or_else(unknown)?;
        let artifact = self.registry.load(&entry).map_err(|error| SnapshotError::from(Fault::from(error)))?;
        let image = self.image_of(artifact, &entry, recipe).await?;
        self.start_from(name, Some(&image))
    }

    /// Makes, compiles and keeps the snapshot of a module that would be started as `entry` says, and binds no
    /// name: the entry need not be registered.
    pub async fn image_of(
        &self,
        artifact: Artifact,
        entry: &Entry,
        recipe: &SnapshotRecipe,
    ) -> Result<EntryImage, SnapshotCommandError> {
        let options = &*entry.options;
        let lane = self.engine.lane(options.lane()).map_err(SnapshotError::from)?;
        let mut files = Vec::with_capacity(recipe.files.len());
        for file in &recipe.files {
            files.push((&file.path, text_of(file)?));
        }
        let request = RunRequest {
            artifact,
            argv: bytes(&recipe.argv),
            env: bytes(&recipe.env).into(),
            streams: Streams {
                stdin: Source::Empty,
                stdout: Sink::capture(),
                stderr: Sink::capture(),
                ..Streams::default()
            },
            files: Some(crate::tree::with_files("/", files)?),
            trees: Registry::trees(&*self.registry, entry)
                .map_err(|error| SnapshotError::from(Fault::from(error)))?,
            working_dir: WorkingDir::Own,
            file_rules: FileRules::USUAL,
            limits: limits(),
            memory: None,
            lane: Some(options.lane()),
            compile: options.compile_limits(),
            caps: CapSet::of(&[Cap::Vfs]),
            time: GuestTime::Real,
            clock: None,
            entropy: Entropy::System,
            door: Arc::new(NoDoor),
            switches: [Arc::default(), Arc::default()],
            budget: None,
            preparing: None,
            depth: 0,
            tenant: drydock_contract::Tenant::default(),
            pays_for_code: false,
        };
        let image = lane.snapshot(request, recipe).await?;
        lane.warm(&image, options.compile_limits()).await.map_err(SnapshotError::from)?;
        let kept = self.registry.artifacts().put(bytes::Bytes::copy_from_slice(image.bytes()))?;
        Ok(EntryImage {
            module: kept.digest(),
            first: recipe.first.clone(),
            not_env: recipe.not_env.clone(),
            plain_paths: recipe.plain_paths.clone(),
        })
    }

    /// Binds a name to a snapshot that was made of its module under another one, or to none.
    pub fn start_from(&self, name: &str, image: Option<&EntryImage>) -> Result<Entry, SnapshotCommandError> {
        let unknown = || SnapshotCommandError::Unknown(Denial::UnknownCommand(name.into()));
        let entry = self.registry.lookup(name, None).ok_or_else(unknown)?;
        let options = EntryOptions { image: image.cloned(), ..(*entry.options).clone() };
        let how = Registration { mode: entry.mode, options, ..Registration::default() };
        Ok(self.registry.register_again(name, entry.digest, how)?)
    }
}

/// What is in a file of a recipe.
fn text_of(file: &SnapshotFile) -> Result<&str, SnapshotCommandError> {
    let Some(name) = &file.part else { return Ok(&file.text) };
    let part = name.strip_prefix("python/").and_then(crate::code::python_part);
    part.ok_or_else(|| SnapshotCommandError::NoPart(name.clone()))
}

fn bytes(words: &[String]) -> Vec<Vec<u8>> {
    words.iter().map(|it| it.as_bytes().to_vec()).collect()
}

/// It may ask nobody for anything.
struct NoDoor;

impl Dispatch for NoDoor {
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        let refused = Denial::UnknownOperation(call.operation.to_string());
        Box::pin(async move { Err(refused.into()) })
    }
}
