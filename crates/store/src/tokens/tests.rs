//! Proofs for tokens: what is kept of one, when it ends, and what a ceiling holds back.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

const NOW: Timestamp = Timestamp(1_000_000_000_000);

fn home() -> (tempfile::TempDir, Tokens) {
    let temp = tempfile::tempdir().unwrap();
    let tokens = Tokens::of(&Home::open(temp.path()).unwrap());
    (temp, tokens)
}

fn add(tokens: &Tokens, expires: Option<Timestamp>) -> NewToken {
    tokens.add("acme".parse().unwrap(), Ceiling::default(), expires, NOW).unwrap()
}

#[test]
fn a_token_names_its_tenant_and_only_the_whole_of_it_does() {
    let (temp, tokens) = home();
    assert!(!tokens.any().unwrap() && tokens.find("dd_a_b", NOW).unwrap().is_none());
    let made = add(&tokens, None);
    let found = tokens.find(&made.text, NOW).unwrap().unwrap();
    assert_eq!((found.tenant.as_str(), &*found), ("acme", &made.token));
    let mut cut = made.text.clone();
    cut.pop();
    let other = add(&tokens, None);
    let mixed = format!("dd_{}_{}", made.token.id, other.text.rsplit('_').next().unwrap());
    for wrong in
        [&cut, &format!("{}0", made.text), &mixed, "", "dd", "dd_", "dd__", &made.token.id, &made.text[3..]]
    {
        assert!(tokens.find(wrong, NOW).unwrap().is_none(), "{wrong}");
    }
    // What lies on the disk lets nobody in, and is nobody else's to read.
    let path = temp.path().join("tokens.json");
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(!kept.contains(made.text.rsplit('_').next().unwrap()));
    assert!(tokens.find(&format!("dd_{}_{}", made.token.id, made.token.hash), NOW).unwrap().is_none());
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_token_ends_at_its_moment_and_when_it_is_removed_by_whichever_process() {
    let (_temp, tokens) = home();
    let made = add(&tokens, Some(NOW.plus(std::time::Duration::from_secs(1))));
    assert!(tokens.find(&made.text, NOW).unwrap().is_some());
    assert!(tokens.find(&made.text, NOW.plus(std::time::Duration::from_secs(1))).unwrap().is_none());
    let lasting = add(&tokens, None);
    let elsewhere = Tokens::of(&tokens.home);
    assert!(elsewhere.find(&lasting.text, NOW).unwrap().is_some());
    let fresh = add(&tokens, None);
    assert!(
        elsewhere.find(&fresh.text, NOW).unwrap().is_some(),
        "a new one is known at once, whoever made it"
    );
    tokens.remove(&fresh.text).unwrap();
    let gone = tokens.remove(&fresh.text).unwrap_err().to_string();
    let secret = fresh.text.rsplit('_').next().unwrap();
    assert!(gone.contains(&fresh.token.id) && !gone.contains(secret), "{gone}");
    tokens.remove(&lasting.token.id).unwrap();
    assert!(tokens.find(&lasting.text, NOW).unwrap().is_none());
    assert_eq!(tokens.remove(&lasting.token.id).unwrap_err().code(), "unknown_token");
    let began = Instant::now();
    while elsewhere.find(&lasting.text, NOW).unwrap().is_some() {
        assert!(began.elapsed() < std::time::Duration::from_secs(5), "it is heard of within a moment");
        std::thread::yield_now();
    }
}

#[test]
fn a_damaged_file_lets_nobody_in_and_is_left_as_it_is() {
    let (temp, tokens) = home();
    let made = add(&tokens, None);
    let path = temp.path().join("tokens.json");
    for damage in ["", "{", "[]", r#"{"version":2,"tokens":{}}"#, r#"{"version":1,"tokens":{"a":{}}}"#] {
        std::fs::write(&path, damage).unwrap();
        let fresh = Tokens::of(&tokens.home);
        assert_eq!(fresh.find(&made.text, NOW).unwrap_err().code(), "tokens_damaged", "{damage}");
        assert_eq!(fresh.any().unwrap_err().code(), "tokens_damaged");
        assert!(fresh.add("x".parse().unwrap(), Ceiling::default(), None, NOW).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), damage);
    }
}

#[test]
fn a_ceiling_comes_back_as_it_was_said() {
    let (_temp, tokens) = home();
    let ceiling = Ceiling {
        powers: Some(vec!["ext".into()]),
        hosts: vec!["api.example.com".into()],
        limits: CeilingLimits { timeout_ms: Some(9), memory_mb: None, in_flight: Some(2) },
    };
    let made = tokens.add("t".parse().unwrap(), ceiling.clone(), None, NOW).unwrap();
    let fresh = Tokens::of(&tokens.home);
    assert_eq!(fresh.find(&made.text, NOW).unwrap().unwrap().ceiling, ceiling);
}
