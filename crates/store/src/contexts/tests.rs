//! Memory comes back as it was left, or not at all.

use drydock_contract::Digest;

use super::*;

fn contexts() -> (Contexts, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::open(folder.path()).unwrap();
    (Contexts::of(&home, "me".parse().unwrap()).unwrap(), folder)
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
fn a_damaged_file_is_an_error_and_nothing_worse() {
    let (contexts, _folder) = contexts();
    let (name, module): (WorkspaceName, _) = ("x".parse().unwrap(), Digest::of(b"module"));
    let mut memory = vec![7; 2 * PAGE];
    memory[0] = 1;
    contexts.save(&name, module, &memory).unwrap();
    let whole = std::fs::read(contexts.file(&name)).unwrap();
    for cut in [0, 7, 40, 47, 50] {
        std::fs::write(contexts.file(&name), &whole[..cut]).unwrap();
        assert!(contexts.load(&name, module).is_err(), "{cut}");
    }
    let mut far = whole.clone();
    far[48..52].copy_from_slice(&u32::MAX.to_le_bytes());
    std::fs::write(contexts.file(&name), &far).unwrap();
    assert!(contexts.load(&name, module).is_err());
}
