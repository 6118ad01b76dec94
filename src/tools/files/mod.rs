//! TEMP.
use std::{io, path::Path, sync::Arc};

/// TEMP.
#[derive(Debug)]
pub struct Root;
/// TEMP.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RootError(io::Error);
impl Root {
    /// TEMP.
    pub fn open(path: &Path) -> Result<Self, RootError> {
        std::fs::read_dir(path).map(|_| Self).map_err(RootError)
    }
}
macro_rules! temp_tool {
    ($name:ident, $($arg:ty),*) => {
        /// TEMP.
        #[derive(Debug)]
        pub struct $name;
        impl $name {
            /// TEMP.
            pub fn new($(_: $arg),*) -> Self { Self }
        }
        impl crate::tools::Tool for $name {
            fn spec(&self) -> &crate::protocol::tool::ToolSpec {
                static SPEC: std::sync::LazyLock<crate::protocol::tool::ToolSpec> =
                    std::sync::LazyLock::new(|| crate::protocol::tool::ToolSpec {
                        name: crate::protocol::tool::ToolName::new(stringify!($name)),
                        title: "".into(), description: "".into(),
                        input_schema: Default::default(), output_schema: Default::default(),
                        effect: crate::protocol::tool::Effect::Read,
                    });
                &SPEC
            }
            fn lane(&self) -> crate::tools::Lane { crate::tools::Lane::General }
            fn prepare(&self, _: serde_json::Map<String, serde_json::Value>)
                -> Result<crate::tools::Prepared<'_>, crate::problem::Problem> { todo!() }
        }
    };
}
pub(crate) use temp_tool;
temp_tool!(SandboxFsRead, Arc<Root>, u64);
temp_tool!(SandboxFsList, Arc<Root>);
