//! Programs over one small input, and what gawk prints for them.

use std::io::Write as _;
use std::process::{Command, Stdio};

const INPUT: &str = "a b c\n1 2 3\n\nx,y z\n";

/// Program, output, status.
#[rustfmt::skip]
const CASES: &[(&str, &str, i32)] = &[
    ("NR==2", "1 2 3\n", 0),
    ("/b/", "a b c\n", 0),
    ("!/b/", "1 2 3\n\nx,y z\n", 0),
    ("NF", "a b c\n1 2 3\nx,y z\n", 0),
    ("$2", "a b c\n1 2 3\nx,y z\n", 0),
    ("END{print NR,NF,$0}", "4 2 x,y z\n", 0),
    ("{print $NF}", "c\n3\n\nz\n", 0),
    ("{$2=\"X\";print}", "a X c\n1 X 3\n X\nx,y X\n", 0),
    ("{$5=\"v\";print;print NF}", "a b c  v\n5\n1 2 3  v\n5\n    v\n5\nx,y z   v\n5\n", 0),
    ("{NF=2;print}", "a b\n1 2\n \nx,y z\n", 0),
    ("BEGIN{OFS=\"-\"}{$1=$1;print}", "a-b-c\n1-2-3\n\nx,y-z\n", 0),
    ("BEGIN{FS=\",\"}{print $2}", "\n\n\ny z\n", 0),
    ("BEGIN{RS=\"\"}{print NR\": \"$1}", "1: a\n2: x,y\n", 0),
    ("{print length, length($1)}", "5 1\n5 1\n0 0\n5 3\n", 0),
    ("NR==1,NR==2{print \"r\",$0}", "r a b c\nr 1 2 3\n", 0),
    ("BEGIN{print 1e6,1e300*1e300 > \"/dev/null\"; print 0.1+0.2, 100000*100000, 1/3}", "0.3 10000000000 0.333333\n", 0),
    ("BEGIN{print 2**3, 2^3^2, -2^2, 7%3, -7%3}", "8 512 -4 1 -1\n", 0),
    ("BEGIN{print 1==1.0, \"a\"<\"b\", \"10\"<\"9\", 10<9, \"abc\"~/b/}", "1 1 1 0 1\n", 0),
    ("BEGIN{x[\"a\"]=1;print (\"a\" in x),(\"b\" in x);delete x[\"a\"];print length(x)}", "1 0\n0\n", 0),
    ("BEGIN{print substr(\"hello\",2,3) \"|\" substr(\"hello\",0) \"|\" substr(\"hello\",-1,3) \"|\" substr(\"hello\",4,100) \"|\" substr(\"hello\",1.5,1)}", "ell|hello|hel|lo|h\n", 0),
    ("BEGIN{print index(\"foobar\",\"bar\"),index(\"a\",\"b\"),index(\"a\",\"\")}", "4 0 1\n", 0),
    ("BEGIN{n=split(\"a:b:c\",p,\":\");print n,p[1],p[3]}", "3 a c\n", 0),
    ("BEGIN{n=split(\"\",p);print n,length(p)}", "0 0\n", 0),
    ("BEGIN{n=split(\"abc\",p,\"\");print n,p[2]}", "3 b\n", 0),
    ("BEGIN{s=\"aaa\";print gsub(/a/,\"b&\",s),s}", "3 bababa\n", 0),
    ("BEGIN{s=\"hello\";sub(/l+/,\"[&]\",s);print s}", "he[ll]o\n", 0),
    ("BEGIN{s=\"a.b.c\";gsub(/\\./,\"\\\\&\",s);print s}", "a&b&c\n", 0),
    ("BEGIN{s=\"abc\";gsub(//,\"-\",s);print s}", "-a-b-c-\n", 0),
    ("BEGIN{s=\"abc\";gsub(/x*/,\"-\",s);print s}", "-a-b-c-\n", 0),
    ("BEGIN{if(match(\"foobar\",/o+/))print RSTART,RLENGTH;match(\"x\",/y/);print RSTART,RLENGTH}", "2 2\n0 -1\n", 0),
    ("BEGIN{print toupper(\"aB1\"),tolower(\"AbÉ\")}", "AB1 abé\n", 0),
    ("BEGIN{printf \"%d %5d|%-5d|%05d %x %o %c %c %s %e %g %%\\n\",3.9,42,42,42,255,8,65,\"hello\",\"s\",12345.678,0.0001}", "3    42|42   |00042 ff 10 A h s 1.234568e+04 0.0001 %\n", 0),
    ("BEGIN{printf \"%.3s|%10.2f|%+d|% d\\n\",\"abcdef\",3.14159,5,5}", "abc|      3.14|+5| 5\n", 0),
    ("BEGIN{printf \"%*d|\\n\",5,42}", "   42|\n", 0),
    ("BEGIN{print length(\"héllo\"),substr(\"héllo\",2,1)}", "5 é\n", 0),
    ("BEGIN{print int(3.9),int(-3.9),int(\"12abc\"),sqrt(16),exp(0),log(1),sin(0),cos(0),atan2(0,-1)}", "3 -3 12 4 1 0 0 1 3.14159\n", 0),
    ("function f(n){return n<2?1:n*f(n-1)}BEGIN{print f(10)}", "3628800\n", 0),
    ("function g(a){a[1]=5}BEGIN{g(z);print z[1]}", "5\n", 0),
    ("BEGIN{while(i<3){i++;if(i==2)continue;print i}}", "1\n3\n", 0),
    ("BEGIN{do{print j++}while(j<2)}", "0\n1\n", 0),
    ("BEGIN{for(i=0;i<5;i++){if(i==3)break;print i}}", "0\n1\n2\n", 0),
    ("BEGIN{a[\"x\",1]=2;for(k in a){split(k,p,SUBSEP);print p[1],p[2]}}", "x 1\n", 0),
    ("BEGIN{print 1,2 > \"/dev/stdout\"}", "1 2\n", 0),
    ("BEGIN{print \"x\" \"y\" 1+1 \"z\"}", "xy2z\n", 0),
    ("BEGIN{print -3 \" \" -4}", "-3-4\n", 0),
    ("BEGIN{print (1>2)?\"a\":\"b\"}", "b\n", 0),
    ("BEGIN{print !0,!1,!\"\",!\"a\",!x}", "1 0 1 0 1\n", 0),
    ("BEGIN{x=5;x+=2;x-=1;x*=3;x/=2;x%=5;x^=2;print x;print x++,x,++x,x--,--x}", "16\n16 17 18 18 16\n", 0),
    ("BEGIN{$0=\"a b c\";print NF,$2;$3=\"\";print;print NF}", "3 b\na b \n3\n", 0),
    ("BEGIN{$3=\"x\";print;print NF}", "  x\n3\n", 0),
    ("{print > \"/dev/null\"}", "", 0),
    ("BEGIN{exit 3}END{print \"end\"}", "end\n", 3),
    ("BEGIN{getline;print \"got \"$0;getline;print}", "got a b c\n1 2 3\n", 0),
    ("{next;print \"no\"}END{print \"ok\"}", "ok\n", 0),
    ("BEGIN{print substr(\"x\",1,0) \"|\" 1e3 \"|\" 1E-2 \"|\" .5 \"|\" 017 \"|\" 1.}", "|1000|0.01|0.5|15|1\n", 0),
    ("BEGIN{CONVFMT=\"%.2g\";a=3.14159;b=a \"\";print b}", "3.1\n", 0),
    ("BEGIN{OFMT=\"%.2f\";print 3.14159, 3}", "3.14 3\n", 0),
    ("BEGIN{print \"a\\tb\\\\n\\\"q\\\"\\/\\101\"}", "a\tb\\n\"q\"/A\n", 0),
    ("BEGIN{print length(\"\")}", "0\n", 0),
    ("BEGIN{FS=\"[0-9]+\"}{print $1}", "a b c\n\n\nx,y z\n", 0),
    ("BEGIN{print index(\"abc\",\"c\") index(\"abc\",\"a\")}", "31\n", 0),
    ("$1==\"a\"{print \"A\"}$1!=\"a\"{print \"N\"}", "A\nN\nN\nN\n", 0),
    ("{a[$1]++}END{print length(a)}", "4\n", 0),
    ("BEGIN{print substr(\"hello\",2)}", "ello\n", 0),
    ("BEGIN{if(!(\"x\" in a))print \"no\";if(a[\"x\"]==\"\")print \"made\";if(\"x\" in a)print \"yes\"}", "no\nmade\nyes\n", 0),
    ("BEGIN{print 1 \" \" 2,3}", "1 2 3\n", 0),
    ("BEGIN{a=\"10\";b=9;print (a>b),(\"10\">\"9\"),(a+0>b)}", "0 0 1\n", 0),
    ("BEGIN{printf \"%5s|%-5s|\\n\",\"ab\",\"cd\"}", "   ab|cd   |\n", 0),
    ("BEGIN{print 1;;print 2}", "1\n2\n", 0),
    ("BEGIN{if(1);else print 3;print 4}", "4\n", 0),
    ("# comment\nBEGIN{print 1 # c\n}", "1\n", 0),
    ("BEGIN{print \"a\" \\\n \"b\"}", "ab\n", 0),
    ("BEGIN{x = \"A\"; y = x++; print x, y}", "1 0\n", 0),
    ("BEGIN{print 9007199254740993, 2^53, 1e18}", "9007199254740992 9007199254740992 1000000000000000000\n", 0),
    ("BEGIN{print \"0x10\"+0, \"1e2\"+0, \" 12 \"+0, \"+5\"+0, \"-\"+0, \".5.\"+0}", "0 100 12 5 0 0.5\n", 0),
    ("BEGIN{print substr(\"abc\",2,-1) \"|\"}", "|\n", 0),
    ("BEGIN{print (1,2) in a}", "0\n", 0),
    ("BEGIN{print 5 \" items\" + 3}", "53\n", 0),
    ("END{print $1}", "x,y\n", 0),
];

