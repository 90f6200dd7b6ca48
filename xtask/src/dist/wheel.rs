//! A Python wheel: the client of `clients/python` and the binary with what lies beside it.
//!
//! The binary goes where pip puts programs, and its precompiled code where the binary looks for it from
//! there (`../lib/drydock`), so that an installed wheel is the archive with a client.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::{Linking, files_below};

/// Writes the wheel of `prefix` (`bin/drydock`, `lib/drydock/…`) into `out` and answers its path.
pub(crate) fn wheel(root: &Path, prefix: &Path, linking: Linking, out: &Path) -> anyhow::Result<PathBuf> {
    let client = root.join("clients/python/drydock");
    let version = version(&client)?;
    let tag = match linking {
        // A static program needs no particular libc, so the oldest tag that installers know is true of it.
        Linking::Static => "py3-none-manylinux2014_x86_64",
        Linking::Dynamic => "py3-none-linux_x86_64",
    };
    let path = out.join(format!("drydock-{version}-{tag}.whl"));
    let info = format!("drydock-{version}.dist-info");
    let data = format!("drydock-{version}.data");

    let mut wheel = Wheel::create(&path)?;
    for name in ["__init__.py", "py.typed"] {
        wheel.add(&format!("drydock/{name}"), &fs::read(client.join(name))?, 0o644)?;
    }
    wheel.add(&format!("{data}/scripts/drydock"), &fs::read(prefix.join("bin/drydock"))?, 0o755)?;
    for file in files_below(&prefix.join("lib"))? {
        let name = file.strip_prefix(prefix)?.to_string_lossy().into_owned();
        wheel.add(&format!("{data}/data/{name}"), &fs::read(&file)?, 0o644)?;
    }
    for name in ["LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-NOTICES.txt"] {
        wheel.add(&format!("{info}/licenses/{name}"), &fs::read(root.join(name))?, 0o644)?;
    }
    let metadata = format!(
        "Metadata-Version: 2.4\nName: drydock\nVersion: {version}\n\
         Summary: A sandbox for what agents write: lines, commands, JavaScript and files, as WebAssembly\n\
         License-Expression: MIT OR Apache-2.0\nRequires-Python: >=3.9\n"
    );
    wheel.add(&format!("{info}/METADATA"), metadata.as_bytes(), 0o644)?;
    let tags = format!("Wheel-Version: 1.0\nGenerator: drydock xtask\nRoot-Is-Purelib: false\nTag: {tag}\n");
    wheel.add(&format!("{info}/WHEEL"), tags.as_bytes(), 0o644)?;
    wheel.finish(&format!("{info}/RECORD"))?;
    Ok(path)
}

/// The version that the client says it is, which must be the binary's.
fn version(client: &Path) -> anyhow::Result<String> {
    let text = fs::read_to_string(client.join("__init__.py"))?;
    let line = text.lines().find_map(|it| it.strip_prefix("__version__ = \"")?.strip_suffix('"'));
    let version = line.context("clients/python/drydock/__init__.py says no version")?;
    if version != env!("CARGO_PKG_VERSION") {
        bail!("the Python client is {version}, the binary {}", env!("CARGO_PKG_VERSION"));
    }
    Ok(version.to_owned())
}

struct Wheel {
    zip: ZipWriter<fs::File>,
    record: String,
}

impl Wheel {
    fn create(path: &Path) -> anyhow::Result<Self> {
        let file = fs::File::create(path).with_context(|| format!("could not make {}", path.display()))?;
        Ok(Self { zip: ZipWriter::new(file), record: String::new() })
    }

    fn add(&mut self, name: &str, bytes: &[u8], mode: u32) -> anyhow::Result<()> {
        let how = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            // The same bytes each time: no moment of the build in them.
            .last_modified_time(zip::DateTime::default())
            .unix_permissions(mode);
        self.zip.start_file(name, how)?;
        self.zip.write_all(bytes)?;
        let hash = URL_SAFE_NO_PAD.encode(Sha256::digest(bytes));
        self.record.push_str(&format!("{name},sha256={hash},{}\n", bytes.len()));
        Ok(())
    }

    fn finish(mut self, record: &str) -> anyhow::Result<()> {
        let text = format!("{}{record},,\n", std::mem::take(&mut self.record));
        self.zip.start_file(record, SimpleFileOptions::default().unix_permissions(0o644))?;
        self.zip.write_all(text.as_bytes())?;
        self.zip.finish()?;
        Ok(())
    }
}
