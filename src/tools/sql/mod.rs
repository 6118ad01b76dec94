//! Guarded SQL: text to a read-only statement (pure), and its bounded run on PostgreSQL.

pub mod statement;

use std::{path::PathBuf, sync::Arc, time::Duration};

/// TEMP.
#[derive(Debug)]
pub struct SqlConfig {
    /// TEMP.
    pub dsn: Dsn,
    /// TEMP.
    pub pool_max_size: u32,
    /// TEMP.
    pub pooler: Pooler,
    /// TEMP.
    pub connect_timeout: Duration,
    /// TEMP.
    pub statement_timeout: Duration,
    /// TEMP.
    pub max_rows: u32,
    /// TEMP.
    pub max_cell_chars: u32,
    /// TEMP.
    pub max_response_bytes: usize,
    /// TEMP.
    pub call_timeout: Duration,
    /// TEMP.
    pub max_stuck: u32,
    /// TEMP.
    pub guard: statement::GuardConfig,
    /// TEMP.
    pub unsafe_role: UnsafeRole,
}
/// TEMP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooler {
    /// TEMP.
    None,
    /// TEMP.
    Transaction,
}
/// TEMP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsafeRole {
    /// TEMP.
    Refuse,
    /// TEMP.
    Warn,
    /// TEMP.
    Strict,
}
/// TEMP.
#[derive(Clone, Debug, Default)]
pub struct DsnEnvironment {
    /// TEMP.
    pub pgpassword: Option<String>,
    /// TEMP.
    pub pgpassfile: Option<PathBuf>,
    /// TEMP.
    pub home: Option<PathBuf>,
    /// TEMP.
    pub user: Option<String>,
}
/// TEMP.
#[derive(Clone, Debug)]
pub struct Dsn(String);
/// TEMP.
#[derive(Debug, thiserror::Error)]
#[error("is not a connection string")]
pub struct DsnError;
impl Dsn {
    /// TEMP.
    pub fn parse(text: &str, _: &DsnEnvironment) -> Result<Self, DsnError> {
        (text.starts_with("postgres") || text.contains("user="))
            .then(|| Self(text.to_owned()))
            .ok_or(DsnError)
    }
    /// TEMP.
    pub fn has_password(&self) -> bool {
        self.0.matches(':').count() > 1
    }
}
/// TEMP.
#[derive(Debug)]
pub struct Database;
/// TEMP.
#[derive(Debug, thiserror::Error)]
#[error("no server listens there")]
pub struct ConnectError;
/// TEMP.
#[derive(Debug)]
pub struct Probe {
    /// TEMP.
    pub server_version: String,
    /// TEMP.
    pub database: String,
    /// TEMP.
    pub role: String,
    /// TEMP.
    pub tls: Option<String>,
    /// TEMP.
    pub findings: Vec<RoleFinding>,
}
/// TEMP.
#[derive(Debug)]
pub struct RoleFinding {
    /// TEMP.
    pub dangerous: bool,
    /// TEMP.
    pub text: String,
    /// TEMP.
    pub cure: String,
}
impl Database {
    /// TEMP.
    pub fn new(config: SqlConfig) -> Arc<Self> {
        drop(config);
        Arc::new(Self)
    }
    /// TEMP.
    pub fn probe(&self) -> Result<Probe, ConnectError> {
        Err(ConnectError)
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
temp_tool!(ReadOnlySql, Arc<Database>);
temp_tool!(ExplainQuery, Arc<Database>);
temp_tool!(DescribeDatabase, Arc<Database>);
