//! Proofs for kept secrets: what comes back, what does not, and what lies on the disk.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use drydock_testkit::MemoryLedger;
use proptest::prelude::*;
use ring::signature::{ED25519, UnparsedPublicKey};

use super::*;

const CANARY: &[u8] = b"canary-value-0123456789";

fn vault(home: &Path) -> (Vault, Arc<MemoryLedger>) {
    let ledger = Arc::new(MemoryLedger::default());
    (Vault::new(&Home::open(home).unwrap(), Arc::clone(&ledger) as _), ledger)
}

fn name(text: &str) -> SecretName {
    text.parse().unwrap()
}

fn kept(vault: &Vault, tenant: &str, secret: &str, value: &[u8]) {
    vault.keep(&tenant.parse().unwrap(), &name(secret), &Zeroizing::new(value.to_vec())).unwrap();
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn a_kept_value_signs_by_hmac_as_everybody_else_does() {
    let folder = tempfile::tempdir().unwrap();
    let (vault, _) = vault(folder.path());
    // RFC 4231, test cases 1 and 4. Those with shorter keys than are kept here are left out.
    let counted: Vec<u8> = (1..=25).collect();
    for (key, data, want) in [
        (
            &[0x0b; 20][..],
            &b"Hi There"[..],
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
        ),
        (&counted, &[0xcd; 50], "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
    ] {
        kept(&vault, "dev", "KEY", key);
        let signed = vault.sign(&Tenant::default(), &name("KEY"), None, data).unwrap();
        assert_eq!((hex(&signed.bytes).as_str(), signed.public_key), (want, None));
    }
}

#[test]
fn a_key_pair_signs_by_ed25519_as_everybody_else_does() {
    let folder = tempfile::tempdir().unwrap();
    let (vault, _) = vault(folder.path());
    // RFC 8032, section 7.1, test 2.
    let seed = bytes("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
    let public = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
    let kind = Kind::Ed25519 { public_key: bytes(public).try_into().unwrap() };
    vault.put(&Tenant::default(), &name("ID"), kind, &seed).unwrap();
    let signed = vault.sign(&Tenant::default(), &name("ID"), None, &[0x72]).unwrap();
    let want = "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
                085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";
    assert_eq!(hex(&signed.bytes), want);
    assert_eq!(signed.public_key.map(|it| hex(&it)).as_deref(), Some(public));
}

#[test]
fn a_generated_key_signs_by_ed25519_and_shows_its_public_half_only() {
    let folder = tempfile::tempdir().unwrap();
    let (vault, ledger) = vault(folder.path());
    let shown = vault.generate(&Tenant::default(), &name("ID")).unwrap();
    let signed = vault.sign(&Tenant::default(), &name("ID"), None, b"text").unwrap();
    assert_eq!((signed.algorithm, signed.public_key), (SignAlgorithm::Ed25519, Some(shown)));
    UnparsedPublicKey::new(&ED25519, shown).verify(b"text", &signed.bytes).unwrap();
    let cell = ledger.cell(&Tenant::default(), "secret/ID").unwrap().unwrap();
    let told = KeptSecret { algorithm: SignAlgorithm::Ed25519, public_key: Some(shown) };
    assert_eq!(Vault::describe(&cell), Some(told));
    assert_eq!(vault.open_for_header(&Tenant::default(), &name("ID")).unwrap_err().code(), "unknown_secret");
}

#[test]
fn a_secret_is_its_tenants_and_signs_in_its_own_way() {
    let folder = tempfile::tempdir().unwrap();
    let (vault, _) = vault(folder.path());
    let (dev, other) = (Tenant::default(), "other".parse::<Tenant>().unwrap());
    kept(&vault, "dev", "KEY", CANARY);
    kept(&vault, "other", "KEY", b"another-value");
    vault.generate(&other, &name("ID")).unwrap();
    let sign = |tenant: &Tenant, secret: &str, algorithm| {
        vault.sign(tenant, &name(secret), algorithm, b"text").map(|it| it.bytes)
    };
    assert_ne!(sign(&dev, "KEY", None).unwrap(), sign(&other, "KEY", None).unwrap());
    assert_eq!(sign(&dev, "ID", None), Err(SignError::Unknown));
    let wrong = SignError::Algorithm(SignAlgorithm::HmacSha256);
    assert_eq!(sign(&dev, "KEY", Some(SignAlgorithm::Ed25519)), Err(wrong));
    assert!(sign(&other, "ID", Some(SignAlgorithm::Ed25519)).is_ok());
}

#[test]
fn a_cell_under_another_name_tenant_kind_or_key_opens_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (vault, ledger) = vault(folder.path());
    let (dev, other) = (Tenant::default(), "other".parse::<Tenant>().unwrap());
    kept(&vault, "dev", "KEY", CANARY);
    let cell = ledger.cell(&dev, "secret/KEY").unwrap().unwrap();
    ledger.swap(&dev, "secret/MOVED", None, Some(&cell)).unwrap();
    ledger.swap(&other, "secret/KEY", None, Some(&cell)).unwrap();
    let code = |tenant: &Tenant, secret: &str| {
        vault.open_for_header(tenant, &name(secret)).err().map(|it| it.code())
    };
    assert_eq!(code(&dev, "KEY"), None);
    assert_eq!(code(&dev, "MOVED"), Some("secret_damaged"));
    assert_eq!(code(&other, "KEY"), Some("secret_damaged"));
    let stranger = VaultKey::for_tests([7; 32]);
    assert!(Sealed::read(&cell).unwrap().open(&stranger, &dev, &name("KEY")).is_none());
    // A reference in the same place is none of ours.
    ledger.swap(&dev, "secret/REF", None, Some(b"env:KEY")).unwrap();
    assert_eq!(code(&dev, "REF"), Some("unknown_secret"));
}

#[test]
fn a_value_has_bounds_and_a_tenant_so_many() {
    let folder = tempfile::tempdir().unwrap();
    let (vault, ledger) = vault(folder.path());
    for (bytes, fits) in [(7, false), (8, true), (4096, true), (4097, false)] {
        let value = Zeroizing::new(vec![b'x'; bytes]);
        assert_eq!(vault.keep(&Tenant::default(), &name("KEY"), &value).is_ok(), fits, "{bytes}");
    }
    for number in 1..SECRETS_MAX {
        ledger.swap(&Tenant::default(), &format!("secret/S{number}"), None, Some(b"env:X")).unwrap();
    }
    let one_more = vault.generate(&Tenant::default(), &name("LAST"));
    assert_eq!(one_more.unwrap_err().code(), "too_many_secrets");
    // In the place of another is not one more.
    vault.generate(&Tenant::default(), &name("KEY")).unwrap();
}

#[test]
fn a_key_that_others_may_read_or_that_is_gone_is_an_error_and_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (first, ledger) = vault(folder.path());
    kept(&first, "dev", "KEY", CANARY);
    let path = folder.path().join("keys/secrets.key");
    let again = || Vault::new(&Home::open(folder.path()).unwrap(), Arc::clone(&ledger) as _);
    let code =
        |vault: &Vault| vault.open_for_header(&Tenant::default(), &name("KEY")).err().map(|it| it.code());
    assert_eq!(code(&again()), None);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(code(&again()), Some("secret_key_unavailable"));
    let refused = again().generate(&Tenant::default(), &name("ID"));
    assert_eq!(refused.unwrap_err().code(), "secret_key_unavailable");
    fs::remove_file(&path).unwrap();
    assert_eq!(code(&again()), Some("secret_key_unavailable"));
    assert!(!path.exists(), "looking makes no key");
    let signed = again().sign(&Tenant::default(), &name("KEY"), None, b"x").unwrap_err();
    let SignError::Unavailable { code, .. } = signed else { panic!("{signed}") };
    assert_eq!(code, "secret_key_unavailable");
}

#[test]
fn no_file_of_the_home_has_the_value_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::open(folder.path()).unwrap();
    let ledger = Arc::new(crate::SqliteLedger::of(&home));
    let vault = Vault::new(&home, ledger);
    kept(&vault, "dev", "KEY", CANARY);
    vault.sign(&Tenant::default(), &name("KEY"), None, CANARY).unwrap();
    kept(&vault, "dev", "KEY", b"something-else");
    let mut looked_at = 0;
    let mut folders = vec![folder.path().to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let bytes = fs::read(entry.path()).unwrap();
            looked_at += 1;
            assert!(!bytes.windows(CANARY.len()).any(|it| it == CANARY), "{:?}", entry.path());
        }
    }
    assert!(looked_at >= 3, "{looked_at}");
}

proptest! {
    #[test]
    fn any_cell_is_read_or_refused_and_a_flipped_bit_opens_nothing(
        value in proptest::collection::vec(any::<u8>(), 0..64),
        pair: bool,
        at: proptest::sample::Index,
        bit in 0u8..8,
        noise in proptest::collection::vec(any::<u8>(), 0..80),
    ) {
        let (key, dev) = (VaultKey::for_tests([3; 32]), Tenant::default());
        let kind = if pair { Kind::Ed25519 { public_key: [9; 32] } } else { Kind::Value };
        let mut cell = sealed::seal(&key, &dev, &name("KEY"), kind, &value).unwrap();
        let read = Sealed::read(&cell).unwrap();
        prop_assert_eq!(read.kind, kind);
        prop_assert_eq!(&**read.open(&key, &dev, &name("KEY")).unwrap(), &value);
        let at = at.index(cell.len());
        cell[at] ^= 1 << bit;
        if let Some(read) = Sealed::read(&cell) {
            prop_assert!(read.open(&key, &dev, &name("KEY")).is_none());
        }
        if let Some(read) = Sealed::read(&noise) {
            prop_assert!(read.open(&key, &dev, &name("KEY")).is_none());
        }
    }
}
