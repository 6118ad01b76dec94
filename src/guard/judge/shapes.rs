//! The forms that sqlparser does not know, shown to it as an equal form, or without a part that holds no expression.

use sqlparser::{keywords::Keyword, tokenizer::Token as Seen};

use super::{
    names::FOREIGN_OPERATOR,
    tokens::is_operand,
    view::{View, operator_token},
};
use crate::guard::lexer::{Kind, Refusal, Token};

const QUANTIFIERS: &[&str] = &["any", "all", "some"];
const TYPES_WITH_MODIFIERS: &[&str] = &[
    "bit",
    "bpchar",
    "char",
    "character",
    "dec",
    "decimal",
    "interval",
    "numeric",
    "time",
    "timestamp",
    "timestamptz",
    "timetz",
    "varbit",
    "varchar",
];

impl View<'_, '_> {
    /// The forms that begin with a word. Returns how many tokens were dealt with; none: the word is shown as it is.
    pub(super) fn shape_word(&mut self, token: &Token<'_>) -> usize {
        if self.after_mark(".") || self.after_word(&["as"]) {
            return 0;
        }
        match token.name.as_str() {
            "isnull" => {
                self.push_keyword("is", Keyword::IS);
                self.push_keyword("null", Keyword::NULL);
                1
            }
            "table" => {
                self.push_keyword("select", Keyword::SELECT);
                self.push(Seen::Mul);
                self.push_keyword("from", Keyword::FROM);
                1
            }
            "collation" if self.word_at(1, "for") && self.mark_at(2, "(") => self.collation_for(),
            "variadic" if self.after_mark("(") || self.after_mark(",") => 1,
            "symmetric" | "asymmetric" if self.after_word(&["between"]) => 1,
            "distinct" | "all" if self.after_word(&["by"]) => 1,
            // `substring(a SIMILAR b ESCAPE c)` is shown as `substring(a FROM b FOR c)`.
            "similar" if !self.word_at(1, "to") => {
                self.similar += 1;
                self.push_keyword("from", Keyword::FROM);
                1
            }
            "escape" if self.similar > 0 => {
                self.similar -= 1;
                self.push_keyword("for", Keyword::FOR);
                1
            }
            // Sets within sets, which sqlparser does not know, are shown as rows within rows.
            "grouping" if self.word_at(1, "sets") && self.mark_at(2, "(") => {
                self.push_keyword("row", Keyword::ROW);
                2
            }
            "cube" | "rollup" if self.within_grouping_sets() && self.mark_at(1, "(") => {
                self.push_keyword("row", Keyword::ROW);
                1
            }
            "json" if self.after_word(&["is", "not"]) && !self.mark_at(1, "(") => self.is_json(),
            "exclude" => self.frame_exclusion(),
            "search" if self.after_mark(")") => self.search_clause(),
            "cycle" => self.cycle_clause(),
            "at" if self.word_at(1, "local") && self.after_operand() => 2,
            "using" if self.token(1).is_some_and(|t| t.kind == Kind::Operator) => 2,
            "all" | "some" if self.after_word(&["like", "ilike"]) && self.mark_at(1, "(") => {
                self.push_keyword("any", Keyword::ANY);
                1
            }
            "operator" if self.mark_at(1, "(") => self.qualified_operator(),
            "rows" if self.word_at(1, "from") && self.mark_at(2, "(") => self.rows_from(),
            "with" if self.after_mark(")") && self.word_at(1, "ordinality") && self.closes_rows_from() => 2,
            "as" if self.after_mark(")") && self.begins_column_definitions() => {
                self.push_keyword("as", Keyword::AS);
                self.push_keyword("columns", Keyword::NoKeyword);
                1
            }
            name if TYPES_WITH_MODIFIERS.contains(&name) => self.literal_with_modifier(token),
            _ => 0,
        }
    }

    /// Whether this parenthesis holds a query that sqlparser would not look for in an expression: one that begins with
    /// VALUES, or with a parenthesis around the first part of a set operation.
    fn opens_query(&self) -> bool {
        let mut first = 1;
        while self.mark_at(first, "(") {
            first += 1;
        }
        match first {
            1 => self.word_at(1, "values"),
            _ => self.one_of(first, &["select", "values", "with", "table"]) && self.holds_set_operation(),
        }
    }

