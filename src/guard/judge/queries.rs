//! The walk of [`super::sizes`] over queries and what they read from.

use std::rc::Rc;

use sqlparser::ast::{
    Cte, CteAsMaterialized, DataType, Distinct, Expr, Fetch, FunctionArg, GroupByExpr, Join, JoinConstraint,
    JoinOperator, LimitClause, NamedWindowDefinition, NamedWindowExpr, ObjectName, ObjectNamePart, OrderBy,
    OrderByKind, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, TableAlias,
    TableFactor, TableFunctionArgs, TableSampleKind, TableWithJoins, WindowFrameBound, WindowSpec,
};

use super::{
    bounds::{Bound, MAX_CONSTANT_BYTES, NUMERIC_BYTES, SMALL, argument},
    conversions::{is_numeric, padded},
    literals::{literal_of, literal_text, whole},
    names::{implicit_name, last_name},
    relations::{Column, Cost, Frame, Relation, max_of},
    series::rows_of,
    sizes::{Excess, MAX_RECURSION, RELATION_NODES, Sizes},
};

impl<'t> Sizes<'t> {
    pub(super) fn query(&mut self, query: &'t Query) -> Relation<'t> {
        if self.excess.is_some() || self.depth >= MAX_RECURSION {
            self.exceed(self.near, Excess::Depth);
            return Relation::table();
        }
        self.depth += 1;
        let ctes = query.with.iter().flat_map(|with| &with.cte_tables);
        let recursive = query.with.as_ref().is_some_and(|with| with.recursive);
        if recursive {
            for cte in ctes.clone() {
                *self.later.entry(&cte.alias.name.value).or_default() += 1;
            }
        }
        for cte in ctes.clone() {
            self.cte(cte, recursive);
        }
        let order = query.order_by.iter().flat_map(ordering).collect();
        let mut relation = self.body(&query.body, order);
        self.limit(query, &mut relation);
        for cte in ctes {
            if let Some(visible) = self.ctes.get_mut(cte.alias.name.value.as_str()) {
                visible.pop();
            }
        }
        self.depth -= 1;
        relation
    }

    fn limit(&mut self, query: &'t Query, relation: &mut Relation<'t>) {
        let (limit, offset) = match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit, offset, limit_by: _ }) => {
                (limit.as_ref(), offset.as_ref())
            }
            Some(LimitClause::OffsetCommaLimit { offset: _, limit: _ }) | None => (None, None),
        };
        let fetch = query.fetch.as_ref();
        let ties = fetch.is_some_and(|fetch| fetch.with_ties);
        let count = limit.or(fetch.and_then(|Fetch { quantity, .. }| quantity.as_ref()));
        if let Some(count) = count {
            self.of(count);
            let most = if ties { 0 } else { whole(count) };
            relation.rows = if most > 0 { relation.rows.min(most) } else { relation.rows };
        }
        if let Some(offset) = offset {
            self.of(&offset.value);
        }
    }

    /// A `WITH` query: it is looked at once, and costs at every use what it costs, unless it is computed once.
    fn cte(&mut self, cte: &'t Cte, recursive: bool) {
        let Cte { alias, query, materialized, .. } = cte;
        let name = alias.name.value.as_str();
        let address = std::ptr::from_ref(query.as_ref());
        self.stand_at(alias.name.span);
        if recursive {
            if let Some(later) = self.later.get_mut(name) {
                *later = later.saturating_sub(1);
            }
            // What it reads of itself comes row by row, as from a table.
            self.ctes.entry(name).or_default().push((Rc::new(Relation::table()), std::ptr::null()));
        }
        let before = std::mem::take(&mut self.cost);
        let mut relation = self.query(query);
        let cost = std::mem::replace(&mut self.cost, before);
        if recursive && let Some(visible) = self.ctes.get_mut(name) {
            visible.pop();
        }
        self.spend(relation.columns.len() + alias.columns.len());
        relation.rename(alias);
        let once = match materialized {
            Some(CteAsMaterialized::Materialized) => true,
            Some(CteAsMaterialized::NotMaterialized) => false,
            None => self.materialized.contains(&address),
        };
        if once {
            self.charge(cost);
            relation.cost = Cost { nodes: RELATION_NODES, bytes: 0 };
            let columns = relation.columns.iter_mut().map(|(_, column)| column).chain(&mut relation.star);
            columns.for_each(|column| column.nodes = 1);
        } else {
            relation.cost = cost;
        }
        self.ctes.entry(name).or_default().push((Rc::new(relation), address));
    }

    fn body(&mut self, body: &'t SetExpr, order: Vec<&'t Expr>) -> Relation<'t> {
        if let SetExpr::Select(select) = body {
            return self.select(select, &order);
        }
        let mut left = vec![body];
        let mut whole: Option<Relation<'t>> = None;
        while let Some(part) = left.pop() {
            let arm = match part {
                SetExpr::SetOperation { left: first, right: second, op: _, set_quantifier: _ } => {
                    left.extend([second.as_ref(), first.as_ref()]);
                    continue;
                }
                SetExpr::Select(select) => self.select(select, &[]),
                SetExpr::Query(query) => self.query(query),
                SetExpr::Values(values) => {
                    let exprs: Vec<&Expr> = values.rows.iter().flat_map(|row| &row.content).collect();
                    let columns = exprs.into_iter().map(|expr| self.column(expr)).reduce(Column::max);
                    let column = columns.unwrap_or(Column::TABLE);
                    let width = values.rows.first().map_or(0, |row| row.content.len());
                    let columns = vec![("column", column); width];
                    let rows = u64::try_from(values.rows.len()).unwrap_or(u64::MAX);
                    Relation { columns, exact: true, rows, ..Relation::table() }
                }
                SetExpr::Insert(_)
                | SetExpr::Update(_)
                | SetExpr::Delete(_)
                | SetExpr::Merge(_)
                | SetExpr::Table(_) => Relation::table(),
            };
            whole = Some(match whole {
                None => arm,
                Some(whole) => self.unite(whole, &arm),
            });
        }
        let relation = whole.unwrap_or_else(Relation::table);
        let mut frame = Frame::new();
        self.spend(relation.columns.len());
        frame.add(&relation);
        self.frames.push(frame);
        self.all(order);
        self.frames.pop();
        relation
    }

    /// The columns of a set operation, which have the names of its first part.
    fn unite(&mut self, mut one: Relation<'t>, other: &Relation<'t>) -> Relation<'t> {
        self.spend(one.columns.len() + other.columns.len());
        let any = other.any();
        let in_order = one.exact && other.exact;
        for (index, (_, column)) in one.columns.iter_mut().enumerate() {
            let same = other.columns.get(index).filter(|_| in_order).map(|(_, column)| *column);
            *column = column.max(same.unwrap_or(any));
        }
        if !in_order {
            one.star = max_of(one.star, Some(any));
        }
        one.exact = in_order;
        one.rows = one.rows.saturating_add(other.rows);
        one
    }

    fn select(&mut self, select: &'t Select, order: &[&'t Expr]) -> Relation<'t> {
        let outer = (self.rows, self.aggregated);
        (self.rows, self.aggregated) = (1, false);
        self.frames.push(Frame::new());
        self.charge(Cost { nodes: RELATION_NODES, bytes: 0 });
        for table in &select.from {
            self.joined(table);
        }
        self.all(select.selection.iter().chain(&select.having));
        let grouped = match &select.group_by {
            GroupByExpr::Expressions(exprs, _) => {
                self.all(exprs);
                !exprs.is_empty()
            }
            GroupByExpr::All(_) => true,
        };
        if let Some(Distinct::On(exprs)) = &select.distinct {
            self.all(exprs);
        }
        for NamedWindowDefinition(_, window) in &select.named_window {
            if let NamedWindowExpr::WindowSpec(spec) = window {
                self.window(spec);
            }
        }
        let mut relation = Relation { exact: true, ..Relation::table() };
        let read = self.rows.max(1);
        for item in &select.projection {
            self.item(item, &mut relation);
        }
        if let Some(frame) = self.frames.last_mut() {
            for (name, column) in &relation.columns {
                frame.name(name, *column);
            }
        }
        self.all(order.iter().copied());
        self.frames.pop();
        relation.rows = if self.aggregated && !grouped { self.rows / read } else { self.rows };
        (self.rows, self.aggregated) = outer;
        relation
    }

    fn item(&mut self, item: &'t SelectItem, relation: &mut Relation<'t>) {
        match item {
            SelectItem::UnnamedExpr(expr) => {
                let column = self.column(expr);
                relation.columns.push((implicit_name(expr), column));
                if matches!(expr, Expr::Nested(_)) {
                    // `(x).*` is shown as `(x)`.
                    relation.star = max_of(relation.star, Some(column));
                    relation.exact = false;
                }
            }
            SelectItem::ExprWithAlias { expr, alias } => {
                let column = self.column(expr);
                relation.columns.push((&alias.value, column));
            }
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::Expr(expr), _) => {
                relation.star = max_of(relation.star, Some(self.column(expr)));
                relation.exact = false;
            }
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
                relation.exact = false;
                let named = self.frames.last().is_some_and(|frame| frame.aliases.contains(last_name(name)));
                self.wildcard(relation, if named { 1 } else { self.frames.len() });
            }
            SelectItem::Wildcard(_) | SelectItem::ExprWithAliases { .. } => self.wildcard(relation, 1),
        }
    }

    /// All columns of the `FROM`, or of those around it as well: `q.*` may mean one of them.
    fn wildcard(&mut self, relation: &mut Relation<'t>, frames: usize) {
        self.spend(self.frames.iter().rev().take(frames).map(|frame| frame.columns.len()).sum());
        if self.excess.is_some() {
            return;
        }
        let mut cost = Cost::default();
        for frame in self.frames.iter().rev().take(frames) {
            relation.exact &= frame.exact;
            relation.columns.extend(&frame.columns);
            relation.star = max_of(relation.star, frame.star);
            for (_, column) in &frame.columns {
                cost.nodes = cost.nodes.saturating_add(column.nodes);
                cost.bytes = cost.bytes.saturating_add(column.bound.bytes);
            }
        }
        self.charge(cost);
    }

    fn joined(&mut self, table: &'t TableWithJoins) {
        let TableWithJoins { relation, joins } = table;
        self.factor(relation);
        for Join { relation, global: _, join_operator } in joins {
            self.factor(relation);
            let constraint = constraint(join_operator);
            if let Some(JoinConstraint::On(expr)) = constraint {
                self.of(expr);
            } else if let (Some(_), Some(frame)) = (constraint, self.frames.last_mut()) {
                // Columns may be joined into one.
                frame.exact &= matches!(constraint, Some(JoinConstraint::None));
            }
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the judge of the tree refuses all others")]
    fn factor(&mut self, factor: &'t TableFactor) {
        if let TableFactor::Table { sample: Some(sample), .. }
        | TableFactor::Derived { sample: Some(sample), .. } = factor
            && let TableSampleKind::AfterTableAlias(sample) | TableSampleKind::BeforeTableAlias(sample) =
                sample
            && let Some(quantity) = &sample.quantity
        {
            self.of(&quantity.value);
        }
        let (mut relation, alias) = match factor {
            TableFactor::Table { name, alias, args: Some(TableFunctionArgs { args, .. }), .. }
            | TableFactor::Function { name, alias, args, .. } => {
                (self.result(name, args, alias.as_ref()), alias)
            }
            TableFactor::Table { name, alias, .. } => (self.table(name), alias),
            TableFactor::Derived { subquery, alias, .. } => (self.query(subquery), alias),
            TableFactor::NestedJoin { table_with_joins, alias } if alias.is_none() => {
                return self.nested(|sizes| sizes.joined(table_with_joins));
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                self.frames.push(Frame::new());
                self.nested(|sizes| sizes.joined(table_with_joins));
                let Some(Frame { columns, star, .. }) = self.frames.pop() else { return };
                (Relation { columns, star, ..Relation::table() }, alias)
            }
            _ => return,
        };
        self.rows = self.rows.saturating_mul(relation.rows);
        let known = match (alias, factor) {
            (Some(alias), _) => Some(alias.name.value.as_str()),
            (None, TableFactor::Table { name, .. } | TableFactor::Function { name, .. }) => {
                Some(last_name(name))
            }
            (None, _) => None,
        };
        self.spend(relation.columns.len() + alias.iter().map(|alias| alias.columns.len()).sum::<usize>());
        if let Some(alias) = alias {
            relation.rename(alias);
            let Some(frame) = self.frames.last_mut() else { return };
            // The name of the whole row, unless it is a column's.
            let column = relation.columns.iter().any(|(name, _)| *name == alias.name.value);
            if !column && !relation.columns.is_empty() {
                let row = relation.columns.iter().fold(Column::TABLE, |row, (_, column)| Column {
                    bound: Bound {
                        bytes: row.bound.bytes.saturating_add(column.bound.bytes),
                        number: row.bound.number.max(column.bound.number),
                    },
                    nodes: row.nodes.saturating_add(column.nodes),
                });
                frame.name(&alias.name.value, row);
            }
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.aliases.extend(known);
            frame.add(&relation);
        }
    }

    fn nested(&mut self, walk: impl FnOnce(&mut Self)) {
        if self.depth >= MAX_RECURSION {
            return self.exceed(self.near, Excess::Depth);
        }
        self.depth += 1;
        walk(self);
        self.depth -= 1;
    }

    /// A table, or a `WITH` query of that name.
    fn table(&mut self, name: &'t ObjectName) -> Relation<'t> {
        self.spend(1);
        self.charge(Cost { nodes: RELATION_NODES, bytes: 0 });
        let ObjectName(parts) = name;
        let [ObjectNamePart::Identifier(ident)] = parts.as_slice() else { return Relation::table() };
        self.stand_at(ident.span);
        if self.later.get(ident.value.as_str()).is_some_and(|later| *later > 0) {
            self.exceed(self.near, Excess::Order);
        }
        let Some((relation, query)) = self.ctes.get(ident.value.as_str()).and_then(|visible| visible.last())
        else {
            return Relation::table();
        };
        let (relation, query) = (Rc::clone(relation), *query);
        self.spend(relation.columns.len());
        *self.references.entry(query).or_default() += 1;
        self.charge(relation.cost);
        if self.excess.is_some() { Relation::table() } else { relation.as_ref().clone() }
    }

    /// What a function in `FROM` gives is known by its name, its alias and its columns' names.
    fn result(
        &mut self,
        name: &'t ObjectName,
        args: &'t [FunctionArg],
        alias: Option<&'t TableAlias>,
    ) -> Relation<'t> {
        let function = last_name(name);
        self.charge(Cost { nodes: RELATION_NODES, bytes: 0 });
        self.stand_at_name(name);
        let bounds = self.arguments(args);
        let bound = self.call(function, args, &bounds);
        let hides = args.iter().zip(&bounds).any(|(arg, bound)| {
            let written = argument(arg).and_then(literal_of).map(literal_text);
            written.map_or(bound.bytes > SMALL, |text| text.contains('\\'))
        });
        let types =
            alias.iter().flat_map(|alias| &alias.columns).filter_map(|column| column.data_type.as_ref());
        let widest = self.defined(types, bound.bytes, hides);
        let column = Column { bound: Bound { bytes: widest, number: bound.number }, nodes: 1 };
        let rows = rows_of(function, args, &bounds);
        let names = [function].into_iter().chain(alias.map(|alias| alias.name.value.as_str()));
        let scalar = matches!(function, "generate_series" | "generate_subscripts" | "unnest");
        let star = Some(column).filter(|_| !scalar);
        Relation { columns: names.map(|name| (name, column)).collect(), star, rows, ..Relation::table() }
    }

    /// The widest of columns that are defined for what a function gives; `hides`: numbers' exponents may hide in it.
    fn defined(&mut self, types: impl Iterator<Item = &'t DataType>, bytes: u64, hides: bool) -> u64 {
        let (mut widest, mut row) = (bytes, 0_u64);
        for data_type in types {
            let digits = if hides && is_numeric(data_type) { NUMERIC_BYTES } else { 0 };
            let column = padded(data_type, bytes).saturating_add(digits);
            self.far_subscripts |= matches!(data_type, DataType::Array(_));
            widest = widest.max(column);
            row = row.saturating_add(column.saturating_sub(bytes));
        }
        self.charge(Cost { nodes: 0, bytes: row });
        if widest > MAX_CONSTANT_BYTES {
            self.exceed(self.near, Excess::Bytes);
        }
        widest
    }

    pub(super) fn window(&mut self, spec: &'t WindowSpec) {
        let WindowSpec { window_name: _, partition_by, order_by, window_frame } = spec;
        if let Some(frame) = window_frame {
            self.all(
                [Some(&frame.start_bound), frame.end_bound.as_ref()].into_iter().flatten().filter_map(offset),
            );
        }
        self.all(partition_by);
        self.all(order_by.iter().map(|order| &order.expr));
    }
}

fn offset(bound: &WindowFrameBound) -> Option<&Expr> {
    match bound {
        WindowFrameBound::CurrentRow => None,
        WindowFrameBound::Preceding(expr) | WindowFrameBound::Following(expr) => expr.as_deref(),
    }
}

fn ordering(order_by: &OrderBy) -> impl Iterator<Item = &Expr> {
    let exprs = match &order_by.kind {
        OrderByKind::Expressions(exprs) => exprs.as_slice(),
        OrderByKind::All(_) => &[],
    };
    exprs.iter().map(|order| &order.expr)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the judge of the tree refuses all others")]
const fn constraint(operator: &JoinOperator) -> Option<&JoinConstraint> {
    match operator {
        JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint)
        | JoinOperator::Right(constraint)
        | JoinOperator::RightOuter(constraint)
        | JoinOperator::FullOuter(constraint)
        | JoinOperator::CrossJoin(constraint) => Some(constraint),
        _ => None,
    }
}
