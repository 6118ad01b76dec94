//! The walk over the tree: every query with what its names mean, every expression once. It keeps its own list of what is
//! left, so that its stack does not grow with the tree.

use std::collections::BTreeMap;

use sqlparser::ast::{
    Distinct, Expr, Fetch, GroupByExpr, Ident, LimitClause, NamedWindowDefinition, NamedWindowExpr,
    OrderByKind, Query, Select, SelectItem, SetExpr, WildcardAdditionalOptions,
};

use super::{
    super::members::Needs,
    Claim, Rule,
    faults::Faults,
    flow::Flow,
    output,
    parts::{Call, Part, bare, of_window, ordered, parts_of, placeholders},
    patterns::Use,
    scope::{Scope, Scopes},
    tables::Read,
};
use crate::guard::{
    lexer::Token,
    statement::{Parsed, token_of},
};

/// What is left to look at, and the level that it sees.
pub(super) enum Left<'t> {
    Query(&'t Query, Option<usize>),
    Expr(&'t Expr, Option<usize>),
}

/// What the walk gathers besides faults.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) tables: Vec<Read>,
    /// What placeholders are used for, by their tokens; for what is not here, a value.
    pub(super) uses: BTreeMap<usize, Use>,
    /// Placeholders that become columns of subqueries, which may be patterns elsewhere.
    pub(super) carried: Vec<usize>,
    /// Whether a pattern is taken from a column.
    pub(super) column_patterns: bool,
    /// Names of JSON members that are taken from columns, by where they stand.
    pub(super) column_keys: Vec<Option<usize>>,
    /// What must have no members of its own.
    pub(super) needs: Needs,
}

pub(super) struct Walk<'w, 't, 'f> {
    pub(super) claim: &'w Claim<'w>,
    pub(super) tokens: &'t [Token<'t>],
    pub(super) faults: &'w mut Faults<'f>,
    pub(super) scopes: Scopes<'t>,
    pub(super) left: Vec<Left<'t>>,
    pub(super) gathered: Gathered,
    pub(super) flow: Flow<'t>,
    /// Whose columns are the result, and read by nothing.
    outermost: &'t SetExpr,
}

/// Looks at everything.
pub(super) fn walk<'t>(claim: &Claim<'_>, parsed: &'t Parsed<'t>, faults: &mut Faults<'_>) -> Gathered {
    let mut walk = Walk {
        claim,
        tokens: &parsed.tokens,
        faults,
        scopes: Scopes::default(),
        left: vec![Left::Query(&parsed.tree, None)],
        gathered: Gathered::default(),
        flow: Flow::default(),
        outermost: &parsed.tree.body,
    };
    while let Some(next) = walk.left.pop() {
        match next {
            Left::Query(query, scope) => walk.query(query, scope),
            Left::Expr(expr, scope) => walk.expr(expr, scope),
        }
    }
    walk.keys_by_columns();
    walk.gathered.needs = walk.trace();
    walk.gathered
}

impl<'t> Walk<'_, 't, '_> {
    /// The byte where a name of the tree stands.
    pub(super) fn place(&self, ident: &Ident) -> Option<usize> {
        token_of(ident.span).and_then(|index| self.byte(index))
    }

    pub(super) fn byte(&self, token: usize) -> Option<usize> {
        self.tokens.get(token).map(|token| token.at)
    }

    /// Whether the name is written, and not one of those that the parser is shown in place of another form.
    pub(super) fn is_written(&self, ident: &Ident) -> bool {
        let token = token_of(ident.span).and_then(|index| self.tokens.get(index));
        token.is_some_and(|token| token.is_name() && token.name == ident.value)
    }

    pub(super) fn leave(&mut self, exprs: impl IntoIterator<Item = &'t Expr>, scope: Option<usize>) {
        self.left.extend(exprs.into_iter().map(|expr| Left::Expr(expr, scope)));
    }

