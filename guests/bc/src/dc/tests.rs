//! dc's commands, one table of programs and what they print.

use super::*;

#[derive(Default)]
struct Kept {
    out: Vec<u8>,
    problems: Vec<String>,
    lines: Vec<&'static str>,
}

impl Console for Kept {
    fn print(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    fn complain(&mut self, problem: &str) {
        self.problems.push(problem.to_owned());
    }

    fn line(&mut self) -> Option<Vec<u8>> {
        (!self.lines.is_empty()).then(|| self.lines.remove(0).as_bytes().to_vec())
    }
}

#[test]
fn programs_print_what_gnus_prints() {
    let cases = [
        ("2 3+p", "5\n", ""),
        ("2 3-p 2 3*p 7 2/p 7 2%p 2 10^p", "-1\n6\n3\n1\n1024\n", ""),
        ("3k 1 3/p 2v p", ".333\n1.414\n", ""),
        ("_5 2+p 1.50p", "-3\n1.50\n", ""),
        ("16i FFp 10o FFp", "255\nFF\n", ""),
        ("FFp", "165\n", ""),
        ("2o 10p 16o 255p", "1010\nFF\n", ""),
        ("[hello]p [a]n[b]n", "hello\nab", ""),
        ("72 P 17737 P", "HEI", ""),
        ("1 2 3 f c z p", "3\n2\n1\n0\n", ""),
        ("1 2 r f", "1\n2\n", ""),
        ("5 sa la la * p", "25\n", ""),
        ("1 Sa 2 Sa La p La p", "2\n1\n", ""),
        ("7 3 :x 3 ;x p 4 ;x p", "7\n0\n", ""),
        ("[la1+dsap5>b]sb 0sa lbx", "1\n2\n3\n4\n5\n", ""),
        ("[[less]p]sa 1 2 >a 2 1 >a 1 1 =a 1 2 !=a", "less\nless\nless\n", ""),
        ("17 5~f", "2\n3\n", ""),
        ("4 13 497|p", "445\n", ""),
        ("123.45 Zp 123.45 Xp [abc]Zp", "5\n2\n3\n", ""),
        ("65 a p [xyz] a p", "A\nx\n", ""),
        ("1 # 2\n3 f", "3\n1\n", ""),
        ("[1p q 2p]x 3p", "1\n", ""),
        ("[[1p q 2p]x 3p]x 4p", "1\n4\n", ""),
        ("[[1p 1Q 2p]x 3p]x 4p", "1\n3\n4\n", ""),
        ("?p", "42\n", ""),
        ("+", "", "stack empty"),
        ("1 0/ f", "0\n1\n", "divide by zero"),
        ("1 0%", "", "remainder by zero"),
        ("[a] 1 +", "", "non-numeric value"),
        ("y", "", "'y' (0171) unimplemented"),
        ("La", "", "stack register 'a' (0141) is empty"),
        ("99 i", "", "input base must be a number between 2 and 16 (inclusive)"),
        ("1 o", "", "output base must be a number greater than 1"),
        ("_1 v", "", "square root of negative number"),
        ("!ls\n1p", "1\n", "no command can be run from here"),
        ("s", "", "a register must follow"),
        ("[unfinished", "", ""),
    ];
    for (program, out, problem) in cases {
        let mut kept = Kept { lines: vec!["42"], ..Kept::default() };
        Machine::default().run(program.as_bytes(), &mut kept);
        assert_eq!(String::from_utf8_lossy(&kept.out), out, "{program}");
        assert_eq!(kept.problems.join("|"), problem, "{program}");
    }
}

#[test]
fn a_loop_by_recursion_needs_no_room() {
    let mut kept = Kept::default();
    let ended = Machine::default().run(b"[1+ d 200000 >a]sa 0 lax p", &mut kept);
    assert_eq!((ended, kept.out.as_slice()), (Ended::Done, &b"200000\n"[..]));
    Machine::default().run(b"[lax 1]sa lax", &mut kept);
    assert_eq!(kept.problems.first().map(String::as_str), Some("calls are nested too deeply"));
}
