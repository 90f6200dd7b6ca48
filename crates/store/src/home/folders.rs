//! Which tenants keep something in a home, and how many bytes. Reads names and sizes, and opens nothing of a tenant's.

use std::{fs, io, path::Path};

use drydock_contract::Tenant;

use super::{
    Home, TenantHome,
    read::{open_regular, read_capped},
};

/// The longest name of a tenant, and the end of its line.
const NAME_BYTES_MAX: u64 = 130;

impl Home {
    /// The tenants that have a folder, by name, and the folders of which nobody can say whose they are: a process that was
    /// killed while it made one may have left it without a name.
    pub fn all_tenants(&self) -> io::Result<(Vec<Tenant>, Vec<String>)> {
        let (mut tenants, mut nameless) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(self.tenants())? {
            let entry = entry?;
            // What is no folder was not put there by us.
            if !entry.file_type()?.is_dir() {
                continue;
            }
            let folder = entry.file_name().to_string_lossy().into_owned();
            match tenant_of(&entry.path(), &folder) {
                Some(tenant) => tenants.push(tenant),
                None => nameless.push(folder),
            }
        }
        tenants.sort();
        nameless.sort();
        Ok((tenants, nameless))
    }
}

impl TenantHome {
    /// Bytes of all files below the tenant's folder, and of those the bytes of its audit journal.
    pub fn held_bytes(&self) -> (u64, u64) {
        (bytes_below(self.root()), bytes_below(&self.audit()))
    }
}

/// A plain folder is called as its tenant is; any other has a file that says it. What says another's name is believed
/// neither way.
fn tenant_of(path: &Path, folder: &str) -> Option<Tenant> {
    let said = || {
        let (file, length) = open_regular(&path.join("tenant"), NAME_BYTES_MAX).ok()?;
        let bytes = read_capped(&file, length, NAME_BYTES_MAX).ok()?;
        String::from_utf8(bytes).ok()?.trim_end().parse::<Tenant>().ok()
    };
    let plain = folder.parse::<Tenant>().ok();
    [plain, said()].into_iter().flatten().find(|it| it.folder() == folder)
}

/// Links are not followed, and what vanishes meanwhile does not count.
fn bytes_below(directory: &Path) -> u64 {
    let mut open = vec![directory.to_owned()];
    let mut bytes = 0_u64;
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(facts) if facts.is_dir() => open.push(entry.path()),
                Ok(facts) if facts.is_file() => bytes = bytes.saturating_add(facts.len()),
                _ => {}
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tenant_with_a_folder_is_known_whatever_it_is_called() {
        let temp = tempfile::tempdir().unwrap();
        let home = Home::open(temp.path()).unwrap();
        assert_eq!(home.all_tenants().unwrap(), (vec![], vec![]));
        let mut names: Vec<Tenant> =
            ["dev", "..", "../../etc", "DEV", "-rf", "acme-2"].map(|it| it.parse().unwrap()).to_vec();
        names.sort();
        for tenant in &names {
            let tenant = home.tenant(tenant);
            tenant.make(&tenant.audit()).unwrap();
            fs::write(tenant.audit().join("x"), "12345").unwrap();
        }
        // Folders without a name, with a name that is none, and with somebody else's; a link and a file.
        let folders = home.tenants();
        let nameless = ["_0123456789abcdef0123456789abcdef", "_1", "_2", "UPPER"];
        for (name, says) in nameless.iter().zip([None, Some("a b\n"), Some("acme-2\n"), None]) {
            fs::create_dir(folders.join(name)).unwrap();
            if let Some(says) = says {
                fs::write(folders.join(name).join("tenant"), says).unwrap();
            }
        }
        fs::write(folders.join("file"), "").unwrap();
        std::os::unix::fs::symlink(folders.join("dev"), folders.join("linked")).unwrap();
        let (tenants, unknown) = home.all_tenants().unwrap();
        assert_eq!(tenants, names);
        let mut want = nameless.map(str::to_owned).to_vec();
        want.sort();
        assert_eq!(unknown, want);
        let dev = home.tenant(&Tenant::default());
        assert_eq!(dev.held_bytes(), (5, 5));
        // A circle of links is not walked.
        std::os::unix::fs::symlink(dev.root(), dev.root().join("around")).unwrap();
        assert_eq!(dev.held_bytes(), (5, 5));
    }
}
