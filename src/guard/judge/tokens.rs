//! The judge of the tokens: it knows nothing of the tree but which names it accounts for, and refuses whatever stands
//! there unaccounted, whatever the parser made of it.

use super::{
    calls::unknown_function,
    expressions::{UNKNOWN_COLLATION, is_built_in_collation},
    from::telling_relation,
    keywords,
    names::FOREIGN_OPERATOR,
    tree::Role,
    types,
};
use crate::{
    guard::{
        functions_denied,
        lexer::{Kind, Reason, Refusal, Token},
        relations,
        statement::GuardConfig,
    },
    problem::echo,
};

/// Unquoted words that may stand before a parenthesis: PostgreSQL's grammar gives none of them to a function.
const GRAMMAR: &[&str] = &[
    "all",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "between",
    "both",
    "by",
    "case",
    "cast",
    "coalesce",
    "collate",
    "current_time",
    "current_timestamp",
    "desc",
    "distinct",
    "else",
    "except",
    "exists",
    "extract",
    "for",
    "from",
    "greatest",
    "grouping",
    "having",
    "in",
    "intersect",
    "lateral",
    "leading",
    "least",
    "limit",
    "localtime",
    "localtimestamp",
    "not",
    "nullif",
    "offset",
    "on",
    "only",
    "or",
    "overlay",
    "placing",
    "position",
    "row",
    "select",
    "some",
    "substring",
    "symmetric",
    "then",
    "to",
    "trailing",
    "trim",
    "union",
    "using",
    "values",
    "variadic",
    "when",
    "where",
    "with",
    // Types whose names no function can have.
    "bit",
    "char",
    "character",
    "dec",
    "decimal",
    "float",
    "interval",
    "numeric",
    "time",
    "timestamp",
    "varchar",
];

/// Words that are grammar only behind certain others, and names elsewhere.
const GRAMMAR_BEHIND: &[(&str, &[&str])] = &[
    ("bernoulli", &["tablesample"]),
    ("first", &["fetch"]),
    ("group", &["within"]),
    ("materialized", &["as", "not"]),
    ("next", &["fetch"]),
    ("second", &["interval", "to"]),
    ("sets", &["grouping"]),
    ("system", &["tablesample"]),
    ("varying", &["bit", "char", "character"]),
    ("zone", &["time"]),
];

/// Words that join two operands or begin a window's frame, or are names of functions.
const INFIX: &[&str] =
    &["escape", "groups", "ilike", "is", "join", "like", "overlaps", "range", "rows", "similar"];

/// Judges the tokens. `roles` is what the tree accounts for, token by token; without a tree nothing is accounted for.
pub(crate) fn judge(tokens: &[Token<'_>], roles: &[Role], config: &GuardConfig) -> Result<(), Refusal> {
    let mut brackets = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let before = |back: usize| index.checked_sub(back).and_then(|i| tokens.get(i));
        let after = |by: usize| tokens.get(index + by);
        let role = |index: usize| roles.get(index).copied().unwrap_or_default();
        if token.is_mark("(") {
            let columns = index.checked_sub(1).is_some_and(|name| role(name) == Role::Columns);
            brackets.push(Bracket::of([before(1), before(2)], columns, after(1)));
        } else if token.is_mark(")") {
            brackets.pop();
        }
        if brackets.last().is_some_and(|bracket| bracket.holds_a_type(token, before(1), after(1))) {
            cast(token, [after(1), after(2), after(3)], config)?;
        }
        if token.is_name() {
            if let Some(does) = functions_denied::danger(&token.name) {
                return Err(Refusal::violation(
                    token.at,
                    format!(
                        "The name {} is never allowed: a function of this name {does}.",
                        echo(&token.name)
                    ),
                )
                .about(Reason::Function));
            }
            if after(1).is_some_and(|next| next.is_mark("(")) {
                before_parenthesis(token, role(index), [before(1), before(2)], config)?;
            } else {
                alone(token, role(index), [before(1), before(2), after(1)], config)?;
            }
        }
        if token.is_word("collate") && !before(1).is_some_and(|t| t.is_mark(".")) {
            collation(token, [after(1), after(2), after(3)])?;
        }
        if token.is_mark("::") {
            cast(token, [after(1), after(2), after(3)], config)?;
        }
        if token.is_name() && after(1).is_some_and(Token::is_string) {
            before_string(token, [before(1), before(2)], config)?;
        }
        if token.is_word("operator") && after(1).is_some_and(|next| next.is_mark("(")) {
            qualified_operator(token, [after(2), after(3), after(4)])?;
        }
    }
    Ok(())
}

