//! How large constants can get, and how much the planner is given to do. PostgreSQL computes constants while it plans,
//! before any limit of a run holds: `repeat('x', 1000000000)` takes a gigabyte in `EXPLAIN` already. It also replaces
//! a column of a subquery by what it stands for, so that `n + n` over `n + n` over … doubles with every level.
//!
//! One walk, in the order in which queries use each other: subqueries and `WITH` first, so that every expression is
//! looked at once and a column's numbers are known when it is read. All bounds are coarse and from above; numbers from
//! tables count as [`TABLE_NUMBER`], texts from tables as short: what tables hold is not bounded here.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use sqlparser::ast::{
    AccessExpr, Array, ArrayElemTypeDef, CaseWhen, Cte, CteAsMaterialized, DataType, Distinct, Expr, Fetch,
    Function, FunctionArg, FunctionArgumentClause, FunctionArguments, GroupByExpr, InTarget, Join,
    JoinConstraint, JoinOperator, LimitClause, NamedWindowDefinition, NamedWindowExpr, ObjectName,
    ObjectNamePart, OrderBy, OrderByKind, Query, Select, SelectItem, SelectItemQualifiedWildcardKind,
    SetExpr, Subscript, TableAlias, TableFactor, TableFunctionArgs, TableSampleKind, TableWithJoins,
    TypeModifier, TypedString, UnaryOperator, WindowFrameBound, WindowSpec, WindowType,
};

use super::{
    bounds::{
        Bound, MAX_CONSTANT_BYTES, NUMERIC_BYTES, SMALL, TABLE_NUMBER, argument, grows, keeps_rows, literal,
        literal_of, literal_text, may_be_text, of_call, operation, whole,
    },
    view,
};

/// The most rows that series may have together when an aggregate keeps them.
const MAX_SERIES_ROWS: u64 = 100_000;
/// The most that all constants of a statement may grow to together, in bytes.
const MAX_STATEMENT_BYTES: u64 = 16 * MAX_CONSTANT_BYTES;
/// The most nodes that the planner may be given once columns are replaced by what they stand for.
const MAX_PLANNER_NODES: u64 = 100_000;
/// What a query or a table counts as, in nodes.
const RELATION_NODES: u64 = 4;
/// The most steps of this walk: nodes, and columns that pass from one query to another.
pub(in super::super) const MAX_WORK: u64 = 250_000;
/// How deep this code recurses.
const MAX_RECURSION: usize = 200;

/// Fields of a date whose numbers are small.
const SMALL_FIELDS: &[&str] = &[
    "day", "dow", "doy", "hour", "isodow", "isoyear", "minute", "month", "quarter", "second", "week", "year",
];

/// Functions that give as many rows as what they are given has parts.
const RETURNING_ROWS: &[&str] = &[
    "generate_subscripts",
    "json_array_elements",
    "json_array_elements_text",
    "json_each",
    "json_each_text",
    "json_object_keys",
    "json_populate_recordset",
    "json_to_recordset",
    "jsonb_array_elements",
    "jsonb_array_elements_text",
    "jsonb_each",
    "jsonb_each_text",
    "jsonb_object_keys",
    "jsonb_path_query",
    "jsonb_path_query_tz",
    "jsonb_populate_recordset",
    "jsonb_to_recordset",
    "regexp_matches",
    "regexp_split_to_table",
    "string_to_table",
    "unnest",
];

/// What is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Excess {
    Bytes,
    Together,
    Rows,
    Nodes,
    Work,
    Depth,
    Order,
}

