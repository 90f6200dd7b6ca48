//! What is run, in order: one clang for each source, then wasm-ld. WASI has no processes, so clang cannot start
//! its own linker, and its driver is of no use for more than one step.

use crate::line::{Part, Plan, Until};
use crate::source::{self, Language};

/// The compiler and the linker as the catalog's row `clang` registers them. The plain name is ours.
pub(crate) const CLANG: &str = "clang-22";
pub(crate) const LINKER: &str = "wasm-ld";

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) program: &'static str,
    pub(crate) args: Vec<String>,
    /// Reads our stdin.
    pub(crate) reads_stdin: bool,
}

/// Where files go that are in nobody's way: `/tmp`, or wherever there is room.
#[derive(Debug, Clone)]
pub(crate) struct Scratch {
    pub(crate) folder: String,
    /// Different for each run.
    pub(crate) number: u32,
}

impl Scratch {
    fn object(&self, index: usize) -> String {
        format!("{}/cc-{:08x}-{index}.o", self.folder, self.number)
    }

    /// Where the runtime's archive is put for the linker.
    pub(crate) fn runtime(&self) -> String {
        format!("{}/cc-{:08x}.a", self.folder, self.number)
    }
}

/// All that a plan needs: what to run, what to remove afterwards, and the program that comes of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) jobs: Vec<Job>,
    pub(crate) temporary: Vec<String>,
    pub(crate) program: Option<String>,
}

/// What libc takes as its promise that the program is linked with what stands in for an operating system.
const MACROS: [&str; 4] = [
    "-D_WASI_EMULATED_SIGNAL",
    "-D_WASI_EMULATED_PROCESS_CLOCKS",
    "-D_WASI_EMULATED_MMAN",
    "-D_WASI_EMULATED_GETPID",
];

/// `longjmp` by wasm's exceptions. Only a program that calls `setjmp` needs them to run.
const JUMPS: [&str; 4] = ["-mllvm", "-wasm-enable-sjlj", "-mllvm", "-wasm-use-legacy-eh=false"];

/// Where gcc warns and goes on, so do we; and of warnings that only gcc has, nothing is said.
const LENIENT: [&str; 7] = [
    "-Wno-error=implicit-function-declaration",
    "-Wno-error=implicit-int",
    "-Wno-error=int-conversion",
    "-Wno-error=incompatible-pointer-types",
    "-Wno-error=return-mismatch",
    "-Wno-unknown-warning-option",
    "-Wno-unused-command-line-argument",
];

/// Wasm's memory begins at address 0 and can be written there, so a null pointer has to be looked for; and a
/// division by zero would end the program without a signal. Where nobody asked for speed, it is looked.
const CHECKS: [&str; 3] =
    ["-fsanitize=null,integer-divide-by-zero", "-fsanitize-minimal-runtime", "-fno-sanitize-recover=all"];

const LIBRARIES: &str = "/usr/lib/wasm32-wasip1";
const BUILTINS: &str = "/usr/lib/wasm32-unknown-wasip1/libclang_rt.builtins.a";

/// As on most systems.
const STACK: &str = "stack-size=8388608";

/// The commands that a plan asks for.
pub(crate) fn work(plan: &Plan, scratch: &Scratch) -> Work {
    let mut work = Work { jobs: Vec::new(), temporary: Vec::new(), program: None };
    let mut linked = Vec::new();
    for (index, part) in plan.parts.iter().enumerate() {
        match part {
            Part::Linked(word) => linked.push(word.clone()),
            Part::Source { path, language, forced } => {
                let output = output(plan, path, index, scratch);
                if plan.until == Until::Program {
                    work.temporary.extend(output.clone());
                    linked.extend(output.clone());
                }
                work.jobs.push(compile(plan, path, *language, *forced, output));
            }
        }
    }
    if plan.until == Until::Program {
        let program = plan.output.clone().unwrap_or_else(|| "a.out".to_owned());
        work.jobs.push(link(plan, linked, &program, scratch));
        work.temporary.extend((!plan.bare).then(|| scratch.runtime()));
        work.program = Some(program);
    }
    work
}

/// Where a compilation's result goes; nothing for stdout, or where nothing is made.
fn output(plan: &Plan, path: &str, index: usize, scratch: &Scratch) -> Option<String> {
    let named =
        |ending: &str| plan.output.clone().or_else(|| Some(format!("{}.{ending}", source::stem(path))));
    match plan.until {
        Until::Program => Some(scratch.object(index)),
        Until::Object => named("o"),
        Until::Assembly => named("s"),
        Until::Preprocessed => plan.output.clone(),
        Until::Checked => None,
    }
}

fn compile(plan: &Plan, path: &str, language: Language, forced: bool, output: Option<String>) -> Job {
    let words = |list: &[&str]| list.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let cxx = language == Language::Cxx || (plan.cxx && language == Language::C);
    let mut args = match plan.until {
        Until::Program | Until::Object => words(&["-c"]),
        Until::Assembly => words(&["-S"]),
        Until::Preprocessed if plan.compile.iter().any(|it| it == "-M" || it == "-MM") => Vec::new(),
        Until::Preprocessed => words(&["-E"]),
        Until::Checked => Vec::new(),
    };
    args.extend(words(&LENIENT));
    args.extend(words(&MACROS));
    args.extend(words(&JUMPS));
    if cxx {
        args.extend(words(&["--driver-mode=g++", "-fno-exceptions"]));
    }
    if plan.checked {
        args.extend(words(&CHECKS));
    }
    args.extend(plan.compile.iter().cloned());
    // Names its dependencies after the object that was asked for, not after ours.
    let depends = plan.compile.iter().any(|it| it == "-MD" || it == "-MMD");
    if plan.until == Until::Program && depends && !plan.compile.iter().any(|it| it.starts_with("-MF")) {
        args.extend([String::from("-MF"), format!("{}.d", source::stem(path))]);
    }
    if !forced && path == "-" {
        args.extend(words(&["-x", "c"]));
    }
    args.push(path.to_owned());
    if let Some(output) = output {
        args.extend([String::from("-o"), output]);
    }
    Job { program: CLANG, args, reads_stdin: path == "-" }
}

fn link(plan: &Plan, parts: Vec<String>, program: &str, scratch: &Scratch) -> Job {
    let mut args: Vec<String> = vec!["-m".into(), "wasm32".into()];
    if !plan.link.iter().any(|it| it.starts_with("stack-size=")) {
        args.extend(["-z".into(), STACK.into()]);
    }
    // A stack that grows out of its room then meets the end of memory, and not the program's data.
    args.push("--stack-first".into());
    args.extend(plan.link.iter().cloned());
    args.push(format!("-L{LIBRARIES}"));
    if !plan.bare {
        args.push(format!("{LIBRARIES}/crt1-command.o"));
        args.extend(["-u".into(), "drydock_start".into()]);
    }
    args.extend(parts);
    if !plan.bare {
        args.push(scratch.runtime());
        if plan.cxx {
            args.extend(["-lc++".into(), "-lc++abi".into()]);
        }
        for library in [
            "c-printscan-long-double",
            "setjmp",
            "wasi-emulated-signal",
            "wasi-emulated-process-clocks",
            "wasi-emulated-mman",
            "wasi-emulated-getpid",
            "m",
            "c",
        ] {
            args.push(format!("-l{library}"));
        }
        args.push(BUILTINS.into());
    }
    args.extend(["-o".into(), program.to_owned()]);
    Job { program: LINKER, args, reads_stdin: false }
}

#[cfg(test)]
mod tests;
