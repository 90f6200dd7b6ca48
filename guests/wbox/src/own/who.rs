//! `id`, `whoami`, `hostname`, `logname`, `groups`, `users`: the same answer for everybody, and true
//! of nobody.
//!
//! A guest has no user and no machine. Scripts ask all the same, so one harmless person answers: the one
//! that files belong to.

use facts::owner::{self, NAME, OWN as ID};
use std::ffi::OsString;
use std::io::Write as _;

const HOST: &str = "drydock";

/// The applets; which one, its name tells.
pub fn uumain(args: impl Iterator<Item = OsString>) -> i32 {
    let args: Vec<String> = args.map(|it| it.to_string_lossy().into_owned()).collect();
    let name = args.first().map(|it| it.rsplit('/').next().unwrap_or_default()).unwrap_or_default();
    match answer(name, args.get(1..).unwrap_or_default()) {
        Ok(text) => i32::from(writeln!(std::io::stdout(), "{text}").is_err()),
        Err(problem) => {
            let _ = writeln!(std::io::stderr(), "{name}: {problem}");
            1
        }
    }
}

fn answer(name: &str, args: &[String]) -> Result<String, String> {
    match name {
        "id" => id(args),
        "hostname" => match args {
            [] => Ok(HOST.to_owned()),
            [flag] if matches!(flag.as_str(), "-s" | "-f" | "--short" | "--fqdn" | "--long") => {
                Ok(HOST.to_owned())
            }
            [flag] if matches!(flag.as_str(), "-i" | "-I") => Ok("127.0.0.1".to_owned()),
            [flag] if matches!(flag.as_str(), "-d" | "--domain") => Ok(String::new()),
            [flag, ..] if flag.starts_with('-') => {
                Err(format!("invalid option -- '{}'", flag.trim_start_matches('-')))
            }
            _ => Err("you must be root to change the host name".to_owned()),
        },
        "groups" => Ok(match args {
            [] => group(),
            [name, ..] => format!("{name} : {}", group()),
        }),
        _ => Ok(user()),
    }
}

fn user() -> String {
    owner::user(ID).unwrap_or_else(|| NAME.to_owned())
}

fn group() -> String {
    owner::group(ID).unwrap_or_else(|| NAME.to_owned())
}

fn id(args: &[String]) -> Result<String, String> {
    let (mut letters, mut user) = (String::new(), None);
    for arg in args {
        match arg.as_str() {
            "--user" => letters.push('u'),
            "--group" => letters.push('g'),
            "--groups" => letters.push('G'),
            "--name" => letters.push('n'),
            "--real" => letters.push('r'),
            short if short.starts_with('-') => letters.push_str(&short[1..]),
            name => user = Some(name),
        }
    }
    let (own, group) = (self::user(), group());
    if let Some(user) = user.filter(|it| *it != own && *it != "1000") {
        return Err(format!("'{user}': no such user"));
    }
    if let Some(wrong) = letters.chars().find(|letter| !"ugGnrza".contains(*letter)) {
        return Err(format!("invalid option -- '{wrong}'"));
    }
    let named = letters.contains('n');
    let one = |name: &str| if named { name.to_owned() } else { ID.to_string() };
    Ok(match letters.chars().find(|letter| "ugG".contains(*letter)) {
        Some('u') => one(&own),
        Some(_) => one(&group),
        None if named => return Err("cannot print only names or real IDs in default format".to_owned()),
        None => format!("uid={ID}({own}) gid={ID}({group}) groups={ID}({group})"),
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn everybody_is_the_same_person() {
        let (me, us) = (super::user(), super::group());
        let all = format!("uid=1000({me}) gid=1000({us}) groups=1000({us})");
        let cases = [
            ("whoami", "", Ok(me.as_str())),
            ("id", "", Ok(all.as_str())),
            ("id", "-u", Ok("1000")),
            ("id", "-un", Ok(me.as_str())),
            ("id", "-g -n", Ok(us.as_str())),
            ("id", "nobody-at-all", Err("'nobody-at-all': no such user")),
            ("hostname", "-s", Ok("drydock")),
            ("groups", "", Ok(us.as_str())),
        ];
        for (name, args, want) in cases {
            let args: Vec<String> = args.split_whitespace().map(str::to_owned).collect();
            let want = want.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(super::answer(name, &args), want, "{name} {args:?}");
        }
    }
}