impl Excess {
    fn sentence(self) -> String {
        match self {
            Self::Bytes => format!(
                "This can grow beyond {MAX_CONSTANT_BYTES} bytes whatever the tables hold; use smaller literals, or limit \
                 a count: least(n, 1000)."
            ),
            Self::Together => format!(
                "The constants of this query can grow beyond {MAX_STATEMENT_BYTES} bytes together; use smaller literals."
            ),
            Self::Rows => format!(
                "A series that an aggregate keeps in memory may have {MAX_SERIES_ROWS} rows; use a shorter one."
            ),
            Self::Nodes => format!(
                "Written out, this query has more than {MAX_PLANNER_NODES} parts, for columns and WITH queries that are \
                 used several times build on each other; use WITH ... AS MATERIALIZED."
            ),
            Self::Work | Self::Depth => {
                "This query is too large to be judged; use fewer columns, levels and WITH queries.".to_owned()
            }
            Self::Order => {
                "A WITH RECURSIVE query may use itself and those before it; write them in that order."
                    .to_owned()
            }
        }
    }
}

/// What a check found.
#[derive(Debug)]
pub(in super::super) struct Checked {
    /// Steps that were taken.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests count the work"))]
    pub(in super::super) work: u64,
    /// The index of the token and the sentence.
    pub(in super::super) excess: Option<(usize, String)>,
}

/// Checks a query that the judge of the tree let pass.
pub(in super::super) fn check(query: &Query) -> Checked {
    let mut first = Sizes::default();
    first.query(query);
    let mut work = first.work;
    let mut excess = first.verdict();
    if matches!(excess, Some((_, Excess::Nodes | Excess::Together))) {
        // A WITH query that is used more than once is computed once, unless it says otherwise.
        let once =
            first.references.into_iter().filter(|(_, uses)| *uses > 1).map(|(query, _)| query).collect();
        let mut second = Sizes { materialized: once, ..Sizes::default() };
        second.query(query);
        work += second.work;
        excess = second.verdict();
    }
    Checked { work, excess: excess.map(|(at, excess)| (at, excess.sentence())) }
}

/// The name that PostgreSQL gives to a column, as far as a constant can have it.
#[expect(clippy::wildcard_enum_match_arm, reason = "everything else is called ?column?")]
fn implicit_name(expr: &Expr) -> &str {
    match expr {
        Expr::Identifier(name) => &name.value,
        Expr::CompoundIdentifier(parts) => parts.last().map_or("", |name| &name.value),
        Expr::Function(function) => last_name(&function.name),
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => implicit_name(inner),
        Expr::Cast { expr: inner, data_type, .. } => match (implicit_name(inner), data_type) {
            ("?column?", DataType::Custom(name, _)) => last_name(name),
            (name, _) => name,
        },
        Expr::Case { .. } => "case",
        Expr::Array(_) => "array",
        Expr::Tuple(_) => "row",
        _ => "?column?",
    }
}

/// The name of a function or a type, without its schema.
pub(super) fn last_name(ObjectName(parts): &ObjectName) -> &str {
    match parts.last() {
        Some(ObjectNamePart::Identifier(ident)) => &ident.value,
        Some(ObjectNamePart::Function(_)) | None => "",
    }
}

/// To how many bytes a type pads its values.
#[expect(clippy::wildcard_enum_match_arm, reason = "other types do not pad")]
fn padding(data_type: &DataType) -> u64 {
    match data_type {
        DataType::Custom(_, modifiers) => modifiers.iter().fold(0, |most, modifier| match modifier {
            TypeModifier::Number(number, _) => most.max(number.parse().unwrap_or(u64::MAX)),
            TypeModifier::Identifier(_) | TypeModifier::String(_) => most,
        }),
        DataType::Array(ArrayElemTypeDef::SquareBracket(element, _)) => padding(element),
        _ => 0,
    }
}

/// A column of a query: its value, and how many nodes stand for it once it is written out.
#[derive(Clone, Copy)]
struct Column {
    bound: Bound,
    nodes: u64,
}

impl Column {
    const TABLE: Self = Self { bound: Bound::TABLE, nodes: 1 };

    fn max(self, other: Self) -> Self {
        Self { bound: self.bound.max(other.bound), nodes: self.nodes.max(other.nodes) }
    }
}

