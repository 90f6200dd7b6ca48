//! What a toolkit asks for. A need is a property of the command that has it, declared in the manifest and granted by a person
//! (seed 003): nothing here is held by anybody, it is a list to read and to say yes or no to.

use drydock_contract::{Cap, GrantSpec, Pattern};
use serde::Serialize;

use crate::text::shown;

const CAPS_MAX: usize = 64;

/// Grants that one command or skill asks for, as a file of grants holds them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ask {
    /// Which toolkit.
    pub toolkit: String,
    /// Which command or skill of it.
    pub wanted_by: String,
    /// What it asks for.
    pub grants: Vec<GrantSpec>,
}

/// A list of powers cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{shown}` asks for no power: {why}")]
pub struct BadAsk {
    pub(super) shown: String,
    pub(super) why: String,
}

/// Reads `net:example.com,*.example.org kv:notes/* llm`: powers, and after a colon what of each.
pub(super) fn read(text: &str) -> Result<Vec<GrantSpec>, BadAsk> {
    let mut all = Vec::new();
    for word in text.split_whitespace() {
        let bad = |why: String| BadAsk { shown: shown(word), why };
        if all.len() >= CAPS_MAX {
            return Err(bad(format!("there are more than {CAPS_MAX}")));
        }
        let (cap, subjects) = match word.split_once(':') {
            Some((cap, subjects)) => (cap, Some(subjects)),
            None => (word, None),
        };
        let cap: Cap = cap.parse().map_err(|it: drydock_contract::UnknownCap| {
            bad(format!("{it}; `drydock profiles` lists them"))
        })?;
        let patterns = |it: &str| it.split(',').map(str::parse::<Pattern>).collect::<Result<Vec<_>, _>>();
        let subjects = subjects.map(patterns).transpose().map_err(|it| bad(it.to_string()))?;
        all.push(GrantSpec { subjects, ..GrantSpec::of(cap) });
    }
    Ok(all)
}

/// A file of grants with everything that is asked for, each once: `drydock run --grants FILE` and `drydock grants add FILE`
/// read it.
pub fn grants_file<'a>(asks: impl IntoIterator<Item = &'a Ask>) -> serde_json::Value {
    let mut all: Vec<&GrantSpec> = Vec::new();
    for grant in asks.into_iter().flat_map(|it| &it.grants) {
        if !all.contains(&grant) {
            all.push(grant);
        }
    }
    serde_json::json!({ "grants": all })
}

#[cfg(test)]
mod tests {
    use drydock_contract::GrantFile;

    use super::*;

    #[test]
    fn powers_are_read_with_what_of_each_and_a_file_of_grants_holds_them() {
        let grants = read("net:example.com,*.example.org kv:notes/* tcp:db.example.com:5432 llm").unwrap();
        let ask = Ask { toolkit: "t".into(), wanted_by: "c".into(), grants };
        let file = grants_file([&ask, &ask]);
        assert_eq!(
            file.to_string(),
            "{\"grants\":[{\"cap\":\"net\",\"subjects\":[\"example.com\",\"*.example.org\"]},{\"cap\":\"kv\",\"subjects\":[\"notes/*\"]},\
             {\"cap\":\"tcp\",\"subjects\":[\"db.example.com:5432\"]},{\"cap\":\"llm\"}]}"
        );
        assert!(GrantFile::parse(file.to_string().as_bytes()).is_ok());
        for (text, want) in
            [("nte", "`nte` is not a capability"), ("net:", "it is empty"), ("kv:a,,b", "it is empty")]
        {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(want), "{error}");
        }
        assert!(read(&"llm ".repeat(CAPS_MAX + 1)).is_err());
    }
}
