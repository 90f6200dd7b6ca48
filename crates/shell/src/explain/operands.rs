//! What the words after a well-known command mean: files it would read, files it would write, and
//! commands it would start. A command that is not listed is said nothing about.

use super::{Touch, awk, nested};

/// What the arguments of one command come to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Meaning {
    pub(super) files: Vec<(Touch, String)>,
    /// A command with its arguments.
    pub(super) children: Vec<Vec<String>>,
    /// A text it would parse, where it stands there to be read.
    pub(super) text: Option<String>,
    /// It would parse text that is not the line's own.
    pub(super) evaluates: bool,
    /// The script it would run.
    pub(super) script: Option<String>,
    /// It may do what stands in none of its words.
    pub(super) is_open_ended: bool,
}

impl Meaning {
    /// Whether a builtin's name means a command there: only these look for builtins themselves.
    pub(super) fn is_started_by(&self, by: Option<&str>) -> bool {
        by.is_some_and(|it| {
            !matches!(it, "command" | "builtin" | "exec" | "time" | "eval" | "bash" | "sh" | "dash")
        })
    }
}

/// The role of the words that are no options.
#[derive(Clone, Copy)]
enum Operands {
    /// Files, all of them.
    Files(Touch),
    /// A pattern or a program, unless an option of these letters brought it; then files to read.
    Text(&'static str),
    /// Files to read, the last one to write.
    Onto,
    /// One to read, and one to write.
    InOut,
    /// So many words of its own, then a command and its arguments.
    Child(usize),
    /// Nothing that this could tell.
    Other,
}

struct Habit {
    names: &'static [&'static str],
    operands: Operands,
    /// Letters of options that take a value.
    valued: &'static str,
    /// Those of them whose value is a file.
    files: &'static [(char, Touch)],
    /// The letter that makes it write what it reads.
    in_place: Option<char>,
}

const AWKS: [&str; 4] = ["awk", "gawk", "mawk", "nawk"];

const READS: Operands = Operands::Files(Touch::Reads);
const WRITES: Operands = Operands::Files(Touch::Writes);

const fn habit(names: &'static [&'static str], operands: Operands, valued: &'static str) -> Habit {
    Habit { names, operands, valued, files: &[], in_place: None }
}