/// What is planned: nodes, and bytes of constants.
#[derive(Clone, Copy, Default)]
struct Cost {
    nodes: u64,
    bytes: u64,
}

/// What a query or a function in `FROM` gives.
#[derive(Clone)]
struct Relation<'t> {
    /// In order, unless columns of tables are among them.
    columns: Vec<(&'t str, Column)>,
    /// Whether these are all, in order.
    exact: bool,
    /// Columns that have any other name.
    star: Option<Column>,
    rows: u64,
    /// What each use of a `WITH` query costs.
    cost: Cost,
}

impl<'t> Relation<'t> {
    /// A table.
    const fn table() -> Self {
        let cost = Cost { nodes: RELATION_NODES, bytes: 0 };
        Self { columns: Vec::new(), exact: false, star: None, rows: 1, cost }
    }

    fn any(&self) -> Column {
        self.columns.iter().map(|(_, column)| *column).chain(self.star).fold(Column::TABLE, Column::max)
    }

    /// Names the columns.
    fn rename(&mut self, alias: &'t TableAlias) {
        let any = self.any();
        for (index, name) in alias.columns.iter().map(|column| column.name.value.as_str()).enumerate() {
            match self.columns.get_mut(index).filter(|_| self.exact) {
                Some(column) => column.0 = name,
                None => self.columns.push((name, any)),
            }
        }
    }
}

/// What one `FROM` names.
struct Frame<'t> {
    names: HashMap<&'t str, Column>,
    columns: Vec<(&'t str, Column)>,
    exact: bool,
    star: Option<Column>,
}

impl<'t> Frame<'t> {
    fn new() -> Self {
        Self { names: HashMap::new(), columns: Vec::new(), exact: true, star: None }
    }

    fn name(&mut self, name: &'t str, column: Column) {
        self.names.entry(name).and_modify(|known| *known = known.max(column)).or_insert(column);
    }

    fn add(&mut self, relation: &Relation<'t>) {
        for (name, column) in &relation.columns {
            self.name(name, *column);
        }
        self.columns.extend(&relation.columns);
        self.exact &= relation.exact;
        self.star = max_of(self.star, relation.star);
    }

    fn get(&self, name: &str) -> Option<Column> {
        // The columns of VALUES are called column1, column2 and so on.
        let of_values = name.strip_prefix("column").is_some_and(|n| n.chars().all(|c| c.is_ascii_digit()));
        let values = self.names.get("column").filter(|_| of_values).copied();
        max_of(self.names.get(name).copied(), max_of(values, self.star))
    }
}

fn max_of(one: Option<Column>, other: Option<Column>) -> Option<Column> {
    one.into_iter().chain(other).reduce(Column::max)
}

#[derive(Default)]
struct Sizes<'t> {
    frames: Vec<Frame<'t>>,
    ctes: HashMap<&'t str, Vec<(Rc<Relation<'t>>, *const Query)>>,
    /// How often each `WITH` query is used.
    references: HashMap<*const Query, u64>,
    materialized: HashSet<*const Query>,
    /// Queries of `WITH RECURSIVE` that come later.
    later: HashMap<&'t str, usize>,
    /// Rows of the `FROM` that is looked at.
    rows: u64,
    aggregated: bool,
    cost: Cost,
    near: usize,
    depth: usize,
    work: u64,
    excess: Option<(usize, Excess)>,
}

impl<'t> Sizes<'t> {
    fn verdict(&self) -> Option<(usize, Excess)> {
        let total = match self.cost {
            Cost { nodes, .. } if nodes > MAX_PLANNER_NODES => Some((0, Excess::Nodes)),
            Cost { bytes, .. } if bytes > MAX_STATEMENT_BYTES => Some((0, Excess::Together)),
            Cost { .. } => None,
        };
        self.excess.or(total)
    }

