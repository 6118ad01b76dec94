//! TEMP
use crate::{problem::Problem, wire::json::Fault};
use serde_json::{Map, Value};
/// TEMP
pub fn sanitize(arguments: Result<Map<String, Value>, Fault>) -> Result<Map<String, Value>, Problem> {
    arguments.map_err(|f| Problem::new(crate::problem::Code::Validation, f.to_string()))
}
