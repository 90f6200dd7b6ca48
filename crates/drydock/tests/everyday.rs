//! `git`, `make` and the smaller everyday names, with the real binary: whole sessions whose output the native
//! programs wrote, and what a hostile repository or makefile gets.
//!
//! The expected files in `crates/commands/tests/sessions` are the standard output of git 2.47 and GNU make 4.3
//! for the script beside them.
#![allow(clippy::unwrap_used)]

mod common;

use std::{fs, path::PathBuf};

use common::{Said, Shell};

fn sessions(program: &str) -> Vec<(String, String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../commands/tests/sessions");
    let mut all = Vec::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.extension().is_some_and(|it| it == "sh") && name.starts_with(program) {
            let want = fs::read_to_string(path.with_extension("out")).unwrap();
            all.push((name, fs::read_to_string(path).unwrap(), want));
        }
    }
    all.sort();
    all
}

fn sh(line: &str) -> Said {
    Shell::sharing().run(&["sh", "-c", line])
}

/// The first line that differs, with what stands around it.
fn difference(want: &str, said: &Said) -> Option<String> {
    let (want, got): (Vec<&str>, Vec<&str>) = (want.lines().collect(), said.stdout.lines().collect());
    let at = (0..want.len().max(got.len())).find(|at| want.get(*at) != got.get(*at))?;
    let around = |lines: &[&str]| {
        lines.iter().skip(at.saturating_sub(3)).take(8).copied().collect::<Vec<_>>().join("\n    ")
    };
    Some(format!("line {at}: want\n    {}\n  got\n    {}\n  {}", around(&want), around(&got), said.stderr))
}

