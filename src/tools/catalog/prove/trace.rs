//! Values followed by their names to where they come from. What is a JSON value here is refused here; of which type a column is only
//! the database knows. Names are taken for whatever may be called so: too much is refused rather than too little.

use std::collections::BTreeSet;

use sqlparser::ast::{
    AccessExpr, Array, BinaryOperator, CaseWhen, Expr, Function, FunctionArguments, Ident, Query,
    Spanned as _, Subscript,
};

use super::{
    super::members::{Kinds, Needs, Origin},
    Rule,
    calls::{Becomes, becomes, builds},
    flow::{Demand, Made, Target, Value, target},
    keys::operator,
    parts::{Call, argument, ordered},
    walk::Walk,
};
use crate::guard::statement::token_of;

/// What is left to follow, and what was found.
#[derive(Default)]
struct Trace<'t> {
    left: Vec<Demand<'t>>,
    needs: Needs,
}

impl<'t> Trace<'t> {
    fn follow(&mut self, value: Value<'t>, scope: Option<usize>, never: Kinds) {
        if never != Kinds::NONE {
            self.left.push(Demand { value, scope, never });
        }
    }

    fn exprs(&mut self, exprs: impl IntoIterator<Item = &'t Expr>, scope: Option<usize>, never: Kinds) {
        for expr in exprs {
            self.follow(Value::Expr(expr), scope, never);
        }
    }

    fn need(&mut self, origin: Origin, never: Kinds) {
        let known = self.needs.entry(origin).or_default();
        *known = *known | (never - Kinds::PART);
    }

    fn column(&mut self, table: Option<String>, name: &str, never: Kinds) {
        if never != Kinds::PART {
            self.need(Origin::Column { table, name: name.to_owned() }, never);
        }
    }
}

impl<'t> Walk<'_, 't, '_> {
    /// What the database has to say of the types.
    pub(super) fn trace(&mut self) -> Needs {
        let mut trace = Trace { left: std::mem::take(&mut self.flow.demands), needs: Needs::new() };
        if !self.gathered.carried.is_empty() {
            trace.left.append(&mut self.flow.by_column);
        }
        let mut seen = BTreeSet::new();
        while let Some(Demand { value, scope, never }) = trace.left.pop() {
            let (place, index) = match value {
                Value::Expr(expr) => (std::ptr::from_ref(expr).addr(), 0),
                Value::Column(query, index) => (std::ptr::from_ref(query).addr(), index),
                Value::Named(name) => (name.as_ptr().addr(), name.len()),
            };
            if never == Kinds::NONE || !seen.insert((place, index, never)) {
                continue;
            }
            match value {
                Value::Expr(expr) => self.trace_expr(&mut trace, expr, scope, never),
                Value::Column(query, index) => self.trace_column(&mut trace, query, index, never),
                Value::Named(name) => self.trace_name(&mut trace, name, never),
            }
        }
        // What is known by a type's or a function's name may have fields that are read by theirs.
        for name in std::mem::take(&mut self.flow.types) {
            trace.need(Origin::Type(name.to_owned()), Kinds::NONE);
        }
        for name in std::mem::take(&mut self.flow.functions) {
            trace.need(Origin::Function(name.to_owned()), Kinds::NONE);
        }
        trace.needs.retain(|origin, never| {
            *never != Kinds::NONE || !matches!(origin, Origin::Column { table: _, name: _ })
        });
        trace.needs
    }

    fn trace_name(&mut self, trace: &mut Trace<'t>, name: &'t str, never: Kinds) {
        trace.column(None, name, never);
        let flow = &self.flow;
        let read = |query: &Query| flow.read.iter().any(|read| std::ptr::eq(*read, query));
        let called = |made: &&Made<'t>| match &made.name {
            Some(own) => own == name,
            None => read(made.query),
        };
        for made in flow.columns.iter().filter(called) {
            trace.follow(Value::Column(made.query, made.index), None, never);
        }
        for (_, query, index) in flow.renamed.iter().filter(|(renamed, _, _)| *renamed == name) {
            trace.follow(Value::Column(query, *index), None, never);
        }
        let (mut is_json, mut is_text) = (false, false);
        for (_, data_type) in flow.typed.iter().filter(|(typed, _)| *typed == name) {
            match target(data_type) {
                Target::Json => is_json = true,
                Target::Other(kind) => trace.need(Origin::Type(kind.to_owned()), never),
                Target::Text => is_text = true,
                Target::Plain => {}
            }
        }
        if is_text {
            self.chooses_part(None, never);
        }
        if is_json && never.meets(Kinds::JSON) {
            self.has_members_at(None);
        }
        let given: Vec<(Call<'t>, usize)> = self
            .flow
            .given
            .iter()
            .filter(|(given, _, _)| *given == name)
            .map(|(_, call, level)| (*call, *level))
            .collect();
        for (call, level) in given {
            self.trace_call(trace, &call, Some(level), never);
        }
    }

