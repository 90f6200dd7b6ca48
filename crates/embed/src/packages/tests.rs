//! Proofs with wheels that are made here, by the guest that packs zip files.

use drydock_contract::{
    Meter,
    port::{Follow, TreePath},
};
use drydock_store::MemoryFiles;

use super::*;
use crate::Setup;

fn dock() -> (Dock, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    (Dock::open(home.path()).unwrap(), home)
}

fn tree() -> Arc<dyn Files> {
    let files = MemoryFiles::with(Arc::new(Meter::new(64 << 20)));
    files.create_dir_all("workspace").unwrap();
    Arc::new(files)
}

/// A wheel with these files besides its metadata.
async fn wheel(dock: &Dock, file: &str, members: &[(&str, &str)]) -> Wheel {
    let name = WheelName::parse(file).unwrap();
    let files = Arc::new(MemoryFiles::with(Arc::new(Meter::new(64 << 20))));
    let info = format!("{}-{}.dist-info", name.name, name.version);
    let metadata = (format!("{info}/METADATA"), format!("Name: {}\n", name.name));
    let own = [(metadata.0.as_str(), metadata.1.as_str())];
    for (path, text) in members.iter().chain(&own) {
        if let Some((directory, _)) = path.rsplit_once('/') {
            files.create_dir_all(directory).unwrap();
        }
        files.write(path, text.as_bytes()).unwrap();
    }
    let mut setup = Setup::allowing(["zip"]).unwrap();
    setup.files = Some(Arc::clone(&files) as _);
    setup.env = vec![("PWD".into(), "/".into())];
    let mut args = vec!["-q", "-r", "/made.zip"];
    args.extend(members.iter().map(|it| it.0).chain([metadata.0.as_str()]));
    let run = dock.session("me", setup).unwrap().run("zip", &args, "").await.unwrap();
    assert!(run.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let files: Arc<dyn Files> = files;
    let bytes = unpack::read(&*files, &TreePath::new("made.zip").unwrap()).unwrap();
    Wheel { file: file.into(), bytes }
}

struct Given(Vec<Wheel>);

impl WheelSource for Given {
    fn fetch(&self, _: Vec<Requirement>, _: bool) -> BoxFuture<'_, Result<Vec<Wheel>, String>> {
        Box::pin(async { Ok(self.0.clone()) })
    }
}

fn has(files: &Arc<dyn Files>, path: &str) -> bool {
    files.stat(&TreePath::new(path).unwrap(), Follow::No).is_ok()
}

#[tokio::test]
async fn a_pure_wheel_is_locked_unpacked_and_removed() {
    let (dock, _home) = dock();
    let files = tree();
    let packages = Packages::of(&dock, &files, "/workspace", Timestamp(0));
    let members =
        [("six.py", "x = 1\n"), ("pkg/a/__init__.py", ""), ("six-1.data/scripts/run", "#!python\n")];
    let given = Given(vec![wheel(&dock, "six-1.16.0-py2.py3-none-any.whl", &members).await]);
    let wanted = [Requirement::parse("six").unwrap()];
    let added = packages.add(&wanted, &given).await.unwrap();
    assert_eq!((added.len(), added[0].version.as_str(), added[0].is_wanted), (1, "1.16.0", true));
    let at = |path: &str| format!("workspace/{}/{path}", crate::SITE_PACKAGES);
    assert!(has(&files, &at("six.py")) && has(&files, &at("pkg/a/__init__.py")));
    assert!(!has(&files, &at("six-1.data/scripts/run")), "scripts are left out");
    assert!(has(&files, "workspace/drydock-py.lock"));
    assert_eq!(packages.list().unwrap().packages, added);
    // The same lock again wants the same bytes.
    assert_eq!(packages.add(&[], &given).await.unwrap(), added);
    let other = wheel(&dock, "six-1.16.0-py2.py3-none-any.whl", &[("six.py", "x = 2\n")]).await;
    let error = packages.add(&[], &Given(vec![other])).await.unwrap_err();
    assert_eq!(error.code(), "sha_mismatch");
    packages.remove("SIX").unwrap();
    assert!(!has(&files, &at("six.py")) && !has(&files, &at("pkg")));
    assert!(packages.list().unwrap().packages.is_empty());
    assert_eq!(packages.remove("six").unwrap_err().code(), "not_installed");
}