fn before_parenthesis(
    token: &Token<'_>,
    role: Role,
    [before, second]: [Option<&Token<'_>>; 2],
    config: &GuardConfig,
) -> Result<(), Refusal> {
    let qualified = before.is_some_and(|t| t.is_mark("."));
    if token.kind == Kind::Word && !qualified && is_grammar(token, before, second) {
        return Ok(());
    }
    let schema = if qualified { second.map(|t| t.name.as_str()) } else { None };
    let accounted = match role {
        Role::Call => config.allows_function(schema, &token.name),
        Role::Type => true,
        Role::Columns => !qualified,
        Role::None | Role::Field | Role::Relation => false,
    };
    if accounted {
        return Ok(());
    }
    Err(Refusal::violation(token.at, unknown_function(&token.name)).about(Reason::Function))
}

/// A name that is not called: it may be a call that does not look like one, or what tells of others.
fn alone(
    token: &Token<'_>,
    role: Role,
    [before, second, next]: [Option<&Token<'_>>; 3],
    config: &GuardConfig,
) -> Result<(), Refusal> {
    let name = token.name.as_str();
    if before.is_some_and(|t| t.is_mark(".")) {
        // What stands before a further dot is a relation or a schema, unless it is a field itself.
        let qualifies = next.is_some_and(|t| t.is_mark(".")) && second.is_some_and(Token::is_name);
        let accounted = matches!(role, Role::Relation | Role::Type) || qualifies;
        if !accounted && functions_denied::may_call_behind_a_dot(name) && !config.allows_function(None, name)
        {
            return Err(Refusal::violation(token.at, unknown_function(name)));
        }
    }
    let calls = token.kind == Kind::Word && matches!(name, "current_schema" | "system_user");
    if calls && !before.is_some_and(|t| t.is_mark(".")) && !config.allows_function(None, name) {
        return Err(Refusal::violation(token.at, unknown_function(name)));
    }
    let schema = second.filter(|_| before.is_some_and(|t| t.is_mark("."))).map(|t| t.name.as_str());
    match relations::tells(schema, name).filter(|_| !config.allows_telling_relations()) {
        None => Ok(()),
        Some(tells) => Err(Refusal::violation(token.at, telling_relation(name, tells))),
    }
}

/// What a parenthesis holds, as far as a type may stand in it without `::`.
enum Bracket {
    /// `CAST(x AS type)`.
    Cast,
    /// `AS x (a type, b type)`.
    Columns,
    /// Anything else.
    Other,
}

impl Bracket {
    fn of([before, second]: [Option<&Token<'_>>; 2], columns: bool, first: Option<&Token<'_>>) -> Self {
        let qualified = second.is_some_and(|t| t.is_mark("."));
        let query = first.is_some_and(|t| {
            ["select", "table", "values", "with"].iter().any(|word| t.is_word(word)) || t.is_mark("(")
        });
        match before {
            Some(word) if word.is_word("cast") && !qualified => Self::Cast,
            Some(_) if columns => Self::Columns,
            Some(word) if word.is_word("as") && second.is_some_and(|t| t.is_mark(")")) && !query => {
                Self::Columns
            }
            Some(_) | None => Self::Other,
        }
    }

    /// Whether a type stands behind this token.
    fn holds_a_type(&self, token: &Token<'_>, before: Option<&Token<'_>>, next: Option<&Token<'_>>) -> bool {
        match self {
            Self::Cast => token.is_word("as"),
            Self::Columns => {
                token.is_name()
                    && before.is_some_and(|t| t.is_mark("(") || t.is_mark(","))
                    && next.is_some_and(Token::is_name)
            }
            Self::Other => false,
        }
    }
}

/// What stands behind COLLATE is one of PostgreSQL's own collations.
fn collation(token: &Token<'_>, behind: [Option<&Token<'_>>; 3]) -> Result<(), Refusal> {
    let name = match behind {
        [Some(schema), Some(dot), Some(name)] if dot.is_mark(".") => {
            Some(name).filter(|_| schema.name == "pg_catalog")
        }
        [name, _, _] => name,
    };
    if name.is_some_and(|name| name.is_name() && is_built_in_collation(&name.name)) {
        return Ok(());
    }
    Err(Refusal::violation(token.at, UNKNOWN_COLLATION))
}

/// What stands behind `::` or `AS` is a type.
fn cast(token: &Token<'_>, behind: [Option<&Token<'_>>; 3], config: &GuardConfig) -> Result<(), Refusal> {
    let (schema, name) = match behind {
        [Some(schema), Some(dot), Some(name)] if dot.is_mark(".") => (Some(schema.name.as_str()), name),
        [Some(name), _, _] => (None, name),
        [None, _, _] => return Ok(()),
    };
    if name.is_name() && (written(schema, name).is_allowed(config) || name.is_word("double")) {
        return Ok(());
    }
    Err(Refusal::violation(token.at, types::unknown_type(&name.name)))
}

/// A name before a string is a type, unless it is a keyword.
fn before_string(
    token: &Token<'_>,
    [before, second]: [Option<&Token<'_>>; 2],
    config: &GuardConfig,
) -> Result<(), Refusal> {
    let qualified = before.is_some_and(|t| t.is_mark("."));
    if !qualified
        && token.kind == Kind::Word
        && (keywords::is_keyword(&token.name) || token.name == "default")
    {
        return Ok(());
    }
    let schema = if qualified { second.map(|t| t.name.as_str()) } else { None };
    if written(schema, token).is_allowed(config) {
        return Ok(());
    }
    Err(Refusal::violation(token.at, types::unknown_type(&token.name)))
}

fn written<'n>(schema: Option<&'n str>, token: &'n Token<'_>) -> types::Written<'n> {
    types::Written { schema, name: &token.name, plain: token.kind == Kind::Word }
}

