//! Providers: namespaces of tools, their names made safe and their schemas compiled when they are made.

use std::{collections::HashMap, sync::Arc};

use drydock_contract::{BoxFuture, FailureCode, ToolAnswer, ToolFailure, ToolRequest, Tools};
use serde_json::Value;

use super::{
    BadNamespace, Tool, check_namespace, safe_names,
    schema::{Phase, Schema},
    turn::Turns,
};
use crate::{
    protocol::{Manifest, ManifestTool},
    types,
};

/// Why tools cannot be offered like this.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadProvider {
    /// A namespace cannot have this name.
    #[error(transparent)]
    Namespace(#[from] BadNamespace),
    /// Two providers have the same name.
    #[error("Duplicate provider namespace: {0}")]
    Duplicate(String),
    /// A schema cannot be used.
    #[error("Unsupported {phase} schema for tool {tool}: {why}")]
    Schema {
        /// The tool's own name.
        tool: String,
        /// `input` or `output`.
        phase: &'static str,
        /// What is wrong with it.
        why: String,
    },
}

/// How large a tool's result may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProviderLimits {
    /// Bytes of its JSON.
    pub result_bytes_max: usize,
    /// Levels of nesting.
    pub result_depth_max: usize,
}

impl Default for ProviderLimits {
    fn default() -> Self {
        Self { result_bytes_max: 16 << 20, result_depth_max: 1_000 }
    }
}

/// A tool that is ready to be called.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) tool: Tool,
    pub(super) safe_name: Arc<str>,
    pub(super) input: Option<Arc<Schema>>,
    pub(super) output: Option<Arc<Schema>>,
    pub(super) turns: Option<Arc<Turns>>,
}

/// One namespace of tools.
#[derive(Debug)]
pub struct Provider {
    manifest: Manifest,
    tools: HashMap<Arc<str>, Ready>,
    limits: ProviderLimits,
}

impl Provider {
    /// A namespace with these tools. Names are made safe in their order; a schema that cannot be used is an
    /// error.
    pub fn new(namespace: &str, tools: Vec<Tool>) -> Result<Self, BadProvider> {
        let provider = Self::compiled_late(namespace, tools)?;
        provider.compile()?;
        Ok(provider)
    }

    /// The same, with schemas that are compiled when a tool is first called. For schemas that are known to be
    /// good: one that is not refuses every value.
    pub fn compiled_late(namespace: &str, tools: Vec<Tool>) -> Result<Self, BadProvider> {
        check_namespace(namespace)?;
        let names = safe_names(tools.iter().map(|tool| &*tool.original_name));
        let mut ready = HashMap::new();
        let mut declared = Vec::new();
        let mut listed = Vec::new();
        let mut schemas = Schemas::default();
        for (tool, name) in tools.into_iter().zip(names) {
            let safe_name: Arc<str> = name.into();
            let (input, output) = (schemas.get(tool.input.as_ref()), schemas.get(tool.output.as_ref()));
            declared.push(types::Declared {
                name: Arc::clone(&safe_name),
                description: tool.description.clone(),
                input: tool.input.clone(),
                output: tool.output.clone(),
            });
            let entry = ManifestTool {
                safe_name: Arc::clone(&safe_name),
                original_name: Arc::clone(&tool.original_name),
                description: tool.description.clone(),
            };
            listed.push((Arc::clone(&safe_name), entry));
            let turns = tool.running_max.map(Turns::new);
            ready.insert(Arc::clone(&safe_name), Ready { tool, safe_name, input, output, turns });
        }
        let types = types::namespace(namespace, &declared).into();
        let manifest = Manifest { name: namespace.into(), types, tools: listed };
        Ok(Self { manifest, tools: ready, limits: ProviderLimits::default() })
    }

    /// Compiles every schema that is not compiled yet, or says which cannot be used.
    pub fn compile(&self) -> Result<(), BadProvider> {
        for ready in self.manifest.tools.iter().filter_map(|(name, _)| self.tools.get(name)) {
            for (phase, schema) in [(Phase::Input, &ready.input), (Phase::Output, &ready.output)] {
                let Some(Err(why)) = schema.as_ref().map(|it| it.compile()) else { continue };
                let tool = ready.tool.original_name.to_string();
                return Err(BadProvider::Schema { tool, phase: phase.as_str(), why });
            }
        }
        Ok(())
    }

    /// With declarations written by hand instead of those made from the schemas.
    #[must_use]
    pub fn declared_as(mut self, types: &str) -> Self {
        self.manifest.types = types.into();
        self
    }

    /// With other limits.
    #[must_use]
    pub fn within(self, limits: ProviderLimits) -> Self {
        Self { limits, ..self }
    }

    /// What a runner is told of it.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }
}

/// Schemas by their text: tools that say the same share one.
#[derive(Default)]
struct Schemas(HashMap<String, Arc<Schema>>);

impl Schemas {
    fn get(&mut self, schema: Option<&Arc<Value>>) -> Option<Arc<Schema>> {
        let schema = schema?;
        let known = self.0.entry(schema.to_string());
        Some(Arc::clone(known.or_insert_with(|| Arc::new(Schema::new(Arc::clone(schema))))))
    }
}

/// The providers of one program.
#[derive(Debug, Default)]
pub struct Providers(HashMap<Arc<str>, Provider>, Arc<[Manifest]>);

impl Providers {
    /// All of these. No two may have the same name.
    pub fn new(providers: impl IntoIterator<Item = Provider>) -> Result<Self, BadProvider> {
        let (mut all, mut manifests) = (HashMap::new(), Vec::new());
        for provider in providers {
            let name = Arc::clone(&provider.manifest.name);
            if all.contains_key(&name) {
                return Err(BadProvider::Duplicate(name.to_string()));
            }
            manifests.push(provider.manifest.clone());
            all.insert(name, provider);
        }
        Ok(Self(all, manifests.into()))
    }

    /// What a runner is told of them, in order.
    pub fn manifests(&self) -> &Arc<[Manifest]> {
        &self.1
    }

    /// Their declarations, one after the other.
    pub fn types(&self) -> String {
        self.1.iter().map(|it| &*it.types).collect::<Vec<_>>().join("\n\n")
    }
}

/// The failure of a call of nothing. At most as much of a runner's text as a name may have.
pub(crate) fn unknown_tool(request: &ToolRequest) -> ToolFailure {
    let name = request.name();
    let text = format!("Unknown tool {}", &name[..name.floor_char_boundary(300)]);
    ToolFailure::new(FailureCode::InternalError, text)
}

impl Tools for Providers {
    fn call(&self, request: ToolRequest) -> BoxFuture<'_, ToolAnswer> {
        Box::pin(async move {
            let provider = self.0.get(&request.provider);
            let found = provider.and_then(|it| Some((it, it.tools.get(&request.tool)?)));
            let Some((provider, tool)) = found else {
                return Err(unknown_tool(&request));
            };
            tool.call(&provider.manifest.name, request, provider.limits).await
        })
    }
}
