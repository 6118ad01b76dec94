//! The work itself. A tool knows its arguments and its resource; it knows no JSON-RPC and starts no thread of its own.
//!
//! | file | holds |
//! |---|---|
//! | `tool` | [`Tool`], and `TypedTool`, which a new tool implements |
//! | `toolbox` | [`Toolbox`]: the tools of a session by name, and their lanes |
//! | [`metrics`] | `system_metrics` |
//! | [`files`] | `sandbox_fs_read`, `sandbox_fs_list` |
//! | [`sql`] | `read_only_sql`, `explain_query`, `describe_database` |
//! | [`catalog`] | reviewed queries as tools |
//!
//! To add a tool: implement `TypedTool`, add its name to [`BUILT_IN`], register it in `commands/serve.rs`.

mod tool;
mod toolbox;
pub mod metrics;
pub mod files;
pub mod sql;
pub mod catalog;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use tool::{Bound, CheckedSpec, TypedTool};
pub use tool::{Prepared, Run, Tool};
pub use toolbox::{BUILT_IN, Lane, LaneId, Registered, Toolbox};

/// Lists the arguments of the tools that are not a catalog's, by name.
pub fn built_in_arguments() -> std::collections::BTreeSet<String> {
    use crate::arguments::schema_of;
    let schemas = [
        schema_of::<sql::run::Arguments>(),
        schema_of::<sql::explain::Arguments>(),
        schema_of::<sql::describe::Arguments>(),
        schema_of::<files::read::tool::Arguments>(),
        schema_of::<files::list::Arguments>(),
        schema_of::<metrics::system_metrics::Arguments>(),
    ];
    let names = |schema: &serde_json::Map<String, serde_json::Value>| {
        let properties = schema.get("properties").and_then(serde_json::Value::as_object);
        properties.into_iter().flat_map(|properties| properties.keys().cloned()).collect::<Vec<_>>()
    };
    schemas.iter().flat_map(names).collect()
}