const HABITS: &[Habit] = &[
    habit(
        &["cat", "tac", "rev", "wc", "nl", "expand", "unexpand", "tsort", "zcat", "bzcat", "xzcat"],
        READS,
        "",
    ),
    habit(
        &["md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum"],
        READS,
        "",
    ),
    habit(&["head", "tail"], READS, "nc"),
    habit(&["cut"], READS, "bcdf"),
    habit(&["paste"], READS, "d"),
    habit(&["fold", "fmt"], READS, "w"),
    habit(&["column"], READS, "cosNt"),
    habit(&["od", "xxd", "hexdump"], READS, "AjNtwclsgne"),
    habit(&["base64", "base32", "basenc"], READS, "w"),
    habit(&["comm", "cmp", "diff", "strings", "file", "stat", "du", "tree", "ls"], READS, "UILPc"),
    habit(&["join"], READS, "12aejotv"),
    habit(&["uniq"], Operands::InOut, "fsw"),
    Habit { files: &[('o', Touch::Writes)], ..habit(&["sort", "shuf"], READS, "koStTn") },
    Habit {
        files: &[('f', Touch::Reads)],
        ..habit(&["grep", "egrep", "fgrep", "rg"], Operands::Text("ef"), "efmABCdDtTgj")
    },
    Habit {
        files: &[('f', Touch::Reads)],
        in_place: Some('i'),
        ..habit(&["sed"], Operands::Text("ef"), "efl")
    },
    Habit { files: &[('f', Touch::Reads)], ..habit(&AWKS, Operands::Text("f"), "fFv") },
    Habit { files: &[('f', Touch::Reads)], ..habit(&["jq"], Operands::Text("f"), "fL") },
    Habit { in_place: Some('i'), ..habit(&["yq", "tomlq", "xq"], Operands::Text("f"), "fL") },
    habit(&["cp", "install", "ln"], Operands::Onto, "tSm"),
    habit(&["mv", "rm", "rmdir", "mkdir", "unlink", "chmod"], WRITES, "tSm"),
    habit(&["touch", "truncate"], WRITES, "drst"),
    Habit { operands: Operands::Files(Touch::Writes), in_place: Some('a'), ..habit(&["tee"], WRITES, "") },
    habit(&["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "split"], WRITES, "Sab"),
    habit(&["tar"], Operands::Other, "fC"),
    habit(&["xargs"], Operands::Child(0), "adEILnPs"),
    habit(&["timeout"], Operands::Child(1), "ks"),
    habit(&["env"], Operands::Child(0), "uCS"),
    habit(&["nice", "nohup", "time"], Operands::Child(0), "n"),
    habit(&["command", "builtin", "exec"], Operands::Child(0), "a"),
    habit(&["sudo", "doas"], Operands::Child(0), "ugpCDhRrTtU"),
];

/// What the words after `name` mean.
pub(super) fn meaning(name: &str, args: &[String]) -> Meaning {
    match name {
        "find" => return find(args),
        "make" => return make(args),
        "eval" => {
            return Meaning { text: Some(args.join(" ")), evaluates: true, ..Meaning::default() };
        }
        "source" | "." => {
            let files = args.first().map(|it| (Touch::Reads, it.clone())).into_iter().collect();
            return Meaning { files, evaluates: true, ..Meaning::default() };
        }
        "shopt" if args.iter().any(|it| it == "expand_aliases") => {
            return Meaning { evaluates: true, ..Meaning::default() };
        }
        // It tells of commands, and starts none.
        "command" if args.first().is_some_and(|it| it.starts_with("-v") || it.starts_with("-V")) => {
            return Meaning::default();
        }
        _ if nested::NAMES.contains(&name) => return shell(args),
        _ => {}
    }
    let Some(habit) = HABITS.iter().find(|it| it.names.contains(&name)) else { return Meaning::default() };
    let mut told = Meaning::default();
    let mut operands: Vec<&String> = Vec::new();
    let mut letters = String::new();
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        at += 1;
        if arg == "--" {
            operands.extend(&args[at..]);
            break;
        }
        let Some(cluster) = arg.strip_prefix('-').filter(|it| !it.is_empty()) else {
            if matches!(habit.operands, Operands::Child(_)) {
                operands.extend(&args[at - 1..]);
                break;
            }
            operands.push(arg);
            continue;
        };
        if cluster.starts_with('-') {
            letters.extend(in_place_by_name(cluster));
            continue;
        }
        for (index, letter) in cluster.char_indices() {
            letters.push(letter);
            if !habit.valued.contains(letter) {
                continue;
            }
            let rest = &cluster[index + letter.len_utf8()..];
            let value = if rest.is_empty() { args.get(at).map(String::as_str) } else { Some(rest) };
            at += usize::from(rest.is_empty());
            let file = habit.files.iter().find(|it| it.0 == letter);
            if let (Some((_, touch)), Some(value)) = (file, value) {
                told.files.push((*touch, value.to_owned()));
            }
            break;
        }
    }
    let in_place = habit.in_place.is_some_and(|it| letters.contains(it));
    assign(habit, &operands, &letters, in_place, &mut told);
    if AWKS.contains(&name) {
        // What a program in a file does is in no line.
        told.is_open_ended = letters.contains('f');
        let program = operands.first().filter(|_| !told.is_open_ended);
        for text in program.map_or_else(Vec::new, |it| awk::shell_texts(it)) {
            let text = text.unwrap_or_else(|| "$…".to_owned());
            told.children.push(vec!["sh".to_owned(), "-c".to_owned(), text]);
        }
    }
    told.files.retain(|(_, path)| path != "-" && path != "{}" && !path.starts_with("/dev/"));
    told
}

fn in_place_by_name(option: &str) -> Option<char> {
    option.starts_with("-in-place").then_some('i')
}

fn assign(habit: &Habit, operands: &[&String], letters: &str, in_place: bool, told: &mut Meaning) {
    let mut add = |touch: Touch, paths: &[&String]| {
        told.files.extend(paths.iter().map(|it| (touch, (*it).clone())));
    };
    match habit.operands {
        Operands::Files(Touch::Writes) if in_place => add(Touch::Appends, operands),
        Operands::Files(touch) => add(touch, operands),
        Operands::Text(given_by) => {
            let given = given_by.chars().any(|it| letters.contains(it));
            let files = operands.get(usize::from(!given)..).unwrap_or_default();
            add(if in_place { Touch::Writes } else { Touch::Reads }, files);
        }
        Operands::Onto => {
            if let Some((last, sources)) = operands.split_last() {
                add(Touch::Reads, sources);
                add(Touch::Writes, &[last]);
            }
        }
        Operands::InOut => {
            add(Touch::Reads, &operands[..operands.len().min(1)]);
            add(Touch::Writes, operands.get(1..).unwrap_or_default());
        }
        Operands::Child(own) => {
            let words = operands.iter().skip(own).skip_while(|it| it.contains('='));
            let words: Vec<String> = words.map(|it| (*it).clone()).collect();
            if !words.is_empty() {
                told.children.push(words);
            }
        }
        Operands::Other => {}
    }
}

/// `bash -c TEXT`, `bash FILE`, and a shell that reads its text.
fn shell(args: &[String]) -> Meaning {
    let mut rest = args.iter();
    let mut line = false;
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--version" | "--help" => return Meaning::default(),
            "--rcfile" | "--init-file" | "-O" | "+O" | "-o" | "+o" => {
                rest.next();
            }
            "--" => break,
            "-s" => return Meaning { evaluates: true, ..Meaning::default() },
            long if long.starts_with("--") => {}
            flags if flags.len() > 1 && flags.starts_with(['-', '+']) => {
                line |= flags.contains('c');
                if flags.ends_with('o') {
                    rest.next();
                }
            }
            text if line => {
                return Meaning { text: Some(text.to_owned()), evaluates: true, ..Meaning::default() };
            }
            path => {
                let files = vec![(Touch::Reads, path.to_owned())];
                return Meaning { files, script: Some(path.to_owned()), ..Meaning::default() };
            }
        }
    }
    let script = rest.next().filter(|_| !line).cloned();
    Meaning { evaluates: script.is_none(), script, ..Meaning::default() }
}