    fn exceed(&mut self, at: usize, excess: Excess) {
        self.excess.get_or_insert((at, excess));
    }

    fn spend(&mut self, steps: usize) {
        self.work = self.work.saturating_add(u64::try_from(steps).unwrap_or(u64::MAX));
        if self.work > MAX_WORK {
            self.exceed(self.near, Excess::Work);
        }
    }

    fn charge(&mut self, Cost { nodes, bytes }: Cost) {
        self.cost.nodes = self.cost.nodes.saturating_add(nodes);
        self.cost.bytes = self.cost.bytes.saturating_add(bytes);
    }

    fn stand_at(&mut self, span: sqlparser::tokenizer::Span) {
        self.near = view::index_of(span).unwrap_or(self.near);
    }

    fn query(&mut self, query: &'t Query) -> Relation<'t> {
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
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(_), _) => {
                relation.exact = false;
                self.wildcard(relation);
            }
            SelectItem::Wildcard(_) | SelectItem::ExprWithAliases { .. } => self.wildcard(relation),
        }
    }

    /// All columns of the `FROM`, and of those around it: `q.*` may mean one of them.
    fn wildcard(&mut self, relation: &mut Relation<'t>) {
        let columns: usize = self.frames.iter().map(|frame| frame.columns.len()).sum();
        self.spend(columns);
        if self.excess.is_some() {
            return;
        }
        let Some((last, outer)) = self.frames.split_last() else { return };
        relation.exact &= last.exact;
        relation.columns.extend(&last.columns);
        relation.star = max_of(relation.star, last.star);
        if !relation.exact {
            for frame in outer {
                relation.columns.extend(&frame.columns);
                relation.star = max_of(relation.star, frame.star);
            }
        }
        let cost = relation.columns.iter().fold(Cost::default(), |sum, (_, column)| Cost {
            nodes: sum.nodes.saturating_add(column.nodes),
            bytes: sum.bytes.saturating_add(column.bound.bytes),
        });
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
        let types =
            alias.iter().flat_map(|alias| &alias.columns).filter_map(|column| column.data_type.as_ref());
        let padded = types.map(padding).fold(bound.bytes, u64::max);
        let column = Column { bound: Bound { bytes: padded, number: bound.number }, nodes: 1 };
        let rows = rows_of(function, args, &bounds);
        let names = [function].into_iter().chain(alias.map(|alias| alias.name.value.as_str()));
        let scalar = matches!(function, "generate_series" | "generate_subscripts" | "unnest");
        let star = Some(column).filter(|_| !scalar);
        Relation { columns: names.map(|name| (name, column)).collect(), star, rows, ..Relation::table() }
    }

    fn stand_at_name(&mut self, ObjectName(parts): &ObjectName) {
        if let Some(ObjectNamePart::Identifier(ident)) = parts.last() {
            self.stand_at(ident.span);
        }
    }

    /// An expression as a column of a query.
    fn column(&mut self, expr: &'t Expr) -> Column {
        let before = self.cost.nodes;
        let bound = self.of(expr);
        Column { bound, nodes: self.cost.nodes.saturating_sub(before).max(1) }
    }

    fn all(&mut self, exprs: impl IntoIterator<Item = &'t Expr>) {
        for expr in exprs {
            self.of(expr);
        }
    }

    fn window(&mut self, spec: &'t WindowSpec) {
        let WindowSpec { window_name: _, partition_by, order_by, window_frame } = spec;
        if let Some(frame) = window_frame {
            self.all(
                [Some(&frame.start_bound), frame.end_bound.as_ref()].into_iter().flatten().filter_map(offset),
            );
        }
        self.all(partition_by);
        self.all(order_by.iter().map(|order| &order.expr));
    }

    fn read(&mut self, name: &str) -> Bound {
        self.spend(self.frames.len());
        let known = self.frames.iter().filter_map(|frame| frame.get(name)).reduce(Column::max);
        let Column { bound, nodes } = known.unwrap_or(Column::TABLE);
        let bytes = if bound.bytes > SMALL { bound.bytes } else { 0 };
        self.charge(Cost { nodes, bytes });
        bound
    }

    fn of(&mut self, expr: &'t Expr) -> Bound {
        if self.excess.is_some() {
            return Bound::TABLE;
        }
        if self.depth >= MAX_RECURSION {
            self.exceed(self.near, Excess::Depth);
            return Bound::TABLE;
        }
        self.spend(1);
        self.charge(Cost { nodes: 1, bytes: 0 });
        self.depth += 1;
        let bound = self.expression(expr);
        self.depth -= 1;
        if bound.bytes > MAX_CONSTANT_BYTES {
            self.exceed(self.near, Excess::Bytes);
        }
        bound
    }

    /// The largest of some values.
    fn largest(&mut self, exprs: impl IntoIterator<Item = &'t Expr>) -> Bound {
        exprs.into_iter().fold(Bound::NONE, |bound, expr| bound.max(self.of(expr)))
    }

    /// Something of these values that is true or false.
    fn test(&mut self, exprs: impl IntoIterator<Item = &'t Expr>) -> Bound {
        self.all(exprs);
        Bound { bytes: SMALL, number: 1 }
    }

    #[expect(clippy::too_many_lines, reason = "one match over the expressions")]
    #[expect(clippy::wildcard_enum_match_arm, reason = "the judge of the tree refuses all others")]
    fn expression(&mut self, expr: &'t Expr) -> Bound {
        match expr {
            Expr::Identifier(name) => {
                self.stand_at(name.span);
                self.read(&name.value)
            }
            Expr::CompoundIdentifier(parts) => {
                // `q.n` is a column, or a field of one.
                let names = parts.iter().rev().take(2);
                names.fold(Bound::NONE, |bound, name| {
                    self.stand_at(name.span);
                    bound.max(self.read(&name.value))
                })
            }
            Expr::CompoundFieldAccess { root, access_chain } => {
                for access in access_chain {
                    self.all(subscripts(access));
                }
                self.of(root)
            }
            Expr::Value(value) | Expr::TypedString(TypedString { value, .. }) => {
                self.stand_at(value.span);
                self.spend(literal_text(value).len() / 64);
                literal(value)
            }
            Expr::Nested(inner)
            | Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr: inner }
            | Expr::Ceil { expr: inner, .. }
            | Expr::Floor { expr: inner, .. }
            | Expr::Collate { expr: inner, .. } => self.of(inner),
            Expr::UnaryOp { op: UnaryOperator::Not, expr: inner } => self.test([inner.as_ref()]),
            Expr::UnaryOp { op: UnaryOperator::BitwiseNot, expr: inner } => {
                Bound::of_bytes(self.of(inner).bytes)
            }
            Expr::UnaryOp { expr: inner, .. } => self.of(inner),
            Expr::Substring { expr: inner, substring_from, substring_for, .. } => {
                self.all(substring_from.as_deref().into_iter().chain(substring_for.as_deref()));
                self.of(inner)
            }
            Expr::Trim { expr: inner, trim_what, trim_characters, .. } => {
                self.all(trim_what.as_deref().into_iter().chain(trim_characters.iter().flatten()));
                self.of(inner)
            }
            Expr::Cast { expr: inner, data_type, .. } => self.cast(inner, data_type),
            Expr::BinaryOp { .. } => self.chain(expr),
            Expr::Array(Array { elem: items, named: _ }) | Expr::Tuple(items) => {
                let (mut bytes, mut number) = (SMALL, 0);
                for item in items {
                    let bound = self.of(item);
                    bytes = bound.bytes.saturating_add(bytes);
                    number = bound.number.max(number);
                }
                let bytes = bytes.saturating_mul(2);
                self.charge(Cost { nodes: 0, bytes });
                Bound { bytes, number }
            }
            Expr::Case { operand, conditions, else_result, .. } => {
                self.all(operand.as_deref());
                self.all(conditions.iter().map(|CaseWhen { condition, result: _ }| condition));
                self.largest(
                    conditions
                        .iter()
                        .map(|CaseWhen { condition: _, result }| result)
                        .chain(else_result.as_deref()),
                )
            }
            Expr::Overlay { expr: inner, overlay_what, overlay_from, overlay_for } => {
                self.all([overlay_from.as_ref()].into_iter().chain(overlay_for.as_deref()));
                let (text, what) = (self.of(inner), self.of(overlay_what));
                Bound::of_bytes(text.bytes.saturating_add(what.bytes))
            }
            Expr::Extract { field, expr: inner, .. } => {
                self.of(inner);
                let small = SMALL_FIELDS.contains(&field.to_string().to_ascii_lowercase().as_str());
                if small { Bound::TABLE } else { Bound::of_bytes(SMALL) }
            }
            Expr::Position { expr: what, r#in: text } => {
                self.of(what);
                let text = self.of(text);
                Bound { bytes: SMALL, number: text.bytes.max(TABLE_NUMBER) }
            }
            Expr::Function(function) => self.function(function),
            Expr::Subquery(query) => self.subquery(query),
            Expr::Exists { subquery, .. } => {
                self.subquery(subquery);
                Bound { bytes: SMALL, number: 1 }
            }
            Expr::In { expr: inner, target, .. } => {
                self.of(inner);
                match target {
                    InTarget::List(exprs) => self.test(exprs),
                    InTarget::Subquery(query) => {
                        self.subquery(query);
                        Bound { bytes: SMALL, number: 1 }
                    }
                    InTarget::Unnest(_) | InTarget::Table { .. } => Bound::TABLE,
                }
            }
            Expr::Between { expr: inner, low, high, .. } => self.test([inner.as_ref(), low, high]),
            Expr::AnyOp { left, right, .. } | Expr::AllOp { left, right, .. } => {
                self.test([left.as_ref(), right])
            }
            Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
                self.test([left.as_ref(), right])
            }
            Expr::Like { expr: inner, pattern, escape_char, .. }
            | Expr::ILike { expr: inner, pattern, escape_char, .. }
            | Expr::SimilarTo { expr: inner, pattern, escape_char, .. } => {
                self.test([inner.as_ref(), pattern].into_iter().chain(escape_char.as_deref()))
            }
            Expr::AtTimeZone { timestamp, time_zone } => self.test([timestamp.as_ref(), time_zone]),
            Expr::IsFalse(inner)
            | Expr::IsNotFalse(inner)
            | Expr::IsTrue(inner)
            | Expr::IsNotTrue(inner)
            | Expr::IsNull(inner)
            | Expr::IsNotNull(inner)
            | Expr::IsUnknown(inner)
            | Expr::IsNotUnknown(inner)
            | Expr::IsNormalized { expr: inner, .. } => self.test([inner.as_ref()]),
            Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => {
                self.test(sets.iter().flatten())
            }
            _ => Bound::of_bytes(SMALL),
        }
    }

    fn subquery(&mut self, query: &'t Query) -> Bound {
        let relation = self.query(query);
        self.spend(relation.columns.len());
        relation.any_of_value()
    }

    /// A chain of operators, from the left.
    fn chain(&mut self, expr: &'t Expr) -> Bound {
        let mut first = expr;
        let mut rest = Vec::new();
        while let Expr::BinaryOp { left, op, right } = first {
            rest.push((op, right.as_ref()));
            first = left;
        }
        let mut bound = self.of(first);
        for (op, right) in rest.into_iter().rev() {
            self.spend(1);
            let right_bound = self.of(right);
            bound = operation(op, bound, right_bound, right);
        }
        if bound.bytes > SMALL {
            self.charge(Cost { nodes: 0, bytes: bound.bytes });
        }
        bound
    }

    /// A cast of text to `numeric` writes out an exponent, one of an array to text escapes what it holds, and one to
    /// `char(n)` or `bit(n)` pads.
    fn cast(&mut self, inner: &'t Expr, data_type: &'t DataType) -> Bound {
        let bound = self.of(inner);
        let numeric = matches!(data_type, DataType::Custom(name, _) if matches!(last_name(name), "numeric" | "decimal" | "dec"));
        let more = if matches!(inner, Expr::Array(_) | Expr::Tuple(_)) {
            bound.bytes
        } else if numeric && bound.number == u64::MAX && may_be_text(inner) {
            NUMERIC_BYTES
        } else {
            0
        };
        let padded = bound.bytes.max(padding(data_type));
        let bytes = padded.saturating_add(more);
        if bytes > bound.bytes {
            self.charge(Cost { nodes: 0, bytes });
        }
        Bound { bytes, number: bound.number }
    }

    fn arguments(&mut self, args: &'t [FunctionArg]) -> Vec<Bound> {
        args.iter().map(|arg| argument(arg).map_or(Bound::TABLE, |expr| self.of(expr))).collect()
    }

    fn function(&mut self, function: &'t Function) -> Bound {
        let name = last_name(&function.name);
        self.stand_at_name(&function.name);
        let at = self.near;
        self.all(function.filter.as_deref());
        let within = self.largest(function.within_group.iter().map(|order| &order.expr));
        match &function.over {
            Some(WindowType::WindowSpec(spec)) => self.window(spec),
            Some(WindowType::NamedWindow(_)) => {}
            None => self.aggregated |= is_aggregate(name),
        }
        let (args, bounds): (&[FunctionArg], Vec<Bound>) = match &function.args {
            FunctionArguments::None => return Bound::of_bytes(SMALL),
            FunctionArguments::Subquery(query) => {
                // `ARRAY(SELECT …)` keeps rows as `array_agg` does.
                let relation = self.query(query);
                self.near = at;
                return self.kept(relation.any_of_value(), relation.rows);
            }
            FunctionArguments::List(list) => {
                self.all(list.clauses.iter().flat_map(clause_exprs));
                (&list.args, self.arguments(&list.args))
            }
        };
        self.near = at;
        let rows = self.rows;
        if keeps_rows(name) {
            let value = bounds.iter().fold(within, |most, bound| Bound {
                bytes: most.bytes.saturating_add(bound.bytes),
                number: most.number.max(bound.number),
            });
            return self.kept(value, rows);
        }
        match name {
            "count" => Bound { bytes: 8, number: rows.max(TABLE_NUMBER) },
            "sum" => {
                let number = bounds.first().map_or(u64::MAX, |bound| bound.number);
                Bound { bytes: SMALL, number: number.saturating_mul(rows).max(TABLE_NUMBER) }
            }
            _ => {
                self.rows = rows.saturating_mul(rows_of(name, args, &bounds));
                self.call(name, args, &bounds)
            }
        }
    }

    /// Rows that are kept as one value.
    fn kept(&mut self, value: Bound, rows: u64) -> Bound {
        if rows > MAX_SERIES_ROWS {
            self.exceed(self.near, Excess::Rows);
        }
        let bytes = value.bytes.saturating_mul(rows).saturating_add(SMALL);
        self.charge(Cost { nodes: 0, bytes });
        Bound { bytes, number: value.number }
    }

    fn call(&mut self, name: &str, args: &'t [FunctionArg], bounds: &[Bound]) -> Bound {
        self.spend(args.iter().filter_map(argument).map(written).sum());
        let bound = of_call(name, args, bounds);
        if grows(name) {
            self.charge(Cost { nodes: 0, bytes: bound.bytes });
        }
        if bound.bytes > MAX_CONSTANT_BYTES {
            self.exceed(self.near, Excess::Bytes);
        }
        bound
    }
}

