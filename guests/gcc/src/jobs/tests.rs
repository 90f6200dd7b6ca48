//! What is run for a line.

use super::*;
use crate::line;

fn jobs(text: &str) -> Work {
    let all: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    let plan = line::read(&all[0], &all[1..]).unwrap();
    work(&plan, &Scratch { folder: "/tmp".into(), number: 0xab })
}

fn last_words(job: &Job, count: usize) -> String {
    job.args[job.args.len() - count..].join(" ")
}

#[test]
fn a_program_is_compiled_source_by_source_and_linked_in_the_order_of_the_line() {
    let work = jobs("gcc a.c lib.a b.c -lm -o prog");
    let programs: Vec<&str> = work.jobs.iter().map(|it| it.program).collect();
    assert_eq!(programs, [CLANG, CLANG, LINKER]);
    assert_eq!(last_words(&work.jobs[0], 3), "a.c -o /tmp/cc-000000ab-0.o");
    assert_eq!(last_words(&work.jobs[1], 3), "b.c -o /tmp/cc-000000ab-2.o");
    let link = work.jobs[2].args.join(" ");
    assert!(
        link.contains("/tmp/cc-000000ab-0.o lib.a /tmp/cc-000000ab-2.o -lm /tmp/cc-000000ab.a "),
        "{link}"
    );
    assert!(link.ends_with("-o prog"), "{link}");
    assert_eq!(work.temporary.len(), 3);
    assert_eq!(work.program.as_deref(), Some("prog"));
}

#[test]
fn without_o_the_results_have_their_usual_names() {
    for (line, want) in [
        ("gcc -c src/a.c", "src/a.c -o a.o"),
        ("gcc -S a.c", "a.c -o a.s"),
        ("gcc -c a.c -o x/y.o", "a.c -o x/y.o"),
    ] {
        let work = jobs(line);
        assert_eq!((work.jobs.len(), last_words(&work.jobs[0], 3).as_str()), (1, want), "{line}");
        assert!(work.program.is_none() && work.temporary.is_empty(), "{line}");
    }
    assert_eq!(jobs("gcc a.c").program.as_deref(), Some("a.out"));
    assert_eq!(last_words(&jobs("gcc -E a.c").jobs[0], 1), "a.c");
}

#[test]
fn mistakes_are_looked_for_where_nobody_asked_for_speed() {
    let has = |line: &str| jobs(line).jobs[0].args.iter().any(|it| it.starts_with("-fsanitize=null"));
    assert!(has("gcc a.c") && has("gcc -O0 a.c") && has("gcc -g -Og a.c"));
    assert!(!has("gcc -O2 a.c") && !has("gcc -Os a.c"));
}

#[test]
fn c_plus_plus_brings_its_library() {
    let linked = |line: &str| jobs(line).jobs.last().unwrap().args.iter().any(|it| it == "-lc++");
    assert!(linked("g++ a.cpp") && linked("g++ a.o") && linked("gcc a.cpp") && !linked("gcc a.c"));
    let c = jobs("g++ a.c");
    assert!(c.jobs[0].args.iter().any(|it| it == "--driver-mode=g++"), "g++ takes C for C++");
}

#[test]
fn the_flags_of_the_line_come_after_ours_and_win() {
    let args = &jobs("gcc -fno-sanitize=null -Werror=implicit-int a.c").jobs[0].args;
    let at = |word: &str| args.iter().position(|it| it == word).unwrap();
    assert!(at("-Werror=implicit-int") > at("-Wno-error=implicit-int"));
}
