//! `find`: GNU findutils' command line over the files of the session.

mod eval;
mod expr;
mod ls;
mod output;
mod parse;
mod pattern;
mod perm;
mod predicate;
mod printf;
mod run;
mod walk;

use child::Children;

const HELP: &str = "Usage: find [-H] [-L] [-P] [PATH...] [EXPRESSION]

Operators: ( EXPR )  ! EXPR  -not EXPR  EXPR -a EXPR  EXPR -o EXPR  EXPR , EXPR
Options:   -depth -maxdepth N -mindepth N -regextype TYPE -follow -xdev
Tests:     -name -iname -path -ipath -regex -iregex -lname -type -xtype -size -empty
           -mtime -mmin -atime -amin -ctime -cmin -newer -newerXY -perm -links -inum
           -samefile -user -group -uid -gid -readable -writable -executable -true -false
Actions:   -print -print0 -printf FORMAT -ls -fprint FILE -fprint0 FILE -fprintf FILE FORMAT
           -delete -prune -quit -exec COMMAND ; -exec COMMAND {} + -execdir COMMAND ;

Files have no owners and no modes here: they look like 644, directories like 755.
";

/// Runs a search and returns the exit status.
pub(crate) fn run(args: &[String], children: &dyn Children) -> i32 {
    match args.first().map(String::as_str) {
        Some("--help" | "-help") => return crate::print(HELP),
        Some("--version" | "-version") => {
            return crate::print("find (GNU findutils) 4.9.0 compatible, drydock\n");
        }
        _ => {}
    }
    let plan = match parse::parse(args) {
        Ok(plan) => plan,
        Err(problem) => {
            crate::complain("find", &problem);
            return 1;
        }
    };
    let outputs = match output::Outputs::open(&plan.outputs) {
        Ok(outputs) => outputs,
        Err(problem) => {
            crate::complain("find", &problem);
            return 1;
        }
    };
    let mut search = eval::Search::new(&plan, outputs, run::Runs::new(&plan.batches, children));
    for start in &plan.starts {
        if walk::start(&mut search, start) == walk::Next::Quit {
            break;
        }
    }
    search.outputs.flush();
    let ran = search.runs.finish();
    let failed = search.failed;
    i32::from(!search.outputs.finish() || !ran || failed)
}