impl Relation<'_> {
    /// The value of a subquery that stands for one.
    fn any_of_value(&self) -> Bound {
        let columns =
            self.columns.iter().map(|(_, column)| column.bound).chain(self.star.map(|star| star.bound));
        columns.reduce(Bound::max).unwrap_or(Bound::TABLE)
    }
}

/// How long a literal is, in steps of looking at it.
#[expect(clippy::wildcard_enum_match_arm, reason = "only literals are read again")]
fn written(expr: &Expr) -> usize {
    match expr {
        Expr::Value(value) => literal_text(value).len() / 64,
        _ => 0,
    }
}

/// What `ORDER BY` within a call holds.
#[expect(clippy::wildcard_enum_match_arm, reason = "the judge of the tree refuses all others")]
fn clause_exprs(clause: &FunctionArgumentClause) -> impl Iterator<Item = &Expr> {
    let exprs = match clause {
        FunctionArgumentClause::OrderBy(exprs) => exprs.as_slice(),
        _ => &[],
    };
    exprs.iter().map(|order| &order.expr)
}

fn offset(bound: &WindowFrameBound) -> Option<&Expr> {
    match bound {
        WindowFrameBound::CurrentRow => None,
        WindowFrameBound::Preceding(expr) | WindowFrameBound::Following(expr) => expr.as_deref(),
    }
}

