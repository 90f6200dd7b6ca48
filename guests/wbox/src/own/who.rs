//! `id`, `whoami`, `hostname`, `logname`, `groups`, `users`: the same answer for everybody, and true
//! of nobody.
//!
//! A guest has no user and no machine. Scripts ask all the same, so one harmless person answers.

use std::ffi::OsString;

const USER: &str = "agent";
const GROUP: &str = "agent";
const ID: u32 = 1000;
const HOST: &str = "drydock";

/// The applets; which one, its name tells.
pub fn uumain(args: impl Iterator<Item = OsString>) -> i32 {
    let args: Vec<String> = args.map(|it| it.to_string_lossy().into_owned()).collect();
    let name = args.first().map(|it| it.rsplit('/').next().unwrap_or_default()).unwrap_or_default();
    match answer(name, args.get(1..).unwrap_or_default()) {
        Ok(text) => {
            println!("{text}");
            0
        }
        Err(problem) => {
            eprintln!("{name}: {problem}");
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
        "groups" => Ok(if args.is_empty() { GROUP.to_owned() } else { format!("{} : {GROUP}", args[0]) }),
        _ => Ok(USER.to_owned()),
    }
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
    if let Some(user) = user.filter(|it| *it != USER && *it != "1000") {
        return Err(format!("'{user}': no such user"));
    }
    if let Some(wrong) = letters.chars().find(|letter| !"ugGnrza".contains(*letter)) {
        return Err(format!("invalid option -- '{wrong}'"));
    }
    let named = letters.contains('n');
    let one = |name: &str| if named { name.to_owned() } else { ID.to_string() };
    Ok(match letters.chars().find(|letter| "ugG".contains(*letter)) {
        Some('u') => one(USER),
        Some(_) => one(GROUP),
        None if named => return Err("cannot print only names or real IDs in default format".to_owned()),
        None => format!("uid={ID}({USER}) gid={ID}({GROUP}) groups={ID}({GROUP})"),
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn everybody_is_the_same_person() {
        let cases = [
            ("whoami", "", Ok("agent")),
            ("id", "", Ok("uid=1000(agent) gid=1000(agent) groups=1000(agent)")),
            ("id", "-u", Ok("1000")),
            ("id", "-un", Ok("agent")),
            ("id", "-g -n", Ok("agent")),
            ("id", "root", Err("'root': no such user")),
            ("hostname", "-s", Ok("drydock")),
            ("groups", "", Ok("agent")),
        ];
        for (name, args, want) in cases {
            let args: Vec<String> = args.split_whitespace().map(str::to_owned).collect();
            let want = want.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(super::answer(name, &args), want, "{name} {args:?}");
        }
    }
}
