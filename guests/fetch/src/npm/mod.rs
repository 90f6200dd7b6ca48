//! `npm-fetch NAME[@VERSION]`: one package of npm's kind of registry.

use options::{Item, Order};
use serde_json::{Value, json};

use crate::{
    Failure, Get, INDEX_BYTES_MAX, PACKAGE_BYTES_MAX, end,
    hash::Hash,
    is_plain, registry,
    unpack::{tarball, write},
};

const HELP: &str = "Usage: npm-fetch [OPTION]... NAME[@VERSION]
Fetch one package of a registry, check it by its hash, and unpack it into node_modules/NAME. None of its scripts is run,
and what it depends on is not fetched. VERSION is a version or a tag (latest).

  -d, --dir=DIR          into another folder
      --registry=URL     or the variable npm_config_registry
      --integrity=HASH   it must be these bytes: sha512-BASE64, as a lock file has it
      --json             print what was fetched as JSON
      --help

Exit status: 0; 1 where it cannot be had; 2 for wrong usage.
";

/// Runs a command line, and answers its exit status.
pub fn run(args: &[String]) -> i32 {
    end("npm-fetch", done(args, &curl::fetch::get))
}

fn done(args: &[String], get: Get<'_>) -> Result<String, Failure> {
    let (mut dir, mut named, mut integrity, mut as_json, mut words) = (None, None, None, false, Vec::new());
    for item in options::parse(args, &["d,dir=", "registry=", "integrity=", "json", "help"], Order::Anywhere)
        .map_err(Failure::Usage)?
    {
        match item {
            Item::Operand(word) => words.push(word),
            Item::Flag("d", value) => dir = value,
            Item::Flag("registry", value) => named = value,
            Item::Flag("integrity", value) => integrity = value,
            Item::Flag("json", _) => as_json = true,
            Item::Flag(..) => return Ok(HELP.to_owned()),
        }
    }
    let [wanted] = &words[..] else { return Err(Failure::Usage("one package is wanted".into())) };
    let (name, version) = package(wanted)?;
    let want = match &integrity {
        Some(text) => {
            Some(Hash::parse(text).ok_or_else(|| Failure::Usage(format!("'{text}' is no strong hash")))?)
        }
        None => None,
    };
    let registry = registry(named, &["npm_config_registry", "NPM_CONFIG_REGISTRY"], "--registry")?;
    let about = get(
        &format!("{registry}/{}", name.replace('/', "%2f")),
        "application/vnd.npm.install-v1+json, application/json;q=0.8",
        INDEX_BYTES_MAX,
    )?;
    let about: Value = serde_json::from_slice(&about)
        .map_err(|error| format!("the registry's answer is no JSON: {error}"))?;
    let tagged = about["dist-tags"][version].as_str().unwrap_or(version);
    let entry = &about["versions"][tagged];
    let dist = &entry["dist"];
    let tarball_url =
        dist["tarball"].as_str().ok_or_else(|| format!("the registry has no {name}@{version}"))?;
    let told = dist["integrity"].as_str().and_then(Hash::parse);
    let hash = match (want, told) {
        (Some(want), Some(told))
            if std::mem::discriminant(&want) == std::mem::discriminant(&told) && want != told =>
        {
            return Err(format!(
                "the registry says that {name}@{tagged} is {}, not {}",
                told.shown(),
                want.shown()
            )
            .into());
        }
        (Some(want), _) => want,
        (None, Some(told)) => told,
        (None, None) => {
            return Err(
                format!("the registry has no strong hash of {name}@{tagged}; say --integrity=HASH").into()
            );
        }
    };
    let url = curl::fetch::join(&format!("{registry}/"), tarball_url)?;
    let bytes = get(&url, "*/*", PACKAGE_BYTES_MAX)?;
    if !hash.is_of(&bytes) {
        return Err(format!("{url} is not {}: other bytes came", hash.shown()).into());
    }
    let files = tarball(&bytes)?;
    let folder = dir.unwrap_or_else(|| format!("node_modules/{name}"));
    write(&folder, &files, false)?;
    Ok(report(&name, tagged, &hash, &folder, &files, as_json))
}

/// A name, perhaps of a scope, and a version or a tag.
fn package(text: &str) -> Result<(String, &str), Failure> {
    let cut = text.get(1..).and_then(|it| it.find('@')).map(|at| at + 1);
    let (name, version) = cut.map_or((text, "latest"), |at| (&text[..at], &text[at + 1..]));
    let is_name = match name.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/').is_some_and(|(scope, name)| is_plain(scope) && is_plain(name)),
        None => is_plain(name),
    };
    let is_version =
        !version.is_empty() && version.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.+".contains(&b));
    match is_name && is_version {
        true => Ok((name.to_owned(), version)),
        false => Err(Failure::Usage(format!(
            "'{text}' is no package: write NAME, or NAME@VERSION with a version or a tag"
        ))),
    }
}

