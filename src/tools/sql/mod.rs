//! The SQL tools: a judged statement run, explained, or a database described.

pub mod run;
pub mod explain;
pub mod describe;

pub use describe::DescribeDatabase;
pub use explain::ExplainQuery;
pub use run::ReadOnlySql;
