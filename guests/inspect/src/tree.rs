//! `tree`: a folder and what is in it, drawn.

use crate::{complain, print};
use facts::{Facts, Follow, Kind};
use options::{Item, Order};
use std::path::Path;

const TABLE: &[&str] = &[
    "a",
    "d",
    "l",
    "f",
    "x",
    "L=",
    "R",
    "P=",
    "I=",
    "gitignore",
    "ignore-case",
    "matchdirs",
    "prune",
    "noreport",
    "o=",
    "q",
    "N",
    "Q",
    "p",
    "u",
    "g",
    "s",
    "h",
    "si",
    "D",
    "F",
    "v",
    "t",
    "c",
    "U",
    "r",
    "dirsfirst",
    "filesfirst",
    "i",
    "n",
    "C",
    "A",
    "S",
    "J",
    "sort=",
    "filelimit=",
    "charset=",
    "du",
    "help",
    "version",
    "timefmt=",
    "metafirst",
    "inodes",
    "device",
    "nolinks",
    "H=",
    "T=",
    "X",
];
const HELP: &str = "usage: tree [-adfisghpFJ] [-L level] [-P pattern] [-I pattern] [--noreport] [--dirsfirst] [directory ...]
  -a   all files are listed            -d   list directories only
  -f   print the full path             -i   don't print indentation lines
  -L N descend only N directories deep -P   list only files that match the pattern
  -I   do not list files that match    -s   print the size in bytes of each file
  -h   print the size in a human way   -p   print the protections
  -F   append '/' or '*'               -r   reverse the order
  -J   print a JSON representation     --noreport  turn off the count at the end
";
const DEPTH_MAX: usize = 500;

#[derive(Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
struct Settings {
    all: bool,
    folders_only: bool,
    full: bool,
    plain: bool,
    report: bool,
    size: bool,
    human: bool,
    modes: bool,
    marks: bool,
    quotes: bool,
    reverse: bool,
    by_time: bool,
    folders_first: bool,
    prune: bool,
    json: bool,
    depth_max: usize,
    include: Vec<String>,
    exclude: Vec<String>,
}

struct Node {
    name: String,
    path: String,
    facts: Option<Facts>,
    target: Option<String>,
    children: Vec<Node>,
}

struct Tally {
    folders: usize,
    files: usize,
}

/// Draws each operand and returns the exit status.
pub(crate) fn run(args: &[String]) -> i32 {
    let items = match options::parse(args, TABLE, Order::Anywhere) {
        Ok(items) => items,
        Err(problem) => return complain("tree", &problem),
    };
    let mut settings = Settings { report: true, depth_max: DEPTH_MAX, ..Settings::default() };
    let (mut roots, mut output) = (Vec::new(), None);
    for item in items {
        match item {
            Item::Flag("a", _) => settings.all = true,
            Item::Flag("d", _) => settings.folders_only = true,
            Item::Flag("f", _) => settings.full = true,
            Item::Flag("i", _) => settings.plain = true,
            Item::Flag("s", _) => settings.size = true,
            Item::Flag("h", _) => settings.human = true,
            Item::Flag("p", _) => settings.modes = true,
            Item::Flag("F", _) => settings.marks = true,
            Item::Flag("Q", _) => settings.quotes = true,
            Item::Flag("r", _) => settings.reverse = true,
            Item::Flag("t" | "c", _) => settings.by_time = true,
            Item::Flag("dirsfirst", _) => settings.folders_first = true,
            Item::Flag("prune", _) => settings.prune = true,
            Item::Flag("J", _) => settings.json = true,
            Item::Flag("noreport", _) => settings.report = false,
            Item::Flag("o", value) => output = value,
            Item::Flag("P", Some(text)) => settings.include.extend(text.split('|').map(str::to_owned)),
            Item::Flag("I", Some(text)) => settings.exclude.extend(text.split('|').map(str::to_owned)),
            Item::Flag("L", Some(text)) => match text.parse() {
                Ok(depth) if depth > 0 => settings.depth_max = depth,
                _ => return complain("tree", "Invalid level, must be greater than 0."),
            },
            Item::Flag("help", _) => return print(HELP.as_bytes()),
            Item::Flag("version", _) => return print(b"tree v2.1.0 compatible, drydock\n"),
            Item::Flag(..) => {}
            Item::Operand(root) => roots.push(root),
        }
    }
    if roots.is_empty() {
        roots.push(".".to_owned());
    }
    let (out, status) = draw(&settings, &roots);
    match output {
        None => print(out.as_bytes()).max(status),
        Some(file) => match std::fs::write(&file, &out) {
            Ok(()) => status,
            Err(error) => complain("tree", &format!("invalid filename '{file}': {}", place::reason(&error))),
        },
    }
}

