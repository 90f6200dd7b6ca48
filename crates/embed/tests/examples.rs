//! Every example does what it says. A file of `examples/` that is not named here fails the test.
#![allow(clippy::unwrap_used, dead_code, unreachable_pub)]

macro_rules! examples {
    ($($name:ident $path:literal $want:literal,)*) => {
        $(
            #[path = $path]
            mod $name;

            #[tokio::test]
            async fn $name() {
                let home = tempfile::tempdir().unwrap();
                assert_eq!($name::example(home.path()).await.unwrap(), $want);
            }
        )*

        #[test]
        fn every_example_is_run() {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
            let mut files: Vec<_> = std::fs::read_dir(folder).unwrap()
                .map(|it| it.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
                .collect();
            files.sort();
            let mut named = vec![$(stringify!($name)),*];
            named.sort();
            assert_eq!(files, named);
        }
    };
}

examples! {
    closure "../examples/closure.rs" "15",
    describe "../examples/describe.rs" "10 \"sh\" \"ih\\n\"",
    exec "../examples/exec.rs" "2 to",
    files "../examples/files.rs" "2",
    limits "../examples/limits.rs" "124 timed_out, 125 output_limit",
    run "../examples/run.rs" "ada",
    stream "../examples/stream.rs" "1, Stdout out, Stderr err, status 3",
    workspace "../examples/workspace.rs" r#"["note"] ["project/a.txt"] "one\ntwo\n""#,
}