    /// Whether a set operation stands between this parenthesis and its partner, not within others.
    fn holds_set_operation(&self) -> bool {
        let mut depth = 0_usize;
        for offset in 0.. {
            let Some(token) = self.token(offset) else { return false };
            match token.text.as_ref() {
                "(" if token.kind == Kind::Punctuation => depth += 1,
                ")" if token.kind == Kind::Punctuation => depth -= 1,
                _ if depth == 1 && self.one_of(offset, &["union", "intersect", "except"]) => return true,
                _ => {}
            }
            if depth == 0 {
                return false;
            }
        }
        false
    }

    /// `(VALUES …)` is shown as `(WITH columns AS (SELECT) VALUES …)`: what begins with WITH is looked for everywhere.
    fn query(&mut self) {
        self.push(Seen::LParen);
        self.push_keyword("with", Keyword::WITH);
        self.push_keyword("columns", Keyword::NoKeyword);
        self.push_keyword("as", Keyword::AS);
        self.push(Seen::LParen);
        self.push_keyword("select", Keyword::SELECT);
        self.push(Seen::RParen);
    }

    /// `COLLATION FOR (x)` is `pg_collation_for(x)`.
    fn collation_for(&mut self) -> usize {
        self.push_keyword("pg_collation_for", Keyword::NoKeyword);
        2
    }

    /// `IS JSON OBJECT WITH UNIQUE KEYS` is shown as `IS NULL`.
    fn is_json(&mut self) -> usize {
        self.push_keyword("null", Keyword::NULL);
        let kind = 1 + usize::from(self.one_of(1, &["value", "scalar", "array", "object"]));
        if !self.one_of(kind, &["with", "without"]) || !self.word_at(kind + 1, "unique") {
            return kind;
        }
        kind + 2 + usize::from(self.word_at(kind + 2, "keys"))
    }

    /// `EXCLUDE CURRENT ROW`, `GROUP`, `TIES`, `NO OTHERS`: the end of a window frame, without any expression.
    fn frame_exclusion(&self) -> usize {
        let words = if self.word_at(1, "current") && self.word_at(2, "row")
            || self.word_at(1, "no") && self.word_at(2, "others")
        {
            3
        } else if self.one_of(1, &["group", "ties"]) {
            2
        } else {
            return 0;
        };
        if self.mark_at(words, ")") { words } else { 0 }
    }

    /// `SEARCH DEPTH FIRST BY a, b SET c` behind a recursive query: names only.
    fn search_clause(&self) -> usize {
        if !self.one_of(1, &["depth", "breadth"]) || !self.word_at(2, "first") || !self.word_at(3, "by") {
            return 0;
        }
        let set = self.behind_names(4);
        if self.word_at(set, "set") && self.token(set + 1).is_some_and(Token::is_name) { set + 2 } else { 0 }
    }

    /// `CYCLE a, b SET c TO 'x' DEFAULT 'y' USING d`: names and literals only.
    fn cycle_clause(&self) -> usize {
        let set = self.behind_names(1);
        if set == 1 || !self.word_at(set, "set") || !self.token(set + 1).is_some_and(Token::is_name) {
            return 0;
        }
        let literal = |offset| {
            self.token(offset).is_some_and(|t| t.is_string() || t.kind == Kind::Number)
                || self.one_of(offset, &["true", "false", "null"])
        };
        let mut using = set + 2;
        if self.word_at(using, "to") {
            if !literal(using + 1) || !self.word_at(using + 2, "default") || !literal(using + 3) {
                return 0;
            }
            using += 4;
        }
        if self.word_at(using, "using") && self.token(using + 1).is_some_and(Token::is_name) {
            using + 2
        } else {
            0
        }
    }

    /// The first offset behind a list of names.
    fn behind_names(&self, mut offset: usize) -> usize {
        while self.token(offset).is_some_and(Token::is_name) {
            offset += 1;
            if !self.mark_at(offset, ",") {
                break;
            }
            offset += 1;
        }
        offset
    }

    /// Whether an expression can end right before.
    fn after_operand(&self) -> bool {
        self.previous().is_some_and(is_operand)
    }

