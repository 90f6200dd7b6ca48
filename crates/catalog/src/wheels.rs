//! Wheels of Python packages, by pip of the machine: downloaded, never installed (decision 0057).

use std::{fs, path::PathBuf};

use drydock_contract::BoxFuture;
use drydock_embed::packages::{Requirement, Wheel, WheelSource};

use crate::{
    client::{self, ClientEnvironment, FetchError, FetchLimits},
    scratch::Scratch,
};

/// The bytes of all wheels of one call.
const WHEELS_BYTES_MAX: u64 = 256 << 20;

/// Asks pip.
#[derive(Debug, Clone)]
pub struct PipWheels {
    /// What pip may see of the environment.
    pub environment: ClientEnvironment,
    /// Where its scratch directories are made.
    pub root: PathBuf,
    /// What one call may take.
    pub limits: FetchLimits,
}

impl PipWheels {
    async fn download(&self, wanted: &[Requirement], dependencies: bool) -> Result<Vec<Wheel>, String> {
        let scratch =
            Scratch::below(&self.root).map_err(|error| format!("{}: {error}", self.root.display()))?;
        let found =
            client::fetch_wheels(wanted, dependencies, &self.environment, scratch.path(), self.limits);
        let mut left = WHEELS_BYTES_MAX;
        let mut wheels = Vec::new();
        for path in found.await.map_err(|error| told(&error))? {
            let unread = |error: std::io::Error| format!("{}: {error}", path.display());
            let size = fs::metadata(&path).map_err(unread)?.len();
            left = left
                .checked_sub(size)
                .ok_or_else(|| format!("wheels of more than {WHEELS_BYTES_MAX} bytes"))?;
            let file = path.file_name().and_then(|it| it.to_str()).unwrap_or_default().to_owned();
            wheels.push(Wheel { file, bytes: fs::read(&path).map_err(unread)?.into() });
        }
        Ok(wheels)
    }
}

/// What pip said, and what it means where there is no wheel for any machine.
fn told(error: &FetchError) -> String {
    let text = error.to_string();
    match text.contains("No matching distribution") {
        true => {
            format!("{text}; there is no such version, or no wheel of it that is Python and nothing else")
        }
        false => text,
    }
}

impl WheelSource for PipWheels {
    fn fetch(
        &self,
        wanted: Vec<Requirement>,
        dependencies: bool,
    ) -> BoxFuture<'_, Result<Vec<Wheel>, String>> {
        Box::pin(async move { self.download(&wanted, dependencies).await })
    }
}
