//! Installing a row: fetch, check, unpack, check again, compile, and only then register its names.
//!
//! Names are refused before anything is fetched, and bound after everything else succeeded, so that a failure at
//! any step leaves the names that were there before as they were.

use std::{path::PathBuf, sync::Arc};

use bytes::Bytes;
use drydock_contract::{
    Artifact, BoxFuture, Digest, Limits,
    port::{Entry, EntryCompile, EntryDir, EntryImage, EntryLimits, EntryOptions},
};
use drydock_embed::{
    Dock, DockSession, Network, Setup,
    store::{RegisterError, Registration, TreeBounds, TreeStore},
};

use crate::{
    archive::Archives,
    client::{ClientEnvironment, FetchLimits},
    error::CatalogError,
    installed::{Installed, Records},
    lane_c,
    progress::{Progress, Watcher},
    row::{Lane, Row, RowCommand, RowSource},
    source::Packing,
    table::Table,
    unpack::{self, Content},
};

/// Who asks hosts, as the audit journal has it.
const PRINCIPAL: &str = "catalog";

/// The catalog of one user: its rows, and how bytes are fetched.
#[derive(Clone, Default)]
pub struct Catalog {
    /// The rows.
    pub table: Table,
    /// What package clients may see of the environment.
    pub environment: ClientEnvironment,
    /// What fetching one archive may take.
    pub fetch: FetchLimits,
    /// Hosts that rows with an `https:` source may be fetched from; none by itself.
    pub network: Network,
    /// Whether only what is cached may be used.
    pub offline: bool,
    /// Copyleft rows whose licence was accepted.
    pub accepted: Vec<String>,
    /// Who is told how far it is.
    pub watcher: Watcher,
}

impl Catalog {
    /// Installs a row and what it needs, whether it is there already or not.
    pub async fn install(&self, dock: &Dock, name: &str) -> Result<Installed, CatalogError> {
        self.install_within(dock, name, &mut Vec::new()).await
    }

    /// Installs a row unless it is there.
    pub async fn ensure(&self, dock: &Dock, name: &str) -> Result<Installed, CatalogError> {
        let row = self.row(name)?;
        match self.installed(dock, row) {
            Some(installed) => Ok(installed),
            None => self.install(dock, name).await,
        }
    }

    /// The row that a name leads to.
    pub fn row(&self, name: &str) -> Result<&Row, CatalogError> {
        self.table.offering(name).ok_or_else(|| {
            let names = self.table.rows().iter().map(|it| it.name.as_str());
            let near = drydock_embed::catalog::nearest(name, names).map(str::to_owned);
            CatalogError::UnknownRow { name: name.escape_debug().to_string(), near }
        })
    }

    /// The record of a row whose names are all still bound to its module.
    pub fn installed(&self, dock: &Dock, row: &Row) -> Option<Installed> {
        use drydock_contract::port::Registry as _;
        let installed = self.records(dock).of(row.name.as_str())?;
        let bound = |name: &str| {
            let entry = dock.registry().lookup(name, None);
            entry.is_some_and(|it| it.digest == installed.sha256 && !it.builtin)
        };
        let all = row.commands.iter().all(|it| bound(it.name.as_str()));
        (all && installed.version == row.version).then_some(installed)
    }

