//! `import` and TypeScript in `drydock js`, with the real binary.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Said, Shell};

/// A directory with these files, mounted at /w.
struct Project {
    shell: Shell,
    mount: String,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let shell = Shell::new();
        let folder = shell.path("project");
        for (name, text) in files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mount = format!("{}:/w", folder.display());
        Self { shell, mount }
    }

    fn run(&self, args: &[&str]) -> Said {
        self.shell.run(&[&["js", "--dir", &self.mount], args].concat())
    }

    fn file(&self, name: &str) -> String {
        self.shell.path("project").join(name).display().to_string()
    }
}

fn assert_said(said: &Said, want: &str) {
    assert_eq!((said.stdout.as_str(), said.status), (want, 0), "{}", said.stderr);
}

#[test]
fn files_are_imported_relative_to_the_program() {
    let project = Project::new(&[
        (
            "src/main.js",
            "import twice, { three as drei } from '../lib/a.js';\nimport * as all from '../lib/a.js';\nconst late = await import('../lib/b.js');\n[twice(4), drei, Object.keys(all), late.b]",
        ),
        ("lib/a.js", "import { b } from './b.js';\nexport default n => n * b;\nexport const three = 3;"),
        ("lib/b.js", "export const b = 2;"),
        ("data.json", "{\"n\": [1, {\"__proto__\": 2}]}"),
        (
            "cycle/a.js",
            "import { b } from './b.js'; export const a = () => b() + 1; export const name = 'a';",
        ),
        ("cycle/b.js", "import { name } from './a.js'; export const b = () => name.length;"),
    ]);
    assert_said(&project.run(&[&project.file("src/main.js")]), "[8,3,[\"default\",\"three\"],2]\n");
    assert_said(&project.run(&["-e", "import { b } from '/w/lib/b.js'; b"]), "2\n");
    assert_said(
        &project.run(&["-e", "import d from '/w/data.json' with { type: 'json' }; d.n.length"]),
        "2\n",
    );
    assert_said(
        &project.run(&["-e", "(await import('/w/data.json', { with: { type: 'json' } })).default.n[0]"]),
        "1\n",
    );
    assert_said(&project.run(&["-e", "import { a } from '/w/cycle/a.js'; a()"]), "2\n");
    assert_said(&project.run(&["-e", "import '/w/lib/b.js'; async () => 'called'"]), "\"called\"\n");
}

#[test]
fn an_import_that_cannot_be_says_why() {
    let project = Project::new(&[
        ("bad.js", "export const x = 1;\nlet y = ;"),
        ("throws.js", "\n  throw new Error('at load');"),
        ("plain.js", "export const here = 1"),
        ("data.json", "1"),
    ]);
    for (code, want) in [
        ("import x from '/w/missing.js'", "missing.js"),
        ("import x from 'lodash'", "begin the path with ./, ../ or /"),
        ("import x from 'node:fs'", "begin the path with ./, ../ or /"),
        ("import { gone } from '/w/plain.js'", "the module has no export 'gone'"),
        ("import '/w/bad.js'", "(/w/bad.js:2:"),
        ("import '/w/throws.js'", "at load (/w/throws.js:2:"),
        ("import d from '/w/data.json'", "with {type: 'json'}"),
        ("import d from '/w/data.json' with { type: 'css' }", "the only import attribute"),
        ("let a = 1;\nimport a from '/w/plain.js'", "-e:2:"),
    ] {
        let said = project.run(&["-e", code]);
        assert_eq!(said.status, 1, "{code}");
        assert!(said.stderr.contains(want), "{code}: {}", said.stderr);
    }
}

#[test]
fn an_import_is_a_call_of_files_read_at_the_gate() {
    let project = Project::new(&[("a.js", "export default 1")]);
    let code = "import a from '/w/a.js'; a";
    assert_said(&project.run(&["--allow-tool", "files.read", "-e", code]), "1\n");
    let said = project.run(&["--allow-tool", "commands.*", "-e", code]);
    assert!(said.status == 1 && said.stderr.contains("files.read"), "{}", said.stderr);
    let audit = project.shell.run(&["audit", "--denied", "--json"]);
    assert!(audit.stdout.contains("files.read"), "{}", audit.stdout);
    let child = project.run(&["--runner", "child", "-e", code]);
    assert!(child.stderr.contains("import is not available here"), "{}", child.stderr);
}