fn is_grammar(token: &Token<'_>, before: Option<&Token<'_>>, second: Option<&Token<'_>>) -> bool {
    let name = token.name.as_str();
    if GRAMMAR.contains(&name) {
        return true;
    }
    let behind_words =
        |words: &[&str]| before.is_some_and(|t| t.kind == Kind::Word && words.contains(&t.name.as_str()));
    if GRAMMAR_BEHIND.iter().any(|(word, words)| *word == name && behind_words(words)) {
        return true;
    }
    let behind_parenthesis = before.is_some_and(|t| t.is_mark(")"));
    match name {
        "filter" | "over" | "repeatable" => behind_parenthesis,
        "cube" | "rollup" => {
            // GROUP BY DISTINCT, GROUP BY ALL.
            let quantified = behind_words(&["distinct", "all"]) && second.is_some_and(|t| t.is_word("by"));
            quantified || behind_words(&["by"]) || before.is_some_and(|t| t.is_mark(",") || t.is_mark("("))
        }
        // What may stand in its parentheses is looked at wherever it stands.
        "operator" => true,
        "second" => before.is_some_and(Token::is_string),
        // Behind an operand these are grammar; elsewhere they would be names.
        infix if INFIX.contains(&infix) => before.is_some_and(is_operand),
        _ => false,
    }
}

/// Whether an expression can end with this token.
pub(super) fn is_operand(token: &Token<'_>) -> bool {
    match token.kind {
        Kind::QuotedName
        | Kind::Number
        | Kind::String
        | Kind::PrefixedString
        | Kind::DollarString
        | Kind::Placeholder => true,
        Kind::Word => {
            let name = token.name.as_str();
            !GRAMMAR.contains(&name)
                || name.starts_with("current_")
                || name.starts_with("localtime")
                || matches!(name, "not" | "row")
        }
        Kind::Punctuation => token.is_mark(")") || token.is_mark("]"),
        Kind::Operator => false,
    }
}

/// `OPERATOR(pg_catalog.+)` only.
fn qualified_operator(token: &Token<'_>, inside: [Option<&Token<'_>>; 3]) -> Result<(), Refusal> {
    let built_in = match inside {
        [Some(schema), Some(dot), Some(operator)] => {
            schema.is_name()
                && schema.name == "pg_catalog"
                && dot.is_mark(".")
                && operator.kind == Kind::Operator
        }
        _ => false,
    };
    let plain = inside[0].is_some_and(|t| t.kind == Kind::Operator);
    if built_in || plain {
        return Ok(());
    }
    Err(Refusal::violation(token.at, FOREIGN_OPERATOR))
}
