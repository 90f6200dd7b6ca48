//! What a runner is told of a provider: names, types and descriptions. No closure, client or secret.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::members::Members;

/// One provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The namespace in the guest.
    pub name: Arc<str>,
    /// Its TypeScript declarations.
    pub types: Arc<str>,
    /// Its tools by the key the guest calls them by, in order.
    pub tools: Vec<(Arc<str>, ManifestTool)>,
}

/// One tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestTool {
    /// The name that is safe in JavaScript.
    pub safe_name: Arc<str>,
    /// The name its owner gave it.
    pub original_name: Arc<str>,
    /// What it is for.
    pub description: Option<Arc<str>>,
}

/// A list of manifests, or nothing if one of them is not well formed.
pub(super) fn list(raw: &RawValue) -> Option<Vec<Manifest>> {
    let items: Vec<&RawValue> = serde_json::from_str(raw.get()).ok()?;
    items.into_iter().map(manifest).collect()
}

fn manifest(raw: &RawValue) -> Option<Manifest> {
    let members = Members::of(raw.get())?;
    let mut tools: Vec<(Arc<str>, ManifestTool)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for (key, value) in Members::of(members.get("tools")?.get())?.into_iter() {
        let key: Arc<str> = key.into();
        let tool = tool(value)?;
        // A key that comes twice counts once, with its last value, as in JavaScript.
        match places.get(&key) {
            Some(at) => tools[*at] = (key, tool),
            None => {
                places.insert(Arc::clone(&key), tools.len());
                tools.push((key, tool));
            }
        }
    }
    Some(Manifest { name: members.text("name")?, types: members.text("types")?, tools })
}

fn tool(raw: &RawValue) -> Option<ManifestTool> {
    let members = Members::of(raw.get())?;
    let description = match members.get("description") {
        None => None,
        Some(_) => Some(members.text("description")?),
    };
    Some(ManifestTool {
        safe_name: members.text("safeName")?,
        original_name: members.text("originalName")?,
        description,
    })
}