fn draw(settings: &Settings, roots: &[String]) -> (String, i32) {
    let mut out = String::new();
    let mut tally = Tally { folders: 0, files: 0 };
    let mut status = 0;
    if settings.json {
        out.push_str("[\n");
    }
    for (at, root) in roots.iter().enumerate() {
        let facts = facts::of(Path::new(root), Follow::Yes).ok();
        let there = facts.is_some_and(|it| it.kind == Kind::Directory);
        let mut node =
            Node { name: root.clone(), path: root.clone(), facts, target: None, children: Vec::new() };
        if !there {
            out.push_str(&format!("{root}  [error opening dir]\n"));
            status = 2;
            continue;
        }
        tally.folders += 1;
        node.children = children(settings, root, 1);
        if settings.json {
            json(settings, &node, 1, &mut tally, &mut out);
            out.push_str(if at + 1 < roots.len() { ",\n" } else { "\n" });
        } else {
            out.push_str(&label(settings, &node));
            out.push('\n');
            branches(settings, &node.children, "", &mut tally, &mut out);
        }
    }
    let (folders, files) = (tally.folders, tally.files);
    if settings.json {
        if settings.report {
            out.push_str(",\n");
            out.push_str(&match settings.folders_only {
                true => format!("  {{\"type\":\"report\",\"directories\":{folders}}}\n"),
                false => format!("  {{\"type\":\"report\",\"directories\":{folders},\"files\":{files}}}\n"),
            });
        }
        out.push_str("]\n");
    } else if settings.report {
        let word = |count, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
        out.push_str(&format!("\n{}", word(folders, "directory", "directories")));
        if !settings.folders_only {
            out.push_str(&format!(", {}", word(files, "file", "files")));
        }
        out.push('\n');
    }
    (out, status)
}

fn children(settings: &Settings, folder: &str, depth: usize) -> Vec<Node> {
    if depth > settings.depth_max {
        return Vec::new();
    }
    let base = if folder.ends_with('/') { folder.to_owned() } else { format!("{folder}/") };
    let mut nodes = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{base}{name}");
        let facts = facts::of(Path::new(&path), Follow::No).ok();
        let is_folder = facts.is_some_and(|it| it.kind == Kind::Directory);
        let hidden = name.starts_with('.') && !settings.all;
        let out = settings.exclude.iter().any(|it| facts::pattern::fits(it, &name));
        let unwanted = !is_folder
            && !settings.include.is_empty()
            && !settings.include.iter().any(|it| facts::pattern::fits(it, &name));
        if hidden || out || unwanted || (settings.folders_only && !is_folder) {
            continue;
        }
        let target = match facts.map(|it| it.kind) {
            Some(Kind::Symlink) => std::fs::read_link(&path).ok().map(|it| it.to_string_lossy().into_owned()),
            _ => None,
        };
        let children = if is_folder { children(settings, &path, depth + 1) } else { Vec::new() };
        if settings.prune && is_folder && children.is_empty() {
            continue;
        }
        nodes.push(Node { name, path, facts, target, children });
    }
    let is_folder = |node: &Node| node.facts.is_some_and(|it| it.kind == Kind::Directory);
    nodes.sort_by(|a, b| {
        let time = |node: &Node| node.facts.map(|it| it.modified);
        let by_time = if settings.by_time { time(a).cmp(&time(b)) } else { std::cmp::Ordering::Equal };
        let order = by_time.then_with(|| a.name.cmp(&b.name));
        let order = if settings.reverse { order.reverse() } else { order };
        let folders =
            if settings.folders_first { is_folder(b).cmp(&is_folder(a)) } else { std::cmp::Ordering::Equal };
        folders.then(order)
    });
    nodes
}

