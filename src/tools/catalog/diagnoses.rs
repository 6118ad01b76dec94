//! Every fault that is found in a catalog: the rule that it breaks, a sentence, and its cure. `{}` stands for a fact of the
//! place where it is found.

use std::fmt::Display;

use super::rule::Rule;
use crate::document::section::Report;

/// A fault as it is reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Diagnosis {
    pub(super) rule: Rule,
    text: &'static str,
    cure: &'static str,
}

impl Diagnosis {
    /// Returns the sentence and the cure, with the facts in their places.
    pub(super) fn with(&self, facts: &[&dyn Display]) -> [String; 2] {
        let mut facts = facts.iter();
        [self.text, self.cure].map(|sentence| {
            let mut parts = sentence.split("{}");
            let first = parts.next().unwrap_or_default().to_owned();
            parts.fold(first, |text, part| match facts.next() {
                Some(fact) => format!("{text}{fact}{part}"),
                None => text + part,
            })
        })
    }

    /// Reports it in a line of a file.
    pub(super) fn report(&self, report: &mut Report<'_, Rule>, line: usize, facts: &[&dyn Display]) {
        let [text, cure] = self.with(facts);
        report.add(self.rule, line, text, cure);
    }
}

macro_rules! diagnoses {
    ($($name:ident: $rule:ident, $text:literal, $cure:literal;)+) => {
        $(pub(super) const $name: Diagnosis = Diagnosis { rule: Rule::$rule, text: $text, cure: $cure };)+
    };
}