    /// `OPERATOR(pg_catalog.+)` is `+`.
    fn qualified_operator(&mut self) -> usize {
        let mut offset = 2;
        let built_in = self.token(2).is_some_and(|schema| schema.name == "pg_catalog");
        while self.token(offset).is_some_and(Token::is_name) && self.mark_at(offset + 1, ".") {
            offset += 2;
        }
        match self.token(offset) {
            Some(operator) if operator.kind == Kind::Operator && self.mark_at(offset + 1, ")") => {
                if offset > 4 || offset == 4 && !built_in {
                    self.hidden = Some(Refusal::violation(operator.at, FOREIGN_OPERATOR));
                }
                let any = self.one_of(offset + 2, QUANTIFIERS) && self.mark_at(offset + 3, "(");
                let seen = match operator.text.as_ref() {
                    _ if any => Seen::Eq,
                    // Between operands it binds as any other operator does, whatever it is.
                    symbol if self.after_operand() => Seen::CustomBinaryOperator(symbol.to_owned()),
                    symbol => operator_token(symbol),
                };
                self.push(seen);
                offset + 2
            }
            Some(_) | None => 0,
        }
    }

    /// `ROWS FROM (f(), g())` is shown as `(SELECT * FROM f(), g())`.
    fn rows_from(&mut self) -> usize {
        self.push(Seen::LParen);
        self.push_keyword("select", Keyword::SELECT);
        self.push(Seen::Mul);
        self.push_keyword("from", Keyword::FROM);
        3
    }

    /// Whether the `)` before this token closes a `ROWS FROM (`.
    fn closes_rows_from(&self) -> bool {
        let mut depth = 0_usize;
        let before = self.tokens.get(..self.at).unwrap_or_default();
        let opens = |token: &Token<'_>| {
            depth += usize::from(token.is_mark(")"));
            depth -= usize::from(token.is_mark("("));
            depth == 0
        };
        let Some(index) = before.iter().rposition(opens) else { return false };
        let word = |back: usize, name: &str| {
            index.checked_sub(back).and_then(|i| self.tokens.get(i)).is_some_and(|t| t.is_word(name))
        };
        word(1, "from") && word(2, "rows")
    }

    /// `f(…) AS (a int, …)`: a list of columns without a name before it.
    fn begins_column_definitions(&self) -> bool {
        self.mark_at(1, "(")
            && self.token(2).is_some_and(Token::is_name)
            && !self.one_of(2, &["select", "with", "values", "table", "insert", "update", "delete", "merge"])
    }

    /// `numeric(4, 1) '1.5'` is shown as `numeric '1.5'`.
    fn literal_with_modifier(&mut self, token: &Token<'_>) -> usize {
        // A large modifier pads, so that the judge of the tree must see it.
        let number = |offset| self.token(offset).is_some_and(|t| t.kind == Kind::Number && t.text.len() <= 3);
        let close = if !self.mark_at(1, "(") || !number(2) {
            return 0;
        } else if self.mark_at(3, ",") && number(4) {
            5
        } else {
            3
        };
        if !self.mark_at(close, ")") || !self.token(close + 1).is_some_and(Token::is_string) {
            return 0;
        }
        self.push_keyword(&token.name, Keyword::NoKeyword);
        close + 1
    }

    /// sqlparser knows only some operators before `ANY (…)`; PostgreSQL takes every one.
    pub(super) fn shape_operator(&mut self, token: &Token<'_>) -> usize {
        if self.one_of(1, QUANTIFIERS) && self.mark_at(2, "(") {
            self.push(Seen::Eq);
            return 1;
        }
        let star_of_row = token.text == "*" && self.after_mark(".");
        if star_of_row && self.tokens.get(self.at.wrapping_sub(2)).is_some_and(|t| t.is_mark(")")) {
            // `(x).*` is shown as `(x)`: the dot was left out already.
            return 1;
        }
        0
    }

    pub(super) fn shape_mark(&mut self, token: &Token<'_>) -> usize {
        if token.is_mark("(") && self.opens_query() {
            self.query();
            return 1;
        }
        let empty_set = token.is_mark("(") && self.mark_at(1, ")");
        if empty_set && self.within_grouping_sets() && (self.after_mark("(") || self.after_mark(",")) {
            self.push_keyword("null", Keyword::NULL);
            return 2;
        }
        let dot_star =
            token.is_mark(".") && self.after_mark(")") && self.token(1).is_some_and(|t| t.text == "*");
        usize::from(dot_star)
    }
}
