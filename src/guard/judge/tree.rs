//! The judge of the tree: queries, their clauses and what they read from. Every enum is matched without `_` and every
//! struct destructured without `..`, so that a new version of the parser does not build before somebody has judged
//! what is new in it.
//!
//! The walk keeps its own list of what is left: its stack does not grow with the tree.

use sqlparser::ast::{
    Cte, CteAsMaterialized, Distinct, Expr, Fetch, GroupByExpr, Ident, LimitClause, NamedWindowDefinition,
    NamedWindowExpr, ObjectName, ObjectNamePart, Offset, OrderBy, OrderByExpr, OrderByKind, OrderByOptions,
    OrderBySort, Parens, Query, Select, SelectFlavor, SelectItem, SelectItemQualifiedWildcardKind, SetExpr,
    SetOperator, SetQuantifier, Table, TableFactor, TableWithJoins, Values, WildcardAdditionalOptions, With,
};
use sqlparser::tokenizer::Span;

use super::{sizes, view};
use crate::guard::{
    lexer::{Refusal, Token},
    statement::GuardConfig,
};

/// What the tree made of a name that stands before a parenthesis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// Nothing: the judge of the tokens decides alone.
    #[default]
    None,
    /// A call of an allowed function.
    Call,
    /// An allowed type with a modifier.
    Type,
    /// The name of a list of columns.
    Columns,
    /// A name behind a dot that need not be a column.
    Field,
    /// A relation that is read.
    Relation,
}