fn check(program: &str, at_least: usize, eval: &[&str]) {
    let all = sessions(program);
    assert!(all.len() >= at_least, "{} sessions of {program}", all.len());
    let mut wrong = Vec::new();
    for (name, script, want) in &all {
        let shell = Shell::sharing();
        let mut args = vec!["sh", "--posix-unknown"];
        args.extend(eval);
        let folder = shell.path("packed");
        if name == "git-packed" {
            fs::create_dir(&folder).unwrap();
            let tar = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../commands/tests/sessions/packed.tar");
            fs::copy(tar, folder.join("packed.tar")).unwrap();
            args.extend(["--dir", "packed:/workspace:rw"]);
        }
        args.extend(["-c", script]);
        let said = shell.run(&args);
        if let Some(difference) = difference(want, &said) {
            wrong.push(format!("{name}: {difference}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} sessions differ:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}

#[test]
fn sessions_with_git_print_what_native_git_prints() {
    check("git-", 13, &[]);
}

#[test]
fn sessions_with_make_print_what_gnu_make_prints() {
    check("make-", 25, &["--eval"]);
}

#[test]
fn a_commit_needs_no_identity_and_no_editor_is_waited_for() {
    let said = sh(
        "git init -q; echo a > a; git add a; git commit -qm one; git log --format='%an <%ae>'; git commit --amend; echo $?",
    );
    assert_eq!(said.stdout, "agent <agent@drydock>\n1\n", "{}", said.stderr);
    assert!(
        said.stderr.contains("Please supply the message using either -m or -F option."),
        "{}",
        said.stderr
    );
}

#[test]
fn what_needs_the_network_says_so() {
    for verb in ["clone https://x/y", "push", "pull", "fetch"] {
        let said = sh(&format!("git init -q; git {verb}"));
        assert_eq!(said.status, 128, "{verb}");
        assert!(said.stderr.contains("there is no network here"), "{verb}: {}", said.stderr);
    }
    assert_eq!(sh("git init -q; git submodule update").status, 128);
}

#[test]
fn a_submodule_that_lies_outside_is_a_file_that_nobody_follows() {
    let line = "mkdir r; cd r; git init -q; printf '[submodule \"x\"]\\n\\tpath = ../../out\\n\\turl = ../../out\\n' > .gitmodules
        git add .; git commit -qm one; echo $?; git submodule update --init --recursive; echo $?
        git clone --recurse-submodules . ../again; echo $?; git checkout -q -b other; git status --short; ls -A .. /";
    let said = sh(line);
    assert_eq!(
        said.stdout, "0\n128\n128\n..:\nr\n\n/:\nmemory\ntmp\nworkspace\n",
        "nothing was made outside: {}",
        said.stderr
    );
    assert!(said.stderr.contains("fatal: submodule: not here"), "{}", said.stderr);
}

#[test]
fn hooks_filters_and_external_diffs_of_a_repository_do_not_run() {
    let line = "git init -q; mkdir -p .git/hooks; printf '#!/bin/sh\\ntouch /workspace/hooked\\n' > .git/hooks/pre-commit
        chmod +x .git/hooks/pre-commit; cp .git/hooks/pre-commit .git/hooks/post-commit
        git config filter.evil.clean 'touch /workspace/cleaned'; git config diff.external 'touch /workspace/diffed'
        git config alias.x '!touch /workspace/aliased'; echo '*.txt filter=evil' > .gitattributes
        echo a > a.txt; git add .; git commit -qm one; echo b > a.txt; git diff --stat; git x; ls";
    let said = sh(line);
    assert_eq!(
        said.stdout, " a.txt | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\na.txt\n",
        "{}",
        said.stderr
    );
    assert!(
        said.stderr.contains("none is run here") && said.stderr.contains("none is started here"),
        "{}",
        said.stderr
    );
}

#[test]
fn paths_that_leave_the_tree_or_enter_git_are_not_checked_out() {
    // A tree is its entries, one after the other: mode, name, zero, hash.
    for name in ["../x", ".git", ".GIT", "git~1", ".."] {
        let line = format!(
            "mkdir r; cd r; git init -q; B=$(echo evil | git hash-object -w --stdin)
            E=$(printf '%s' $B | sed 's/../\\\\x&/g'); T=$(printf \"100644 {name}\\\\0$E\" | git hash-object -w --stdin -t tree)
            C=$(git commit-tree -m x $T); git checkout -q $C; echo $?; git reset -q --hard $C; echo $?; cd ..; ls; cat .git/x r/.git/config | head -1"
        );
        let said = sh(&line);
        assert!(said.stdout.starts_with("1\n1\nr\n"), "{name}: {} {}", said.stdout, said.stderr);
        assert!(said.stderr.contains("invalid path"), "{name}: {}", said.stderr);
    }
}

#[test]
fn a_link_in_the_tree_is_not_written_through() {
    let line = "mkdir out repo; cd repo; git init -q; ln -s ../out d; git add d; git commit -qm link; git rm -q d; mkdir d
        echo in > d/f; git add d; git commit -qm dir; git checkout -q HEAD~1; git checkout -q master; cat d/f; ls ../out
        rm -r d; ln -s ../out d; git checkout -q -f; cat d/f; ls ../out; test -L d || echo folder";
    assert_eq!(sh(line).stdout, "in\nin\nfolder\n");
}

#[test]
fn a_gitdir_outside_of_the_tree_is_not_followed() {
    let line = "mkdir a b; cd a; git init -q; git commit -q --allow-empty -m secret; cd ../b; echo 'gitdir: ../a/.git' > .git; git log";
    let said = sh(line);
    assert_eq!((said.status, said.stdout.as_str()), (128, ""), "{}", said.stderr);
    assert!(said.stderr.contains("is not followed"), "{}", said.stderr);
}

#[test]
fn damaged_objects_are_told_and_nothing_traps() {
    let line = "git init -q; echo a > a; git add a; git commit -qm a; O=$(git rev-parse HEAD); F=.git/objects/${O:0:2}/${O:2}
        chmod +w $F; echo garbage > $F; git log; echo $?; git status; echo $?; printf DIRC > .git/index; git status; echo $?
        echo 'ref: ../../etc' > .git/HEAD; git log; echo $?";
    let said = sh(line);
    assert_eq!(said.stdout, "128\n128\n128\n128\n", "{}", said.stderr);
    assert!(
        said.stderr.contains("is corrupt") && said.stderr.contains("index file corrupt"),
        "{}",
        said.stderr
    );
}

#[test]
fn a_makefile_that_was_there_before_the_line_runs_without_eval() {
    let shell = Shell::sharing();
    fs::create_dir(shell.path("w")).unwrap();
    fs::write(
        shell.path("w/Makefile"),
        "include more.mk\nall: out\n\t@cat out; echo $(MSG)\nout:\n\techo made > out\n",
    )
    .unwrap();
    fs::write(shell.path("w/more.mk"), "MSG ?= hi\n").unwrap();
    let run = |line: &str| shell.run(&["sh", "--posix-unknown", "--dir", "w:/w:rw", "-c", line]);
    let said = run("cd /w; make; make MSG=bye");
    assert_eq!(
        (said.status, said.stdout.as_str()),
        (0, "echo made > out\nmade\nhi\nmade\nbye\n"),
        "{}",
        said.stderr
    );
    let refused = [
        "cd /w; echo 'x: ; echo no' > Makefile; make x",
        "cd /w; echo 'MSG = no' > more.mk; make",
        "cd /w; cp Makefile m2; make -f m2",
        "cd /w; printf 'x: ; echo no' | make -f - x",
    ];
    for line in refused {
        fs::write(shell.path("w/Makefile"), "include more.mk\nall:\n\t@echo no\n").unwrap();
        let said = run(line);
        assert_eq!(
            (said.status, said.stdout.contains("\nno") || said.stdout.starts_with("no")),
            (2, false),
            "{line}: {}",
            said.stdout
        );
        assert!(
            said.stderr.contains("--eval") && said.stderr.contains("Error 126"),
            "{line}: {}",
            said.stderr
        );
    }
}

#[test]
fn a_value_from_outside_of_the_makefile_does_not_become_code() {
    let shell = Shell::sharing();
    fs::create_dir(shell.path("w")).unwrap();
    fs::write(shell.path("w/Makefile"), "all:\n\t@echo $(MSG)\n").unwrap();
    let run = |line: &str| shell.run(&["sh", "--posix-unknown", "--dir", "w:/w:rw", "-c", line]);
    for line in ["cd /w; make MSG='a; echo code'", "cd /w; MSG='$(echo code)' make"] {
        let said = run(line);
        assert_eq!((said.status, said.stdout.as_str()), (2, ""), "{line}");
        assert!(said.stderr.contains("would become code"), "{line}: {}", said.stderr);
    }
    // Somebody else who says that a text comes from a makefile is not believed.
    let said = run("cd /w; echo x | xargs sh --from-makefile /w/Makefile -c 'echo no'");
    assert!(!said.stdout.contains("no") && said.status != 0, "{}", said.stdout);
}

#[test]
fn a_goal_a_name_of_a_file_and_a_second_line_do_not_become_code() {
    let shell = Shell::sharing();
    fs::create_dir(shell.path("w")).unwrap();
    let makefile = "X = hi\nall: ; @echo $(X)\nat%: ; @echo $@\n%.o: %.c ; @echo cc $<\n\
                    own: a(1)\na(1): ; @echo '$@'\nstar: *.c ; @echo $^\nfolder: ; @echo $(CURDIR)\n";
    for place in ["w", "w/;echo code"] {
        fs::create_dir_all(shell.path(place)).unwrap();
        fs::write(shell.path(place).join("Makefile"), makefile).unwrap();
    }
    let run = |line: &str| {
        let line = format!("cd /w; {line}");
        shell.run(&["sh", "--posix-unknown", "--dir", "w:/w:rw", "-c", &line])
    };
    let said = run("make; make all X='a b'; make at-home; touch y.c; make y.o star; make own");
    let want = "hi\na b\nat-home\ncc y.c\ny.c\na(1)\n";
    assert_eq!((said.status, said.stdout.as_str()), (0, want), "{}", said.stderr);
    for line in [
        "make 'at;echo code'",
        "make 'at`echo code`'",
        "make ./'at;echo code'",
        "touch 'x;echo code;.c'; make 'x;echo code;.o'",
        "make star",
        "make all X=$'a\\necho code'",
        "make -C ';echo code' folder",
        "make .SHELLFLAGS='-c pwd'",
        "make .SHELLFLAGS='-c echo;'",
        "make all at-home 'Z=$(eval at-home: ; @echo code)'",
        "make 'Z:=$(eval all: ; @echo code)'",
    ] {
        let said = run(line);
        let ran = said.stdout.lines().any(|it| it.ends_with("code") && !it.starts_with("make:"));
        assert_eq!((said.status, ran), (2, false), "{line}: {}{}", said.stdout, said.stderr);
        assert!(said.stderr.contains("would become code"), "{line}: {}", said.stderr);
        assert!(said.stderr.contains("Error 126"), "{line}: {}", said.stderr);
    }
}

#[test]
fn a_recipe_that_names_a_native_path_gets_what_the_shell_says() {
    let said = Shell::sharing().run(&[
        "sh",
        "--eval",
        "-c",
        "printf 'x:\\n\\t/opt/gcc/bin/gcc x.c\\n' > Makefile; make",
    ]);
    assert_eq!(said.status, 2, "{}", said.stdout);
    assert!(said.stderr.contains("make: *** [Makefile:2: x] Error 127"), "{}", said.stderr);
}

#[test]
fn explain_says_that_make_runs_a_makefile() {
    let said = Shell::sharing().run(&["explain", "make -C d"]);
    assert!(said.stdout.contains("d/Makefile"), "{}", said.stdout);
}

#[test]
fn json_of_words_ids_and_queries_over_xml_and_html() {
    let line = "jo -p name=x n:=[1,2] a[b]=true; uuidgen | grep -cE '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-'; uuidgen -s -n @dns -N www.example.com
        printf '<r><a id=\"1\">x</a><a id=\"2\"/></r>' > f.xml; xmllint --xpath 'string(//a[@id=1])' f.xml; xmllint --xpath '//a' f.xml
        xmllint --format f.xml; printf '<h1>T</h1><p>a <b>b</b> <a href=u>c</a></p><script>x()</script>' | html-to-markdown";
    let want = "{\n   \"name\": \"x\",\n   \"n\": [\n      1,\n      2\n   ],\n   \"a\": {\n      \"b\": true\n   }\n}\n1\n2ed6657d-e927-568b-95e1-2665a8aea6a2\nx\n<a id=\"1\">x</a>\n<a id=\"2\"/>\n<?xml version=\"1.0\"?>\n<r>\n  <a id=\"1\">x</a>\n  <a id=\"2\"/>\n</r>\n# T\n\na **b** [c](u)\n";
    let said = sh(line);
    assert_eq!(said.stdout, want, "{}", said.stderr);
}

#[test]
fn entities_of_a_document_are_neither_expanded_nor_fetched() {
    let bomb = "<!DOCTYPE l [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;\">]><l>&b;</l>";
    let outside = "<!DOCTYPE l [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><l>&x;</l>";
    for document in [bomb, outside, "<l>&x;</l>", "<l>", ""] {
        let said = Shell::sharing().pipe(&["run", "xmllint", "--noout", "-"], document.as_bytes());
        assert_eq!((said.status, said.stdout.as_str()), (1, ""), "{document}: {}", said.stderr);
        assert!(said.stderr.contains("parser error"), "{document}: {}", said.stderr);
    }
}

#[test]
fn jq_and_grep_honour_stdin1_under_another_name() {
    let shell = Shell::new();
    let module = |name: &str| {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../commands/wasm/{name}.wasm"));
        path.to_str().unwrap().to_owned()
    };
    for (alias, name) in [("jq1", "jq"), ("grep1", "grep")] {
        let said = shell.run(&["commands", "add", alias, &module(name), "--mode", "stdin1"]);
        assert_eq!(said.status, 0, "{}", said.stderr);
    }
    let said = shell.pipe(&["run", "jq1", "-c", ".a", "|", ".b"], b"{\"a\":{\"b\":[1]}}\n");
    assert_eq!((said.status, said.stdout.as_str()), (0, "[1]\n"), "{}", said.stderr);
    let said = shell.pipe(&["run", "grep1", "-n", "two", "words"], b"one\ntwo words\n");
    assert_eq!((said.status, said.stdout.as_str()), (0, "2:two words\n"), "{}", said.stderr);
    // Without arguments the input is as it was: its first line is the program.
    let said = shell.pipe(&["run", "jq1"], b".a\n{\"a\":7}\n");
    assert_eq!((said.status, said.stdout.as_str()), (0, "7\n"), "{}", said.stderr);
}
