//! A call for the tests of tools, made as `execute` makes one, with the checks that every answer must pass.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::Tool;
use crate::call::{Call, Failure, Interrupt};
use crate::governance::Governor;
use crate::problem::Code;

/// The longest line: 8 MiB less the envelope.
const MAX_LINE_BYTES: usize = 8 * 1024 * 1024 - 4096;

/// Calls `tool`. A refusal of the arguments is a [`Failure::Problem`] like any other.
pub(crate) fn run(tool: &dyn Tool, arguments: &Value, interrupt: Interrupt) -> Result<Value, Failure> {
    let call = Call::new(Instant::now() + Duration::from_secs(60), interrupt);
    let prepared = tool.prepare(arguments.as_object().unwrap().clone())?;
    let bound = prepared.max_body_bytes;
    let permit = Governor.authorize(&tool.spec().name, &prepared.arguments).unwrap();
    let body = (prepared.run)(permit, &call)?.body;
    let bytes = body.to_vec();
    assert!(bytes.len() <= bound, "{} bytes where {bound} were announced", bytes.len());
    let quoted = bytes.len() + bytes.iter().filter(|byte| matches!(byte, b'"' | b'\\')).count();
    assert!(bytes.len() + quoted <= MAX_LINE_BYTES, "a line too long: {} + {quoted}", bytes.len());
    let body = serde_json::from_slice(&bytes).unwrap();
    jsonschema::validate(&Value::Object(tool.spec().output_schema.clone()), &body).unwrap();
    Ok(body)
}

/// Calls `tool` and expects an answer.
#[track_caller]
pub(crate) fn answer(tool: &dyn Tool, arguments: &Value) -> Value {
    run(tool, arguments, Interrupt::default()).unwrap()
}

/// Calls `tool` and expects a problem of this code that names this parameter; returns the document.
#[track_caller]
pub(crate) fn problem(tool: &dyn Tool, arguments: &Value, code: Code, parameter: &str) -> Value {
    match run(tool, arguments, Interrupt::default()) {
        Err(Failure::Problem(problem)) => {
            assert_eq!((problem.code(), problem.invalid_params()), (code, [parameter.to_owned()].as_slice()));
            problem.to_value()
        }
        outcome => panic!("{arguments} brought {outcome:?}"),
    }
}