    fn install_within<'a>(
        &'a self,
        dock: &'a Dock,
        name: &'a str,
        above: &'a mut Vec<String>,
    ) -> BoxFuture<'a, Result<Installed, CatalogError>> {
        Box::pin(async move {
            let row = self.row(name)?;
            if above.iter().any(|it| it == row.name.as_str()) {
                return Err(CatalogError::Circle(row.name.to_string()));
            }
            let accepted = self.may_install(dock, row)?;
            above.push(row.name.to_string());
            for need in &row.needs {
                let needed = self.row(need.as_str())?;
                if self.installed(dock, needed).is_none() {
                    self.install_within(dock, need.as_str(), above).await?;
                }
            }
            above.pop();
            let watcher = self.watcher.about(row.name.as_str());
            let done = self.install_one(dock, row, accepted, &watcher).await;
            watcher.tell(Progress::Done);
            done
        })
    }

    /// Refuses what can be refused before anything is fetched; answers the licence that was accepted.
    fn may_install(&self, dock: &Dock, row: &Row) -> Result<Option<String>, CatalogError> {
        let name = || row.name.to_string();
        if let Some(why) = &row.unavailable {
            return Err(CatalogError::Unavailable { name: name(), why: why.clone() });
        }
        for command in &row.commands {
            dock.registry().may_register(command.name.as_str())?;
        }
        if !row.is_copyleft() {
            return Ok(None);
        }
        let before = self.records(dock).of(row.name.as_str()).and_then(|it| it.accepted);
        let now = self.accepted.iter().any(|it| it == row.name.as_str());
        if !now && before.as_deref() != Some(&row.licence) {
            return Err(CatalogError::LicenceNotAccepted { name: name(), licence: row.licence.clone() });
        }
        Ok(Some(row.licence.clone()))
    }

    async fn install_one(
        &self,
        dock: &Dock,
        row: &Row,
        accepted: Option<String>,
        watcher: &Watcher,
    ) -> Result<Installed, CatalogError> {
        let root = self.root(dock);
        let archives = Archives {
            root: &root,
            environment: &self.environment,
            limits: self.fetch,
            offline: self.offline,
            session: &self.session(dock)?,
        };
        let (source, archive) = archives.of(row, watcher).await.map_err(CatalogError::Archive)?;
        watcher.tell(Progress::Unpacking { bytes: archive.len() as u64 });
        let (module, trees) = match row.lane {
            Lane::Prebuilt => prebuilt(dock, row, source, archive).await?,
            Lane::C => (built(dock, row, source, archive, watcher).await?, Vec::new()),
        };
        let sha256 = Digest::of(&module);
        if let Some(expected) = row.sha256.filter(|it| *it != sha256) {
            let what = source.from.inside().unwrap_or("the module").to_owned();
            return Err(CatalogError::ShaMismatch { what, expected, got: sha256 });
        }
        watcher.tell(Progress::Compiling { bytes: module.len() as u64 });
        let first = row.commands.first().map(|it| options(row, it, &trees)).unwrap_or_default();
        dock.check_as(module.clone(), &first).await.map_err(CatalogError::Compile)?;
        let image = snapshot(dock, row, &module, &first, watcher).await?;
        let installed = Installed {
            row: row.name.clone(),
            version: row.version.clone(),
            sha256,
            from: source.from.to_string(),
            commands: row.commands.iter().map(|it| it.name.clone()).collect(),
            trees: trees.iter().map(|it| it.tree).collect(),
            accepted,
        };
        dock.registry().artifacts().put(module).map_err(RegisterError::from)?;
        let unwritten = |cause| CatalogError::Write { path: root.join("installed"), cause };
        self.records(dock)
            .keep_if(&installed, unwritten, || bind(dock, row, sha256, &trees, image.as_ref()))?;
        Ok(installed)
    }

    /// In whose name hosts are asked: nothing is granted but those.
    fn session(&self, dock: &Dock) -> Result<DockSession, CatalogError> {
        let limits = Some(Limits { wall_max: self.fetch.wall_max, ..Limits::default() });
        let setup = Setup { network: self.network.clone(), limits, only_grants: true, ..Setup::default() };
        dock.session(PRINCIPAL, setup).map_err(CatalogError::Session)
    }

    /// `catalog` in the data directory.
    pub(crate) fn root(&self, dock: &Dock) -> PathBuf {
        dock.home().root().join("catalog")
    }

    pub(crate) fn records(&self, dock: &Dock) -> Records {
        Records::below(&self.root(dock))
    }
}

/// The module of a prebuilt row, and the directories it is started with.
async fn prebuilt(
    dock: &Dock,
    row: &Row,
    source: &RowSource,
    archive: Bytes,
) -> Result<(Bytes, Vec<EntryDir>), CatalogError> {
    let (packing, Some(inside)) = (source.from.packing(), source.from.inside()) else {
        return Ok((archive, Vec::new()));
    };
    let mut wanted = vec![inside];
    wanted.extend(row.dirs.iter().map(|it| it.path.as_str()));
    let mut members = unpack::members(dock, archive, packing, &wanted).await?.into_iter();
    let mut module = members.next().unwrap_or_default();
    if let Some(number) = source.base64 {
        module = unpack::base64(dock, module, number).await?;
    }
    let mut trees = Vec::new();
    for (dir, tar) in row.dirs.iter().zip(members) {
        let got = Digest::of(&tar);
        if got != dir.sha256 {
            return Err(CatalogError::ShaMismatch { what: dir.path.clone(), expected: dir.sha256, got });
        }
        match &dir.file {
            Some(name) => keep_file(dock, dir.sha256, name, &tar)?,
            None => keep_tree(dock, dir.sha256, tar).await?,
        }
        trees.push(EntryDir { tree: dir.sha256, path: dir.at.clone() });
    }
    Ok((module, trees))
}

