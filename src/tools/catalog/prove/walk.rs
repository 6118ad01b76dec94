//! The walk over the tree: every query with the meaning of its names, every expression once. It keeps its own list of what is
//! left, so that its stack does not grow with the tree.

use sqlparser::ast::{
    Distinct, Expr, Fetch, GroupByExpr, LimitClause, NamedWindowDefinition, NamedWindowExpr, OrderByKind,
    Query, Select, SelectItem, SetExpr, WildcardAdditionalOptions,
};

use super::super::diagnoses;
use super::faults::Faults;
use super::found::Found;
use super::from::FromClause;

use super::parts::{Call, Part, bare, of_window, ordered, parts_of};
use super::scope::Scope;
use crate::guard::output_columns::{self, column_of, exprs_of};
use crate::guard::parser::token_of;
use crate::guard::statement::Parsed;

/// Visits everything. Wildcards, and what `FROM` cannot have, are reported on the way.
pub(super) fn walk<'t>(parsed: &'t Parsed<'t>, faults: &mut Faults<'_>) -> Found<'t> {
    let mut walk = Walk { found: Found { tokens: &parsed.tokens, ..Found::default() }, faults };
    walk.query(&parsed.tree, None);
    while let Some((next, scope)) = walk.found.left.pop() {
        match next {
            Part::Query(query) => {
                // Another query reads its columns.
                exprs_of(query).into_iter().flatten().for_each(|expr| walk.found.carry(expr));
                walk.query(query, scope);
            }
            Part::Expr(expr) => walk.expr(expr, scope),
        }
    }
    walk.found
}

struct Walk<'w, 't, 'f> {
    found: Found<'t>,
    faults: &'w mut Faults<'f>,
}

impl<'t> Walk<'_, 't, '_> {
    fn query(&mut self, query: &'t Query, outer: Option<usize>) {
        self.found.queries.push(query);
        let scope = self.with(query, outer);
        let inner = self.body(query, scope);
        match query.order_by.as_ref().map(|order_by| &order_by.kind) {
            Some(OrderByKind::Expressions(exprs)) => {
                let own = output_columns::columns(query).unwrap_or_default();
                let own: Vec<&str> = own.iter().filter_map(|(name, _)| name.as_deref()).collect();
                self.leave_unless(ordered(exprs), &own, inner);
            }
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
        let (mut level, mut left) = (scope, vec![query.body.as_ref()]);
        while let Some(part) = left.pop() {
            match part {
                SetExpr::SetOperation { op: _, set_quantifier: _, left: first, right } => {
                    left.extend([right.as_ref(), first]);
                }
                SetExpr::Select(select) => level = self.select(select, scope),
                SetExpr::Query(query) => self.found.left.push((Part::Query(query), scope)),
                SetExpr::Values(values) => {
                    let exprs = values.rows.iter().flat_map(|row| &row.content);
                    exprs.for_each(|expr| self.found.leave_column(expr, scope));
                }
                // The guard refuses these, and the parser never sees TABLE.
                SetExpr::Insert(_)
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
                self.found.left.push((Part::Query(&cte.query), scope));
                continue;
            }
            let known =
                Some(self.found.scopes.enter(Scope { outer: scope, with: Some(cte), relations: Vec::new() }));
            // Without RECURSIVE its own name means a table within it.
            self.found.left.push((Part::Query(&cte.query), if recursive { known } else { scope }));
            scope = known;
        }
        scope
    }

    fn select(&mut self, select: &'t Select, outer: Option<usize>) -> Option<usize> {
        let level = self.found.scopes.enter(Scope { outer, ..Scope::default() });
        let scope = Some(level);
        let mut from = FromClause { found: &mut self.found, faults: self.faults, level };
        select.from.iter().for_each(|table| from.joined(table));
        select.projection.iter().for_each(|item| self.item(item, scope));
        self.found.leave(select.selection.iter().chain(&select.having), scope);
        let aliases = select.projection.iter().filter_map(|item| column_of(item)?.1);
        let aliases: Vec<&str> = aliases.map(|alias| alias.value.as_str()).collect();
        match &select.group_by {
            GroupByExpr::Expressions(exprs, _) => self.leave_unless(exprs, &aliases, scope),
            GroupByExpr::All(_) => {}
        }
        if let Some(Distinct::On(exprs)) = &select.distinct {
            self.leave_unless(exprs, &aliases, scope);
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
                    self.faults.add(&diagnoses::WILDCARD, token.map(|token| token.at), &[]);
                }
            }
            // `t.*` is seen on the tokens; the guard refuses the others.
            SelectItem::QualifiedWildcard(_, _) | SelectItem::ExprWithAliases { expr: _, aliases: _ } => {}
        }
    }

    /// Leaves expressions of `ORDER BY`, `GROUP BY` and `DISTINCT ON`, unless they are the name of an output column.
    fn leave_unless(
        &mut self,
        exprs: impl IntoIterator<Item = &'t Expr>,
        outputs: &[&str],
        scope: Option<usize>,
    ) {
        for expr in exprs {
            if matches!(bare(expr), Expr::Identifier(name) if outputs.contains(&name.value.as_str())) {
                self.found.roots.push((expr, false));
            } else {
                self.found.leave([expr], scope);
            }
        }
    }

    fn expr(&mut self, expr: &'t Expr, scope: Option<usize>) {
        self.found.exprs.push((expr, scope));
        self.found.calls.extend(Call::of(expr));
        self.found.left.extend(parts_of(expr).into_iter().map(|part| (part, scope)));
    }
}
