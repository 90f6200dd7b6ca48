//! Names of packages, requirements and wheels. Whatever goes to a package client was parsed here first: no
//! option, path, address or script can be spelled.

/// What a person asks for: a name, maybe extras, maybe versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    name: String,
    text: String,
}

/// The text asks for nothing that can be installed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no requirement: a name such as `rich`, or `rich==13.7.1`; no options, paths or addresses")]
pub struct BadRequirement(String);

const TEXT_BYTES_MAX: usize = 200;
const OPERATORS: [&str; 7] = ["===", "==", ">=", "<=", "~=", "!=", ">"];

impl Requirement {
    /// Reads `name[extra,…]==1.2,!=1.3`.
    pub fn parse(text: &str) -> Result<Self, BadRequirement> {
        let bad = || BadRequirement(text.chars().take(80).collect::<String>().escape_default().to_string());
        let whole: String = text.chars().filter(|it| !it.is_ascii_whitespace()).collect();
        // Blanks may stand around a version; what looks like two names is none.
        let torn = text.split_ascii_whitespace().collect::<Vec<_>>();
        let torn = torn.windows(2).any(|it| it[0].ends_with(is_plain) && it[1].starts_with(is_plain));
        if whole.len() > TEXT_BYTES_MAX || !whole.is_ascii() || torn || text.chars().any(char::is_control) {
            return Err(bad());
        }
        let end = whole.find(|it: char| !is_plain(it)).unwrap_or(whole.len());
        let (name, mut rest) = whole.split_at(end);
        if !is_name(name) {
            return Err(bad());
        }
        if let Some(extras) = rest.strip_prefix('[') {
            let (extras, after) = extras.split_once(']').ok_or_else(bad)?;
            if !extras.split(',').all(is_name) {
                return Err(bad());
            }
            rest = after;
        }
        if !rest.is_empty() && !rest.split(',').all(is_version_clause) {
            return Err(bad());
        }
        Ok(Self { name: normal(name), text: whole })
    }

    /// Exactly that version.
    pub(super) fn exactly(name: &str, version: &str) -> Self {
        Self { name: name.to_owned(), text: format!("{name}=={version}") }
    }

    /// The package, in its normal form.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The requirement as a client reads it.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

fn is_plain(it: char) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, '.' | '_' | '-')
}

fn is_name(text: &str) -> bool {
    let edge = |it: Option<char>| it.is_some_and(|it| it.is_ascii_alphanumeric());
    edge(text.chars().next()) && edge(text.chars().next_back()) && text.chars().all(is_plain)
}

fn is_version_clause(text: &str) -> bool {
    let operator = OPERATORS.iter().chain(&["<"]).find(|it| text.starts_with(**it));
    let version = operator.and_then(|it| text.get(it.len()..)).unwrap_or_default();
    let legal = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '_' | '-' | '+' | '*' | '!');
    !version.is_empty() && version.chars().all(legal) && !version.starts_with('-')
}

/// Names that differ in case and in `-`, `_` and `.` are one.
pub(super) fn normal(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|it| !it.is_empty());
    parts.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}

/// What the name of a wheel's file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WheelName {
    /// The package, in its normal form.
    pub name: String,
    /// Its version.
    pub version: String,
    python: String,
    abi: String,
    platform: String,
}

impl WheelName {
    /// Reads `name-version[-build]-python-abi-platform.whl`.
    pub fn parse(file: &str) -> Option<Self> {
        let parts: Vec<&str> = file.strip_suffix(".whl")?.split('-').collect();
        let (head, tags) = parts.split_at_checked(parts.len().checked_sub(3)?)?;
        let ([name, version] | [name, version, _]) = head else { return None };
        let [python, abi, platform] = tags else { return None };
        let legal = |it: &str| !it.is_empty() && it.chars().all(|it| is_plain(it) || it == '+' || it == '!');
        if !parts.iter().all(|it| legal(it)) || !is_name(name) {
            return None;
        }
        let [version, python, abi, platform] = [version, python, abi, platform].map(|it| (*it).to_owned());
        Some(Self { name: normal(name), version, python, abi, platform })
    }

    /// Whether it is Python and nothing else, for any Python 3.
    pub fn is_pure(&self) -> bool {
        let has = |tags: &str, wanted: &[&str]| tags.split('.').any(|it| wanted.contains(&it));
        self.abi == "none" && self.platform == "any" && has(&self.python, &["py3", "py312", "py311", "py310"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_is_a_name_and_versions_and_nothing_that_a_client_could_mistake() {
        for (text, name) in [
            ("rich", "rich"),
            ("Typing_Extensions", "typing-extensions"),
            ("zope.interface >= 5, < 6", "zope-interface"),
            ("httpx[http2,cli]==0.27.*", "httpx"),
            ("six~=1.16", "six"),
        ] {
            assert_eq!(Requirement::parse(text).map(|it| it.name().to_owned()), Ok(name.into()), "{text}");
        }
        for text in [
            "",
            "-r",
            "--index-url=x",
            "./x",
            "/etc/passwd",
            "git+https://x/y",
            "a @ https://x/y.whl",
            "x.whl;python_version>'3'",
            "a==",
            "a=1",
            "a[b",
            "a;b",
            "é",
            "a==-r",
            "a\u{0}",
            "a b",
            "a\nb",
        ] {
            assert!(Requirement::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_wheels_name_says_whether_it_is_pure() {
        let pure =
            |file: &str| WheelName::parse(file).map(|it| (it.name.clone(), it.version.clone(), it.is_pure()));
        let six = Some(("six".into(), "1.16.0".into(), true));
        assert_eq!(pure("six-1.16.0-py2.py3-none-any.whl"), six);
        assert_eq!(pure("six-1.16.0-1-py3-none-any.whl"), six);
        let numpy = Some(("numpy".into(), "2.0.0".into(), false));
        assert_eq!(pure("numpy-2.0.0-cp312-cp312-manylinux_2_17_x86_64.whl"), numpy);
        assert_eq!(pure("numpy-2.0.0-py3-none-linux_x86_64.whl"), numpy);
        for file in [
            "six.whl",
            "six-1.tar.gz",
            "../x-1-py3-none-any.whl",
            "a-1-py3-none-any.whl.exe",
            "-1-py3-none-any.whl",
        ] {
            assert_eq!(WheelName::parse(file), None, "{file}");
        }
    }
}
