//! Programs and what GNU bc prints for them.

use super::*;
use proptest::prelude::*;

fn printed(library: bool, source: &str) -> (String, String) {
    let (mut out, mut problems) = (Vec::new(), String::new());
    let mut machine = Machine::new(library);
    run(&mut machine, "(standard_in)", source, |text| out.append(text), |problem| problems += problem);
    (String::from_utf8_lossy(&out).into_owned(), problems)
}

#[test]
fn results_are_cut_off_at_the_scale_of_each_operation() {
    let cases = [
        ("1/3; scale=3; 1/3; 2/3", "0\n.333\n.666\n"),
        ("scale=2; 1.234*5.678", "7.006\n"),
        ("scale=5; 7%3; 10%.3; -7%3", ".00001\n.000001\n-.00001\n"),
        ("2^10; 2^-2; scale=4; 2^-2; 1.5^3", "1024\n0\n.2500\n3.375\n"),
        ("sqrt(2); scale=10; sqrt(2)", "1\n1.4142135623\n"),
        (".5+.5; 0.00; -0.5; 1.10", "1.0\n0\n-.5\n1.10\n"),
        ("length(123.45); scale(1.234); length(.001)", "5\n3\n3\n"),
        ("-2^2; 2^3^2; 1+2*3; (1+2)*3", "4\n512\n7\n9\n"),
        ("obase=16; 255; obase=2; 5; ibase=2; 101", "FF\n101\n101\n"),
        ("ibase=16; FF; A; ibase=A; 10", "255\n10\n10\n"),
        ("obase=20; 399", " 19 19\n"),
        (
            "2^300",
            "20370359763344860862684456884093781610514683936659362506361404493543\\\n81299763336706183397376\n",
        ),
    ];
    for (source, want) in cases {
        assert_eq!(printed(false, source).0, want, "{source}");
    }
}

#[test]
fn programs_branch_repeat_and_call() {
    let cases = [
        ("x=3; x; x+=2; x; x++; x; --x", "3\n5\n5\n6\n5\n"),
        ("for(i=1;i<=3;i++) { if(i==2) continue; i }", "1\n3\n"),
        ("i=5\nwhile(1){i-=1\nif(i<3)break\n}\ni", "2\n"),
        ("define f(n){ if(n<2) return 1; return n*f(n-1); }\nf(20)", "2432902008176640000\n"),
        ("define f(n){\nauto i,a[]\nfor(i=0;i<n;i++)a[i]=i*i\nreturn a[n-1]\n}\nf(5); i", "16\n0\n"),
        ("define g(a[],n){return a[n]}\nb[2]=7;g(b[],2)", "7\n"),
        ("a[1]+=5;a[1]++;a[1];a[0]", "5\n6\n0\n"),
        ("if(1<2&&!0)\"yes\n\" else \"no\n\"", "yes\n"),
        ("print \"a\\tb\\n\",1+1,\"\\n\"", "a\tb\n2\n"),
        ("1<2;2<=1;1==1;3!=3;1||0;0&&1", "1\n0\n1\n0\n1\n0\n"),
        ("/* c */ 1 # d\n2", "1\n2\n"),
        ("5;.+1;last*2", "5\n6\n12\n"),
    ];
    for (source, want) in cases {
        assert_eq!(printed(false, source), (want.to_owned(), String::new()), "{source}");
    }
}

#[test]
fn the_library_computes_to_the_last_digit() {
    let cases = [
        ("4*a(1)", "3.14159265358979323844\n"),
        ("e(1); e(0); e(-1)", "2.71828182845904523536\n1.00000000000000000000\n.36787944117144232159\n"),
        ("l(2); l(10)", ".69314718055994530941\n2.30258509299404568401\n"),
        ("s(1); c(1); c(0)", ".84147098480789650665\n.54030230586813971740\n1.00000000000000000000\n"),
        ("scale=5; e(2.5)", "12.18249\n"),
        ("j(0,1)", ".76519768655796655144\n"),
    ];
    for (source, want) in cases {
        assert_eq!(printed(true, source), (want.to_owned(), String::new()), "{source}");
    }
}

#[test]
fn a_problem_costs_one_line_and_not_the_run() {
    let (out, problems) = printed(false, "1/0\n2\n3 +\n4\nf(1)\n5");
    assert_eq!(out, "2\n4\n5\n");
    assert!(
        problems.contains("Divide by zero") && problems.contains("(standard_in) 3: syntax error"),
        "{problems}"
    );
    assert!(problems.contains("Function f not defined."), "{problems}");
    let deep = "(".repeat(100_000);
    assert!(printed(false, &deep).1.contains("nested too deeply"));
    assert!(printed(false, "9^9^9^9").1.contains("exponent too large"));
    assert!(printed(false, "define f(x){return f(x)}\nf(1)").1.contains("too many calls"));
}

proptest! {
    #[test]
    fn no_program_makes_the_parser_panic(source in "[-a-f0-9+*/%^=<>!&|(){}\\[\\],;.\"\n# ]{0,60}") {
        let mut parser = Parser::new(&source);
        while parser.item().is_some() {}
    }

    #[test]
    fn division_and_remainder_make_the_number_again(left in -100_000i64..100_000, right in 1i64..1000, scale in 0usize..6) {
        let (left, right) = (number::Number::from(left), number::Number::from(right));
        let (Ok(quotient), Ok(rest)) = (left.div(&right, scale), left.rem(&right, scale)) else {
            return Err(TestCaseError::fail("a divisor that is not zero"));
        };
        let exact = number::Number::new(&quotient.digits * &right.digits, scale);
        prop_assert!(exact.add(&rest).compare(&left).is_eq());
    }
}