diagnoses! {
    // Names, and what is listed.
    TABLE_NAME: InvalidName, "No table can be called {}.", "Write name or schema.name, in letters, digits and _.";
    TABLE_TWICE: DuplicateName, "The table {} is listed twice.", "List it once.";
    COLUMN_NAME: InvalidName, "No column can be called {}.", "Use letters, digits and _; name an expression with AS.";
    COLUMN_TWICE: DuplicateName, "The column {} is declared twice.", "Name one otherwise with AS.";
    NO_COLUMNS: NoColumns, "The entry declares no columns.",
        "Write columns = [\"…\"], the names of the statement's output in order.";
    TYPE_OF_NOTHING: UnknownKey, "The type of {} is given, which is no declared column.",
        "Declare it in columns, or remove it here.";
    TOOL_NAME: InvalidName, "No tool can be called {}.", "Use 1 to 64 letters, digits, _ and -, a letter or _ first.";
    LONG_NAME: LongName, "The name {} is longer than 41 characters.",
        "Shorten it: clients put mcp__mcp-server-suite__ before it, and APIs of language models allow 64 in all.";
    TOOL_BUILT_IN: DuplicateName, "A built-in tool has this name.", "Use another one.";
    TOOL_TWICE: DuplicateName, "Another entry has this name: {}:{}.", "Use another one.";
    WAIVER_WITHOUT_REASON: InvalidValue, "The waiver of {} has no reason.", "Write why this entry may use the name.";
    WAIVER_UNUSED: InvalidValue, "The waiver of {} waives nothing in the statement.", "Remove it.";
    EXAMPLE_REFUSED: InvalidExample, "A call with the example is refused: {}",
        "Write arguments that the entry's own parameters accept.";

    // Parameters.
    PARAM_NAME: InvalidName, "No parameter can be called {}.",
        "Use a lower-case letter, then lower-case letters, digits and _, at most {}.";
    PARAM_PROMISES: ForbiddenParamName, "A parameter called {} promises {}.",
        "Name what the value is; :caller and :tenant are the server's, and no argument is ever SQL.";
    PARAM_UNTYPED: ParamUntyped, "The parameter {} has no type, or its items have none.",
        "Write type = \"…\": {}; an array also items = { type = \"…\" }.";
    PARAM_TYPE: ParamUntyped, "The parameter {} has the unknown type {}.",
        "Write {}; the items of an array are no arrays.";
    PARAM_UNBOUNDED: ParamUnbounded, "The parameter {} lacks a bound.", "Write {}.";
    PARAM_PATTERN: ParamPattern, "The pattern of {} is not of the shared syntax: {}.",
        "Use literals, classes, \\d \\w, groups, | and counts; it matches the whole value.";
    ENUM_TWICE: InvalidValue, "The parameter {} has the value {} twice.", "Keep one of them.";
    ENUM_FORBIDDEN: InvalidValue, "The parameter {} has the value {} that no call may hold.",
        "Leave out characters that are not shown, and keep it short.";
    OPTIONAL_WITH_DEFAULT: InvalidValue, "The parameter {} is optional and has a default.",
        "Keep one of the two: an optional parameter that is left out is NULL.";
    DEFAULT_REFUSED: InvalidValue, "The default breaks the parameter's own bounds: {}",
        "Write a default that a caller might send.";
    MATCH_OF_NO_STRING: InvalidValue, "The parameter {} is no string and has `match`.",
        "Only one text can be searched for: make it a string, or remove `match`.";
    MATCH_OF_NOTHING: ParamUnbounded, "The parameter {} may be empty, and a search for nothing finds everything.",
        "Write min_length = 1 or more.";
    SEARCH_OF_NOTHING: ParamUnbounded, "The parameter :{} may be empty here, and a search for nothing finds everything.",
        "Write min_length = 1 or more.";
    LIST_OF_NOTHING: ParamUnbounded, "The list :{} may be empty here, which finds everything.", "Write min_items = 1 or more.";
    LIMIT_TYPE: ParamUntyped, "The parameter limit is no integer.", "Write type = \"integer\", or use another name.";
    LIMIT_BOUNDS: ParamUnbounded, "The parameter limit does not bound the answer: it goes from {} to {}.",
        "Keep it between 1 and {} (MCP_SQL_MAX_ROWS).";
    PARAM_UNUSED: ParamUnused, "The parameter {} is nowhere in the statement.", "Use it as :{}, or remove it.";
    PLACEHOLDER_UNKNOWN: PlaceholderUnknown, "The placeholder :{} is no parameter of this entry.",
        "Declare the parameter, or write the name of one that is declared.";

    // Tables, and whatever else stands in FROM.
    TABLE_NOT_ALLOWED: TableNotAllowed, "The table {} is not among the catalog's tables.",
        "Add it to the tables at the top of the catalog, written as in the statement, or read another.";
    TABLE_UNDECLARED: TableUndeclared, "The statement reads {}, which the entry does not declare.",
        "Add it to the entry's tables, or do not read it.";
    TABLE_UNREFERENCED: TableUnreferenced, "The entry declares the table {}, which the statement does not read.",
        "Remove it from the entry's tables.";
    TABLE_OF_OTHERS: UnsupportedTableRef, "A table's name is name or schema.name, without dots of its own.",
        "Name a table of the database that the server is connected to.";
    TABLE_RENAMED: UnsupportedTableRef, "New names for a table's columns hide which columns are read.",
        "Leave the list behind the alias out, and rename with AS in the SELECT list.";
    FUNCTION_RENAMED: UnsupportedTableRef, "New names for the columns of the function {} hide which columns are read.",
        "Name its result only, f(...) AS x, and read its own columns: x.name.";
    JOIN_NATURAL: UnsupportedTableRef, "NATURAL JOIN compares every column that both sides have, whatever it is.",
        "Write USING (...) or ON.";
    JOIN_NAMED: UnsupportedTableRef, "A name for a join as a whole hides which table a column is of.",
        "Name the tables within the join instead.";
    ROWS_FROM: UnsupportedTableRef, "The columns of ROWS FROM (...) cannot be verified.",
        "Read from one function at a time.";

    // The rows and columns of the answer.
    LIMIT_MISSING: MissingLimit, "The outermost query has no LIMIT, or one that may be NULL.",
        "End the statement with LIMIT :limit and declare the parameter limit, or write a number.";
    LIMIT_OPTIONAL: MissingLimit, "The parameter limit is optional, and LIMIT NULL is no limit.",
        "Give it a default instead.";
    LIMIT_COMPUTED: LimitLookahead,
        "What stands behind LIMIT is not :limit alone: whether more rows follow would not be known.",
        "End the statement with LIMIT :limit and declare the parameter limit, or write a number.";
    LIMIT_ELSEWHERE: LimitLookahead, ":limit is bound to one row more than was asked for.",
        "Use it alone behind the outermost LIMIT, and another parameter here.";
    ORDER_MISSING: OrderRequired, "LIMIT without ORDER BY: which rows come is chance.",
        "Add ORDER BY on columns that tell all rows apart.";
    OUTPUT_UNNAMED: ColumnMismatch, "Column {} of the statement has no name of its own.",
        "Give it one: expression AS name.";
    OUTPUT_TWICE: ColumnMismatch, "Two columns of the statement are called {}.",
        "Give one of them another name: expression AS name.";
    OUTPUT_DIFFERS: ColumnMismatch, "The statement's columns are {}; declared are {}.",
        "Declare the statement's columns, in its order.";

    // Names of secrets, and what may hide one.
    SECRET_COLUMN: SensitiveColumn, "The declared column {} says by its name that it holds a secret.",
        "Leave it out; if it holds no secret, waive this name in the entry with a written reason.";
    SECRET_NAME: SensitiveIdentifier, "The name {} says that it holds a secret.",
        "Leave it out; if it holds no secret, waive this name in the entry with a written reason.";
    MEMBER_OF_CALLER: SensitiveIdentifier, "Here a parameter names the members of a value, a secret's too.",
        "Write the names, and take single values as parameters.";
    MEMBER_UNWRITTEN: SensitiveIdentifier,
        "Which member this names is not written here, so that a secret's name cannot be seen.",
        "Write one condition for each name, as a literal: data ->> 'name'; a number as x::int.";
    MEMBER_ESCAPED: SensitiveIdentifier, "Escapes in the name of a member can hide a secret's.",
        "Write it in one piece, without backslashes and quotes.";
    OPERATOR_HIDDEN: ForbiddenConstruct, "This OPERATOR(...) hides which operator is meant.",
        "Write the operator itself, or OPERATOR(pg_catalog.=) for PostgreSQL's own.";
    ARGUMENTS_BY_NAME: ForbiddenConstruct, "Arguments by name hide which argument of {} is which.",
        "Write them in order, without names.";

    // Whole rows and whole values.
    WILDCARD: WildcardSelect, "This takes every column, also those that the table will have some day.",
        "List the columns.";
    WILDCARD_ARGUMENT: WildcardSelect, "{}(*) takes every column.", "Name what it is given.";
    ROW_BY_NAME: WildcardSelect, "{} is the whole row of what is called so.",
        "Name the columns (what a function gives as x is x.x); if a column is meant, give the table another alias.";
    ROW_BEHIND_DOT: WildcardSelect,
        "Behind a dot {} may be the function of that name, called with the whole row.",
        "If a column is meant, write it without the table's name.";
    ROW_FIELD: WildcardSelect, "{} may be a field of ROW(...), whose name does not say what it holds.",
        "Read the value itself, without the row; give a type's field another name.";
    NO_COLUMN_HERE: WildcardSelect, "{} is no column here, and may be a function of the value.",
        "Write the value by its own name.";
    EVERY_MEMBER: WildcardSelect, "{} gives every member of a value, whatever its name.",
        "Name the members: data ->> 'name'.";
    EVERY_MEMBER_OF_PATH: WildcardSelect,
        "This path takes every member of a JSON value, whatever its name.",
        "Name the members; [*] for all elements of an array is fine.";
    EMPTY_PATH: WildcardSelect, "The empty path takes the whole JSON value as a text.",
        "Name a member, or take the value itself.";

    // Patterns.
    PATTERN_OF_CALLER: LikeUnescaped, "The parameter :{} reaches a pattern in which its wildcards would count.", "{}";
    MATCH_UNUSED: MatchUnused, "The parameter {} has match, and is no pattern of LIKE here.",
        "With match it is bound with wildcards; take another parameter for this, or leave match out.";
}