    fn query(&mut self, query: &'t Query, outer: Option<usize>) {
        let scope = self.with(query, outer);
        let inner = self.body(query, scope);
        match query.order_by.as_ref().map(|order_by| &order_by.kind) {
            Some(OrderByKind::Expressions(exprs)) => self.by_output(ordered(exprs), query, inner),
            Some(OrderByKind::All(_)) | None => {}
        }
        match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit, offset, limit_by: _ }) => {
                self.leave(limit.iter().chain(offset.as_ref().map(|offset| &offset.value)), scope);
            }
            Some(LimitClause::OffsetCommaLimit { offset: _, limit: _ }) | None => {}
        }
        if let Some(Fetch { with_ties: _, percent: _, quantity }) = &query.fetch {
            self.leave(quantity, scope);
        }
    }

    /// The level that `ORDER BY` sees: of a SELECT its own, of a set operation only what is around it.
    fn body(&mut self, query: &'t Query, scope: Option<usize>) -> Option<usize> {
        let body = query.body.as_ref();
        let arms = arms_of(body);
        let is_one = arms.len() == 1;
        if !std::ptr::eq(body, self.outermost) {
            arms.iter().flat_map(|arm| columns_of(arm)).for_each(|expr| self.carry(expr));
        }
        let mut level = scope;
        for arm in arms {
            let mut own = scope;
            match arm {
                SetExpr::Select(select) => {
                    level = self.select(select, scope);
                    own = level;
                }
                SetExpr::Query(query) => self.left.push(Left::Query(query, scope)),
                SetExpr::Values(_) => self.leave(columns_of(arm), scope),
                // Set operations were taken apart; the guard refuses the others, and the parser never sees TABLE.
                SetExpr::SetOperation { op: _, set_quantifier: _, left: _, right: _ }
                | SetExpr::Insert(_)
                | SetExpr::Update(_)
                | SetExpr::Delete(_)
                | SetExpr::Merge(_)
                | SetExpr::Table(_) => {}
            }
            self.columns_of_arm(query, arm, own);
        }
        if !is_one {
            self.compare_arms(query);
        }
        if matches!(body, SetExpr::Select(_)) { level } else { scope }
    }

    /// The level on which all `WITH` queries are known.
    fn with(&mut self, query: &'t Query, outer: Option<usize>) -> Option<usize> {
        let mut scope = outer;
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            let recursive = query.with.as_ref().is_some_and(|with| with.recursive);
            if !self.is_written(&cte.alias.name) {
                self.left.push(Left::Query(&cte.query, scope));
                continue;
            }
            let known =
                Some(self.scopes.enter(Scope { outer: scope, with: Some(cte), relations: Vec::new() }));
            // Without RECURSIVE its own name means a table within it.
            self.left.push(Left::Query(&cte.query, if recursive { known } else { scope }));
            scope = known;
        }
        scope
    }

    fn select(&mut self, select: &'t Select, outer: Option<usize>) -> Option<usize> {
        let level = self.scopes.enter(Scope { outer, ..Scope::default() });
        let scope = Some(level);
        for table in &select.from {
            self.joined(table, level);
        }
        for item in &select.projection {
            self.item(item, scope);
        }
        self.leave(select.selection.iter().chain(&select.having), scope);
        match &select.group_by {
            GroupByExpr::Expressions(exprs, _) => self.by_name(exprs, &select.projection, scope),
            GroupByExpr::All(_) => {}
        }
        if let Some(Distinct::On(exprs)) = &select.distinct {
            self.by_name(exprs, &select.projection, scope);
        }
        for NamedWindowDefinition(_, window) in &select.named_window {
            if let NamedWindowExpr::WindowSpec(spec) = window {
                self.leave(of_window(spec), scope);
            }
        }
        scope
    }

    fn item(&mut self, item: &'t SelectItem, scope: Option<usize>) {
        match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, alias: _ } => {
                self.leave([expr], scope);
            }
            SelectItem::Wildcard(WildcardAdditionalOptions { wildcard_token, .. }) => {
                let token = token_of(wildcard_token.0.span).and_then(|index| self.tokens.get(index));
                // What is shown as `SELECT *` and is none is told of by its own name.
                if !token.is_some_and(|token| token.is_word("rows")) {
                    self.faults.add(
                        Rule::WildcardSelect,
                        token.map(|token| token.at),
                        "This takes every column, also those that the table will have some day.",
                        "List the columns.",
                    );
                }
            }
            // `t.*` is seen on the tokens; the guard refuses the others.
            SelectItem::QualifiedWildcard(_, _) | SelectItem::ExprWithAliases { expr: _, aliases: _ } => {}
        }
    }

    /// Expressions that may be a name of the query's own columns.
    fn by_output(&mut self, exprs: impl Iterator<Item = &'t Expr>, query: &'t Query, scope: Option<usize>) {
        let own = output::columns(query).unwrap_or_default();
        let known = |name: &str| own.iter().any(|output| output.name.as_deref() == Some(name));
        let others: Vec<&Expr> = exprs
            .filter(|expr| !matches!(bare(expr), Expr::Identifier(ident) if known(&ident.value)))
            .collect();
        self.leave(others, scope);
    }

    fn by_name(&mut self, exprs: &'t [Expr], projection: &[SelectItem], scope: Option<usize>) {
        let alias = |name: &str| {
            projection.iter().any(
                |item| matches!(item, SelectItem::ExprWithAlias { expr: _, alias } if alias.value == name),
            )
        };
        let others: Vec<&Expr> = exprs
            .iter()
            .filter(|expr| !matches!(expr, Expr::Identifier(ident) if alias(&ident.value)))
            .collect();
        self.leave(others, scope);
    }

    /// Notes which placeholders become values of a column that is read elsewhere.
    pub(super) fn carry(&mut self, expr: &'t Expr) {
        self.gathered.carried.extend(placeholders(expr));
    }

    /// What a call does with what it is given, wherever it stands.
    pub(super) fn call(&mut self, call: &Call<'t>) {
        self.named_of_call(call);
        self.rows_of_call(call);
        self.patterns_of_call(call);
        self.keys_of_call(call);
    }

    fn expr(&mut self, expr: &'t Expr, scope: Option<usize>) {
        self.rows(expr, scope);
        self.patterns(expr);
        self.keys(expr);
        self.made(expr, scope);
        if let Some(call) = Call::of(expr) {
            self.call(&call);
        }
        for part in parts_of(expr) {
            self.left.push(match part {
                Part::Expr(expr) => Left::Expr(expr, scope),
                Part::Query(query) => Left::Query(query, scope),
            });
        }
    }
}

/// What set operations put together, in order.
fn arms_of(body: &SetExpr) -> Vec<&SetExpr> {
    let (mut left, mut arms) = (vec![body], Vec::new());
    while let Some(part) = left.pop() {
        if let SetExpr::SetOperation { op: _, set_quantifier: _, left: first, right } = part {
            left.extend([right.as_ref(), first]);
        } else {
            arms.push(part);
        }
    }
    arms
}

/// The expressions of the columns of a SELECT or VALUES.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others have none of their own")]
fn columns_of(arm: &SetExpr) -> Vec<&Expr> {
    match arm {
        SetExpr::Select(select) => select.projection.iter().filter_map(value_of).collect(),
        SetExpr::Values(values) => values.rows.iter().flat_map(|row| &row.content).collect(),
        _ => Vec::new(),
    }
}

/// The expression of a column.
pub(super) fn value_of(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, alias: _ } => Some(expr),
        SelectItem::ExprWithAliases { expr: _, aliases: _ }
        | SelectItem::QualifiedWildcard(_, _)
        | SelectItem::Wildcard(_) => None,
    }
}
