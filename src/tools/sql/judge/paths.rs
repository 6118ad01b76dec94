//! How many items a path of a JSON value can find.

/// Into how many items a path can make each one that it is given, as far as its length alone decides: `[0,0]` finds an item
/// twice, and so on; `keyvalue()` makes three members of every one.
pub(super) fn fan_out(path: &str) -> u64 {
    if path.matches("**").count() > 1 {
        return u64::MAX;
    }
    // Each comma counts with the bracket before it: with brackets within brackets the product is still from above.
    let subscripts = path.split('[').skip(1).map(|list| list.matches(',').count().saturating_add(1));
    let lists = subscripts
        .fold(1_u64, |product, items| product.saturating_mul(u64::try_from(items).unwrap_or(u64::MAX)));
    let members = u32::try_from(path.matches("keyvalue").count()).unwrap_or(u32::MAX);
    lists.saturating_mul(MEMBER_GROWTH.saturating_pow(members))
}

/// By how much `keyvalue()` lengthens what it is given: `"id"`, `"key"` and `"value"` are written for each member.
const MEMBER_GROWTH: u64 = 8;

/// What a path of a JSON value can give, in bytes: with `**` a value and all within it, with two of them all within all.
pub(super) fn descent(path: &str, json: u64) -> u64 {
    let deep = if path.contains("**") { json } else { 1 };
    json.saturating_mul(deep).saturating_mul(fan_out(path))
}
