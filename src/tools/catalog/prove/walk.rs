//! The walk over the tree: every query with the meaning of its names, every expression once. It keeps its own list of what is
//! left, so that its stack does not grow with the tree.

use sqlparser::ast::{
    Distinct, Expr, Fetch, GroupByExpr, LimitClause, NamedWindowDefinition, NamedWindowExpr, OrderByKind,
    Query, Select, SelectItem, SetExpr, WildcardAdditionalOptions,
};

use super::super::rule::Rule;
use super::faults::Faults;
use super::found::{Found, Left, Place};
use super::from::FromClause;
use super::output::{self, arms_of, columns_of};
use super::parts::{Call, Part, bare, of_window, ordered, parts_of};
use super::scope::Scope;
use crate::guard::parser::token_of;
use crate::guard::statement::Parsed;

/// Visits everything. Wildcards, and what `FROM` cannot have, are reported on the way.
pub(super) fn walk<'t>(parsed: &'t Parsed<'t>, faults: &mut Faults<'_>) -> Found<'t> {
    let mut walk = Walk { found: Found::new(&parsed.tokens), faults };
    walk.query(&parsed.tree, None, Columns::Result);
    while let Some(next) = walk.found.left.pop() {
        match next {
            Left::Query(query, scope) => walk.query(query, scope, Columns::Read),
            Left::Expr(expr, scope) => walk.expr(expr, scope),
        }
    }
    walk.found
}

struct Walk<'w, 't, 'f> {
    found: Found<'t>,
    faults: &'w mut Faults<'f>,
}

/// The reader of a query's columns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Columns {
    /// The client: the query is the outermost one.
    Result,
    /// Another query.
    Read,
}

