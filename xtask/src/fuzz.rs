//! `cargo xtask fuzz`: every target of `fuzz/Cargo.toml`, each for a while.
//!
//! Built with the toolchain at hand: coverage comes from LLVM's pass, which stable rustc can turn
//! on, so neither cargo-fuzz nor a nightly is needed. The price is that no address sanitizer runs;
//! the code under test has no `unsafe` for it to watch, but for the JSON reader of the guest jq,
//! whose memory is the guest's own.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail};

use crate::{cargo, must_succeed};

/// What cargo-fuzz passes too, less the flags that need a nightly.
const COVERAGE: &[&str] = &[
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
    "-Cdebug-assertions",
    "-Coverflow-checks",
];

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
struct Wish {
    seconds: u32,
    target: Option<String>,
}

pub(crate) fn run(root: &Path, args: &[String]) -> anyhow::Result<()> {
    let wish = parse(args)?;
    let manifest = root.join("fuzz/Cargo.toml");
    let text = fs::read_to_string(&manifest).with_context(|| format!("could not read {manifest:?}"))?;
    let all = targets(&text);
    let chosen = match wish.target {
        None => all,
        Some(name) if all.contains(&name) => vec![name],
        Some(name) => bail!("there is no fuzz target `{name}`; there are: {}", all.join(", ")),
    };

    let host = host_triple()?;
    let target_dir = match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => PathBuf::from(dir).join("fuzz"),
        None => root.join("fuzz/target"),
    };
    let mut build = cargo();
    build
        .args(["build", "--release", "--bins", "--target", &host, "--manifest-path"])
        .arg(&manifest)
        .arg("--target-dir")
        .arg(&target_dir)
        .env("CARGO_ENCODED_RUSTFLAGS", COVERAGE.join("\u{1f}"));
    must_succeed(&mut build)?;

    for name in chosen {
        println!("fuzz: {name} for {} s", wish.seconds);
        let corpus = root.join("fuzz/corpus").join(&name);
        let findings = root.join("fuzz/artifacts").join(&name);
        fs::create_dir_all(&corpus)?;
        fs::create_dir_all(&findings)?;
        let mut fuzzer = Command::new(target_dir.join(&host).join("release").join(&name));
        fuzzer
            .arg(&corpus)
            .arg(format!("-artifact_prefix={}/", findings.display()))
            .arg(format!("-max_total_time={}", wish.seconds))
            .arg("-print_final_stats=1");
        must_succeed(&mut fuzzer).with_context(|| format!("a finding in `{name}`; see {findings:?}"))?;
    }
    Ok(())
}

fn parse(args: &[String]) -> anyhow::Result<Wish> {
    let mut wish = Wish { seconds: 60, target: None };
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--seconds" => {
                let value = rest.next().context("--seconds wants a number")?;
                wish.seconds =
                    value.parse().with_context(|| format!("`{value}` is not a number of seconds"))?;
            }
            flag if flag.starts_with('-') => bail!("fuzz does not know `{flag}`"),
            name if wish.target.is_none() => wish.target = Some(name.to_owned()),
            name => bail!("one target at a time; `{name}` is one too many"),
        }
    }
    Ok(wish)
}

/// The names of the `[[bin]]` tables of a manifest.
fn targets(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut in_bin = false;
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            in_bin = line == "[[bin]]";
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        if in_bin && key.trim() == "name" {
            names.push(value.trim().trim_matches('"').to_owned());
        }
    }
    names
}

/// The machine we run on, in rustc's words. Naming it as the target keeps the flags away from
/// build scripts.
pub(crate) fn host_triple() -> anyhow::Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().context("could not start rustc")?;
    let text = String::from_utf8(output.stdout)?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` names no host")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(args: &[&str]) -> anyhow::Result<Wish> {
        parse(&args.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn seconds_and_a_target_may_come_in_any_order() {
        let want = Wish { seconds: 300, target: Some("exec_wire".into()) };
        assert_eq!(wish(&["--seconds", "300", "exec_wire"]).unwrap(), want);
        assert_eq!(wish(&["exec_wire", "--seconds", "300"]).unwrap(), want);
        for bad in [&["--seconds"][..], &["--seconds", "soon"], &["--forever"], &["a", "b"]] {
            assert!(wish(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn only_bin_tables_name_targets() {
        let manifest =
            "[package]\nname = \"fuzz\"\n[[bin]]\nname = \"wire\"\npath = \"a.rs\"\n[lib]\nname = \"x\"\n";
        assert_eq!(targets(manifest), ["wire"]);
    }
}
