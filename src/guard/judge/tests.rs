//! The worst nesting that the limits let pass, on a small stack.

use crate::guard::config::GuardConfig;
use crate::guard::statement::ReadOnlyStatement;

/// Judges on a thread with a stack of 2 MiB, which a debug build fills fastest.
fn in_a_small_stack(sql: String) {
    let judge = move || drop(ReadOnlyStatement::parse(&sql, &GuardConfig::default()));
    std::thread::Builder::new().stack_size(2 << 20).spawn(judge).unwrap().join().unwrap();
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn the_worst_statements_are_judged_in_a_stack_of_two_mebibytes() {
    // An opening, the middle, the closing.
    for (open, middle, close) in [
        ("f(", "1", ")"),
        ("abs(", "1", ")"),
        ("pg_catalog.abs(", "1", ")"),
        ("ARRAY[", "1", "]"),
        ("ARRAY[", "", ""),
        ("(", "1", ")"),
        ("(", "", ""),
        ("NOT ", "true", ""),
        ("- ", "1", ""),
        ("1+", "1", ""),
        ("1^(", "1", ")"),
        ("1 + (2 * 3 ^ (", "1", "))"),
        ("CASE WHEN ", "1", ""),
        ("CASE WHEN true THEN ", "1", " END"),
        ("CASE ", "1", " WHEN 1 THEN 1 END"),
        ("case-", "c", ""),
        ("1", "", "::int"),
        ("1::int", "", "[]"),
        ("a", "", ".b"),
        ("a", "", "[1]"),
        ("a[", "1", "]"),
        ("1 IN (", "1", ")"),
        ("1 IN ((SELECT ", "1", "), 1)"),
        ("1 IN (SELECT ", "1", ")"),
        ("true", "", " AND true"),
        ("1", "", " BETWEEN 1 AND 1"),
        ("'a'", "", " LIKE 'a'"),
        ("1", "", " IS NULL"),
        ("1", "", " ISNULL"),
        ("now()", "", " AT TIME ZONE 'UTC'"),
        ("'a'", "", " COLLATE \"C\""),
        ("interval ", "'1'", ""),
        ("(SELECT ", "1", ")"),
        ("EXISTS (SELECT ", "1", ")"),
        ("1 FROM (SELECT ", "1", ") q"),
        ("1 FROM t JOIN t JOIN (SELECT ", "1", ") q ON true ON true"),
        ("1 FROM t LEFT JOIN LATERAL (SELECT abs(1), ", "1", ") q ON true"),
        ("1 FROM t WHERE a = 1 AND NOT a IN (1 + 2 ^ (SELECT ", "1", "))"),
        ("1 UNION (SELECT ", "1", ")"),
        ("extract(day FROM ", "a", ")"),
        ("position(", "a", ", 1)"),
        ("position(", "a", ""),
        ("substring(", "a", " FROM 1)"),
        ("trim(both FROM ", "a", ")"),
        ("overlay(", "a", " PLACING a FROM 1)"),
        ("cast(", "a", " AS int)"),
        ("cast(case (", "a", ""),
        ("a.substring(", "1", ")"),
        ("if(current_time(", "x", ""),
        ("sum(1) OVER (ORDER BY ", "1", ")"),
        ("sum(1) FILTER (WHERE ", "1", ")"),
        ("ROW(", "1", ")"),
        ("x x ", "x", ""),
        ("1, ", "1", ""),
        ("repeat(", "'x'", ", 2)"),
    ] {
        for times in [8, 15, 16, 24, 40, 49, 240, 990, 5_000, 16_000] {
            let close = close.repeat(times);
            let open = if middle.is_empty() { open.to_owned() } else { open.repeat(times) };
            in_a_small_stack(format!("SELECT {open}{middle}{close}"));
        }
    }
    for (head, part, times) in [
        ("SELECT 1", " UNION ALL SELECT 1", 3_000),
        ("SELECT 1", " UNION ALL SELECT 1", 256),
        ("SELECT 1", " UNION SELECT 1 INTERSECT SELECT 1 EXCEPT SELECT 1", 85),
        ("SELECT * FROM t", " JOIN t ON true", 64),
        ("SELECT * FROM t", " JOIN t", 64),
        ("SELECT * FROM t", " NATURAL JOIN t", 64),
        ("SELECT 1 FROM t WHERE a", " UNION SELECT 1 FROM t WHERE a = 1 AND b = 2", 250),
        ("VALUES (1, 2)", ", (1, 2)", 7_000),
        ("SELECT 1", ", abs(1)", 8_000),
        ("SELECT 1", " + union", 2_000),
        ("SELECT *", " FROM (", 49),
        ("SELECT 'x'", " 'x'", 9_000),
    ] {
        in_a_small_stack(format!("{head}{}", part.repeat(times)));
    }
    in_a_small_stack(format!(
        "SELECT * FROM {}t JOIN t USING (a){}",
        "(".repeat(45),
        " JOIN t USING (a))".repeat(45)
    ));
    in_a_small_stack(format!("SELECT * FROM {}SELECT 1{} q", "(".repeat(49), ")".repeat(49)));
    in_a_small_stack(format!(
        "SELECT generate_series(now(), now(){}, interval '1 day'{})",
        " + interval '1 day'".repeat(490),
        " * 1".repeat(490)
    ));
    in_a_small_stack(format!("SELECT {}1{}", "(".repeat(49), format!("{})", "+1".repeat(19)).repeat(49)));
    in_a_small_stack(format!("SELECT CASE {} END", "WHEN a THEN b ".repeat(4_000)));
    in_a_small_stack(format!("SELECT {}", "/*".repeat(30_000)));
    in_a_small_stack(format!("SELECT '{}'", "a".repeat(65_000)));
    in_a_small_stack(format!("SELECT $a${}$a$", "$b$".repeat(20_000)));
}