#[test]
fn imports_have_limits() {
    let deep: Vec<(String, String)> = (0..80)
        .map(|n| (format!("deep/{n}.js"), format!("import './{}.js'; export default {n}", n + 1)))
        .collect();
    let files: Vec<(&str, &str)> = deep.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let large = format!("export default '{}'", "x".repeat(9 << 20));
    let project =
        Project::new(&[&files[..], &[("large.js", &large), ("small.js", "export default 1")]].concat());
    let said = project.run(&["-e", "import '/w/deep/0.js'"]);
    assert!(said.stderr.contains("levels deep"), "{}", said.stderr);
    let said = project.run(&["-e", "import '/w/large.js'"]);
    assert!(said.stderr.contains("8388608 bytes together"), "{}", said.stderr);
    let bomb = "for (let i = 0; i < 1200; i++) await import('/w/./' + '../w/'.repeat(i % 2) + 'small.js?' + i).catch(e => { if (e.message.includes('may import')) throw e }); 'none'";
    let said = project.run(&["--timeout", "50s", "-e", bomb]);
    assert!(said.stderr.contains("a program may import 1000 files"), "{} {}", said.stdout, said.stderr);
}

#[test]
fn types_are_stripped_and_places_stay() {
    let project = Project::new(&[
        (
            "main.ts",
            "import { twice, type Num } from './lib.ts';\ninterface P { n: Num }\nconst p: P = { n: 21 };\ntwice(p.n as number)",
        ),
        ("lib.ts", "export type Num = number;\nexport function twice(n: Num): Num { return n * 2 }"),
        ("late.ts", "type A = 1;\nfunction f(x?: A): never {\n  throw new Error('late');\n}\nf()"),
        ("enum.ts", "export enum E { A }"),
        ("return.ts", "const x: number = 3;\nreturn x"),
    ]);
    assert_said(&project.run(&[&project.file("main.ts")]), "42\n");
    assert_said(&project.run(&[&project.file("return.ts")]), "3\n");
    assert_said(&project.run(&["--ts", "-e", "let n: number = 1; n"]), "1\n");
    assert_said(&project.run(&["-e", "import { twice } from '/w/lib.ts'; twice(4)"]), "8\n");
    let late = project.run(&[&project.file("late.ts")]);
    assert!(late.stderr.contains("late.ts:3:"), "{}", late.stderr);
    let plain = project.run(&["-e", "let n: number = 1"]);
    assert_eq!(plain.status, 1);
    let said = project.run(&["--ts", "-e", "let a;\n enum E { A }"]);
    assert!(
        said.stderr.contains("an enum is more than types") && said.stderr.contains("-e:2:2"),
        "{}",
        said.stderr
    );
    let said = project.run(&["-e", "import { E } from '/w/enum.ts'"]);
    assert!(
        said.stderr.contains("an enum is more than types") && said.stderr.contains("/w/enum.ts:1:8"),
        "{}",
        said.stderr
    );
}

#[test]
fn timers_and_time_are_the_sessions() {
    let shell = Shell::sharing();
    let code = "const t = Date.now(); await new Promise(f => setTimeout(f, 60e3)); [Date.now() - t, crypto.randomUUID()]";
    let run = || shell.run(&["js", "--now", "2026-01-01T00:00:00Z", "--seed", "7", "-e", code]);
    let said = run();
    assert!(said.stdout.starts_with("[60000,\""), "{} {}", said.stdout, said.stderr);
    assert_eq!(said.stdout, run().stdout);
    let real = shell.run(&[
        "js",
        "-e",
        "await new Promise(f => setTimeout(f, 20)); console.log('late'); typeof URL",
    ]);
    assert_eq!((real.stdout.as_str(), real.stderr.as_str()), ("\"function\"\n", "late\n"));
}
