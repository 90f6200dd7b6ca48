//! Text that no makefile holds: where it comes in, and whether it was used.
//!
//! It counts as the makefile's only while a shell takes every character of it as it is. What cannot be told apart
//! from such text counts as such.

use crate::read::Make;
use crate::text::is_plain;
use crate::variable::{Origin, Variable};

/// Variables that make fills with words of the command line and names of files.
const FILLED: [&str; 4] = ["CURDIR", "MAKECMDGOALS", "MAKEFILE_LIST", "MAKEFLAGS"];

impl Make {
    /// Remembers that text which no makefile holds, and which a shell would not take as it is, was used.
    pub fn note_foreign(&mut self, text: &str) {
        self.foreign |= !is_plain(text);
    }

    /// The same for a variable whose value is used.
    pub fn note_used(&mut self, name: &str, variable: &Variable) {
        match variable.origin {
            Origin::Automatic => self.foreign |= self.foreign_signs.contains(&name),
            origin if origin.is_outside() || FILLED.contains(&name) => self.note_foreign(&variable.value),
            _ => {}
        }
    }

    /// Whether a target or a need is the makefile's own text. Goals, names that a pattern of files found, and what
    /// a rule's `%` came to are so only if the very word is written as a target or a need somewhere.
    pub fn is_own_word(&self, word: &str) -> bool {
        is_plain(word) || self.written.contains(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::assignment;
    use crate::variable::{Assign, Variables};

    /// Without anything of this process in it.
    fn make(given: &[&str], makefile: &str) -> Make {
        let mut make = Make::default();
        make.variables = Variables::new();
        make.folder = "/w".to_owned();
        for text in given {
            let found = assignment(text).unwrap();
            make.assign(found.name, found.how, found.value, Origin::CommandLine).unwrap();
        }
        make.read_text(makefile).unwrap();
        make
    }

    /// Whether a line of a target's recipe is foreign.
    fn is_foreign(make: &mut Make, target: &str, needs: &[&str], stem: &str, line: &str) -> bool {
        let job = crate::build::Job {
            target,
            needs: needs.iter().map(|it| (*it).to_owned()).collect(),
            newer: needs.iter().map(|it| (*it).to_owned()).collect(),
            order_only: needs.iter().map(|it| (*it).to_owned()).collect(),
            stem: stem.to_owned(),
            recipe: &[],
        };
        crate::recipe::set_automatic(make, &job);
        make.expand(line).unwrap();
        make.foreign
    }

    #[test]
    fn a_newline_in_a_value_is_a_further_command() {
        let recipe = "all: ; @echo $(X)";
        assert!(is_foreign(&mut make(&["X=a\nrm -rf victim"], recipe), "all", &[], "", "@echo $(X)"));
        assert!(!is_foreign(&mut make(&["X=a rm -rf victim"], recipe), "all", &[], "", "@echo $(X)"));
    }

    #[test]
    fn goals_and_names_of_files_in_automatic_variables_are_foreign() {
        let rules = "at%: ; @echo $@\n%.o: %.c ; @echo cc $<\n";
        for sign in ["@", "*", "<", "^", "+", "?", "|"] {
            for line in [format!("echo ${sign}"), format!("echo $({sign}D)"), format!("echo $({sign}F)")] {
                for bad in ["at;id", "at`id`", "at$(id)", "at\nid", "at|id", "x;id/y", "at>f", "'"] {
                    let used = is_foreign(&mut make(&[], rules), bad, &[bad], bad, &line);
                    assert!(used, "{line} with {bad}");
                }
                let name = "dir/a-b_c.o";
                assert!(!is_foreign(&mut make(&[], rules), name, &[name], "dir/a-b_c", &line), "{line}");
            }
        }
        assert!(!is_foreign(&mut make(&[], rules), "at;id", &["at;id"], ";id", "echo no"), "not used");
        for line in ["$(@:a%=%)", "$(foreach f,$^,$f)", "$(value @)", "$(call @)", "$(subst x,y,$<)"] {
            assert!(is_foreign(&mut make(&[], rules), "at;id", &["at;id"], ";id", line), "{line}");
        }
    }

    #[test]
    fn a_word_that_the_makefile_writes_is_its_own() {
        let rules = "all: a(1) | b&c ; @true\na(1): ; @echo '$@'\n";
        for word in ["a(1)", "b&c"] {
            assert!(
                !is_foreign(&mut make(&[], rules), word, &[word], "", "echo $@ $< $^ $| $(@F)"),
                "{word}"
            );
        }
        assert!(is_foreign(&mut make(&[], rules), "a(1)", &["a(2)"], "", "echo $@ $<"));
        let folder = std::env::temp_dir().join(format!("make-foreign-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("x;id;.c"), "").unwrap();
        let found = folder.join("x;id;.c").to_string_lossy().into_owned();
        let star = format!("all: {0}/*.c ; @cc $^\n{0}/*.c: {0}/%.c: {0}/%.h\n", folder.display());
        let mut made = make(&[], &star);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(made.targets["all"].needs, std::slice::from_ref(&found));
        let header = made.targets[&found].needs[0].clone();
        assert!(header.ends_with("x;id;.h"), "{header}");
        assert!(is_foreign(&mut made, "all", &[&header], "", "cc $^"));
        assert!(is_foreign(&mut make(&[], &star), "all", &[&found], "", "cc $^"));
    }

    #[test]
    fn no_way_around_the_judgement_of_a_value() {
        let bad = ["X=a;id"];
        for line in ["$(value X)", "$(call X)", "$(if $(X),b)", "$($(subst y,,yX))"] {
            assert!(is_foreign(&mut make(&bad, ""), "all", &[], "", line), "{line}");
        }
        assert!(is_foreign(&mut make(&bad, "override X += b"), "all", &[], "", "$(X)"));
        let mut from_environment = make(&[], "");
        from_environment.variables.put("X", "a;id", false, Origin::Environment);
        from_environment.assign("X", Assign::Append, "b", Origin::File).unwrap();
        assert!(is_foreign(&mut from_environment, "all", &[], "", "$(X)"));
        for name in FILLED {
            let mut filled = make(&[], "");
            filled.variables.put(name, "at;id", false, Origin::File);
            assert!(is_foreign(&mut filled, "all", &[], "", &format!("$({name})")), "{name}");
        }
        let mut here = make(&[], "");
        here.folder = "/w;id".to_owned();
        assert!(is_foreign(&mut here, "all", &[], "", "$(abspath x)"));
    }
}
