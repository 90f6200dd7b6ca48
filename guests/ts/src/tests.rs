//! What is left of a text, what is refused, and that nothing ever moves.
#![allow(clippy::unwrap_used)]

use super::*;
use proptest::prelude::*;

fn refused(text: &str) -> String {
    let wrong = strip(text).unwrap_err();
    format!("{}:{} {}", wrong.line, wrong.column, wrong.message)
}

/// What is left of each line, and that nothing has moved: blanks may stand where they like.
fn assert_stripped(text: &str, want: &str) {
    let got = strip(text).unwrap();
    let words = |it: &str| {
        it.split('\n').map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(words(&got), words(want), "{text}");
    let lengths = |it: &str| it.split('\n').map(|line| line.chars().count()).collect::<Vec<_>>();
    assert_eq!(lengths(&got), lengths(text), "{text}");
}

#[test]
fn types_become_blanks() {
    let cases = [
        ("let x: number = 1;", "let x         = 1;"),
        ("let x!: T; x!.y;", "let x    ; x .y;"),
        ("f<T>(x as any, y satisfies T)", "f   (x       , y            )"),
        (
            "function f<T>(this: X, a?: T, ...b: T[]): a is T { return a! }",
            "function f   (         a    , ...b     )         { return a  }",
        ),
        ("type A = {\n b: 1 };\nlet a", ";          \n       \nlet a"),
        ("interface A { b: 1 }\n(x)", ";                   \n(x)"),
        ("import type { A } from './a';", ";                            "),
        ("import { type A, b } from './a'", "import {         b } from './a'"),
        (
            "export { a, type B }; export type { C } from 'c'",
            "export { a,        }; ;                         ",
        ),
        ("declare const x: number; x", ";                        x"),
        ("const f = async <T,>(x: T): Promise<T> => x", "const f = async     (x   )             => x"),
        ("let a = b as T\n(c)", "let a = b ;   \n(c)"),
        ("let a = b as T\n+ c", "let a = b     \n+ c"),
        ("return x as T", "return x     "),
        ("await import('./x')", "await import('./x')"),
        ("try {} catch (e: unknown) {}", "try {} catch (e         ) {}"),
        ("new Map<string, number>()", "new Map                ()"),
        ("a = <T,>\n(x: T) => x", "a = (   \n x   ) => x"),
        ("a = (x):\n T => x", "a = (x  \n ) => x"),
        ("function f(a: 1): void;\nfunction f(a) {}", ";                      \nfunction f(a) {}"),
        ("let é: 'ü' = 1", "let é      = 1"),
        ("x as\n\tT", "x\n"),
    ];
    for (text, want) in cases {
        assert_stripped(text, want);
    }
    assert_eq!(strip("let x: T = y!").as_deref(), Ok("let x    = y "));
}

#[test]
fn classes_keep_what_javascript_has() {
    let cases = [
        ("class A<T> extends B<T> implements C, D {}", "class A    extends B                    {}"),
        (
            "abstract class A { abstract x: T; abstract f(): void; g() {} }",
            "         class A { ;               ;                   g() {} }",
        ),
        (
            "class A { private static readonly x?: T = 1; y!: T; declare z: T; [k: string]: T }",
            "class A { ;       static          x     = 1; y   ; ;            ;               }",
        ),
        (
            "class A { constructor(x: T); constructor(x) {} public async *f?<T>(): T {} }",
            "class A { ;                   constructor(x) {} ;      async *f        () {} }",
        ),
        (
            "class A { static override get x(): T { return 1 } }",
            "class A { static          get x()    { return 1 } }",
        ),
    ];
    for (text, want) in cases {
        assert_stripped(text, want);
    }
}

#[test]
fn what_is_more_than_types_is_refused_with_its_place() {
    let cases = [
        ("let a;\n  enum E { A }", "2:3 an enum"),
        ("namespace N { export const x = 1 }", "1:1 a namespace"),
        ("class A { constructor(private x: T) {} }", "1:23 a parameter"),
        ("import x = require('x')", "1:1 `import =`"),
        ("let a = <T>b", "1:9 a type in angle"),
    ];
    for (text, want) in cases {
        assert!(refused(text).starts_with(want), "{text}: {}", refused(text));
    }
    assert!(refused("let x: = 1").starts_with("1:8 "), "{}", refused("let x: = 1"));
    assert_eq!(
        strip("declare enum E { A }\ndeclare namespace N { }").as_deref(),
        Ok(";                   \n;                      ")
    );
}

#[test]
fn a_fence_is_blanks_too() {
    assert_eq!(strip("```ts\nlet x: T\n```").as_deref(), Ok("     \nlet x   \n   "));
}

proptest! {
    #[test]
    fn nothing_moves_and_nothing_panics(text in "[a-z<>(){}:;=?!,. \n\"'`éA0-9/*]{0,60}") {
        if let Ok(stripped) = strip(&text) {
            let lines = |it: &str| it.split('\n').map(|line| line.chars().count()).collect::<Vec<_>>();
            prop_assert_eq!(lines(&stripped), lines(&text));
        }
    }
}