fn subscripts(access: &AccessExpr) -> Vec<&Expr> {
    match access {
        AccessExpr::Subscript(Subscript::Index { index }) => vec![index],
        AccessExpr::Subscript(Subscript::Slice { lower_bound, upper_bound, stride: _ }) => {
            lower_bound.iter().chain(upper_bound).collect()
        }
        AccessExpr::Dot(_) => Vec::new(),
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

/// How many rows a function gives.
fn rows_of(function: &str, args: &[FunctionArg], bounds: &[Bound]) -> u64 {
    match function {
        "generate_series" => series(args, bounds),
        _ if RETURNING_ROWS.contains(&function) => {
            bounds.iter().fold(1, |sum, bound| sum.saturating_add(bound.bytes))
        }
        _ => 1,
    }
}

/// How many rows a series of numbers has. One of dates counts as [`TABLE_NUMBER`].
fn series(args: &[FunctionArg], bounds: &[Bound]) -> u64 {
    let nth = |index: usize| bounds.get(index).map_or(0, |bound| bound.number);
    let step = args.get(2).and_then(argument);
    let interval = |step: &Expr| {
        let text = literal_of(step).map_or("", literal_text).trim();
        matches!(step, Expr::Interval(_)) || text.contains([' ', ':']) || text.starts_with('P')
    };
    let dates = step.is_some_and(interval);
    if dates {
        return TABLE_NUMBER;
    }
    let distance = nth(0).saturating_add(nth(1)).saturating_add(1);
    match step.map(whole) {
        None => distance,
        Some(0) if nth(2) != TABLE_NUMBER => distance.saturating_mul(step.map_or(1, fraction)),
        Some(step) => distance.div_ceil(step.max(1)),
    }
}

/// By how much a step that is no whole number multiplies rows: ten for each digit behind the point.
fn fraction(step: &Expr) -> u64 {
    let digits =
        literal_of(step).and_then(|text| literal_text(text).split_once('.')).map(|(_, digits)| digits);
    let digits = digits.filter(|digits| digits.bytes().all(|c| c.is_ascii_digit()));
    let power = digits.and_then(|digits| u32::try_from(digits.len()).ok()).unwrap_or(u32::MAX);
    10_u64.saturating_pow(power)
}

/// Functions that make one row of many.
fn is_aggregate(name: &str) -> bool {
    keeps_rows(name)
        || matches!(name, "avg" | "bool_and" | "bool_or" | "count" | "every" | "max" | "min" | "sum")
}
