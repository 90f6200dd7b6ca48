//! `pip-fetch NAME[==VERSION]`: one pure wheel of Python's kind of index.

mod index;

use options::{Item, Order};
use serde_json::json;

use crate::{
    Failure, Get, INDEX_BYTES_MAX, PACKAGE_BYTES_MAX, end,
    hash::Hash,
    is_plain, registry,
    unpack::{Files, write, zip},
};
use index::Wheel;

const HELP: &str = "Usage: pip-fetch [OPTION]... NAME[==VERSION]
Fetch one pure Python wheel of an index, check it by its hash, and unpack it into site-packages. Nothing of it is run,
and what it depends on is not fetched: 'pip install' and 'drydock py' do that.

  -d, --dir=DIR          into another folder
      --index-url=URL    or the variable PIP_INDEX_URL
      --sha256=HEX       it must be these bytes
      --json             print what was fetched as JSON
      --help

Exit status: 0; 1 where it cannot be had; 2 for wrong usage.
";

/// Runs a command line, and answers its exit status.
pub fn run(args: &[String]) -> i32 {
    end("pip-fetch", done(args, &curl::fetch::get))
}

fn done(args: &[String], get: Get<'_>) -> Result<String, Failure> {
    let (mut dir, mut index, mut sha256, mut as_json, mut words) = (None, None, None, false, Vec::new());
    for item in options::parse(args, &["d,dir=", "index-url=", "sha256=", "json", "help"], Order::Anywhere)
        .map_err(Failure::Usage)?
    {
        match item {
            Item::Operand(word) => words.push(word),
            Item::Flag("d", value) => dir = value,
            Item::Flag("index-url", value) => index = value,
            Item::Flag("sha256", value) => sha256 = value,
            Item::Flag("json", _) => as_json = true,
            Item::Flag(..) => return Ok(HELP.to_owned()),
        }
    }
    let [wanted] = &words[..] else { return Err(Failure::Usage("one package is wanted".into())) };
    let want = match &sha256 {
        Some(text) => {
            Some(Hash::parse(text).ok_or_else(|| Failure::Usage(format!("'{text}' is no sha256")))?)
        }
        None => None,
    };
    let fetched = wheel(wanted, index, want, get)?;
    let folder = dir.unwrap_or_else(|| "site-packages".to_owned());
    write(&folder, &fetched.files, true)?;
    let Fetched { name, version, hash, files } = fetched;
    Ok(match as_json {
        true => {
            let told = json!({ "name": name, "version": version, "hash": hash.shown(), "dir": folder, "files": files.len() });
            format!("{told}\n")
        }
        false => format!("{name}=={version} {} -> {folder} ({} files)\n", hash.shown(), files.len()),
    })
}

/// A wheel that was fetched and checked.
pub(crate) struct Fetched {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) hash: Hash,
    pub(crate) files: Files,
}

/// Fetches the newest pure wheel of a package, or the one of a version.
pub(crate) fn wheel(
    wanted: &str,
    index: Option<String>,
    want: Option<Hash>,
    get: Get<'_>,
) -> Result<Fetched, Failure> {
    let (name, version) =
        wanted.split_once("==").map_or((wanted, None), |(name, version)| (name.trim(), Some(version.trim())));
    if !is_plain(name)
        || version.is_some_and(|it| !it.bytes().all(|b| b.is_ascii_alphanumeric() || b".!+_-".contains(&b)))
    {
        return Err(Failure::Usage(format!("'{wanted}' is no package: write NAME or NAME==VERSION")));
    }
    let name = normal(name);
    let index = registry(index, &["PIP_INDEX_URL"], "--index-url")?;
    let url = format!("{index}/{name}/");
    let page = get(&url, "application/vnd.pypi.simple.v1+json, text/html;q=0.5", INDEX_BYTES_MAX)?;
    let wheels = index::wheels(&page, &name);
    let matching =
        wheels.into_iter().filter(|it| version.is_none_or(|version| index::same(&it.version, version)));
    let none = || match version {
        Some(version) => format!("the index has no pure wheel of {name}=={version}"),
        None => format!("the index has no pure wheel of {name}"),
    };
    let Wheel { url: reference, version, hash, .. } = matching
        .filter(|it| want.is_none() || it.hash.is_none() || it.hash == want)
        .max_by(Wheel::newer)
        .ok_or_else(none)?;
    let hash = want
        .or(hash)
        .ok_or_else(|| format!("the index has no sha256 of {name}=={version}; say --sha256=HEX"))?;
    let bytes = get(&curl::fetch::join(&url, &reference)?, "*/*", PACKAGE_BYTES_MAX)?;
    if !hash.is_of(&bytes) {
        return Err(format!("{name}=={version} is not {}: other bytes came", hash.shown()).into());
    }
    Ok(Fetched { files: zip(&bytes)?, name, version, hash })
}

