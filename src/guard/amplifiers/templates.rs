//! Literals that are programs: templates of `format`, JSON paths, regular expressions.

/// The fields of a template of `format`.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Template {
    /// The sum of the widths that are written.
    pub(super) widths: f64,
    /// The arguments that give widths, by index; the template is 0.
    pub(super) stars: Vec<usize>,
    /// The number of fields that show an argument.
    pub(super) fields: usize,
}

impl Template {
    pub(super) fn parse(text: &str) -> Self {
        let mut template = Self::default();
        let mut next = 1;
        let mut parts = text.split('%').skip(1);
        while let Some(field) = parts.next() {
            if field.is_empty() {
                // `%%` is no field; what follows is text.
                parts.next();
                continue;
            }
            template.field(field, &mut next);
        }
        template
    }

    /// `[position$][flags][width]type`, of which a width may be `*` or `*position$`.
    fn field(&mut self, field: &str, next: &mut usize) {
        let end = field.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(field.len());
        let mut spec = field.get(..end).unwrap_or_default();
        let own = take_position(&mut spec);
        spec = spec.trim_start_matches('-');
        if let Some(star) = spec.strip_prefix('*') {
            spec = star;
            let given = take_position(&mut spec);
            self.stars.push(given.unwrap_or(*next));
            *next = given.unwrap_or(*next) + 1;
        } else {
            self.widths += spec.parse::<f64>().unwrap_or_default().abs();
        }
        *next = own.unwrap_or(*next) + 1;
        self.fields += 1;
    }
}

/// Takes `position$` off the front.
fn take_position(spec: &mut &str) -> Option<usize> {
    let (digits, rest) = spec.split_once('$')?;
    let position = digits.parse().ok()?;
    *spec = rest;
    Some(position)
}

/// Returns the number of items that a path can make of each one: `[0,0]` finds an item twice, and so on; `keyvalue()`
/// makes three members of every one. No bound with more than one `**`.
pub(super) fn fan_out(path: &str) -> Option<u64> {
    /// The growth by `keyvalue()`: it writes `"id"`, `"key"` and `"value"` for each member.
    const MEMBER_GROWTH: u64 = 8;
    if path.matches("**").count() > 1 {
        return None;
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
    let members = u32::try_from(path.matches("keyvalue").count()).unwrap_or(u32::MAX);
    Some(lists.saturating_mul(items).saturating_mul(MEMBER_GROWTH.saturating_pow(members)))
}

/// Returns the product of nested `{n}` and `{n,m}` of a regular expression.
pub(super) fn repetitions(pattern: &str) -> u64 {
    // For every open parenthesis: the largest product in it, and that of the part before.
    let mut open = vec![(1_u64, 1_u64)];
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => drop(rest.next()),
            '(' => open.push((1, 1)),
            ')' if open.len() > 1 => {
                let inner = open.pop().map_or(1, |(largest, _)| largest);
                if let Some((largest, last)) = open.last_mut() {
                    (*largest, *last) = ((*largest).max(inner), inner);
                }
            }
            '{' => {
                let bound: String = rest.by_ref().take_while(|c| *c != '}').collect();
                let count = bound.split(',').filter_map(|n| n.trim().parse::<u64>().ok()).max().unwrap_or(1);
                if let Some((largest, last)) = open.last_mut() {
                    *last = last.saturating_mul(count.max(1));
                    *largest = (*largest).max(*last);
                }
            }
            _ => {
                if let Some((_, last)) = open.last_mut() {
                    *last = 1;
                }
            }
        }
    }
    open.into_iter().fold(1, |product, (largest, _)| product.saturating_mul(largest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_stand_where_format_reads_them() {
        for (template, widths, stars, fields) in [
            ("%s", 0.0, vec![], 1),
            ("100%% %-10s|%5s", 15.0, vec![], 2),
            ("%*s %s %*s", 0.0, vec![1, 4], 3),
            ("%2$*1$s %-*3$s", 0.0, vec![1, 3], 2),
            ("%1000000000s", 1e9, vec![], 1),
        ] {
            assert_eq!(Template::parse(template), Template { widths, stars, fields }, "{template}");
        }
    }

    #[test]
    fn nested_repetitions_multiply_and_others_do_not() {
        for (pattern, expected) in [
            ("a", 1),
            ("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{12}", 12),
            ("((a{10}){10}){10}", 1_000),
            ("(a{2,30}|b{4})c{3}", 30),
            ("\\(a{9}", 9),
            ("(a){5}{6}", 30),
        ] {
            assert_eq!(repetitions(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn lists_of_subscripts_multiply() {
        for (path, expected) in
            [("$.a[*].b", Some(1)), ("$[0,0][0,0]", Some(4)), ("$.**.a", Some(1)), ("$.**.**", None)]
        {
            assert_eq!(fan_out(path), expected, "{path}");
        }
    }
}
