//! How many items a path of a JSON value can find.

/// Into how many items a path can make each one that it is given, as far as its length alone decides: `[0,0]` finds an item
/// twice, and so on; `keyvalue()` makes three members of every one.
pub(super) fn fan_out(path: &str) -> u64 {
    if path.matches("**").count() > 1 {
        return u64::MAX;
    }
    // Each comma counts with the bracket before it: with brackets within brackets the product is still from above.
    let (mut lists, mut items, mut within) = (1_u64, 1_u64, false);
    for c in path.bytes() {
        match c {
            b'[' => {
                lists = lists.saturating_mul(items);
                (items, within) = (1, true);
            }
            b',' if within => items = items.saturating_add(1),
            _ => {}
        }
    }
    lists = lists.saturating_mul(items);
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
