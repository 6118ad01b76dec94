//! Judges operators. The lexer's closed list decides which may be written; here only those that sqlparser spells as words
//! are looked at.

use sqlparser::ast::{BinaryOperator as Infix, UnaryOperator as Prefix};

use super::walk::Walk;
use crate::guard::refusal::Refusal;

const UNKNOWN_OPERATOR: &str = "This operator is not on the list of allowed operators.";

/// Judges an operator between operands.
#[rustfmt::skip]
pub(super) fn judge_infix(walk: &Walk<'_, '_>, operator: &Infix) -> Result<(), Refusal> {
    match operator {
        Infix::Plus | Infix::Minus | Infix::Multiply | Infix::Divide | Infix::Modulo | Infix::StringConcat
        | Infix::Gt | Infix::Lt | Infix::GtEq | Infix::LtEq | Infix::Eq | Infix::NotEq | Infix::And
        | Infix::Or | Infix::BitwiseOr | Infix::BitwiseAnd | Infix::Custom(_) | Infix::PGBitwiseXor
        | Infix::PGExp | Infix::PGRegexMatch | Infix::AtAt | Infix::QuestionPipe | Infix::QuestionDash
        | Infix::At | Infix::Overlaps => Ok(()),
        Infix::Spaceship | Infix::Xor | Infix::BitwiseXor | Infix::DuckIntegerDivide | Infix::MyIntegerDivide
        | Infix::Match | Infix::Regexp | Infix::Glob | Infix::PGBitwiseShiftLeft | Infix::PGBitwiseShiftRight
        | Infix::PGOverlap | Infix::PGRegexIMatch | Infix::PGRegexNotMatch | Infix::PGRegexNotIMatch
        | Infix::PGLikeMatch | Infix::PGILikeMatch | Infix::PGNotLikeMatch | Infix::PGNotILikeMatch
        | Infix::PGStartsWith | Infix::Arrow | Infix::LongArrow | Infix::HashArrow | Infix::HashLongArrow
        | Infix::AtArrow | Infix::ArrowAt | Infix::HashMinus | Infix::AtQuestion | Infix::Question
        | Infix::QuestionAnd | Infix::PGCustomBinaryOperator(_) | Infix::DoubleHash | Infix::LtDashGt
        | Infix::AndLt | Infix::AndGt | Infix::LtLtPipe | Infix::PipeGtGt | Infix::AndLtPipe
        | Infix::PipeAndGt | Infix::LtCaret | Infix::GtCaret | Infix::QuestionHash | Infix::QuestionDashPipe
        | Infix::QuestionDoublePipe | Infix::TildeEq | Infix::Assignment | Infix::Is | Infix::IsNot => {
            walk.refuse(UNKNOWN_OPERATOR)
        }
    }
}

/// Judges an operator before an operand.
#[rustfmt::skip]
pub(super) fn judge_prefix(walk: &Walk<'_, '_>, operator: Prefix) -> Result<(), Refusal> {
    match operator {
        Prefix::Plus | Prefix::Minus | Prefix::Not | Prefix::BitwiseNot | Prefix::AtDashAt | Prefix::DoubleAt
        | Prefix::Hash | Prefix::PGAbs | Prefix::PGCubeRoot | Prefix::PGPrefixFactorial
        | Prefix::PGSquareRoot | Prefix::QuestionDash | Prefix::QuestionPipe => Ok(()),
        Prefix::BangNot | Prefix::PGPostfixFactorial => walk.refuse(UNKNOWN_OPERATOR),
    }
}
