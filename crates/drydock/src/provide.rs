//! The catalog of this machine's user: the rows, and what package clients may see of the environment.

use std::{path::Path, sync::Arc};

use drydock_catalog::{BadRow, Catalog, CatalogProvider, ClientEnvironment, FetchLimits, PipWheels, Table};
use drydock_embed::{Dock, packages::WheelSource, store::Home};

use crate::exit;

/// The built-in rows, and those of a directory.
pub(crate) fn catalog(further: Option<&Path>) -> Result<Catalog, BadRow> {
    let table = Table::built_in()?;
    let table = match further {
        Some(directory) => table.with_directory(directory)?,
        None => table,
    };
    let environment = ClientEnvironment::of(std::env::vars_os());
    Ok(Catalog { table, environment, ..Catalog::default() })
}

/// What a dock asks about names that it does not have. The rows are read when the first such name comes.
pub(crate) fn provider() -> CatalogProvider {
    CatalogProvider::lazily(|| {
        // The rows are compiled in and tested; a build that breaks one has none.
        catalog(None).unwrap_or_default()
    })
}

/// Who fetches Python packages.
pub(crate) fn wheels(home: &Home) -> Box<dyn WheelSource> {
    let environment = ClientEnvironment::of(std::env::vars_os());
    Box::new(PipWheels { environment, root: home.root().join("catalog"), limits: FetchLimits::default() })
}

/// Installs rows while something else goes on. What fails is told on stderr, and stops nothing.
pub(crate) fn in_background(dock: &Dock, names: &[String]) {
    if names.is_empty() {
        return;
    }
    // Who goes on meanwhile is not to wait for it.
    dock.serve();
    let (dock, names, provider) = (dock.clone(), names.to_vec(), Arc::new(provider()));
    let begun = std::thread::Builder::new().name("catalog".into()).spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        for name in names {
            if let Err(why) = runtime.block_on(provider.ensure(&dock, &name)) {
                exit::warn(&format!("{name}: not installed: {why}"));
            }
        }
    });
    if let Err(error) = begun {
        exit::warn(&format!("the catalog is not installed from: {error}"));
    }
}
