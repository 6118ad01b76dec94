//! Judges operators. The lexer's closed list decides which may be written; here only those that sqlparser spells as words
//! are looked at.

use sqlparser::ast::{BinaryOperator, UnaryOperator};

use super::walk::Walk;
use crate::guard::refusal::Refusal;

/// Judges an operator between operands.
#[rustfmt::skip]
pub(super) fn judge_infix(walk: &Walk<'_, '_>, operator: &BinaryOperator) -> Result<(), Refusal> {
    match operator {
        BinaryOperator::Plus | BinaryOperator::Minus | BinaryOperator::Multiply | BinaryOperator::Divide
        | BinaryOperator::Modulo | BinaryOperator::StringConcat | BinaryOperator::Gt
        | BinaryOperator::Lt | BinaryOperator::GtEq | BinaryOperator::LtEq | BinaryOperator::Eq
        | BinaryOperator::NotEq | BinaryOperator::And | BinaryOperator::Or | BinaryOperator::BitwiseOr
        | BinaryOperator::BitwiseAnd | BinaryOperator::Custom(_) | BinaryOperator::PGBitwiseXor
        | BinaryOperator::PGExp | BinaryOperator::PGRegexMatch | BinaryOperator::AtAt
        | BinaryOperator::QuestionPipe | BinaryOperator::QuestionDash | BinaryOperator::At
        | BinaryOperator::Overlaps => Ok(()),
        BinaryOperator::Spaceship | BinaryOperator::Xor | BinaryOperator::BitwiseXor
        | BinaryOperator::DuckIntegerDivide | BinaryOperator::MyIntegerDivide | BinaryOperator::Match
        | BinaryOperator::Regexp | BinaryOperator::Glob | BinaryOperator::PGBitwiseShiftLeft
        | BinaryOperator::PGBitwiseShiftRight | BinaryOperator::PGOverlap
        | BinaryOperator::PGRegexIMatch | BinaryOperator::PGRegexNotMatch
        | BinaryOperator::PGRegexNotIMatch | BinaryOperator::PGLikeMatch | BinaryOperator::PGILikeMatch
        | BinaryOperator::PGNotLikeMatch | BinaryOperator::PGNotILikeMatch
        | BinaryOperator::PGStartsWith | BinaryOperator::Arrow | BinaryOperator::LongArrow
        | BinaryOperator::HashArrow | BinaryOperator::HashLongArrow | BinaryOperator::AtArrow
        | BinaryOperator::ArrowAt | BinaryOperator::HashMinus | BinaryOperator::AtQuestion
        | BinaryOperator::Question | BinaryOperator::QuestionAnd
        | BinaryOperator::PGCustomBinaryOperator(_) | BinaryOperator::DoubleHash
        | BinaryOperator::LtDashGt | BinaryOperator::AndLt | BinaryOperator::AndGt
        | BinaryOperator::LtLtPipe | BinaryOperator::PipeGtGt | BinaryOperator::AndLtPipe
        | BinaryOperator::PipeAndGt | BinaryOperator::LtCaret | BinaryOperator::GtCaret
        | BinaryOperator::QuestionHash | BinaryOperator::QuestionDashPipe
        | BinaryOperator::QuestionDoublePipe | BinaryOperator::TildeEq | BinaryOperator::Assignment
        | BinaryOperator::Is | BinaryOperator::IsNot => {
            Err(walk.refuse("This operator is not on the list of allowed operators."))
        }
    }
}

/// Judges an operator before an operand.
#[rustfmt::skip]
pub(super) fn judge_prefix(walk: &Walk<'_, '_>, operator: UnaryOperator) -> Result<(), Refusal> {
    match operator {
        UnaryOperator::Plus | UnaryOperator::Minus | UnaryOperator::Not | UnaryOperator::BitwiseNot
        | UnaryOperator::AtDashAt | UnaryOperator::DoubleAt | UnaryOperator::Hash | UnaryOperator::PGAbs
        | UnaryOperator::PGCubeRoot | UnaryOperator::PGPrefixFactorial | UnaryOperator::PGSquareRoot
        | UnaryOperator::QuestionDash | UnaryOperator::QuestionPipe => Ok(()),
        UnaryOperator::BangNot | UnaryOperator::PGPostfixFactorial => {
            Err(walk.refuse("This operator is not on the list of allowed operators."))
        }
    }
}
