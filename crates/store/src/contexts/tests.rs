//! Memory comes back as it was left, or not at all.

use drydock_contract::Digest;

use super::*;
use crate::Home;

fn tenant(folder: &tempfile::TempDir, name: &str) -> TenantHome {
    Home::open(folder.path()).unwrap().tenant(&name.parse().unwrap())
}

fn contexts() -> (Contexts, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (Contexts::of(&tenant(&folder, "dev"), "me".parse().unwrap()).unwrap(), folder)
}

#[test]
fn memory_comes_back_as_it_was_left() {
    let (contexts, _folder) = contexts();
    let (name, module) = ("notes".parse().unwrap(), Digest::of(b"module"));
    assert_eq!(contexts.load(&name, module).unwrap(), None);
    let mut memory = vec![0; 10 * PAGE];
    (memory[5], memory[3 * PAGE], memory[10 * PAGE - 1]) = (1, 2, 3);
    contexts.save(&name, module, &memory).unwrap();
    assert_eq!(contexts.load(&name, module).unwrap(), Some(memory));
    assert!(std::fs::metadata(contexts.file(&name)).unwrap().len() < 4 * PAGE as u64);
    let refused = contexts.load(&name, Digest::of(b"another")).unwrap_err().to_string();
    let file = contexts.file(&name).display().to_string();
    assert!(refused.contains("another version of the guest") && refused.contains(&file), "{refused}");
    assert!(contexts.remove(&name).unwrap() && !contexts.remove(&name).unwrap());
}

#[test]
fn no_name_of_a_principal_leads_out_of_the_folder_or_to_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let home = tenant(&folder, "dev");
    let long = ".".repeat(128);
    let (name, module): (WorkspaceName, _) = ("notes".parse().unwrap(), Digest::of(b"module"));
    let mut files = Vec::new();
    for (at, who) in ["me", "../me", "a/../../me", "/etc/me", "me@notes", &long].into_iter().enumerate() {
        let contexts = Contexts::of(&home, who.parse().unwrap()).unwrap();
        contexts.save(&name, module, &[at as u8 + 1; PAGE]).unwrap();
        files.push(contexts.file(&name));
    }
    let inside = std::fs::read_dir(home.contexts()).unwrap().count();
    files.sort();
    files.dedup();
    assert_eq!((inside, files.len()), (6, 6), "{files:?}");
}

#[test]
fn a_damaged_file_is_an_error_and_nothing_worse() {
    let (contexts, _folder) = contexts();
    let (name, module): (WorkspaceName, _) = ("x".parse().unwrap(), Digest::of(b"module"));
    let mut memory = vec![7; 2 * PAGE];
    memory[0] = 1;
    contexts.save(&name, module, &memory).unwrap();
    let whole = std::fs::read(contexts.file(&name)).unwrap();
    for cut in [0, 7, 40, 47, 79, 80, 82, whole.len() - 1] {
        std::fs::write(contexts.file(&name), &whole[..cut]).unwrap();
        assert!(contexts.load(&name, module).is_err(), "{cut}");
    }
    // Every single byte counts: the head, the MAC, the page numbers and the pages.
    for at in [0, 8, 39, 40, 71, 72, 79, 80, 84, whole.len() - 1] {
        let mut bent = whole.clone();
        bent[at] ^= 1;
        std::fs::write(contexts.file(&name), &bent).unwrap();
        assert!(contexts.load(&name, module).is_err(), "{at}");
    }
    std::fs::write(contexts.file(&name), &whole).unwrap();
    assert_eq!(contexts.load(&name, module).unwrap(), Some(memory));
}

#[test]
fn a_context_of_another_name_principal_tenant_or_installation_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let home = tenant(&folder, "dev");
    let of = |who: &str| Contexts::of(&home, who.parse().unwrap()).unwrap();
    let (name, other): (WorkspaceName, WorkspaceName) = ("mine".parse().unwrap(), "yours".parse().unwrap());
    let module = Digest::of(b"module");
    of("ada").save(&name, module, &[1; PAGE]).unwrap();
    let file = |who: &str, name: &WorkspaceName| of(who).file(name);
    std::fs::copy(file("ada", &name), file("ada", &other)).unwrap();
    std::fs::copy(file("ada", &name), file("bob", &name)).unwrap();
    for (who, name) in [("ada", &other), ("bob", &name)] {
        let refused = of(who).load(name, module).unwrap_err().to_string();
        assert!(refused.contains("was changed, or is not of this installation"), "{refused}");
    }
    let elsewhere = tempfile::tempdir().unwrap();
    for other in [tenant(&elsewhere, "dev"), tenant(&folder, "acme")] {
        let other = Contexts::of(&other, "ada".parse().unwrap()).unwrap();
        other.save(&name, module, &[2; PAGE]).unwrap();
        std::fs::copy(file("ada", &name), other.file(&name)).unwrap();
        assert!(other.load(&name, module).is_err());
    }
    assert!(of("ada").load(&name, module).unwrap().is_some());
}