    fn trace_column(&self, trace: &mut Trace<'t>, query: &'t Query, index: usize, never: Kinds) {
        for made in
            self.flow.columns.iter().filter(|made| std::ptr::eq(made.query, query) && made.index == index)
        {
            trace.follow(Value::Expr(made.expr), made.scope, never);
        }
        for (whole, arm) in &self.flow.arms {
            if std::ptr::eq(*whole, query) {
                trace.follow(Value::Column(arm, index), None, never);
            } else if std::ptr::eq(*arm, query) {
                trace.follow(Value::Column(whole, index), None, never);
            }
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the others are true or false, or numbers and the like"
    )]
    fn trace_expr(&mut self, trace: &mut Trace<'t>, expr: &'t Expr, scope: Option<usize>, never: Kinds) {
        match expr {
            Expr::Identifier(name) => {
                if !self.flow.rows_of_json.is_empty() {
                    self.has_parts(expr, never);
                }
                trace.follow(Value::Named(&name.value), None, never);
            }
            Expr::CompoundIdentifier(parts) => {
                let [.., relation, name] = parts.as_slice() else { return };
                if self.flow.rows_of_json.contains(&relation.value.as_str()) {
                    self.has_parts(expr, never);
                }
                match self.scopes.table(scope, &relation.value).filter(|_| parts.len() == 2) {
                    Some(table) => trace.column(Some(table), &name.value, never),
                    None => trace.follow(Value::Named(&name.value), None, never),
                }
            }
            Expr::CompoundFieldAccess { root, access_chain } => {
                trace_access(trace, root, access_chain, scope, never);
            }
            Expr::Nested(inner)
            | Expr::UnaryOp { op: _, expr: inner }
            | Expr::Collate { expr: inner, collation: _ } => trace.exprs([inner.as_ref()], scope, never),
            Expr::Substring { expr: inner, .. }
            | Expr::Trim { expr: inner, .. }
            | Expr::Overlay { expr: inner, .. } => {
                trace.exprs([inner.as_ref()], scope, never.of(Kinds::PART));
            }
            Expr::Cast { kind: _, expr: inner, data_type, format: _ } => match target(data_type) {
                Target::Plain => {}
                Target::Json if matches!(inner.as_ref(), Expr::Value(_)) => {}
                Target::Json if never.meets(Kinds::JSON) => self.has_members(expr),
                Target::Json => {}
                Target::Text => trace.exprs([inner.as_ref()], scope, never),
                Target::Other(name) => {
                    trace.need(Origin::Type(name.to_owned()), never);
                    trace.exprs([inner.as_ref()], scope, never);
                }
            },
            Expr::BinaryOp { left, op, right } => self.trace_operator(trace, [left, right], op, scope, never),
            Expr::Case { case_token: _, end_token: _, operand: _, conditions, else_result } => {
                let results = conditions.iter().map(|CaseWhen { condition: _, result }| result);
                trace.exprs(results.chain(else_result.as_deref()), scope, never);
            }
            Expr::Array(Array { elem: items, named: _ }) | Expr::Tuple(items) => {
                trace.exprs(items, scope, never)
            }
            Expr::Subquery(query) => trace.follow(Value::Column(query, 0), scope, never),
            Expr::Function(function) => self.trace_function(trace, expr, function, scope, never),
            _ => {}
        }
    }

