//! `chown` and `chgrp`: owners do not change.
//!
//! Everything belongs to the one user there is. Giving a file to that user is no change; giving it to
//! anybody else is not permitted, as it is not for a user elsewhere.

use super::Job;
use crate::own::arguments::{self, refuse};
use crate::stream::{Out, path, text};
use facts::Facts;
use std::path::Path;

/// The applet `chown`.
/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    run("chown", args)
}

/// The applet `chgrp`.
pub mod group {
    pub fn main(args: &[&[u8]]) -> i32 {
        super::run("chgrp", args)
    }
}

fn run(applet: &'static str, args: &[&[u8]]) -> i32 {
    let help = format!(
        "Usage: {applet} [OPTION]... {} FILE...\nThere is one user here, and every file is theirs: anybody else is refused.\n\n  \
         -R, --recursive  -h, --no-dereference  -v, --verbose  -c, --changes  -f, --silent, --quiet  --reference=FILE\n",
        if applet == "chown" { "[OWNER][:[GROUP]]" } else { "GROUP" }
    );
    let table = &[
        "R,recursive",
        "h,no-dereference",
        "dereference",
        "v,verbose",
        "c,changes",
        "f,silent,quiet",
        "reference=",
        "from=",
        "H",
        "L",
        "P",
        "preserve-root",
        "no-preserve-root",
    ];
    let line = match arguments::read(applet, &help, args, table, 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let mut operands = line.operands.clone();
    let mut wanted = String::new();
    if line.value("reference").is_none() {
        if operands.is_empty() {
            return refuse(applet, "missing operand", 1);
        }
        wanted = text(operands.remove(0)).into_owned();
    }
    if operands.is_empty() {
        return refuse(applet, &format!("missing operand after '{wanted}'"), 1);
    }
    let foreign = match foreign(applet, &wanted) {
        Ok(foreign) => foreign,
        Err(problem) => {
            Out::new(applet).complain(&problem);
            return 1;
        }
    };
    let what = if applet == "chown" { "ownership" } else { "group" };
    let mut job = Job::new(applet, &line, 0);
    let mut each = |job: &mut Job, at: &Path, _: &Facts| {
        if foreign {
            job.fail(&format!("changing {what} of '{}': Operation not permitted", at.display()));
        } else if job.verbose {
            job.out.put(format!("{what} of '{}' retained as {wanted}\n", at.display()).as_bytes());
        }
    };
    operands.iter().for_each(|name| job.file(path(name), !line.has("h"), &mut each));
    job.out.end(job.status)
}

/// Whether it names anybody but the one user; a problem if it names nobody at all.
fn foreign(applet: &str, wanted: &str) -> Result<bool, String> {
    let own = facts::owner::OWN;
    let (user, group) = match wanted.split_once([':', '.']) {
        _ if applet == "chgrp" => ("", wanted),
        Some((user, group)) => (user, group),
        None => (wanted, ""),
    };
    let one = |name: &str, own_name: Option<String>, what: &str| {
        if name.is_empty() || Some(name) == own_name.as_deref() {
            return Ok(false);
        }
        match (name.parse::<u32>(), name) {
            (Ok(number), _) => Ok(number != own),
            (_, "root") => Ok(true),
            _ => Err(format!("invalid {what}: '{wanted}'")),
        }
    };
    Ok(one(user, facts::owner::user(own), "user")? | one(group, facts::owner::group(own), "group")?)
}

#[cfg(test)]
mod tests {
    use super::foreign;

    #[test]
    fn only_the_one_user_may_own_a_file() {
        let me = facts::owner::user(1000).unwrap_or_default();
        for fine in ["1000", "1000:1000", ":1000", me.as_str(), ""] {
            assert_eq!(foreign("chown", fine), Ok(false), "{fine}");
        }
        for other in ["0", "root", "root:root", "1000:0"] {
            assert_eq!(foreign("chown", other), Ok(true), "{other}");
        }
        assert!(foreign("chown", "nobody-at-all").is_err() && foreign("chgrp", "no-such").is_err());
    }
}
