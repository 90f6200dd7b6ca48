//! `git init`.

use super::args::Args;
use crate::fail::{Done, fatal};
use crate::out;
use crate::repo::{Where, clean, current_dir};

const CONFIG: &str =
    "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n";
const BARE: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n";
const DESCRIPTION: &str = "Unnamed repository; edit this file 'description' to name the repository.\n";
const EXCLUDE: &str = "# git ls-files --others --exclude-from=.git/info/exclude\n# Lines that start with '#' are comments.\n# For a project mostly in C, the following would be a good set of\n# exclude patterns (uncomment them if you want to use them):\n# *.[oa]\n# *~\n";

pub fn run(args: &[String], place: &Where) -> Done<i32> {
    let args = Args::parse(
        args,
        &[&["q,quiet", "bare", "b,initial-branch=", "template=", "object-format=", "ref-format=", "shared?"]],
    )?;
    if args.value("object-format").is_some_and(|it| it != "sha1") {
        return Err(fatal("only the object format 'sha1' is here"));
    }
    let bare = args.has("bare");
    let mut folder = current_dir()?;
    if let Some(name) = args.all_words().first() {
        folder = clean(&folder.join(name));
    }
    let git = match (&place.git_dir, bare) {
        (Some(named), _) => current_dir()?.join(named),
        (None, true) => folder.clone(),
        (None, false) => folder.join(".git"),
    };
    let again = git.join("HEAD").exists();
    for name in ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info", "hooks", "branches"] {
        crate::file::make_dirs(&git.join(name))?;
    }
    let config = crate::repo::config::Config::outside()?;
    let set = place
        .settings
        .iter()
        .find(|it| it.0.eq_ignore_ascii_case("init.defaultbranch"))
        .map(|it| it.1.as_str());
    let default = set.or_else(|| config.get("init.defaultbranch"));
    let branch = args.value("b").or(default).unwrap_or("master");
    if !crate::repo::refs::is_legal(&format!("refs/heads/{branch}")) {
        return Err(fatal(format!("invalid initial branch name: '{branch}'")));
    }
    let head = format!("ref: refs/heads/{branch}\n");
    let files = [
        ("HEAD", head.as_str()),
        ("config", if bare { BARE } else { CONFIG }),
        ("description", DESCRIPTION),
        ("info/exclude", EXCLUDE),
    ];
    for (name, text) in files {
        let path = git.join(name);
        if !path.exists() {
            crate::file::replace(&path, text.as_bytes())?;
        }
    }
    if again && args.has("b") {
        out::note(format!("warning: re-init: ignored --initial-branch={branch}"));
    }
    if !args.has("q") {
        let what = if again { "Reinitialized existing" } else { "Initialized empty" };
        out::line(format!("{what} Git repository in {}/", git.display()));
    }
    Ok(0)
}
