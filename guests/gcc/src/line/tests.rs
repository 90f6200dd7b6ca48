//! Lines that people type, and what is made of them.

use proptest::prelude::*;

use super::*;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn plan(line: &str) -> Result<Plan, String> {
    let all = words(line);
    read(&all[0], &all[1..])
}

/// A plan in one line of text.
fn shown(line: &str) -> String {
    let plan = match plan(line) {
        Ok(plan) => plan,
        Err(problem) => return format!("error: {problem}"),
    };
    let parts: Vec<String> = plan
        .parts
        .iter()
        .map(|it| match it {
            Part::Source { path, .. } => format!("<{path}>"),
            Part::Linked(word) => word.clone(),
        })
        .collect();
    format!(
        "{:?} {} [{}] [{}] {}{}{}",
        plan.until,
        parts.join(" "),
        plan.compile.join(" "),
        plan.link.join(" "),
        plan.output.unwrap_or_default(),
        if plan.cxx { " c++" } else { "" },
        if plan.checked { " checked" } else { "" },
    )
}

#[test]
fn lines_are_read_as_gcc_reads_them() {
    let cases = [
        ("gcc hello.c", "Program <hello.c> [] []  checked"),
        ("gcc hello.c -o hello -Wall -Wextra -g", "Program <hello.c> [-Wall -Wextra -g] [] hello checked"),
        ("gcc -O2 -std=c11 -o x a.c b.o -lm", "Program <a.c> b.o -lm [-O2 -std=c11] [] x"),
        ("gcc -c a.c b.c", "Object <a.c> <b.c> [] []  checked"),
        ("gcc -ohello a.c", "Program <a.c> [] [] hello checked"),
        (
            "gcc -I inc -Iother -D A=1 -DB -U C a.c",
            "Program <a.c> [-I inc -Iother -D A=1 -DB -U C] []  checked",
        ),
        ("gcc -l m a.c -L lib -Llib2", "Program -lm <a.c> [] [-Llib -Llib2]  checked"),
        ("gcc -x c - -o s", "Program <-> [-x c] [] s checked"),
        ("gcc -E - ", "Preprocessed <-> [] []  checked"),
        ("g++ -std=c++20 a.cpp", "Program <a.cpp> [-std=c++20] []  c++ checked"),
        ("gcc a.cc", "Program <a.cc> [] []  c++ checked"),
        ("gcc -O3 -O0 a.c", "Program <a.c> [-O0] []  checked"),
        ("gcc -Og a.c", "Program <a.c> [-O0] []  checked"),
        ("gcc -Ofast a.c", "Program <a.c> [-O3 -ffast-math] [] "),
        ("gcc -O a.c", "Program <a.c> [-O] [] "),
        (
            "gcc -march=native -fPIC -pthread -static -no-pie -fstack-protector-strong a.c",
            "Program <a.c> [] []  checked",
        ),
        (
            "gcc -Wl,-s,-z,stack-size=100 -Wl,-rpath,/x -Xlinker --gc-sections a.c",
            "Program <a.c> [] [-s -z stack-size=100 --gc-sections]  checked",
        ),
        ("gcc -MMD -MF a.d -c a.c", "Object <a.c> [-MMD -MF a.d] []  checked"),
        ("gcc -M a.c", "Preprocessed <a.c> [-M] []  checked"),
        ("gcc -s -u f a.c", "Program <a.c> [] [--strip-all -u f]  checked"),
        ("c99 a.c", "Program <a.c> [-std=c99] []  checked"),
        ("gcc -fsyntax-only a.c", "Checked <a.c> [-fsyntax-only] []  checked"),
        ("gcc", "error: no input files"),
        ("gcc -o", "error: missing argument to '-o'"),
        ("gcc -", "error: -E or -x required when input is from standard input"),
        ("gcc -c a.c b.c -o x", "error: cannot specify '-o' with '-c', '-S' or '-E' with multiple files"),
        ("gcc -c x.o", "error: no input files that are compiled"),
        (
            "gcc -shared a.c",
            "error: '-shared' is not available here: programs are linked statically, so there is nothing to load at run time",
        ),
        ("gcc -fopenmp a.c", "error: '-fopenmp' is not available here: a program has one thread"),
    ];
    for (line, want) in cases {
        assert_eq!(shown(line), want, "{line}");
    }
}

#[test]
fn questions_are_clangs_to_answer() {
    for line in ["gcc --version", "gcc -v", "gcc -dumpmachine", "gcc -print-search-dirs", "gcc --help"] {
        assert!(plan(line).is_ok_and(|it| it.question), "{line}");
    }
    assert!(plan("gcc -v a.c").is_ok_and(|it| !it.question && it.verbose));
}

proptest! {
    #[test]
    fn no_line_makes_it_panic(args in proptest::collection::vec("-?-?[a-zA-Z=,.+#]{0,8}|@|-|é", 0..12)) {
        let _ = read("gcc", &args);
    }
}
