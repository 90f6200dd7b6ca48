//! Lines and words that a person types once a row is there, hostile ones among them: what each must print, how it must
//! end and what it must say. Every one has a directory of its own.

use std::{fs, path::Path, process::Command};

use super::py_cases::said;

/// One command of the binary.
struct Line {
    /// A sentence about what it proves.
    name: &'static str,
    /// Files of its directory.
    files: &'static [(&'static str, &'static str)],
    /// What follows `drydock`.
    words: &'static [&'static str],
    stdout: Stdout,
    status: i32,
    /// What must be in its stderr.
    stderr_has: &'static str,
}

enum Stdout {
    Is(&'static str),
    Has(&'static str),
    Bytes(usize),
}

use Stdout::{Bytes, Has, Is};

macro_rules! sh {
    ($line:expr) => {
        &["sh", "--dir", ".", "-c", $line]
    };
}

const A_GIGABYTE_OF_C: &str = "#include <stdio.h>\nint main(void) { static char b[1 << 20]; for (int i = 0; i < 1024; i++) \
                               if (fwrite(b, 1, sizeof b, stdout) != sizeof b) return 3; return 0; }\n";
const A_GIGABYTE_OF_PYTHON: &str =
    "import sys\nfor _ in range(1024):\n    sys.stdout.write('x' * (1 << 20))\n";
const CUT: &str = "output_limit: cut off after 64.0 MiB";

const PYTHON: &[Line] = &[
    Line {
        name: "a package that a line installs is imported by every kind of run of the line",
        files: &[("t.py", "import six\nprint(six.__name__)\n")],
        words: &[
            "sh",
            "--dir",
            ".",
            "--install-missing",
            "-c",
            "pip install six && python3 -c 'import six; print(six.PY3)' && python3 t.py && python3 -m t && python3 -u t.py \
             && PYTHONPATH=x python3 t.py",
        ],
        stdout: Has("True\nsix\nsix\nsix\nsix\n"),
        status: 0,
        stderr_has: "",
    },
    Line {
        name: "a package that another row carries is named, and the traceback is whole",
        files: &[],
        words: sh!("python3 -c 'import numpy'"),
        stdout: Is(""),
        status: 1,
        stderr_has: "  File \"<string>\", line 1, in <module>\nModuleNotFoundError: No module named 'numpy'\nnumpy is part of \
                     python-data: drydock catalog add python-data\n",
    },
    Line {
        name: "whoever asks whether it is there is told no",
        files: &[],
        words: sh!("python3 -c 'import importlib.util as u; print(u.find_spec(\"numpy\"))'"),
        stdout: Is("None\n"),
        status: 0,
        stderr_has: "",
    },
    Line {
        name: "a program is where the line is, also beside a directory of the same name",
        files: &[("a.txt", "right"), ("w/w/a.txt", "wrong"), ("w/a.txt", "right")],
        words: &[
            "sh",
            "--dir",
            "w:/w",
            "-c",
            "cd /w; python3 -c 'import os; print(os.getcwd(), open(\"a.txt\").read(), open(\"/w/a.txt\").read())'",
        ],
        stdout: Is("/w right right\n"),
        status: 0,
        stderr_has: "",
    },
    Line {
        name: "a script knows its own directory",
        files: &[
            ("d/s.py", "import os, sys\nprint(os.path.relpath(os.path.dirname(__file__)), sys.argv)\n"),
            ("e/x", ""),
        ],
        words: sh!("cd e; python3 ../d/s.py"),
        stdout: Is("../d ['../d/s.py']\n"),
        status: 0,
        stderr_has: "",
    },
    Line {
        name: "a gigabyte of output is cut where the line's output ends",
        files: &[("gb.py", A_GIGABYTE_OF_PYTHON)],
        words: sh!("python3 gb.py"),
        stdout: Bytes(64 << 20),
        status: 125,
        stderr_has: CUT,
    },
    Line {
        name: "drydock py has a limit of its own",
        files: &[("gb.py", A_GIGABYTE_OF_PYTHON)],
        words: &["py", "gb.py"],
        stdout: Bytes(8 << 20),
        status: 125,
        stderr_has: "output_limit: cut off after 8.0 MiB; --output-max allows more",
    },
    Line {
        name: "plain python has no fork",
        files: &[],
        words: sh!("python3 -c 'import os; os.fork()'"),
        stdout: Is(""),
        status: 1,
        stderr_has: "AttributeError: module 'os' has no attribute 'fork'",
    },
    Line {
        name: "and no /proc",
        files: &[],
        words: sh!("python3 -c 'open(\"/proc/self/status\")'"),
        stdout: Is(""),
        status: 1,
        stderr_has: "No such file or directory: '/proc/self/status'",
    },
    Line {
        name: "ten gigabytes at once are refused by the interpreter",
        files: &[],
        words: sh!("python3 -c 'bytearray(10 * 2**30)'"),
        stdout: Is(""),
        status: 1,
        stderr_has: "OverflowError",
    },
    Line {
        name: "and piece by piece by the limit",
        files: &[],
        words: sh!("python3 -c '[bytes(10**6) for _ in range(10**4)]'"),
        stdout: Is(""),
        status: 125,
        stderr_has: "out_of_memory: the limit is",
    },
    Line {
        name: "recursion ends as an error",
        files: &[("deep.py", "def f():\n    f()\nf()\n")],
        words: sh!("python3 deep.py"),
        stdout: Is(""),
        status: 1,
        stderr_has: "RecursionError: maximum recursion depth exceeded",
    },
    Line {
        name: "a loop in C code ends with its time",
        files: &[],
        words: &["run", "--timeout", "2s", "python3", "-c", "sum(range(10**12))"],
        stdout: Is(""),
        status: 124,
        stderr_has: "timed_out",
    },
    Line {
        name: "a catastrophic pattern too",
        files: &[],
        words: &["run", "--timeout", "2s", "python3", "-c", "import re; re.match('(a+)+b', 'a' * 50)"],
        stdout: Is(""),
        status: 124,
        stderr_has: "timed_out",
    },
    Line {
        name: "a package that is only to be had as native code is refused by name",
        files: &[],
        words: &["sh", "--dir", ".", "--install-missing", "-c", "pip install markupsafe"],
        stdout: Is(""),
        status: 1,
        stderr_has: "no wheel of it that is Python and nothing else",
    },
    Line {
        name: "drydock py runs a file with its own arguments",
        files: &[("p.py", "import sys\nprint(sys.argv)\n")],
        words: &["py", "p.py", "2026", "x"],
        stdout: Is("['p.py', '2026', 'x']\n"),
        status: 0,
        stderr_has: "",
    },
    Line {
        name: "a file's traceback has its own lines",
        files: &[("p.py", "def f(x):\n    return 1 / x\n\nf(0)\n")],
        words: &["py", "p.py"],
        stdout: Is(""),
        status: 1,
        stderr_has: "line 4, in <module>\n    f(0)\n",
    },
    Line {
        name: "files are read, written and listed by tools",
        files: &[("in.txt", "three\n")],
        words: &[
            "py",
            "--dir",
            ".",
            "-c",
            "files.write('out.txt', files.read('in.txt').upper())\n[open('out.txt').read(), sorted(it['name'] for it in files.list('.'))]",
        ],
        stdout: Is("[\"THREE\\n\", [\"in.txt\", \"out.txt\"]]\n"),
        status: 0,
        stderr_has: "",
    },
    Line {
        name: "a workspace keeps what a program writes",
        files: &[],
        words: &["py", "--workspace", "kept", "-c", "open('n', 'w').write('1')"],
        stdout: Is("1\n"),
        status: 0,
        stderr_has: "",
    },
    Line {
        name: "and the next one of it reads it",
        files: &[],
        words: &["py", "--workspace", "kept", "-c", "open('n').read()"],
        stdout: Is("\"1\"\n"),
        status: 0,
        stderr_has: "",
    },
    Line {
        name: "what a program asked its tools for is in the audit",
        files: &[],
        words: &["audit"],
        stdout: Has("files.write"),
        status: 0,
        stderr_has: "",
    },
];

const CLANG: &[Line] = &[
    Line {
        name: "a file of the machine is not there to be included",
        files: &[("p.c", "#include \"/etc/passwd\"\nint main(void) { return 0; }\n")],
        words: sh!("gcc p.c"),
        stdout: Is(""),
        status: 1,
        stderr_has: "fatal error: '/etc/passwd' file not found",
    },
    Line {
        name: "nor for a command that is built",
        files: &[("p.c", "#include \"/etc/passwd\"\nint main(void) { return 0; }\n")],
        words: &["build", "c", "p.c"],
        stdout: Is(""),
        status: 1,
        stderr_has: "'/etc/passwd' file not found",
    },
    Line {
        name: "an include without end is an error",
        files: &[("self.c", "#include \"self.c\"\n")],
        words: sh!("gcc self.c"),
        stdout: Is(""),
        status: 1,
        stderr_has: "error: #include nested too deeply",
    },
    Line {
        name: "a template without end ends its compiler and nothing else",
        files: &[(
            "t.cpp",
            "template <int N> struct T { static const int v = T<N + 1>::v; };\nint main() { return T<0>::v; }\n",
        )],
        words: sh!("g++ t.cpp; s=$?; echo still here; exit $s"),
        stdout: Is("still here\n"),
        status: 1,
        stderr_has: "",
    },
    Line {
        name: "a gigabyte of a C program's output is cut where the line's output ends",
        files: &[("gb.c", A_GIGABYTE_OF_C)],
        words: sh!("gcc gb.c -o gb && ./gb"),
        stdout: Bytes(64 << 20),
        status: 125,
        stderr_has: CUT,
    },
    Line {
        name: "and flows through a pipe as ever",
        files: &[("gb.c", A_GIGABYTE_OF_C)],
        words: sh!("gcc gb.c -o gb && ./gb | wc -c"),
        stdout: Is("1073741824\n"),
        status: 0,
        stderr_has: "",
    },
    Line {
        name: "several files, a library and definitions become one program",
        files: &[
            ("inc/add.h", "int add(int, int);\n"),
            ("add.c", "#include \"add.h\"\nint add(int a, int b) { return a + b + BIAS; }\n"),
            (
                "main.c",
                "#include <stdio.h>\n#include \"add.h\"\nint main(void) { printf(\"%d\\n\", add(1, 2)); return 0; }\n",
            ),
        ],
        words: sh!(
            "gcc -Iinc -DBIAS=39 -c add.c && ar rcs libadd.a add.o && gcc -Iinc main.c -L. -ladd -o p && ./p"
        ),
        stdout: Is("42\n"),
        status: 0,
        stderr_has: "",
    },
];

const JS: &[Line] = &[
    Line {
        name: "JavaScript of two files becomes a command",
        files: &[
            (
                "k.js",
                "import { twice } from './lib.js';\nconsole.log(twice(21), process.argv.slice(2).join(','));\n",
            ),
            ("lib.js", "export const twice = (n) => n * 2;\n"),
        ],
        words: &["build", "js", "k.js", "-o", "twice-js"],
        stdout: Has("built twice-js"),
        status: 0,
        stderr_has: "",
    },
    Line {
        name: "which runs with its arguments",
        files: &[],
        words: &["run", "twice-js", "x", "y"],
        stdout: Is("42 x,y\n"),
        status: 0,
        stderr_has: "",
    },
    Line {
        name: "TypeScript too",
        files: &[(
            "k.ts",
            "interface Row { name: string; n: number }\nconst rows: Row[] = [{ name: 'a', n: 1 }, { name: 'b', n: 2 }];\n\
             console.log(rows.map((it): string => `${it.name}=${it.n}`).join(' '));\n",
        )],
        words: &["build", "ts", "k.ts", "-o", "rows-ts"],
        stdout: Has("built rows-ts"),
        status: 0,
        stderr_has: "",
    },
    Line {
        name: "which runs in a line",
        files: &[],
        words: &["sh", "-c", "rows-ts | tr ' ' '\\n'"],
        stdout: Is("a=1\nb=2\n"),
        status: 0,
        stderr_has: "",
    },
];

/// Runs the lines that belong to a row; answers what went otherwise.
pub(super) fn run(binary: &Path, home: &Path, row: &str) -> anyhow::Result<Vec<String>> {
    let lines = match row {
        "python" => PYTHON,
        "clang" => CLANG,
        "esbuild" => JS,
        _ => return Ok(Vec::new()),
    };
    let mut failed = Vec::new();
    for line in lines {
        let scratch = tempfile::tempdir()?;
        for (path, text) in line.files {
            let path = scratch.path().join(path);
            fs::create_dir_all(path.parent().unwrap_or(scratch.path()))?;
            fs::write(path, text)?;
        }
        let mut command = Command::new(binary);
        command.args(line.words).current_dir(scratch.path()).env("DRYDOCK_HOME", home);
        let (stdout, stderr, status) = said(&mut command, "")?;
        let is_said = match line.stdout {
            Is(want) => stdout == want,
            Has(want) => stdout.contains(want),
            Bytes(want) => stdout.len() == want,
        };
        if !is_said || status != Some(line.status) || !stderr.contains(line.stderr_has) {
            let stdout: String = stdout.chars().take(2000).collect();
            failed.push(format!("{}: status {status:?}, stdout {stdout:?}, stderr {stderr:?}", line.name));
        }
    }
    println!("{row}: {} of {} lines", lines.len() - failed.len(), lines.len());
    Ok(failed)
}
