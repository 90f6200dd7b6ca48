//! Compiles QuickJS, with our doors into it, as one C file.
//!
//! The C sources are those of the crate `rquickjs-sys`, as the lock file pins it. It is a build dependency
//! so that cargo fetches and verifies it; its own library is not linked, because `native/engine.c`
//! needs the parser's inner functions and so must be compiled together with it.

use std::{env, error::Error, fs, path::PathBuf, process::Command};

/// Enough that a small program never has to grow it. Every page costs a look at the end of a run.
const INITIAL_MEMORY_BYTES: u32 = 2 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    for file in [
        "build.rs",
        "native/engine.c",
        "native/globals.c",
        "native/heap.c",
        "native/import.c",
        "native/import_statement.c",
        "native/plain_json.c",
        "native/seal.c",
    ] {
        println!("cargo::rerun-if-changed={file}");
    }
    let quickjs = quickjs_folder()?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let source = fs::read_to_string(quickjs.join("quickjs.c"))?;
    fs::write(out.join("quickjs.c"), guarded(source))?;
    let mut build = cc::Build::new();
    build
        .file("native/engine.c")
        .file(quickjs.join("libregexp.c"))
        .file(quickjs.join("libunicode.c"))
        .file(quickjs.join("dtoa.c"))
        .include(&out)
        .include(&quickjs)
        .define("_GNU_SOURCE", None)
        .define("NDEBUG", None)
        .warnings(false)
        .opt_level(3);
    if env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|it| it == "wasm") {
        // What rquickjs-sys says of this platform: no computed goto, no rounding modes.
        build.define("EMSCRIPTEN", "1").define("FE_DOWNWARD", "0").define("FE_UPWARD", "0");
        println!("cargo::rustc-link-arg-bins=--initial-memory={INITIAL_MEMORY_BYTES}");
        // Names of functions, which nobody reads.
        println!("cargo::rustc-link-arg-bins=--strip-all");
    }
    build.compile("quickjs_with_doors");
    Ok(())
}

/// Looks at the stack where QuickJS does not, or not early enough: a frame of its parsers takes several
/// times as much of the machine's stack as of the one in memory. See `PARSER_RESERVE_BYTES` in engine.c.
/// One asks for randomness where there is none yet; the last ones send imports to `native/import.c`, without
/// the pointers that QuickJS would keep for it.
const GUARDS: &[(&str, &str)] = &[
    (
        "int js_parse_unary(JSParseState *s, int parse_flags)\n{\n    int op;\n",
        "int js_parse_unary(JSParseState *s, int parse_flags)\n{\n    int op;\n\n    PARSER_GUARD(s)\n",
    ),
    (
        "int js_parse_assign_expr2(JSParseState *s, int parse_flags)\n{\n    int opcode, op, scope;\n    JSAtom name0 = JS_ATOM_NULL;\n    JSAtom name;\n",
        "int js_parse_assign_expr2(JSParseState *s, int parse_flags)\n{\n    int opcode, op, scope;\n    JSAtom name0 = JS_ATOM_NULL;\n    JSAtom name;\n\n    PARSER_GUARD(s)\n",
    ),
    (
        "int next_token(JSParseState *s)\n{\n    const uint8_t *p, *p_next;\n    int c;\n    bool ident_has_escape;\n    JSAtom atom;\n\n    if (js_check_stack_overflow(s->ctx->rt, 1000))",
        "int next_token(JSParseState *s)\n{\n    const uint8_t *p, *p_next;\n    int c;\n    bool ident_has_escape;\n    JSAtom atom;\n\n    if (js_check_stack_overflow(s->ctx->rt, PARSER_RESERVE_BYTES))",
    ),
    (
        "    return js_check_stack_overflow(ctx->rt, alloca_size);\n",
        "    return js_check_stack_overflow(ctx->rt, alloca_size + PARSER_RESERVE_BYTES);\n",
    ),
    (
        "            /* in case the function expects one argument */\n            if (argc == 0) {\n",
        "            if (js_check_stack_overflow(ctx->rt, 0)) {\n                JS_ThrowStackOverflow(ctx);\n                *pdone = false;\n                return JS_EXCEPTION;\n            }\n            if (argc == 0) {\n",
    ),
    (
        "    v = xorshift64star(&ctx->random_state);\n    /* 1.0 <= u.d < 2 */\n",
        "    if (!ctx->random_state)\n        ctx->random_state = session_random();\n    v = xorshift64star(&ctx->random_state);\n    /* 1.0 <= u.d < 2 */\n",
    ),
    (
        "    if (!rt->normalize_u.module_normalize_func && !rt->normalize_u.module_normalize_func2) {\n        cname = js_default_module_normalize_name(ctx, base_cname, cname1);\n",
        "    if (1) {\n        cname = import_resolve(ctx, base_cname, cname1);\n",
    ),
    (
        "    /* load the module */\n    if (!rt->u.module_loader_func) {\n",
        "    m = import_load(ctx, cname, attributes);\n    js_free(ctx, cname);\n    if (m && JS_IsObject(attributes) && JS_IsUndefined(m->attributes))\n        m->attributes = js_dup(attributes);\n    return m;\n    if (!rt->u.module_loader_func) {\n",
    ),
    (
        "                if (type == JS_THROW_ERROR_ITERATOR_THROW)\n",
        "                if (type == THROW_NO_EXPORT)\n                    import_throw_no_export(ctx, atom);\n                else\n                if (type == JS_THROW_ERROR_ITERATOR_THROW)\n",
    ),
];

/// QuickJS asks its embedder for memory through pointers, and takes it in pieces of one size. Ours is the only
/// embedder, and chooses the size: see `engine_seal` in engine.c.
const HEAP: &[(&str, &str)] = &[
    ("#define JS_ARENA_SIZE              4096\n", "#define JS_ARENA_SIZE              arena_bytes\n"),
    ("rt->mf.js_malloc(", "heap_malloc("),
    ("rt->mf.js_calloc(", "heap_calloc("),
    ("rt->mf.js_realloc(", "heap_realloc("),
    ("rt->mf.js_free(", "heap_free("),
    ("rt->mf.js_malloc_usable_size(", "heap_usable_size("),
];

fn guarded(mut source: String) -> String {
    for (before, after) in GUARDS {
        assert_eq!(source.matches(before).count(), 1, "quickjs.c has changed: {before}");
        source = source.replacen(before, after, 1);
    }
    for (before, after) in HEAP {
        assert!(source.contains(before), "quickjs.c has changed: {before}");
        source = source.replace(before, after);
    }
    source
}

/// Where cargo unpacked the crate.
fn quickjs_folder() -> Result<PathBuf, Box<dyn Error>> {
    let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let (host, target) = (env::var("HOST").unwrap_or_default(), env::var("TARGET").unwrap_or_default());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(["--filter-platform", &target, "--filter-platform", &host])
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let manifest = text
        .split("\"manifest_path\":\"")
        .filter_map(|rest| rest.split('"').next())
        .find(|path| path.contains("rquickjs-sys-") && path.ends_with("Cargo.toml"))
        .ok_or_else(|| format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)))?;
    Ok(PathBuf::from(manifest).with_file_name("quickjs"))
}
