//! Operators and punctuation marks as sqlparser's tokens.

use sqlparser::tokenizer::Token as Seen;

/// Returns the parser's token of a punctuation mark or an operator.
///
/// Named are those whose precedence, or use as a prefix, the parser must know. The others all have the precedence of "any
/// other operator".
pub(super) fn symbol(text: &str) -> Seen {
    match text {
        "(" => Seen::LParen,
        ")" => Seen::RParen,
        "[" => Seen::LBracket,
        "]" => Seen::RBracket,
        "," => Seen::Comma,
        "." => Seen::Period,
        ":" => Seen::Colon,
        "::" => Seen::DoubleColon,
        ":=" => Seen::Assignment,
        "=>" => Seen::RArrow,
        "+" => Seen::Plus,
        "-" => Seen::Minus,
        "*" => Seen::Mul,
        "/" => Seen::Div,
        "%" => Seen::Mod,
        "^" => Seen::Caret,
        "=" => Seen::Eq,
        "<>" | "!=" => Seen::Neq,
        "<" => Seen::Lt,
        ">" => Seen::Gt,
        "<=" => Seen::LtEq,
        ">=" => Seen::GtEq,
        "~" => Seen::Tilde,
        "!!" => Seen::DoubleExclamationMark,
        "|/" => Seen::PGSquareRoot,
        "||/" => Seen::PGCubeRoot,
        "@" => Seen::AtSign,
        "#" => Seen::Sharp,
        "@-@" => Seen::AtDashAt,
        "@@" => Seen::AtAt,
        "?-" => Seen::QuestionMarkDash,
        "?|" => Seen::QuestionPipe,
        other => Seen::CustomBinaryOperator(other.to_owned()),
    }
}
