//! The catalog as the [`Provider`] of a dock: what to say of a name that is in it and not installed, how to install
//! it where a session may, and the stand-ins for package managers.

use std::sync::{Arc, OnceLock};

use drydock_contract::{BoxFuture, port::Registry as _};
use drydock_embed::{Dock, HostOutput, Provider, StandIn};
use tokio::sync::Mutex;

use crate::{install::Catalog, language, stand_in};

/// A catalog that a dock asks. Clones are the same one.
#[derive(Clone)]
pub struct CatalogProvider {
    catalog: Arc<Late>,
    /// One installation at a time: each may take all memory that compiling may.
    installing: Arc<Mutex<()>>,
}

/// A catalog that is made when somebody asks: most runs never do.
struct Late {
    made: OnceLock<Catalog>,
    make: Box<dyn Fn() -> Catalog + Send + Sync>,
}

impl CatalogProvider {
    /// Answers from this catalog.
    pub fn new(catalog: Catalog) -> Self {
        Self::lazily(move || catalog.clone())
    }

    /// Answers from a catalog that is made at the first question.
    pub fn lazily(make: impl Fn() -> Catalog + Send + Sync + 'static) -> Self {
        let late = Late { made: OnceLock::new(), make: Box::new(make) };
        Self { catalog: Arc::new(late), installing: Arc::default() }
    }

    /// The catalog.
    pub fn catalog(&self) -> &Catalog {
        self.catalog.made.get_or_init(&self.catalog.make)
    }

    /// Installs a row unless it is there, after those that are being installed.
    pub async fn ensure(&self, dock: &Dock, name: &str) -> Result<(), String> {
        let _one_at_a_time = self.installing.lock().await;
        self.catalog()
            .ensure(dock, name)
            .await
            .map(drop)
            .map_err(|error| format!("{}: {error}", error.code()))
    }
}

impl Provider for CatalogProvider {
    fn remedy(&self, name: &str) -> Option<String> {
        match self.catalog().table.offering(name) {
            Some(row) => Some(match &row.unavailable {
                Some(why) => format!("in the catalog, and unavailable: {why}"),
                None => format!("not installed; drydock catalog add {}", row.name),
            }),
            None => language::native_tool(name).map(|error| format!("{}: {error}", error.code())),
        }
    }

    fn knows(&self, name: &str) -> bool {
        let row = self.catalog().table.offering(name);
        row.is_some_and(|it| {
            it.unavailable.is_none() && it.commands.iter().any(|it| it.name.as_str() == name)
        })
    }

    fn names(&self) -> Vec<String> {
        let rows = self.catalog().table.rows().iter().filter(|it| it.unavailable.is_none());
        rows.flat_map(|it| &it.commands).map(|it| it.name.to_string()).collect()
    }

    fn install(&self, dock: Dock, name: String) -> BoxFuture<'static, Result<(), String>> {
        let this = self.clone();
        Box::pin(async move {
            this.ensure(&dock, &name).await?;
            match dock.registry().lookup(&name, None) {
                Some(_) => Ok(()),
                None => Err(format!("the row does not register `{name}`")),
            }
        })
    }

    fn stands_in(&self, name: &str) -> bool {
        stand_in::NAMES.contains(&name)
    }

    fn stand_in(&self, dock: Dock, call: StandIn) -> BoxFuture<'static, HostOutput> {
        let this = self.clone();
        Box::pin(async move { stand_in::run(&this, &dock, &call).await })
    }
}
