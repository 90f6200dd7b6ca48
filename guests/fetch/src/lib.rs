//! `npm-fetch`, `pip-fetch` and `pip-run`: one package of a registry, checked by its hash and unpacked within bounds.
//!
//! Which registry, somebody says: there is none in here. Whether it may be reached, the host says, for every request and
//! every redirect. Nothing that a package brings is run to install it, and nothing of it lies outside of its folder.

mod hash;
pub mod npm;
pub mod pip;
pub mod pip_run;
mod unpack;

/// What a registry says of a package.
const INDEX_BYTES_MAX: usize = 64 << 20;
/// A package as it is sent.
const PACKAGE_BYTES_MAX: usize = 128 << 20;
/// Wrong usage.
const USAGE: i32 = 2;

/// Whoever fetches: the host, or what stands for it in tests.
type Get<'a> = &'a dyn Fn(&str, &str, usize) -> Result<Vec<u8>, String>;

/// Why nothing was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Failure {
    Usage(String),
    Failed(String),
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self::Failed(text)
    }
}

/// Prints what came of it.
fn end(name: &str, done: Result<String, Failure>) -> i32 {
    match done {
        Ok(text) => i32::from(!place::stdio::print(text.as_bytes())),
        Err(Failure::Usage(why)) => {
            place::stdio::complain(name, &why);
            place::stdio::complain(name, &format!("try '{name} --help' for more information"));
            USAGE
        }
        Err(Failure::Failed(why)) => {
            place::stdio::complain(name, &why);
            1
        }
    }
}

/// A registry that somebody named, by an option or by one of these variables.
fn registry(option: Option<String>, variables: &[&str], flag: &str) -> Result<String, Failure> {
    let named = variables.iter().find_map(|name| std::env::var(name).ok().filter(|it| !it.is_empty()));
    let url = option.or(named).map(|it| it.trim_end_matches('/').to_owned());
    url.ok_or_else(|| {
        Failure::Usage(format!("which registry? say {flag}=URL, or set {}", variables.join(" or ")))
    })
}

/// A name that is part of a URL and of a path, and nothing else.
fn is_plain(name: &str) -> bool {
    let letters = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    (1..=214).contains(&name.len()) && letters && !name.starts_with('.')
}