fn report(
    name: &str,
    version: &str,
    hash: &Hash,
    folder: &str,
    files: &[(String, Vec<u8>)],
    as_json: bool,
) -> String {
    let manifest = files.iter().find(|it| it.0 == "package.json").map(|it| &it.1[..]).unwrap_or_default();
    let manifest: Value = serde_json::from_slice(manifest).unwrap_or_default();
    let has = |script: &str| manifest["scripts"][script].is_string();
    let scripts: Vec<&str> =
        ["preinstall", "install", "postinstall"].into_iter().filter(|it| has(it)).collect();
    let needs = manifest["dependencies"].as_object().map_or(0, serde_json::Map::len);
    if as_json {
        let told = json!({ "name": name, "version": version, "hash": hash.shown(), "dir": folder, "files": files.len(),
            "scripts_not_run": scripts, "dependencies_not_fetched": needs });
        return format!("{told}\n");
    }
    let mut text = format!("{name}@{version} {} -> {folder} ({} files)\n", hash.shown(), files.len());
    if !scripts.is_empty() {
        text.push_str(&format!("its scripts are not run: {}\n", scripts.join(", ")));
    }
    if needs > 0 {
        text.push_str(&format!("what it depends on is not fetched: {needs} packages\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    use sha2::{Digest as _, Sha512};

    use super::*;
    use crate::unpack::tests::tar;

    /// A registry with one package.
    fn fetched(line: &[&str], integrity: Option<&str>) -> Result<String, Failure> {
        let packed = tar(&[(
            "package/package.json",
            b'0',
            br#"{"scripts":{"postinstall":"rm -rf /"},"dependencies":{"x":"1"}}"#,
        )]);
        let own = format!("sha512-{}", STANDARD.encode(Sha512::digest(&packed)));
        let dist = json!({"tarball":"http://r.test/a/-/a-1.2.0.tgz","integrity":integrity.unwrap_or(&own)});
        let about = json!({"dist-tags":{"latest":"1.2.0"},"versions":{"1.2.0":{"dist":dist},"1.1.0":{"dist":{"tarball":"x","shasum":"y"}}}});
        let get = |url: &str, _: &str, _: usize| match url {
            "http://r.test/a" | "http://r.test/@s%2fa" => Ok(about.to_string().into_bytes()),
            "http://r.test/a/-/a-1.2.0.tgz" => Ok(packed.clone()),
            url => Err(format!("{url} answers 404")),
        };
        done(&line.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>(), &get)
    }

    #[test]
    fn a_package_is_fetched_by_its_hash_and_none_of_its_scripts_is_run() {
        let folder = std::env::temp_dir().join(format!("npm-fetch-{}", std::process::id()));
        let dir = format!("--dir={}", folder.display());
        let line = ["a", "--registry=http://r.test/", &dir];
        let told = fetched(&line, None).unwrap_or_default();
        assert!(told.starts_with("a@1.2.0 sha512-") && told.contains("not run: postinstall"), "{told}");
        assert!(folder.join("package.json").is_file());
        assert!(matches!(fetched(&line, None), Err(Failure::Failed(why)) if why.contains("not empty")));
        let _ = std::fs::remove_dir_all(&folder);
        let other = format!("sha512-{}", STANDARD.encode([7; 64]));
        assert!(
            matches!(fetched(&line, Some(&other)), Err(Failure::Failed(why)) if why.contains("other bytes came"))
        );
        assert!(!folder.exists(), "nothing is written of other bytes");
    }

    #[test]
    fn what_cannot_be_had_is_named() {
        let hash = format!("--integrity=sha512-{}", STANDARD.encode([7; 64]));
        for (line, want) in [
            (&["a"][..], "which registry?"),
            (&["a", "--registry=http://r.test", &hash], "the registry says"),
            (&["b", "--registry=http://r.test"], "answers 404"),
            (&["a@9", "--registry=http://r.test"], "has no a@9"),
            (&["a@1.1.0", "--registry=http://r.test"], "no strong hash"),
            (&["a@^1.0", "--registry=http://r.test"], "is no package"),
            (&["../a", "--registry=http://r.test"], "is no package"),
            (&["@s/../a", "--registry=http://r.test"], "is no package"),
            (&["a", "--integrity=x", "--registry=http://r.test"], "no strong hash"),
            (&[], "one package is wanted"),
        ] {
            let told = match fetched(line, None) {
                Err(Failure::Usage(why) | Failure::Failed(why)) => why,
                Ok(told) => told,
            };
            assert!(told.contains(want), "{line:?}: {told}");
        }
        assert_eq!(package("@s/a@1").map(|it| (it.0, it.1)), Ok(("@s/a".to_owned(), "1")));
    }
}