/// Names are the same whatever stands between their words.
fn normal(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars().map(|it| it.to_ascii_lowercase()) {
        let c = if "-_.".contains(c) { '-' } else { c };
        if !(c == '-' && out.ends_with('-')) {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
pub(crate) mod tests {
    use sha2::{Digest as _, Sha256};

    use super::*;

    /// A zip of stored members.
    pub(crate) fn stored(members: &[(&str, &[u8])]) -> Vec<u8> {
        let (mut all, mut directory) = (Vec::new(), Vec::new());
        for (name, content) in members {
            let mut sum = flate2::Crc::new();
            sum.update(content);
            let size = u32::try_from(content.len()).unwrap_or_default().to_le_bytes();
            let at = u32::try_from(all.len()).unwrap_or_default().to_le_bytes();
            let length = u16::try_from(name.len()).unwrap_or_default().to_le_bytes();
            let shared = [
                &[20, 0, 0, 0, 0, 0, 0, 0, 0, 0][..],
                &sum.sum().to_le_bytes(),
                &size,
                &size,
                &length,
                &[0, 0],
            ]
            .concat();
            all.extend([&b"PK\x03\x04"[..], &shared, name.as_bytes(), content].concat());
            directory.extend([&b"PK\x01\x02\x14\0"[..], &shared, &[0; 10], &at, name.as_bytes()].concat());
        }
        let count = u16::try_from(members.len()).unwrap_or_default().to_le_bytes();
        let bytes = u32::try_from(directory.len()).unwrap_or_default().to_le_bytes();
        let start = u32::try_from(all.len()).unwrap_or_default().to_le_bytes();
        [&all[..], &directory, b"PK\x05\x06\0\0\0\0", &count, &count, &bytes, &start, &[0, 0]].concat()
    }

    /// An index with one package, as JSON and as a page.
    fn fetched(line: &[&str], html: bool, tampered: bool) -> Result<String, Failure> {
        let wheel = stored(&[("a_b/__init__.py", b"x = 1\n"), ("a_b-1.10.dist-info/METADATA", b"")]);
        let hex: String = Sha256::digest(&wheel).iter().map(|it| format!("{it:02x}")).collect();
        let file = |version: &str, tag: &str| format!("a_b-{version}-{tag}.whl");
        let page = match html {
            true => format!(
                "<a href=\"../files/{}#sha256={hex}\">{}</a>",
                file("1.10", "py3-none-any"),
                file("1.10", "py3-none-any")
            ),
            false => {
                let one = |version: &str, tag: &str| json!({"filename":file(version, tag),"url":format!("../files/{}", file(version, tag)),"hashes":{"sha256":hex}});
                let files = [
                    one("1.9", "py3-none-any"),
                    one("1.10", "py2.py3-none-any"),
                    one("1.11", "cp312-cp312-linux"),
                    one("2.0rc1", "py3-none-any"),
                ];
                json!({ "files": files }).to_string()
            }
        };
        let get = |url: &str, _: &str, _: usize| match url {
            "http://i.test/simple/a-b/" => Ok(page.clone().into_bytes()),
            url if url.starts_with("http://i.test/simple/files/a_b-1.10") && tampered => {
                Ok(b"other".to_vec())
            }
            url if url.starts_with("http://i.test/simple/files/a_b-1.10") => Ok(wheel.clone()),
            url => Err(format!("{url} answers 404")),
        };
        done(&line.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>(), &get)
    }

    #[test]
    fn the_newest_pure_wheel_is_fetched_by_its_hash() {
        let folder = std::env::temp_dir().join(format!("pip-fetch-{}", std::process::id()));
        let dir = format!("--dir={}", folder.display());
        for html in [false, true] {
            let told =
                fetched(&["A.b", "--index-url=http://i.test/simple", &dir], html, false).unwrap_or_default();
            assert!(told.starts_with("a-b==1.10 sha256:"), "{told}");
            assert!(folder.join("a_b/__init__.py").is_file());
            let _ = std::fs::remove_dir_all(&folder);
        }
        let told = fetched(&["a-b", "--index-url=http://i.test/simple", &dir], false, true);
        assert!(matches!(told, Err(Failure::Failed(why)) if why.contains("other bytes came")));
        assert!(!folder.exists());
    }

    #[test]
    fn what_cannot_be_had_is_named() {
        for (line, want) in [
            (&["a-b"][..], "which registry?"),
            (&["a-b==3", "--index-url=http://i.test/simple"], "no pure wheel of a-b==3"),
            (&["a-b==1.11", "--index-url=http://i.test/simple"], "no pure wheel of a-b==1.11"),
            (&["c", "--index-url=http://i.test/simple"], "answers 404"),
            (&["../c", "--index-url=http://i.test/simple"], "is no package"),
            (&["a-b>=1", "--index-url=http://i.test/simple"], "is no package"),
            (&["a-b", "--sha256=x", "--index-url=http://i.test/simple"], "no sha256"),
        ] {
            let told = match fetched(line, false, false) {
                Err(Failure::Usage(why) | Failure::Failed(why)) => why,
                Ok(told) => told,
            };
            assert!(told.contains(want), "{line:?}: {told}");
        }
    }
}