    fn trace_operator(
        &mut self,
        trace: &mut Trace<'t>,
        [left, right]: [&'t Expr; 2],
        op: &BinaryOperator,
        scope: Option<usize>,
        never: Kinds,
    ) {
        match (operator(op), op) {
            (Some("->>" | "#>>"), _) => self.has_parts(left, never),
            (Some("#>"), _) if never.meets(Kinds::JSON) => self.has_members(left),
            // Of JSON it is JSON, and of an hstore the text of a member.
            (Some("->"), _) => {
                self.has_parts(left, never);
                trace.exprs([left], scope, never.of(Kinds::JSON));
            }
            (
                _,
                BinaryOperator::And
                | BinaryOperator::Or
                | BinaryOperator::Eq
                | BinaryOperator::NotEq
                | BinaryOperator::Lt
                | BinaryOperator::LtEq
                | BinaryOperator::Gt
                | BinaryOperator::GtEq
                | BinaryOperator::PGRegexMatch,
            ) => {}
            (Some("||"), _) => trace.exprs([left, right], scope, never.of(Kinds::PART)),
            _ => trace.exprs([left, right], scope, never),
        }
    }

    fn trace_function(
        &mut self,
        trace: &mut Trace<'t>,
        expr: &'t Expr,
        function: &'t Function,
        scope: Option<usize>,
        never: Kinds,
    ) {
        let Function { args, within_group, .. } = function;
        if let FunctionArguments::Subquery(query) = args {
            return trace.follow(Value::Column(query, 0), scope, never);
        }
        trace.exprs(ordered(within_group), scope, never);
        if let Some(call) = Call::of(expr) {
            self.trace_call(trace, &call, scope, never);
        }
    }

    fn trace_call(&mut self, trace: &mut Trace<'t>, call: &Call<'t>, scope: Option<usize>, never: Kinds) {
        let args = call.args.iter().filter_map(argument);
        let name = call.name.value.as_str();
        match becomes(name) {
            Becomes::Nothing => {}
            Becomes::Themselves if builds(name) && never.meets(Kinds::JSON) => {
                trace.exprs(args, scope, never | Kinds::ALL);
            }
            Becomes::Themselves => trace.exprs(args, scope, never),
            Becomes::Json if never.meets(Kinds::JSON) => self.has_members_at(self.place(call.name)),
            Becomes::Row if never.meets(Kinds::ROW | Kinds::ROWS) => {
                self.has_members_at(self.place(call.name))
            }
            Becomes::Json => {}
            Becomes::Row | Becomes::Part => self.chooses_part(self.place(call.name), never),
            Becomes::Text => {
                if self.claim.guard.adds_function(name) {
                    trace.need(Origin::Function(name.to_owned()), never);
                }
                trace.exprs(args, scope, never.of(Kinds::PART));
            }
        }
    }

    fn has_members(&mut self, expr: &Expr) {
        let at = token_of(expr.span()).and_then(|index| self.byte(index));
        self.has_members_at(at);
    }

    fn has_members_at(&mut self, at: Option<usize>) {
        self.faults.add(
            Rule::WildcardSelect,
            at,
            "Text is made of this value, and with it of every member that it has, whatever its name.",
            "Name the member, data ->> 'name', or leave the value as it is.",
        );
    }

    fn has_parts(&mut self, expr: &Expr, never: Kinds) {
        let at = token_of(expr.span()).and_then(|index| self.byte(index));
        self.chooses_part(at, never);
    }

    fn chooses_part(&mut self, at: Option<usize>, never: Kinds) {
        if never.meets(Kinds::PART) {
            self.faults.add(
                Rule::WildcardSelect,
                at,
                "A parameter chooses which part of this member's text is seen, and may leave out a secret's name.",
                "Give the member as a whole, or compare it.",
            );
        }
    }
}

/// A field, which has a name of its own; or an element of an array or a JSON value, or some.
fn trace_access<'t>(
    trace: &mut Trace<'t>,
    root: &'t Expr,
    chain: &'t [AccessExpr],
    scope: Option<usize>,
    never: Kinds,
) {
    if let Some(field) = chain.iter().rev().find_map(field_of) {
        trace.follow(Value::Named(&field.value), None, never);
        return trace.exprs([root], scope, never.of(Kinds::PART));
    }
    let is_slice = |access: &AccessExpr| matches!(access, AccessExpr::Subscript(Subscript::Slice { .. }));
    // An element of an array of rows is a row; a slice is an array.
    let may_be_row = !never.meets(Kinds::ROW) && !chain.iter().any(is_slice);
    trace.exprs([root], scope, if may_be_row { never - Kinds::ROWS } else { never });
}

/// The name behind a dot.
const fn field_of(access: &AccessExpr) -> Option<&Ident> {
    if let AccessExpr::Dot(Expr::Identifier(field)) = access { Some(field) } else { None }
}
