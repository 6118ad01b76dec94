//! The judge of the tree: expressions.

use sqlparser::ast::{
    AccessExpr, Array, BinaryOperator, CaseWhen, CastKind, CeilFloorKind, DateTimeField, Expr, ExtractSyntax,
    Ident, InTarget, Interval, ObjectName, ObjectNamePart, Subscript, TypedString, UnaryOperator, Value,
    ValueWithSpan,
};

use super::{
    keywords,
    tree::{Judge, NOT_POSTGRES, Node, Role},
    types,
};
use crate::{
    guard::{
        functions_denied,
        lexer::{Reason, Refusal},
    },
    problem::{Code, echo},
};

impl<'t> Judge<'t, '_> {
    /// Judges one node; what it holds is left for later.
    #[expect(
        clippy::too_many_lines,
        reason = "one match over every expression, so that a new one stops the build"
    )]
    pub(super) fn expr(&mut self, expr: &'t Expr) -> Result<(), Refusal> {
        match expr {
            Expr::Identifier(ident) => {
                self.column(ident)?;
                // A call without parentheses, which sqlparser takes for a column.
                if ident.quote_style.is_none() && ident.value == "system_user" {
                    return Err(self
                        .refuse("SYSTEM_USER is not allowed; use CURRENT_USER.")
                        .about(Reason::Function));
                }
                // As `current_schema()`.
                if ident.quote_style.is_none()
                    && ident.value == "current_schema"
                    && !self.config.allows_function(None, "current_schema")
                {
                    return Err(self.refuse(
                        "CURRENT_SCHEMA would tell of the search_path that is set here; ask the operator to allow it with \
                         @catalog in MCP_SQL_ALLOW_FUNCTIONS.",
                    )
                    .about(Reason::Function));
                }
                Ok(())
            }
            Expr::CompoundIdentifier(parts) => {
                for part in parts {
                    self.identifier(part)?;
                }
                parts.first().map_or(Ok(()), |first| self.column(first))?;
                // Only the last can be a function: what stands before it names a relation.
                match parts.as_slice() {
                    [_, .., last] => self.behind_a_dot(last),
                    [_] | [] => Ok(()),
                }
            }
            Expr::CompoundFieldAccess { root, access_chain } => {
                self.left.push(Node::Expr(root));
                access_chain.iter().try_for_each(|access| self.access(access))
            }
            Expr::QualifiedWildcard(name, _) => self.relation(name),
            Expr::IsFalse(inner)
            | Expr::IsNotFalse(inner)
            | Expr::IsTrue(inner)
            | Expr::IsNotTrue(inner)
            | Expr::IsNull(inner)
            | Expr::IsNotNull(inner)
            | Expr::IsUnknown(inner)
            | Expr::IsNotUnknown(inner)
            | Expr::IsNormalized { expr: inner, form: _, negated: _ }
            | Expr::Nested(inner) => self.leave([inner]),
            Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
                self.leave([left, right])
            }
            Expr::In { expr, target, negated: _, global } => {
                if *global {
                    return Err(self.refuse(NOT_POSTGRES));
                }
                self.left.push(Node::Expr(expr));
                self.target(target)
            }
            Expr::Between { expr, negated: _, low, high } => self.leave([expr, low, high]),
            Expr::BinaryOp { left, op, right } => {
                self.operator(op)?;
                self.leave([left, right])
            }
            Expr::AnyOp { left, compare_op, right, is_some: _ } | Expr::AllOp { left, compare_op, right } => {
                self.operator(compare_op)?;
                self.leave([left, right])
            }
            Expr::Like { negated: _, any: _, expr, pattern, escape_char }
            | Expr::ILike { negated: _, any: _, expr, pattern, escape_char }
            | Expr::SimilarTo { negated: _, expr, pattern, escape_char } => {
                self.exprs(escape_char.as_deref());
                self.leave([expr, pattern])
            }
            Expr::UnaryOp { op, expr } => {
                self.prefix(*op)?;
                self.leave([expr])
            }
            Expr::Cast { kind, expr: inner, data_type, format } => {
                self.left.push(Node::Expr(inner));
                match kind {
                    CastKind::Cast | CastKind::DoubleColon if format.is_none() => {
                        types::judge(self, data_type)
                    }
                    CastKind::Cast | CastKind::DoubleColon | CastKind::TryCast | CastKind::SafeCast => {
                        Err(self.refuse("Casts are written CAST(x AS type) or x::type."))
                    }
                }
            }
            Expr::AtTimeZone { timestamp, time_zone } => self.leave([timestamp, time_zone]),
            Expr::Extract { field: _, syntax: ExtractSyntax::From, expr } => self.leave([expr]),
            Expr::Ceil { expr, field } | Expr::Floor { expr, field } => match field {
                CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) => self.leave([expr]),
                CeilFloorKind::DateTimeField(_) | CeilFloorKind::Scale(_) => Err(self.refuse(NOT_POSTGRES)),
            },
            Expr::Position { expr, r#in } => self.leave([expr, r#in]),
            Expr::Substring { expr, substring_from, substring_for, special: _, shorthand: _ } => {
                self.exprs(substring_from.as_deref());
                self.exprs(substring_for.as_deref());
                self.leave([expr])
            }
            Expr::Trim { trim_where: _, trim_what, expr, trim_characters } => {
                self.exprs(trim_what.as_deref());
                self.exprs(trim_characters.iter().flatten());
                self.leave([expr])
            }
            Expr::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
                self.exprs(overlay_for.as_deref());
                self.leave([expr, overlay_what, overlay_from])
            }
            Expr::Collate { expr, collation } => {
                self.left.push(Node::Expr(expr));
                self.collation(collation)
            }
            Expr::Value(value) => self.value(value),
            Expr::TypedString(TypedString { data_type, value, uses_odbc_syntax: false }) => {
                self.string(value)?;
                types::judge(self, data_type)
            }
            Expr::Interval(interval) => self.interval(interval),
            Expr::Function(function) => self.call(function),
            Expr::Case { case_token: _, end_token: _, operand, conditions, else_result } => {
                self.exprs(operand.as_deref());
                self.exprs(else_result.as_deref());
                for CaseWhen { condition, result } in conditions {
                    self.exprs([condition, result]);
                }
                Ok(())
            }
            Expr::Exists { subquery, negated: _ } | Expr::Subquery(subquery) => {
                self.left.push(Node::Query(subquery));
                Ok(())
            }
            Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => {
                self.exprs(sets.iter().flatten());
                Ok(())
            }
            Expr::Tuple(exprs) => {
                self.exprs(exprs);
                Ok(())
            }
            Expr::Array(array) if array.named => {
                self.array(array);
                Ok(())
            }
            Expr::Array(_) => Err(self.refuse("Arrays are written ARRAY[...].")),
            Expr::Wildcard(_) => Err(self.refuse("`*` stands only in a SELECT list or in count(*).")),
            Expr::JsonAccess { value: _, path: _ }
            | Expr::IsJson { expr: _, kind: _, unique_keys: _, negated: _ }
            | Expr::RLike { negated: _, expr: _, pattern: _, regexp: _ }
            | Expr::Convert { .. }
            | Expr::Extract { field: _, syntax: ExtractSyntax::Comma, expr: _ }
            | Expr::Prefixed { prefix: _, value: _ }
            | Expr::TypedString(TypedString { data_type: _, value: _, uses_odbc_syntax: true })
            | Expr::Struct { values: _, fields: _ }
            | Expr::Named { expr: _, name: _ }
            | Expr::Dictionary(_)
            | Expr::Map(_)
            | Expr::MatchAgainst { .. }
            | Expr::OuterJoin(_)
            | Expr::Prior(_)
            | Expr::Lambda(_)
            | Expr::MemberOf(_) => {
                Err(self.refuse("This expression is not PostgreSQL's SQL, or not supported here."))
            }
        }
    }

    /// A name that stands for a column, or before its dot.
    fn column(&mut self, ident: &Ident) -> Result<(), Refusal> {
        self.stand_at(ident);
        if ident.quote_style.is_some() || !keywords::is_reserved(&ident.value) {
            return Ok(());
        }
        Err(Refusal {
            code: Code::Validation,
            ..self.refuse(format!(
                "{} is a reserved word; quote it to name a column, and put AS before it where it names a result.",
                ident.value.to_ascii_uppercase()
            ))
        })
    }

    fn leave<const N: usize>(&mut self, exprs: [&'t Expr; N]) -> Result<(), Refusal> {
        self.exprs(exprs);
        Ok(())
    }

    /// The elements of an `ARRAY[…]`.
    pub(super) fn array(&mut self, array: &'t Array) {
        let Array { elem, named: _ } = array;
        self.left.extend(elem.iter().map(Node::Element));
    }

    fn target(&mut self, target: &'t InTarget) -> Result<(), Refusal> {
        match target {
            InTarget::List(exprs) => self.exprs(exprs),
            InTarget::Subquery(query) => self.left.push(Node::Query(query)),
            InTarget::Unnest(_) | InTarget::Table { name: _, args: _ } => {
                return Err(self.refuse(
                    "IN takes a list or a subquery in parentheses; for an array write = ANY (...).",
                ));
            }
        }
        Ok(())
    }

    fn access(&mut self, access: &'t AccessExpr) -> Result<(), Refusal> {
        match access {
            AccessExpr::Dot(Expr::Identifier(field)) => {
                self.identifier(field)?;
                self.behind_a_dot(field)
            }
            AccessExpr::Dot(_) => Err(self.refuse("Only the name of a field may stand behind this dot.")),
            AccessExpr::Subscript(Subscript::Index { index }) => self.leave([index]),
            AccessExpr::Subscript(Subscript::Slice { lower_bound, upper_bound, stride: None }) => {
                self.exprs(lower_bound);
                self.exprs(upper_bound);
                Ok(())
            }
            AccessExpr::Subscript(Subscript::Slice { lower_bound: _, upper_bound: _, stride: Some(_) }) => {
                Err(self.refuse("A slice has two bounds in PostgreSQL: a[1:2]."))
            }
        }
    }

    /// `t.f` and `(x).f` call a function f when there is no such column: those that tell too much are refused here, those
    /// that the server has and the guard does not know when they are about to run.
    fn behind_a_dot(&mut self, field: &Ident) -> Result<(), Refusal> {
        let name = &field.value;
        if !self.account(field, Role::Field) {
            return Err(self.refuse(NOT_POSTGRES));
        }
        if !functions_denied::may_call_behind_a_dot(name) || self.config.allows_function(None, name) {
            return Ok(());
        }
        Err(self.refuse(format!(
            "The name {} behind a dot could call a function that is not allowed; give the column an alias in a subquery.",
            echo(name)
        ))
        .about(Reason::Function))
    }

    fn collation(&mut self, name: &'t ObjectName) -> Result<(), Refusal> {
        self.relation(name)?;
        let ObjectName(parts) = name;
        let collation = match parts.as_slice() {
            [ObjectNamePart::Identifier(name)] => Some(&name.value),
            [ObjectNamePart::Identifier(schema), ObjectNamePart::Identifier(name)]
                if schema.value == "pg_catalog" =>
            {
                Some(&name.value)
            }
            _ => None,
        };
        match collation {
            Some(name) if is_built_in_collation(name) => Ok(()),
            Some(_) | None => Err(self.refuse(UNKNOWN_COLLATION)),
        }
    }

    fn value(&mut self, value: &ValueWithSpan) -> Result<(), Refusal> {
        match &value.value {
            Value::Number(_, _) | Value::Boolean(_) | Value::Null => Ok(()),
            // Only a catalog's statement has these; `@x` and `: x` are none.
            Value::Placeholder(text) if text.starts_with('$') => Ok(()),
            Value::SingleQuotedString(_)
            | Value::DollarQuotedString(_)
            | Value::EscapedStringLiteral(_)
            | Value::SingleQuotedByteStringLiteral(_)
            | Value::HexStringLiteral(_) => Ok(()),
            Value::TripleSingleQuotedString(_)
            | Value::TripleDoubleQuotedString(_)
            | Value::UnicodeStringLiteral(_)
            | Value::DoubleQuotedByteStringLiteral(_)
            | Value::TripleSingleQuotedByteStringLiteral(_)
            | Value::TripleDoubleQuotedByteStringLiteral(_)
            | Value::SingleQuotedRawStringLiteral(_)
            | Value::DoubleQuotedRawStringLiteral(_)
            | Value::TripleSingleQuotedRawStringLiteral(_)
            | Value::TripleDoubleQuotedRawStringLiteral(_)
            | Value::NationalStringLiteral(_)
            | Value::QuoteDelimitedStringLiteral(_)
            | Value::NationalQuoteDelimitedStringLiteral(_)
            | Value::DoubleQuotedString(_)
            | Value::Placeholder(_) => {
                self.near_value(value);
                Err(self.refuse("This literal is not PostgreSQL's, or not supported here; write '...'."))
            }
        }
    }

    fn near_value(&mut self, value: &ValueWithSpan) {
        self.stand_at_span(value.span);
    }

    /// The literal of `type '…'`.
    fn string(&mut self, value: &ValueWithSpan) -> Result<(), Refusal> {
        self.near_value(value);
        if matches!(
            value.value,
            Value::Number(_, _) | Value::Boolean(_) | Value::Null | Value::Placeholder(_)
        ) {
            return Err(
                self.refuse("A type's name is followed by a string literal, or the value is cast: x::type.")
            );
        }
        self.value(value)
    }

    fn interval(&mut self, interval: &'t Interval) -> Result<(), Refusal> {
        let Interval {
            value,
            leading_field: _,
            leading_precision: _,
            last_field: _,
            fractional_seconds_precision: _,
        } = interval;
        let Expr::Value(literal) = value.as_ref() else {
            return Err(self.refuse(
                "INTERVAL takes a literal: INTERVAL '1 day'; or multiply one: n * INTERVAL '1 day'.",
            ));
        };
        self.string(literal)
    }

    /// Which operators may be written is decided by the lexer's closed list; here only those that sqlparser spells
    /// as words are looked at.
    #[expect(
        clippy::too_many_lines,
        reason = "one match over every operator, so that a new one stops the build"
    )]
    fn operator(&self, operator: &BinaryOperator) -> Result<(), Refusal> {
        match operator {
            BinaryOperator::Plus
            | BinaryOperator::Minus
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Modulo
            | BinaryOperator::StringConcat
            | BinaryOperator::Gt
            | BinaryOperator::Lt
            | BinaryOperator::GtEq
            | BinaryOperator::LtEq
            | BinaryOperator::Eq
            | BinaryOperator::NotEq
            | BinaryOperator::And
            | BinaryOperator::Or
            | BinaryOperator::BitwiseOr
            | BinaryOperator::BitwiseAnd
            | BinaryOperator::Custom(_)
            | BinaryOperator::PGBitwiseXor
            | BinaryOperator::PGExp
            | BinaryOperator::PGRegexMatch
            | BinaryOperator::AtAt
            | BinaryOperator::QuestionPipe
            | BinaryOperator::QuestionDash
            | BinaryOperator::At
            | BinaryOperator::Overlaps => Ok(()),
            BinaryOperator::Spaceship
            | BinaryOperator::Xor
            | BinaryOperator::BitwiseXor
            | BinaryOperator::DuckIntegerDivide
            | BinaryOperator::MyIntegerDivide
            | BinaryOperator::Match
            | BinaryOperator::Regexp
            | BinaryOperator::Glob
            | BinaryOperator::PGBitwiseShiftLeft
            | BinaryOperator::PGBitwiseShiftRight
            | BinaryOperator::PGOverlap
            | BinaryOperator::PGRegexIMatch
            | BinaryOperator::PGRegexNotMatch
            | BinaryOperator::PGRegexNotIMatch
            | BinaryOperator::PGLikeMatch
            | BinaryOperator::PGILikeMatch
            | BinaryOperator::PGNotLikeMatch
            | BinaryOperator::PGNotILikeMatch
            | BinaryOperator::PGStartsWith
            | BinaryOperator::Arrow
            | BinaryOperator::LongArrow
            | BinaryOperator::HashArrow
            | BinaryOperator::HashLongArrow
            | BinaryOperator::AtArrow
            | BinaryOperator::ArrowAt
            | BinaryOperator::HashMinus
            | BinaryOperator::AtQuestion
            | BinaryOperator::Question
            | BinaryOperator::QuestionAnd
            | BinaryOperator::PGCustomBinaryOperator(_)
            | BinaryOperator::DoubleHash
            | BinaryOperator::LtDashGt
            | BinaryOperator::AndLt
            | BinaryOperator::AndGt
            | BinaryOperator::LtLtPipe
            | BinaryOperator::PipeGtGt
            | BinaryOperator::AndLtPipe
            | BinaryOperator::PipeAndGt
            | BinaryOperator::LtCaret
            | BinaryOperator::GtCaret
            | BinaryOperator::QuestionHash
            | BinaryOperator::QuestionDashPipe
            | BinaryOperator::QuestionDoublePipe
            | BinaryOperator::TildeEq
            | BinaryOperator::Assignment
            | BinaryOperator::Is
            | BinaryOperator::IsNot => {
                Err(self.refuse("This operator is not on the list of allowed operators."))
            }
        }
    }

    fn prefix(&self, operator: UnaryOperator) -> Result<(), Refusal> {
        match operator {
            UnaryOperator::Plus
            | UnaryOperator::Minus
            | UnaryOperator::Not
            | UnaryOperator::BitwiseNot
            | UnaryOperator::AtDashAt
            | UnaryOperator::DoubleAt
            | UnaryOperator::Hash
            | UnaryOperator::PGAbs
            | UnaryOperator::PGCubeRoot
            | UnaryOperator::PGPrefixFactorial
            | UnaryOperator::PGSquareRoot
            | UnaryOperator::QuestionDash
            | UnaryOperator::QuestionPipe => Ok(()),
            UnaryOperator::BangNot | UnaryOperator::PGPostfixFactorial => {
                Err(self.refuse("This operator is not on the list of allowed operators."))
            }
        }
    }
}

/// The sentence for a collation that is not PostgreSQL's own.
pub(super) const UNKNOWN_COLLATION: &str =
    "Only PostgreSQL's own collations are allowed, such as \"C\", \"en_US.utf8\" or \"de-x-icu\".";

/// PostgreSQL's own names, and the shapes that it gives to the operating system's and ICU's locales.
pub(super) fn is_built_in_collation(name: &str) -> bool {
    if matches!(name, "C" | "POSIX" | "default" | "ucs_basic" | "unicode" | "pg_c_utf8" | "pg_unicode_fast") {
        return true;
    }
    let locale = name.strip_suffix("-x-icu").unwrap_or(name);
    let mut parts = locale.split(['_', '-', '.', '@']);
    let language = parts.next().unwrap_or_default();
    let known = language == "C"
        || (2..=3).contains(&language.len()) && language.chars().all(|c| c.is_ascii_lowercase());
    known && parts.all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric()))
}
