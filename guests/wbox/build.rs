//! Turns the English messages of the coreutils crates into sorted tables.
//!
//! uucore's own build script embeds whatever crates happen to lie beside it in the registry cache,
//! in every language, so two machines would make two different modules. This one asks cargo which
//! crates the lock file names and takes the English sentences of exactly those.

use std::{collections::BTreeMap, env, error::Error, fmt::Write as _, fs, path::Path, process::Command};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../Cargo.lock");
    let mut out = String::new();
    for manifest in manifests()? {
        let Some(folder) = Path::new(&manifest).parent() else { continue };
        let Some(package) = folder.file_name().and_then(|it| it.to_str()) else { continue };
        let Some((name, _version)) = package.rsplit_once('-') else { continue };
        if let Some(util) = name.strip_prefix("uu_") {
            table(&mut out, util, &folder.join("locales/en-US.ftl"))?;
        } else if name == "uucore" {
            table(&mut out, "uucore", &folder.join("locales/en-US.ftl"))?;
            table(&mut out, "errors", &folder.join("locales/errors/en-US.ftl"))?;
        }
    }
    fs::write(Path::new(&env::var("OUT_DIR")?).join("messages.rs"), out)?;
    if env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|it| it == "wasm") {
        // Enough that a small run never has to grow it.
        println!("cargo::rustc-link-arg-bins=--initial-memory=4194304");
        // What most lines run. The host looks through all of a memory for what a run wrote, page by page, and this
        // part needs a quarter of what the others do.
        println!("cargo::rustc-link-arg-bin=wbox=-zstack-size=262144");
        println!("cargo::rustc-link-arg-bin=wbox=--initial-memory=1048576");
    }
    Ok(())
}

/// The manifests of all locked packages, in a fixed order.
fn manifests() -> Result<Vec<String>, Box<dyn Error>> {
    let cargo = env::var("CARGO")?;
    // Of the platform that is built for: what another one needs may never have been downloaded.
    let asked = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--locked", "--offline"])
        .arg(format!("--filter-platform={}", env::var("TARGET")?))
        .output()?;
    if !asked.status.success() {
        return Err(String::from_utf8_lossy(&asked.stderr).into());
    }
    let text = String::from_utf8(asked.stdout)?;
    let paths = text.split("\"manifest_path\":\"").skip(1).filter_map(|it| it.split('"').next());
    let mut paths: Vec<String> = paths.map(str::to_owned).collect();
    paths.sort();
    Ok(paths)
}

fn table(out: &mut String, name: &str, path: &Path) -> Result<(), Box<dyn Error>> {
    let messages = messages(&fs::read_to_string(path).unwrap_or_default());
    writeln!(out, "pub static {}: fluent::Catalogue = &[", name.to_uppercase())?;
    for (id, text) in messages {
        writeln!(out, "    ({id:?}, fluent::Pattern({text:?})),")?;
    }
    writeln!(out, "];")?;
    Ok(())
}

/// The messages of a Fluent file: `id = text`, and indented lines that go on with the text.
fn messages(source: &str) -> BTreeMap<String, String> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for line in source.lines() {
        let goes_on = line.starts_with([' ', '\t', '}']) || line.is_empty();
        if goes_on {
            if let Some((_, lines)) = found.last_mut() {
                lines.push(line.to_owned());
            }
        } else if let Some((id, text)) = line.split_once('=')
            && !line.starts_with('#')
        {
            found.push((id.trim().to_owned(), vec![text.trim_start().to_owned()]));
        } else {
            // A comment ends the message before it.
            found.push((String::new(), Vec::new()));
        }
    }
    found.into_iter().filter(|(id, _)| !id.is_empty()).map(|(id, lines)| (id, join(&lines))).collect()
}

/// One text of several lines, without the indentation they share and the blank lines around.
fn join(lines: &[String]) -> String {
    let rest = lines.iter().skip(1).filter(|line| !line.trim().is_empty());
    let indent = rest.map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let mut text = lines.first().cloned().unwrap_or_default();
    for line in lines.iter().skip(1) {
        text.push('\n');
        text.push_str(line.get(indent..).unwrap_or(""));
    }
    text.trim_matches('\n').trim_end().to_owned()
}