/// `make` runs what a makefile says: a script, which must have been there before. A computed value that it is
/// given may become code.
fn make(args: &[String]) -> Meaning {
    let (mut file, mut folder) = (None, String::new());
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "-f" | "--file" | "--makefile" => file = rest.next().cloned(),
            "-C" | "--directory" => folder.push_str(&format!("{}/", rest.next().map_or("", String::as_str))),
            _ => {
                if let Some(path) = arg.strip_prefix("-f") {
                    file = Some(path.to_owned());
                }
            }
        }
    }
    let script = format!("{folder}{}", file.unwrap_or_else(|| "Makefile".to_owned()));
    let evaluates = script.ends_with('-') || args.iter().any(|it| it.contains('=') && it.contains('$'));
    Meaning {
        files: vec![(Touch::Reads, script.clone())],
        script: Some(script),
        evaluates,
        ..Meaning::default()
    }
}

/// `find` has places first and an expression after them.
fn find(args: &[String]) -> Meaning {
    let mut told = Meaning::default();
    let is_place = |it: &&String| !it.starts_with('-') && !matches!(it.as_str(), "(" | "!");
    let places: Vec<&String> =
        args.iter().skip_while(|it| matches!(it.as_str(), "-H" | "-L" | "-P")).take_while(is_place).collect();
    let touch = if args.iter().any(|it| it == "-delete") { Touch::Writes } else { Touch::Reads };
    match places.is_empty() {
        true => told.files.push((touch, ".".to_owned())),
        false => told.files.extend(places.iter().map(|it| (touch, (*it).clone()))),
    }
    let mut words = args.iter();
    while let Some(word) = words.next() {
        if matches!(word.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            let child: Vec<String> =
                words.by_ref().take_while(|it| !matches!(it.as_str(), ";" | "+")).cloned().collect();
            if !child.is_empty() {
                told.children.push(child);
            }
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Meaning {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        meaning(&words[0], &words[1..])
    }

    fn reads(line: &str) -> Vec<String> {
        touched(line, Touch::Reads)
    }

    fn touched(line: &str, wanted: Touch) -> Vec<String> {
        of(line).files.into_iter().filter(|it| it.0 == wanted).map(|it| it.1).collect()
    }

    #[test]
    fn a_value_of_an_option_is_no_file() {
        assert_eq!(reads("head -n 3 a b"), ["a", "b"]);
        assert_eq!(reads("cut -d, -f 2 a"), ["a"]);
    }

    #[test]
    fn a_pattern_is_no_file_unless_an_option_brought_it() {
        assert_eq!(reads("grep -n x a"), ["a"]);
        assert_eq!(reads("grep -e x a"), ["a"]);
        assert_eq!(reads("grep -f patterns a"), ["patterns", "a"]);
    }

    #[test]
    fn what_is_changed_in_place_is_written() {
        assert_eq!(touched("sed -i s/a/b/ f", Touch::Writes), ["f"]);
        assert_eq!(touched("tee -a f", Touch::Appends), ["f"]);
        assert_eq!(touched("sort -o out in", Touch::Writes), ["out"]);
    }

    #[test]
    fn a_command_that_is_started_by_another_is_named() {
        assert_eq!(of("xargs -n 1 rm -f").children, [["rm", "-f"]]);
        assert_eq!(of("timeout 5 sort a").children, [["sort", "a"]]);
        assert_eq!(of("env -u X A=1 jq .").children, [["jq", "."]]);
        assert_eq!(of("find . -name x -exec grep y {} ;").children, [["grep", "y", "{}"]]);
    }

    #[test]
    fn a_shell_inside_is_a_text_or_a_script() {
        let text = of("bash -c ls");
        assert_eq!((text.text.as_deref(), text.evaluates, text.script), (Some("ls"), true, None));
        let script = of("sh -e s.sh a");
        assert_eq!((script.text, script.evaluates, script.script.as_deref()), (None, false, Some("s.sh")));
        assert!(of("bash").evaluates && !of("bash --version").evaluates);
        assert!(of("command -v python3").children.is_empty());
        assert_eq!(of("sudo -u root rm x").children, [["rm", "x"]]);
    }

    #[test]
    fn awk_may_start_a_shell() {
        let program = |text: &str| meaning("awk", &[text.to_owned(), "f".to_owned()]).children;
        assert_eq!(program("BEGIN { system(\"ls a\") }"), [["sh", "-c", "ls a"]]);
        assert_eq!(program("{ cmd | getline }"), [["sh", "-c", "$…"]]);
        assert!(program("{ print | \"sort\" }").is_empty());
        assert!(of("gawk -f p.awk f").is_open_ended && !of("awk 1 f").is_open_ended);
    }

    #[test]
    fn make_runs_its_makefile_as_a_script() {
        assert_eq!(of("make -j4 all").script.as_deref(), Some("Makefile"));
        assert_eq!(of("make -C d -f x.mk").script.as_deref(), Some("d/x.mk"));
        assert!(of("make V=$(…)").evaluates && !of("make V=1").evaluates && of("make -f -").evaluates);
    }

    #[test]
    fn copying_reads_all_but_the_last() {
        assert_eq!(reads("cp a b c"), ["a", "b"]);
        assert_eq!(touched("cp a b c", Touch::Writes), ["c"]);
    }

    #[test]
    fn standard_streams_and_unknown_commands_are_no_files() {
        assert_eq!(of("cat - /dev/null"), Meaning::default());
        assert_eq!(of("mystery a b"), Meaning::default());
    }
}
