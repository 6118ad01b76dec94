//! The catalog: reviewed, parameterised SQL, one tool an entry. Arguments are only ever bind values, and an entry that
//! cannot be proven safe keeps the server from starting.
//!
//! ```text
//! MCP_CATALOG ─ file.rs ─▶ Draft ─ params.rs, prove/ ─▶ Entry ─ query.rs ─▶ a Tool
//!               as written        or every Finding          proven
//! ```

mod finding;
mod params;
mod prove;
mod sensitive;

pub use finding::{Finding, Place, Rule, Severity};
pub use sensitive::SensitiveWords;
