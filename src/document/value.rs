//! Values of TOML as numbers and as JSON.

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeFloat, DeInteger, DeString, DeValue};

pub(super) fn integer(number: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

fn float(number: &DeFloat<'_>) -> Option<f64> {
    number.as_str().parse().ok().filter(|number: &f64| number.is_finite())
}

/// Converts a value of TOML to JSON; a date or a time becomes its text.
pub(crate) fn json(value: &DeValue<'_>) -> Option<Value> {
    Some(match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Integer(number) => integer(number)?.into(),
        DeValue::Float(number) => Value::Number(Number::from_f64(float(number)?)?),
        DeValue::Boolean(flag) => (*flag).into(),
        DeValue::Datetime(time) => time.to_string().into(),
        DeValue::Array(items) => {
            items.iter().map(|item| json(item.get_ref())).collect::<Option<_>>().map(Value::Array)?
        }
        DeValue::Table(table) => {
            let member = |(key, value): (&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)| {
                Some((key.get_ref().as_ref().to_owned(), json(value.get_ref())?))
            };
            Value::Object(table.iter().map(member).collect::<Option<Map<_, _>>>()?)
        }
    })
}