#[tokio::test]
async fn what_is_not_pure_python_is_refused_by_name_and_leaves_nothing() {
    let (dock, _home) = dock();
    let files = tree();
    let packages = Packages::of(&dock, &files, "workspace", Timestamp(0));
    let pure = |name: &str| format!("{name}-1.0-py3-none-any.whl");
    let cases = [
        ("native", "fast-1.0-cp312-cp312-linux_x86_64.whl".to_owned(), vec![], "native_wheel"),
        ("numpy", "numpy-1.0-cp312-cp312-linux_x86_64.whl".into(), vec![], "native_wheel"),
        ("a library inside", pure("sly"), vec![("sly/_x.so", "")], "native_wheel"),
        ("a pth", pure("hook"), vec![("hook.pth", "import os\n")], "bad_archive"),
        ("a hook", pure("hook"), vec![("sitecustomize.py", "import os\n")], "bad_archive"),
        ("a package as a hook", pure("hook"), vec![("usercustomize/__init__.py", "")], "bad_archive"),
    ];
    for (what, file, members, code) in cases {
        let given = Given(vec![wheel(&dock, &file, &members).await]);
        let error = packages.add(&[Requirement::parse("x").unwrap()], &given).await.unwrap_err();
        assert_eq!(error.code(), code, "{what}: {error}");
    }
    let error = packages.add(&[Requirement::parse("numpy").unwrap()], &Given(Vec::new())).await.unwrap_err();
    assert!(error.to_string().contains("python-data"), "{error}");
    let junk = Given(vec![Wheel { file: pure("junk"), bytes: Bytes::from_static(b"no zip") }]);
    let error = packages.add(&[Requirement::parse("junk").unwrap()], &junk).await.unwrap_err();
    assert_eq!(error.code(), "bad_archive", "{error}");
    assert!(!has(&files, "workspace/.drydock"), "nothing was written");
}

#[tokio::test]
async fn a_list_that_leads_out_removes_nothing_there() {
    let (dock, _home) = dock();
    let files = tree();
    let packages = Packages::of(&dock, &files, "workspace", Timestamp(0));
    let given = Given(vec![wheel(&dock, "six-1-py3-none-any.whl", &[("six.py", "")]).await]);
    packages.add(&[Requirement::parse("six").unwrap()], &given).await.unwrap();
    let now = Timestamp(0);
    let how =
        drydock_contract::port::OpenHow { write: true, create: true, truncate: true, ..Default::default() };
    let write = |path: &str, text: &str| {
        let file = files.open(&TreePath::new(path).unwrap(), how, now).unwrap();
        file.write_at(0, text.as_bytes(), now).unwrap();
    };
    write("workspace/mine", "1");
    write("workspace/.drydock/packages/six", "../../mine\n/six.py\nsix.py\n");
    packages.remove("six").unwrap();
    assert!(has(&files, "workspace/mine"));
}

#[tokio::test]
async fn a_list_or_a_lock_that_a_program_wrote_costs_no_more_than_its_length() {
    let (dock, _home) = dock();
    let memory = Arc::new(MemoryFiles::with(Arc::new(Meter::new(64 << 20))));
    let hash = "0".repeat(64);
    let row = |name: &str| {
        format!(r#"{{"name":"{name}","version":"1","sha256":"{hash}","file":"f","wanted":true}}"#)
    };
    let lock = |rows: &[String]| format!(r#"{{"version":1,"packages":[{}]}}"#, rows.join(","));
    memory.write("workspace/drydock-py.lock", lock(&[row("a")]).as_bytes()).unwrap();
    // Lines that are deeper than any package: each of their directories was remembered once.
    let deep = format!("{}x\n", "a/".repeat(2_000)).repeat(1_000);
    memory.write("workspace/.drydock/packages/a", deep.as_bytes()).unwrap();
    memory.write("workspace/.drydock/site-packages/pkg/in/x.py", b"1").unwrap();
    let files: Arc<dyn Files> = Arc::clone(&memory) as _;
    let packages = Packages::of(&dock, &files, "workspace", Timestamp(0));
    packages.remove("a").unwrap();

    memory.write("workspace/drydock-py.lock", lock(&[row("a")]).as_bytes()).unwrap();
    memory.write("workspace/.drydock/packages/a", b"pkg/in/x.py\n../../../secret\n").unwrap();
    packages.remove("a").unwrap();
    assert!(!has(&files, "workspace/.drydock/site-packages/pkg"), "empty directories go too");

    memory.write("workspace/drydock-py.lock", lock(&[row("a")]).as_bytes()).unwrap();
    memory.write("workspace/.drydock/packages/a", "x\n".repeat(20_001).as_bytes()).unwrap();
    assert!(packages.remove("a").is_err());
    let many: Vec<String> = (0..5_000).map(|at| row(&format!("p{at}"))).collect();
    memory.write("workspace/drydock-py.lock", lock(&many).as_bytes()).unwrap();
    assert!(packages.list().unwrap_err().to_string().contains("4096"));
    memory.write("workspace/drydock-py.lock", lock(&[row("a"), row("a")]).as_bytes()).unwrap();
    assert!(packages.list().unwrap_err().to_string().contains("twice"));
}