fn branches(settings: &Settings, nodes: &[Node], before: &str, tally: &mut Tally, out: &mut String) {
    for (at, node) in nodes.iter().enumerate() {
        let last = at + 1 == nodes.len();
        count(node, tally);
        if !settings.plain {
            out.push_str(before);
            out.push_str(if last { "└── " } else { "├── " });
        }
        out.push_str(&label(settings, node));
        out.push('\n');
        let deeper = format!("{before}{}", if last { "    " } else { "│\u{a0}\u{a0} " });
        branches(settings, &node.children, &deeper, tally, out);
    }
}

fn count(node: &Node, tally: &mut Tally) {
    match node.facts.map(|it| it.kind) {
        Some(Kind::Directory) => tally.folders += 1,
        _ => tally.files += 1,
    }
}

fn label(settings: &Settings, node: &Node) -> String {
    let mut notes = Vec::new();
    if let Some(facts) = &node.facts {
        if settings.modes {
            notes.push(facts.mode_text());
        }
        if settings.human {
            notes.push(format!("{:>4}", facts::human(facts.size, 1024)));
        } else if settings.size {
            notes.push(format!("{:>11}", facts.size));
        }
    }
    let mut text = if notes.is_empty() { String::new() } else { format!("[{}]  ", notes.join(" ")) };
    let name = if settings.full { &node.path } else { &node.name };
    text.push_str(&if settings.quotes { format!("\"{name}\"") } else { name.clone() });
    if settings.marks {
        match node.facts {
            Some(facts) if facts.kind == Kind::Directory && !name.ends_with('/') => text.push('/'),
            Some(facts) if facts.kind == Kind::File && facts.mode & 0o111 != 0 => text.push('*'),
            _ => {}
        }
    }
    if let Some(target) = &node.target {
        text.push_str(&format!(" -> {target}"));
    }
    text
}

fn json(settings: &Settings, node: &Node, level: usize, tally: &mut Tally, out: &mut String) {
    let pad = "  ".repeat(level);
    let kind = match node.facts.map(|it| it.kind) {
        Some(Kind::Directory) => "directory",
        Some(Kind::Symlink) => "link",
        _ => "file",
    };
    let name = if settings.full { &node.path } else { &node.name };
    out.push_str(&format!("{pad}{{\"type\":\"{kind}\",\"name\":\"{}\"", escaped(name)));
    if let Some(target) = &node.target {
        out.push_str(&format!(",\"target\":\"{}\"", escaped(target)));
    }
    if let Some(facts) = &node.facts {
        if settings.modes {
            out.push_str(&format!(",\"mode\":\"{:04o}\",\"prot\":\"{}\"", facts.mode, facts.mode_text()));
        }
        if settings.size || settings.human {
            out.push_str(&format!(",\"size\":{}", facts.size));
        }
    }
    if kind == "directory" && (level == 1 || !node.children.is_empty()) {
        out.push_str(",\"contents\":[\n");
        for (at, child) in node.children.iter().enumerate() {
            count(child, tally);
            json(settings, child, level + 1, tally, out);
            out.push_str(if at + 1 < node.children.len() { ",\n" } else { "\n" });
        }
        out.push_str(&format!("{pad}]"));
    }
    out.push('}');
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