impl<'t> Walk<'_, 't, '_> {
    fn query(&mut self, query: &'t Query, outer: Option<usize>, columns: Columns) {
        self.found.queries.push(query);
        let scope = self.with(query, outer);
        if columns == Columns::Read {
            arms_of(&query.body).into_iter().flat_map(columns_of).for_each(|expr| self.found.carry(expr));
        }
        let inner = self.body(query, scope);
        match query.order_by.as_ref().map(|order_by| &order_by.kind) {
            Some(OrderByKind::Expressions(exprs)) => self.by_output(ordered(exprs), query, inner),
            Some(OrderByKind::All(_)) | None => {}
        }
        match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit, offset, limit_by: _ }) => {
                self.found.leave(limit.iter().chain(offset.as_ref().map(|offset| &offset.value)), scope);
            }
            Some(LimitClause::OffsetCommaLimit { offset: _, limit: _ }) | None => {}
        }
        if let Some(Fetch { with_ties: _, percent: _, quantity }) = &query.fetch {
            self.found.leave(quantity, scope);
        }
    }

    /// Returns the level that `ORDER BY` sees: of a SELECT its own, of a set operation only what is around it.
    fn body(&mut self, query: &'t Query, scope: Option<usize>) -> Option<usize> {
        let mut level = scope;
        for arm in arms_of(&query.body) {
            match arm {
                SetExpr::Select(select) => level = self.select(select, scope),
                SetExpr::Query(query) => self.found.left.push(Left::Query(query, scope)),
                SetExpr::Values(_) => {
                    columns_of(arm).into_iter().for_each(|expr| self.found.leave_column(expr, scope));
                }
                // Set operations were taken apart; the guard refuses the others, and the parser never sees TABLE.
                SetExpr::SetOperation { op: _, set_quantifier: _, left: _, right: _ }
                | SetExpr::Insert(_)
                | SetExpr::Update(_)
                | SetExpr::Delete(_)
                | SetExpr::Merge(_)
                | SetExpr::Table(_) => {}
            }
        }
        if matches!(query.body.as_ref(), SetExpr::Select(_)) { level } else { scope }
    }

    /// The level on which all `WITH` queries are known.
    fn with(&mut self, query: &'t Query, outer: Option<usize>) -> Option<usize> {
        let mut scope = outer;
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            self.found.renamed.push((&cte.query, &cte.alias.columns));
            let recursive = query.with.as_ref().is_some_and(|with| with.recursive);
            if !self.found.is_written(&cte.alias.name) {
                self.found.left.push(Left::Query(&cte.query, scope));
                continue;
            }
            let known =
                Some(self.found.scopes.enter(Scope { outer: scope, with: Some(cte), relations: Vec::new() }));
            // Without RECURSIVE its own name means a table within it.
            self.found.left.push(Left::Query(&cte.query, if recursive { known } else { scope }));
            scope = known;
        }
        scope
    }

    fn select(&mut self, select: &'t Select, outer: Option<usize>) -> Option<usize> {
        let level = self.found.scopes.enter(Scope { outer, ..Scope::default() });
        let scope = Some(level);
        let mut from = FromClause { found: &mut self.found, faults: self.faults, level };
        select.from.iter().for_each(|table| from.joined(table));
        for item in &select.projection {
            self.item(item, scope);
        }
        self.found.leave(select.selection.iter().chain(&select.having), scope);
        match &select.group_by {
            GroupByExpr::Expressions(exprs, _) => self.by_name(exprs, &select.projection, scope),
            GroupByExpr::All(_) => {}
        }
        if let Some(Distinct::On(exprs)) = &select.distinct {
            self.by_name(exprs, &select.projection, scope);
        }
        for NamedWindowDefinition(_, window) in &select.named_window {
            if let NamedWindowExpr::WindowSpec(spec) = window {
                self.found.leave(of_window(spec), scope);
            }
        }
        scope
    }

    fn item(&mut self, item: &'t SelectItem, scope: Option<usize>) {
        match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, alias: _ } => {
                self.found.leave_column(expr, scope);
            }
            SelectItem::Wildcard(WildcardAdditionalOptions { wildcard_token, .. }) => {
                let token = token_of(wildcard_token.0.span).and_then(|index| self.found.tokens.get(index));
                // ROWS FROM is shown to the parser as `SELECT *`, and has its own rule.
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

    /// Leaves expressions of `ORDER BY`, which may be a name of the query's own columns.
    fn by_output(&mut self, exprs: impl Iterator<Item = &'t Expr>, query: &'t Query, scope: Option<usize>) {
        let own = output::columns(query).unwrap_or_default();
        let known = |name: &str| own.iter().any(|output| output.name.as_deref() == Some(name));
        self.leave_unless(
            exprs,
            |expr| matches!(bare(expr), Expr::Identifier(ident) if known(&ident.value)),
            scope,
        );
    }

    /// Leaves expressions of `GROUP BY` and `DISTINCT ON`, which may be an alias.
    fn by_name(&mut self, exprs: &'t [Expr], projection: &[SelectItem], scope: Option<usize>) {
        let alias = |name: &str| {
            projection.iter().any(
                |item| matches!(item, SelectItem::ExprWithAlias { expr: _, alias } if alias.value == name),
            )
        };
        self.leave_unless(
            exprs.iter(),
            |expr| matches!(expr, Expr::Identifier(ident) if alias(&ident.value)),
            scope,
        );
    }

    fn leave_unless(
        &mut self,
        exprs: impl Iterator<Item = &'t Expr>,
        is_output: impl Fn(&Expr) -> bool,
        scope: Option<usize>,
    ) {
        let (outputs, others): (Vec<&Expr>, Vec<&Expr>) = exprs.partition(|expr| is_output(expr));
        self.found.roots.extend(outputs.into_iter().map(|expr| (expr, Place::Clause)));
        self.found.leave(others, scope);
    }

    fn expr(&mut self, expr: &'t Expr, scope: Option<usize>) {
        self.found.exprs.push((expr, scope));
        self.found.calls.extend(Call::of(expr));
        for part in parts_of(expr) {
            self.found.left.push(match part {
                Part::Expr(expr) => Left::Expr(expr, scope),
                Part::Query(query) => Left::Query(query, scope),
            });
        }
    }
}
