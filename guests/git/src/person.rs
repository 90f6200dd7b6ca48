//! Who wrote and who committed, and when.
//!
//! git refuses to commit without a name. Here nobody sits at a keyboard to give one, so without one in the
//! environment or the configuration it is `agent <agent@drydock>`.

use std::fmt;

use bstr::{BString, ByteSlice as _};

use crate::date;
use crate::fail::{Done, fatal};
use crate::repo::config::Config;

/// Who nobody named.
const NAME: &str = "agent";
const EMAIL: &str = "agent@drydock";

/// A name, an address and a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    pub name: BString,
    pub email: BString,
    pub seconds: i64,
    /// Minutes east of UTC.
    pub zone: i32,
}

impl Person {
    /// Who writes now.
    pub fn author(config: &Config) -> Done<Self> {
        Self::now("AUTHOR", "author", config)
    }

    /// Who commits now.
    pub fn committer(config: &Config) -> Done<Self> {
        Self::now("COMMITTER", "committer", config)
    }

    fn now(role: &str, section: &str, config: &Config) -> Done<Self> {
        let env =
            |what: &str| std::env::var(format!("GIT_{role}_{what}")).ok().filter(|it| !it.trim().is_empty());
        let set = |key: &str| {
            let own = config.get(&format!("{section}.{key}"));
            own.or_else(|| config.get(&format!("user.{key}"))).map(str::to_owned)
        };
        let name = env("NAME").or_else(|| set("name")).unwrap_or_else(|| NAME.to_owned());
        let email = env("EMAIL").or_else(|| set("email")).or_else(|| std::env::var("EMAIL").ok());
        let (seconds, zone) = match env("DATE") {
            Some(text) => date::parse(&text).ok_or_else(|| fatal(format!("invalid date format: {text}")))?,
            None => (date::now(), 0),
        };
        let email = email.unwrap_or_else(|| EMAIL.to_owned());
        Ok(Self { name: tidy(&name).into(), email: tidy(&email).into(), seconds, zone })
    }

    /// `Name <address> 1234567890 +0000`.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (open, close) = (text.find_byte(b'<')?, text.rfind_byte(b'>')?);
        let email = text.get(open + 1..close)?;
        let mut rest = text.get(close + 1..)?.fields();
        let number = |it: Option<&[u8]>| it.and_then(|it| it.to_str().ok()?.parse::<i64>().ok());
        let seconds = number(rest.next()).unwrap_or(0);
        let zone = rest.next().and_then(|it| date::zone(it.to_str().ok()?)).unwrap_or(0);
        Some(Self { name: text[..open].trim().into(), email: email.into(), seconds, zone })
    }
}

impl fmt::Display for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <{}> {} {}", self.name, self.email, self.seconds, date::zone_text(self.zone))
    }
}

/// Without what would break the line, and without what git takes from the ends.
fn tidy(text: &str) -> String {
    let crude = |it: char| it.is_ascii_control() || it == ' ' || ".,:;<>\"\\'".contains(it);
    text.trim_matches(crude).replace(['\n', '<', '>', '\0'], "")
}