/// What is left to judge.
pub(super) enum Node<'t> {
    Query(&'t Query),
    Body(&'t SetExpr),
    Joined(&'t TableWithJoins),
    Factor(&'t TableFactor),
    Expr(&'t Expr),
    /// An element of `ARRAY[…]`, where a further `[…]` is an array.
    Element(&'t Expr),
}

/// Judges a tree. The result says, token by token, which names it accounts for.
pub(crate) fn judge<'t>(
    query: &'t Query,
    tokens: &'t [Token<'_>],
    config: &'t GuardConfig,
) -> Result<Vec<Role>, Refusal> {
    let roles = vec![Role::None; tokens.len()];
    let mut judge = Judge { tokens, config, near: 0, roles, left: vec![Node::Query(query)] };
    while let Some(node) = judge.left.pop() {
        let left = judge.left.len();
        match node {
            Node::Query(query) => judge.query(query)?,
            Node::Body(body) => judge.body(body)?,
            Node::Joined(table) => judge.joined(table)?,
            Node::Factor(factor) => judge.factor(factor)?,
            Node::Expr(expr) => judge.expr(expr)?,
            Node::Element(Expr::Array(array)) => judge.array(array),
            Node::Element(expr) => judge.left.push(Node::Expr(expr)),
        }
        // What stands first is judged first, so that the first refusal is told.
        judge.left.get_mut(left..).unwrap_or_default().reverse();
    }
    if let Some((at, sentence)) = sizes::check(query).excess {
        judge.near = at;
        return Err(judge.refuse(sentence));
    }
    Ok(judge.roles)
}

pub(super) struct Judge<'t, 's> {
    tokens: &'t [Token<'s>],
    pub(super) config: &'t GuardConfig,
    /// The token of the name seen last: where a refusal points to.
    pub(super) near: usize,
    roles: Vec<Role>,
    pub(super) left: Vec<Node<'t>>,
}

impl<'t> Judge<'t, '_> {
    pub(super) fn refuse(&self, detail: impl Into<String>) -> Refusal {
        Refusal::violation(self.tokens.get(self.near).map_or(0, |t| t.at), detail)
    }

    pub(super) fn stand_at(&mut self, ident: &Ident) {
        self.stand_at_span(ident.span);
    }

    pub(super) fn stand_at_span(&mut self, span: Span) {
        if let Some(index) = view::index_of(span) {
            self.near = index;
        }
    }

    /// Whether the name is a token of ours, which it is when nothing went wrong.
    pub(super) fn account(&mut self, ident: &Ident, role: Role) -> bool {
        let role_of = view::index_of(ident.span).and_then(|index| self.roles.get_mut(index));
        role_of.map(|role_of| *role_of = role).is_some()
    }

    pub(super) fn account_for_type(&mut self, parts: &[ObjectNamePart]) {
        if let Some(ObjectNamePart::Identifier(ident)) = parts.last() {
            self.account(ident, Role::Type);
        }
    }

    pub(super) fn exprs(&mut self, exprs: impl IntoIterator<Item = &'t Expr>) {
        self.left.extend(exprs.into_iter().map(Node::Expr));
    }

    fn query(&mut self, query: &'t Query) -> Result<(), Refusal> {
        let Query {
            with,
            body,
            order_by,
            limit_clause,
            fetch,
            locks,
            for_clause,
            settings,
            format_clause,
            pipe_operators,
        } = query;
        if let Some(With { with_token: _, recursive: _, cte_tables }) = with {
            for cte in cte_tables {
                self.cte(cte)?;
            }
        }
        self.left.push(Node::Body(body));
        if let Some(order_by) = order_by {
            self.order_by(order_by)?;
        }
        if let Some(limit) = limit_clause {
            self.limit(limit)?;
        }
        if let Some(Fetch { with_ties: _, percent, quantity }) = fetch {
            if *percent {
                return Err(self.refuse("FETCH ... PERCENT is not PostgreSQL's; use LIMIT."));
            }
            self.exprs(quantity);
        }
        if !locks.is_empty() || for_clause.is_some() {
            return Err(
                self.refuse("Locking rows (FOR UPDATE, FOR SHARE) is not allowed; leave the clause out.")
            );
        }
        if settings.is_some() || format_clause.is_some() || !pipe_operators.is_empty() {
            return Err(self.refuse(NOT_POSTGRES));
        }
        Ok(())
    }

    fn cte(&mut self, cte: &'t Cte) -> Result<(), Refusal> {
        let Cte { alias, query, from, materialized, closing_paren_token: _ } = cte;
        self.alias(alias)?;
        match materialized {
            Some(CteAsMaterialized::Materialized | CteAsMaterialized::NotMaterialized) | None => {}
        }
        if from.is_some() {
            return Err(self.refuse(NOT_POSTGRES));
        }
        self.left.push(Node::Query(query));
        Ok(())
    }

    fn body(&mut self, body: &'t SetExpr) -> Result<(), Refusal> {
        match body {
            SetExpr::Select(select) => return self.select(select),
            SetExpr::Query(query) => self.left.push(Node::Query(query)),
            SetExpr::SetOperation { left, op, set_quantifier, right } => {
                match (op, set_quantifier) {
                    (
                        SetOperator::Union | SetOperator::Except | SetOperator::Intersect,
                        SetQuantifier::All | SetQuantifier::Distinct | SetQuantifier::None,
                    ) => {}
                    (SetOperator::Minus, _)
                    | (_, SetQuantifier::ByName | SetQuantifier::AllByName | SetQuantifier::DistinctByName) =>
                    {
                        return Err(self
                            .refuse("Set operations are UNION, INTERSECT and EXCEPT, with or without ALL."));
                    }
                }
                self.left.push(Node::Body(left));
                self.left.push(Node::Body(right));
            }
            SetExpr::Values(Values { explicit_row, value_keyword, rows }) => {
                if *explicit_row || *value_keyword {
                    return Err(self.refuse(NOT_POSTGRES));
                }
                for expr in
                    rows.iter().flat_map(|Parens { opening_token: _, content, closing_token: _ }| content)
                {
                    self.left.push(Node::Expr(expr));
                }
            }
            SetExpr::Table(table) => {
                let Table { table_name, schema_name } = table.as_ref();
                for name in [schema_name, table_name].into_iter().flatten() {
                    self.stand_at(name);
                    self.account(name, Role::Relation);
                }
                let schema = schema_name.as_ref().map(|name| name.value.as_str());
                self.readable(schema, table_name.as_ref().map_or("", |name| &name.value))?;
            }
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {
                return Err(self.refuse("Changing data is not allowed here; write a SELECT."));
            }
        }
        Ok(())
    }

    #[expect(clippy::too_many_lines, reason = "every clause is named, so that a new one stops the build")]
    fn select(&mut self, select: &'t Select) -> Result<(), Refusal> {
        let Select {
            select_token: _,
            optimizer_hints,
            distinct,
            select_modifiers,
            top,
            top_before_distinct,
            projection,
            exclude,
            into,
            from,
            lateral_views,
            prewhere,
            selection,
            connect_by,
            group_by,
            cluster_by,
            distribute_by,
            sort_by,
            having,
            named_window,
            qualify,
            window_before_qualify: _,
            value_table_mode,
            flavor,
        } = select;
        if into.is_some() {
            return Err(self.refuse("SELECT INTO makes a table, which is not allowed; leave INTO out."));
        }
        let foreign = !optimizer_hints.is_empty()
            || select_modifiers.is_some()
            || top.is_some()
            || *top_before_distinct
            || exclude.is_some()
            || !lateral_views.is_empty()
            || prewhere.is_some()
            || !connect_by.is_empty()
            || !cluster_by.is_empty()
            || !distribute_by.is_empty()
            || !sort_by.is_empty()
            || qualify.is_some()
            || value_table_mode.is_some();
        let standard = match flavor {
            SelectFlavor::Standard => true,
            SelectFlavor::FromFirst | SelectFlavor::FromFirstNoSelect => false,
        };
        if foreign || !standard {
            return Err(self.refuse(NOT_POSTGRES));
        }
        match distinct {
            Some(Distinct::All | Distinct::Distinct) | None => {}
            Some(Distinct::On(exprs)) => self.exprs(exprs),
        }
        for item in projection {
            self.item(item)?;
        }
        self.left.extend(from.iter().map(Node::Joined));
        self.exprs(selection);
        self.exprs(having);
        self.group_by(group_by)?;
        for NamedWindowDefinition(_, window) in named_window {
            match window {
                NamedWindowExpr::NamedWindow(name) => self.stand_at(name),
                NamedWindowExpr::WindowSpec(spec) => self.window(spec)?,
            }
        }
        Ok(())
    }

    fn item(&mut self, item: &'t SelectItem) -> Result<(), Refusal> {
        match item {
            SelectItem::UnnamedExpr(expr) => {
                self.left.push(Node::Expr(expr));
                Ok(())
            }
            SelectItem::ExprWithAlias { expr, alias: _ } => {
                self.left.push(Node::Expr(expr));
                Ok(())
            }
            SelectItem::ExprWithAliases { expr: _, aliases: _ } => Err(self.refuse(NOT_POSTGRES)),
            SelectItem::QualifiedWildcard(kind, options) => {
                match kind {
                    SelectItemQualifiedWildcardKind::ObjectName(name) => self.relation(name)?,
                    SelectItemQualifiedWildcardKind::Expr(expr) => self.left.push(Node::Expr(expr)),
                }
                self.wildcard(options)
            }
            SelectItem::Wildcard(options) => self.wildcard(options),
        }
    }

    pub(super) fn wildcard(&self, options: &WildcardAdditionalOptions) -> Result<(), Refusal> {
        let WildcardAdditionalOptions {
            wildcard_token: _,
            opt_ilike,
            opt_exclude,
            opt_except,
            opt_replace,
            opt_rename,
            opt_alias,
        } = options;
        let plain = opt_ilike.is_none()
            && opt_exclude.is_none()
            && opt_except.is_none()
            && opt_replace.is_none()
            && opt_rename.is_none()
            && opt_alias.is_none();
        if plain {
            Ok(())
        } else {
            Err(self.refuse("`*` stands alone in PostgreSQL; list the columns instead."))
        }
    }

    /// A name of a relation or a schema before `.*`: plain identifiers.
    pub(super) fn relation(&mut self, ObjectName(parts): &'t ObjectName) -> Result<(), Refusal> {
        for part in parts {
            match part {
                ObjectNamePart::Identifier(ident) => self.identifier(ident)?,
                ObjectNamePart::Function(_) => return Err(self.refuse(NOT_POSTGRES)),
            }
        }
        Ok(())
    }

    /// A name, which sqlparser also reads from a string literal.
    pub(super) fn identifier(&mut self, ident: &Ident) -> Result<(), Refusal> {
        self.stand_at(ident);
        match ident.quote_style {
            None | Some('"') => Ok(()),
            Some(_) => Err(self.refuse("A string cannot stand for a name; write name or \"name\".")),
        }
    }

    fn group_by(&mut self, group_by: &'t GroupByExpr) -> Result<(), Refusal> {
        match group_by {
            GroupByExpr::Expressions(exprs, modifiers) if modifiers.is_empty() => {
                self.exprs(exprs);
                Ok(())
            }
            GroupByExpr::Expressions(_, _) | GroupByExpr::All(_) => {
                Err(self
                    .refuse("GROUP BY takes expressions, ROLLUP (...), CUBE (...) and GROUPING SETS (...)."))
            }
        }
    }

    fn limit(&mut self, limit: &'t LimitClause) -> Result<(), Refusal> {
        match limit {
            LimitClause::LimitOffset { limit, offset, limit_by } => {
                if !limit_by.is_empty() {
                    return Err(self.refuse(NOT_POSTGRES));
                }
                self.exprs(limit);
                if let Some(Offset { value, rows: _ }) = offset {
                    self.left.push(Node::Expr(value));
                }
                Ok(())
            }
            LimitClause::OffsetCommaLimit { offset: _, limit: _ } => {
                Err(self.refuse("LIMIT a, b is not PostgreSQL's; write LIMIT b OFFSET a."))
            }
        }
    }

    fn order_by(&mut self, order_by: &'t OrderBy) -> Result<(), Refusal> {
        let OrderBy { kind, interpolate } = order_by;
        match kind {
            OrderByKind::Expressions(exprs) if interpolate.is_none() => self.ordering(exprs),
            OrderByKind::Expressions(_) | OrderByKind::All(_) => Err(self.refuse(NOT_POSTGRES)),
        }
    }

    /// What stands behind any `ORDER BY`.
    pub(super) fn ordering(&mut self, exprs: &'t [OrderByExpr]) -> Result<(), Refusal> {
        for OrderByExpr { expr, options: OrderByOptions { sort, nulls_first: _ }, with_fill } in exprs {
            self.left.push(Node::Expr(expr));
            match sort {
                Some(OrderBySort::Asc | OrderBySort::Desc) | None => {}
                Some(OrderBySort::Using(_)) => {
                    return Err(self.refuse("ORDER BY ... USING needs a plain operator."));
                }
            }
            if with_fill.is_some() {
                return Err(self.refuse(NOT_POSTGRES));
            }
        }
        Ok(())
    }
}

/// A clause that only other databases have.
pub(super) const NOT_POSTGRES: &str = "This clause is not PostgreSQL's SQL; leave it out.";
