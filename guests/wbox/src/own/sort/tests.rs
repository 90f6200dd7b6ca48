//! Orders, runs and joins, natively.

use super::check::first_disorder;
use super::merge::Lines;
use super::options;
use crate::own::arguments::Arguments;
use crate::stream::Input;
use std::fs;
use std::path::PathBuf;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("wbox-sort-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs `sort` with the words over files of these contents; the output.
fn sort(name: &str, words: &str, contents: &[&str]) -> String {
    let folder = Folder::new(name);
    let mut args: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    for (at, content) in contents.iter().enumerate() {
        let path = folder.path(&format!("in{at}"));
        fs::write(&path, content).unwrap();
        args.push(path);
    }
    let (out, scratch) = (folder.path("out"), folder.path("scratch"));
    fs::create_dir_all(&scratch).unwrap();
    args.extend(["-o".to_owned(), out.clone(), "-T".to_owned(), scratch.clone()]);
    let args: Vec<&[u8]> = args.iter().map(String::as_bytes).collect();
    assert_eq!(super::main(&args), 0, "{words}");
    assert_eq!(fs::read_dir(scratch).unwrap().count(), 0, "runs are left behind");
    fs::read_to_string(out).unwrap()
}

#[test]
fn lines_come_out_in_the_order_that_was_asked_for() {
    let cases = [
        ("", "b\na\nB\n", "B\na\nb\n"),
        ("-r", "b\na", "b\na\n"),
        ("-n", "10\n9\n-1\nx\n", "-1\nx\n9\n10\n"),
        ("-u", "b\na\nb\n", "a\nb\n"),
        ("-k2", "1 b\n2 a\n", "2 a\n1 b\n"),
        ("-k2,2n -k1,1r", "a 2\nb 2\nc 1\n", "c 1\nb 2\na 2\n"),
        ("-t, -k2", "1,b\n2,a\n", "2,a\n1,b\n"),
        ("-f", "b\nA\na\n", "A\na\nb\n"),
        ("-s -k1,1", "a 2\na 1\n", "a 2\na 1\n"),
        ("-u -k1,1", "a 2\na 1\nb\n", "a 2\nb\n"),
        ("-h", "1M\n2K\n3\n", "3\n2K\n1M\n"),
        ("-V", "v1.10\nv1.9\nv1.9~rc\n", "v1.9~rc\nv1.9\nv1.10\n"),
        ("-M", "mar\nJAN\nx\n", "x\nJAN\nmar\n"),
        ("-g", "1e2\n2e0\nx\n-inf\n", "x\n-inf\n2e0\n1e2\n"),
        ("-d", "a-c\nab\n", "ab\na-c\n"),
        ("--sort=numeric --reverse", "1\n10\n2\n", "10\n2\n1\n"),
        ("-z", "b\0a\0", "a\0b\0"),
        ("", "", ""),
        ("", "\n\n", "\n\n"),
    ];
    for (at, (words, text, want)) in cases.into_iter().enumerate() {
        assert_eq!(sort(&format!("order{at}"), words, &[text]), want, "{words} {text:?}");
    }
}

#[test]
fn files_that_are_in_order_are_joined() {
    assert_eq!(sort("merge", "-m", &["a\nc\n", "b\nd"]), "a\nb\nc\nd\n");
    assert_eq!(sort("merge-u", "-mu", &["a\nc\n", "a\nd"]), "a\nc\nd\n");
    let many: Vec<String> = (0..100).map(|at| format!("{at:03}\n{:03}\n", at + 500)).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let mut want: Vec<String> = many.concat().lines().map(|line| format!("{line}\n")).collect();
    want.sort();
    assert_eq!(sort("merge-many", "-m", &many), want.concat());
    assert_eq!(sort("merge-pairs", "-m --batch-size=2", &many), want.concat());
}

#[test]
fn a_random_order_keeps_equal_lines_together() {
    let mixed = sort("random", "-R", &["a\nb\na\nc\nb\na\n"]);
    let mut lines: Vec<&str> = mixed.lines().collect();
    lines.dedup();
    assert_eq!((mixed.len(), lines.len()), (12, 3));
}

#[test]
fn what_does_not_fit_into_memory_is_sorted_in_runs() {
    let mut state = 1u32;
    let mut lines: Vec<String> = (0..40_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            format!("{:x} {}\n", state >> 16, state % 100)
        })
        .collect();
    // One line is longer than a block.
    lines.push(format!("{}\n", "z".repeat(300_000)));
    let text = lines.concat();
    let by_number =
        |line: &String| line.split(' ').nth(1).and_then(|it| it.trim().parse().ok()).unwrap_or(0u32);
    let mut want = lines.clone();
    want.sort_by_key(by_number);
    assert_eq!(sort("runs", "-s -k2,2n -S 256K", &[&text]), want.concat());
    want.sort();
    assert_eq!(sort("runs-all", "-S 256K", &[&text]), want.concat());
    want.dedup();
    assert_eq!(sort("runs-u", "-u -S 256K --batch-size=2", &[&text]), want.concat());
}

fn line_out_of_order(words: &str, text: &str) -> Option<usize> {
    let words: Vec<&[u8]> = words.split_whitespace().map(str::as_bytes).collect();
    let line = Arguments::read(&words, options::TABLE).ok()?;
    let options = options::read(&line).ok()?;
    let folder = Folder::new(&format!("check-{}", text.len()));
    fs::write(folder.path("in"), text).ok()?;
    let input = Input::open(folder.path("in").as_bytes()).ok()?;
    first_disorder(&options.rules, options.unique, Lines::new(Vec::new(), input)).ok()?.map(|it| it.0)
}

#[test]
fn the_first_line_out_of_order_is_found() {
    let cases = [
        ("-c", "a\nb\nb\n", None),
        ("-c", "b\na\n", Some(2)),
        ("-cu", "a\na\n", Some(2)),
        ("-cn", "2\n10\n9\n", Some(3)),
        ("-c", "2\n10\n", Some(2)),
        ("-cr", "c\nb\na\n", None),
        ("-ck2n", "x 1\na 2\nb 10\n", None),
        ("-c -t, -k2,2", "a,z\nb,y\n", Some(2)),
        ("-cf", "a\nB\nc\n", None),
        ("-ch", "900\n1K\n2M\n", None),
        ("-cV", "v1.2\nv1.10\n", None),
        ("-cM", "jan\nFEB\nmar\n", None),
        ("-cg", "1e1\n2e0\n", Some(2)),
        ("-cn", "-2\n-1\n0.5\n0.25\n", Some(4)),
        ("-cR", "a\na\n", None),
    ];
    for (args, text, want) in cases {
        assert_eq!(line_out_of_order(args, text), want, "{args} {text:?}");
    }
}

#[test]
fn a_command_line_that_contradicts_itself_is_refused() {
    for bad in [
        "-k0",
        "-nM",
        "-nd",
        "-t xx",
        "-c a b",
        "-co x",
        "--check=maybe",
        "--sort=colour",
        "-S x",
        "--batch-size=1",
    ] {
        let words: Vec<&[u8]> = bad.split_whitespace().map(str::as_bytes).collect();
        let read = Arguments::read(&words, options::TABLE).and_then(|line| options::read(&line).map(drop));
        assert!(read.is_err(), "{bad}");
    }
}