/// Keeps one file as a directory that has nothing else.
fn keep_file(dock: &Dock, digest: Digest, name: &str, bytes: &[u8]) -> Result<(), CatalogError> {
    let store = TreeStore::new(dock.home());
    if store.contains(digest) {
        return Ok(());
    }
    let mut tree = store.begin(digest, TreeBounds::default())?;
    tree.file(name, bytes, 0o644)?;
    tree.finish()?;
    Ok(())
}

/// Unpacks a tar file in a guest and keeps what is in it.
async fn keep_tree(dock: &Dock, digest: Digest, tar: Bytes) -> Result<(), CatalogError> {
    let store = TreeStore::new(dock.home());
    if store.contains(digest) {
        return Ok(());
    }
    let members = unpack::tar_file(dock, tar).await?;
    let mut tree = store.begin(digest, TreeBounds::default())?;
    for member in &members {
        match &member.content {
            Content::Directory => tree.dir(&member.path)?,
            Content::File(bytes, runs) => {
                tree.file(&member.path, bytes, if *runs { 0o755 } else { 0o644 })?
            }
            Content::Link(target) => tree.link(&member.path, target)?,
        }
    }
    tree.finish()?;
    Ok(())
}

/// The module that sources become.
async fn built(
    dock: &Dock,
    row: &Row,
    source: &RowSource,
    archive: Bytes,
    watcher: &Watcher,
) -> Result<Bytes, CatalogError> {
    let (packing, Some(inside), Some(recipe)) = (source.from.packing(), source.from.inside(), &row.recipe)
    else {
        return Err(lane_c::BuildError::EmptySource.into());
    };
    debug_assert!(packing != Packing::Plain, "a plain source has nothing inside");
    let sources = unpack::below(dock, archive, packing, inside).await?;
    Ok(lane_c::build(dock, row, recipe, sources, watcher).await?)
}

/// How a command of a row is started.
fn options(row: &Row, command: &RowCommand, dirs: &[EntryDir]) -> EntryOptions {
    let mib = |it: u32| u64::from(it) << 20;
    let ms = |it: u32| u64::from(it) * 1000;
    EntryOptions {
        argv0: command.argv0.clone(),
        argv: command.argv.clone(),
        env: row.env.clone(),
        dirs: dirs.to_vec(),
        limits: EntryLimits {
            memory_bytes_max: row.limits.memory_mib.map(mib),
            wall_ms_max: row.limits.wall_s.map(ms),
            fuel_max: row.limits.fuel,
        },
        compile: EntryCompile {
            memory_bytes_max: row.compile.memory_mib.map(mib),
            wall_ms_max: row.compile.wall_s.map(ms),
        },
        lane: row.interrupt,
        features: row.features,
        ..EntryOptions::default()
    }
}

/// Keeps the program as it is after its initialisation, where the row says how. All its names start from there:
/// they differ in nothing but what they are called by.
async fn snapshot(
    dock: &Dock,
    row: &Row,
    module: &Bytes,
    options: &EntryOptions,
    watcher: &Watcher,
) -> Result<Option<EntryImage>, CatalogError> {
    let (Some(recipe), Some(first)) = (&row.snapshot, row.commands.first()) else {
        return Ok(None);
    };
    watcher.tell(Progress::Snapshotting);
    let artifact = Artifact::hash(module.clone());
    let entry = Entry {
        name: first.name.clone(),
        digest: artifact.digest(),
        mode: first.mode,
        builtin: false,
        options: Arc::new(options.clone()),
    };
    Ok(Some(dock.image_of(artifact, &entry, recipe).await?))
}

/// Binds all names of a row, or changes none.
fn bind(
    dock: &Dock,
    row: &Row,
    module: Digest,
    dirs: &[EntryDir],
    image: Option<&EntryImage>,
) -> Result<(), CatalogError> {
    let how = |command: &RowCommand| {
        let options = EntryOptions { image: image.cloned(), ..options(row, command, dirs) };
        Registration { mode: command.mode, options, ..Registration::default() }
    };
    let names = row.commands.iter().map(|it| (it.name.as_str(), how(it))).collect();
    Ok(dock.registry().register_all(module, names)?)
}
