//! Functions of the whole corpus, written out and read again: the same tree, lines and columns included.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use std::{cell::Cell, fs, sync::Arc};

use proptest::prelude::*;

use super::{
    functions::{read_one, write_function},
    wire::{Reader, Writer},
};
use crate::{
    ShellLimits, show,
    syntax::{
        Script, Source,
        ast::{Command, Compound, Function},
    },
};

/// Every function that a script defines, inside others and in compound commands too.
fn functions_of(script: &Script, found: &mut Vec<Arc<Function>>) {
    for item in &script.items {
        let rest = item.list.rest.iter().map(|it| &it.1);
        for stage in std::iter::once(&item.list.first).chain(rest).flat_map(|it| &it.stages) {
            functions_in(&stage.command, found);
        }
    }
}

fn functions_in(command: &Command, found: &mut Vec<Arc<Function>>) {
    let compound = match command {
        Command::Simple(_) => return,
        Command::Function(function) => {
            found.push(Arc::clone(function));
            return functions_in(&function.body, found);
        }
        Command::Compound(compound, _, _) => &**compound,
    };
    match compound {
        Compound::Group(script) => functions_of(script, found),
        Compound::Subshell(script) => functions_of(script, found),
        Compound::If { arms, otherwise } => {
            for (test, body) in arms {
                functions_of(test, found);
                functions_of(body, found);
            }
            otherwise.iter().for_each(|it| functions_of(it, found));
        }
        Compound::For { body, .. } | Compound::ArithFor { body, .. } | Compound::Select { body, .. } => {
            functions_of(body, found);
        }
        Compound::Coproc { command, .. } => functions_in(command, found),
        Compound::Loop { test, body, .. } => {
            functions_of(test, found);
            functions_of(body, found);
        }
        Compound::Case { arms, .. } => arms.iter().for_each(|arm| functions_of(&arm.body, found)),
        Compound::Arith(_) | Compound::Cond(_) => {}
    }
}

/// The tree as text, without the offsets in the text it was read from, and what `declare -f` shows, which needs those.
fn tree(function: &Function) -> String {
    let shown = show::function(function);
    let tree = format!("{:#?}", function.body);
    let is_offset =
        |line: &&str| !["start:", "end:", "base:"].iter().any(|it| line.trim_start().starts_with(it));
    format!("{}\n{shown}", tree.lines().filter(is_offset).collect::<Vec<_>>().join("\n"))
}

fn round_trip(function: &Function) -> Arc<Function> {
    let mut to = Writer::into_buffer(Vec::new(), usize::MAX);
    write_function(&function.name, function, &mut to);
    let (bytes, weight) = to.finish();
    let weight = weight.expect("it may be as long as it is");
    let budget = Cell::new(weight);
    let mut from = Reader::new(&bytes[4..], &budget, weight);
    let (name, read) =
        read_one(&mut from, (&ShellLimits::default()).into()).expect("what was written is read");
    from.end("the function").expect("all of it");
    assert_eq!(
        (name.as_str(), budget.get()),
        (function.name.as_str(), 0),
        "reading is charged what writing is"
    );
    read
}

/// How many functions the text has; each survives, twice.
fn check(text: &str) -> usize {
    let Ok(mut source) = Source::new(text, (&ShellLimits::default()).into()) else { return 0 };
    let mut found = Vec::new();
    functions_of(&source.rest().0, &mut found);
    for function in &found {
        let once = round_trip(function);
        assert_eq!(tree(&once), tree(function), "{text}");
        assert_eq!(tree(&round_trip(&once)), tree(function), "{text}");
    }
    found.len()
}

#[test]
fn every_function_of_the_corpus_is_read_again_as_the_same_tree() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/differential");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("the corpus") {
        let text = fs::read_to_string(entry.expect("a file").path()).expect("text");
        count += text
            .split("=== ")
            .skip(1)
            .filter_map(|it| it.split_once('\n'))
            .map(|it| check(it.1))
            .sum::<usize>();
    }
    assert!(count >= 150, "only {count} functions");
}

#[test]
fn lines_that_were_joined_and_here_documents_behind_a_function_survive() {
    let rows = [
        "f() { cat <<E; }\nbody $1 $(echo x)\nE\n",
        "f() { cat <<E; } >out <<-'F'\n$x\nE\n\tquoted $y\nF\n",
        "f() { cat <<E; }\nthe end is missing",
        "f() { cat <<E; } \\\n\nbody\nE\n",
        "x; f() { x=$(cat <<E); }\nbody\nE\n",
        "f() { echo a\\\nb c; x=\"d\\\ne\"\necho $LINENO; }",
        "   \\\n  f()   # a comment\n{ ech\\\no x\n\\\n\n  false; }",
        "trap 'echo $BASH_COMMAND' DEBUG; f() { a b | c; (d); }",
        "function a-b.c { :; }; g() ((1 + 2)); h() [[ -n x ]]",
        "f() { g() { cat <<E; }; }\ninner\nE\n",
        "f() { é=ü; echo \"$é\"; }; ü; g() { x; }",
        "if x; then f() { g() ( h ); }; else k() for i do :; done; fi",
    ];
    for text in rows {
        assert!(check(text) > 0, "{text}");
    }
}

proptest! {
    #[test]
    fn functions_of_any_text_survive(
        parts in prop::collection::vec(prop::sample::select(vec![
            "echo a", "\n", ";", " ", "\\\n", "\"b\\\n$c\"", "cat <<E\n$x\nE\n", "cat <<E", "\nE\n", "$(d)", "`e`",
            "((1+2))", "if f; then g; fi", "{ h; }", "( i )", "&&", "|", "&", "> out", "x=(1 2)", "'\n'", "# no\n",
            "for j in k; do l; done", "m() { n; }", "case o in p) q;; esac", "{1..3}", "${r:-s}", "é",
        ]), 0..12),
    ) {
        check(&format!("f() {{ {}\n}}\nz() {{ cat <<E; }}\n$y\nE\n", parts.concat()));
    }
}