/// Arguments, and the first line of what is said about them with status 1 or 2.
const REFUSED: &[(&[&str], i32, &str)] = &[
    (
        &["BEGIN{printf \"%s %s\\n\",\"only\"}"],
        2,
        "awk: cmd. line:1: fatal: not enough arguments to satisfy format string",
    ),
    (&["BEGIN{print 1"], 1, "awk: cmd. line:1: BEGIN{print 1"),
    (&["BEGIN{f(1)}"], 2, "awk: fatal: function `f' not defined"),
    (&["--nope", "1"], 1, "awk: unrecognized option '--nope'"),
    (&["-q", "1"], 1, "awk: invalid option -- 'q'"),
    (&["-f"], 1, "awk: option requires an argument -- 'f'"),
    (
        &["-f", "/no/such"],
        2,
        "awk: fatal: cannot open source file `/no/such' for reading: No such file or directory",
    ),
    (&["BEGIN{print substr(\"a\")}"], 1, "awk: cmd. line:1: BEGIN{print substr(\"a\")}"),
    (&["BEGIN{x=1;x[1]=2}"], 2, ""),
];

fn run(args: &[&str]) -> std::io::Result<(String, i32, String)> {
    let mut awk = Command::new(env!("CARGO_BIN_EXE_awk"));
    awk.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = awk.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that is refused reads nothing.
        let _ = stdin.write_all(INPUT.as_bytes());
    }
    let done = child.wait_with_output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let complaint = text(&done.stderr).lines().next().unwrap_or_default().to_owned();
    Ok((text(&done.stdout), done.status.code().unwrap_or(-1), complaint))
}

#[test]
fn programs_print_what_gawk_prints() -> std::io::Result<()> {
    for (program, out, status) in CASES {
        let (got, code, complaint) = run(&[program])?;
        assert_eq!((got.as_str(), code), (*out, *status), "{program} {complaint}");
    }
    Ok(())
}

#[test]
fn wrong_programs_and_command_lines_are_refused_in_gawks_words() -> std::io::Result<()> {
    for (args, status, complaint) in REFUSED {
        let (_, code, got) = run(args)?;
        assert_eq!(code, *status, "{args:?} {got}");
        assert!(got.starts_with(complaint), "{args:?} {got}");
    }
    Ok(())
}
