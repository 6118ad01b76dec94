//! The judge of the tree: calls, in expressions and in `FROM`.

use sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgOperator,
    FunctionArgumentClause, FunctionArgumentList, FunctionArguments, Ident, ObjectName, ObjectNamePart,
    WindowFrame, WindowFrameBound, WindowSpec, WindowType,
};

use super::{
    constructs,
    tree::{Judge, NOT_POSTGRES, Node, Role},
};
use crate::{
    guard::{
        functions_denied, functions_sets,
        lexer::{Reason, Refusal},
    },
    problem::echo,
};

/// What looks like a call and is grammar: no function of another schema can stand behind these words.
const GRAMMAR: &[&str] = &[
    "array",
    "coalesce",
    "current_catalog",
    "current_date",
    "current_time",
    "current_timestamp",
    "current_user",
    "greatest",
    "grouping",
    "least",
    "localtime",
    "localtimestamp",
    "nullif",
    "row",
    "session_user",
    "user",
];

impl<'t> Judge<'t, '_> {
    /// A call in an expression.
    pub(super) fn call(&mut self, function: &'t Function) -> Result<(), Refusal> {
        let Function { name, uses_odbc_syntax, parameters, args, filter, null_treatment, over, within_group } =
            function;
        self.name(name)?;
        let foreign = *uses_odbc_syntax || null_treatment.is_some() || *parameters != FunctionArguments::None;
        if foreign {
            return Err(self.refuse(NOT_POSTGRES));
        }
        match args {
            FunctionArguments::None => {}
            FunctionArguments::Subquery(query) => {
                self.left.push(Node::Query(query));
            }
            FunctionArguments::List(list) => {
                self.arguments(list)?;
            }
        }
        self.exprs(filter.as_deref());
        self.ordering(within_group)?;
        match over {
            Some(WindowType::WindowSpec(spec)) => self.window(spec),
            Some(WindowType::NamedWindow(_)) | None => Ok(()),
        }
    }

    /// A call in `FROM`.
    pub(super) fn table_call(
        &mut self,
        name: &'t ObjectName,
        args: &'t [FunctionArg],
    ) -> Result<(), Refusal> {
        self.name(name)?;
        args.iter().try_for_each(|arg| self.argument(arg))
    }

    /// Whether a function of this name may be called.
    fn name(&mut self, ObjectName(parts): &'t ObjectName) -> Result<(), Refusal> {
        let mut names: Vec<&'t Ident> = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                ObjectNamePart::Identifier(ident) => names.push(ident),
                ObjectNamePart::Function(_) => return Err(self.refuse(NOT_POSTGRES)),
            }
        }
        let Some(last) = names.last() else { return Err(self.refuse(NOT_POSTGRES)) };
        self.stand_at(last);
        let allowed = match names.as_slice() {
            [name] if name.quote_style.is_none() && GRAMMAR.contains(&name.value.as_str()) => true,
            [name] => self.config.allows_function(None, &name.value),
            [schema, name] => self.config.allows_function(Some(&schema.value), &name.value),
            _ => false,
        };
        if allowed {
            self.account(last, Role::Call);
            return Ok(());
        }
        let name = names.iter().map(|ident| ident.value.as_str()).collect::<Vec<_>>().join(".");
        Err(self.refuse(unknown_function(&name)).about(Reason::Function))
    }

    fn arguments(&mut self, list: &'t FunctionArgumentList) -> Result<(), Refusal> {
        let FunctionArgumentList { duplicate_treatment, args, clauses } = list;
        match duplicate_treatment {
            Some(DuplicateTreatment::Distinct | DuplicateTreatment::All) | None => {}
        }
        for clause in clauses {
            match clause {
                FunctionArgumentClause::OrderBy(exprs) => self.ordering(exprs)?,
                FunctionArgumentClause::IgnoreOrRespectNulls(_)
                | FunctionArgumentClause::Where(_)
                | FunctionArgumentClause::Limit(_)
                | FunctionArgumentClause::OnOverflow(_)
                | FunctionArgumentClause::Having(_)
                | FunctionArgumentClause::Separator(_)
                | FunctionArgumentClause::JsonNullClause(_)
                | FunctionArgumentClause::JsonReturningClause(_) => {
                    return Err(
                        self.refuse("Inside a call only arguments, DISTINCT and ORDER BY are supported.")
                    );
                }
            }
        }
        args.iter().try_for_each(|arg| self.argument(arg))
    }

    fn argument(&mut self, arg: &'t FunctionArg) -> Result<(), Refusal> {
        let value = match arg {
            FunctionArg::Unnamed(value) => value,
            FunctionArg::Named { name, arg, operator } => {
                self.stand_at(name);
                self.naming(operator)?;
                arg
            }
            FunctionArg::ExprNamed { name, arg, operator } => {
                self.naming(operator)?;
                let Expr::Identifier(name) = name else {
                    return Err(self.refuse("An argument's name is a plain name: f(name => value)."));
                };
                self.stand_at(name);
                arg
            }
        };
        match value {
            FunctionArgExpr::Expr(expr) => {
                self.left.push(Node::Expr(expr));
                Ok(())
            }
            FunctionArgExpr::QualifiedWildcard(name) => self.relation(name),
            FunctionArgExpr::Wildcard => Ok(()),
            FunctionArgExpr::WildcardWithOptions(options) => self.wildcard(options),
        }
    }

    fn naming(&self, operator: &FunctionArgOperator) -> Result<(), Refusal> {
        match operator {
            FunctionArgOperator::RightArrow | FunctionArgOperator::Assignment => Ok(()),
            FunctionArgOperator::Colon | FunctionArgOperator::Value => {
                Err(self.refuse(constructs::JSON_BUILDER))
            }
            FunctionArgOperator::Equals | FunctionArgOperator::Space => {
                Err(self.refuse("A named argument is written f(name => value)."))
            }
        }
    }

    /// What stands behind `OVER` or in a `WINDOW` clause.
    pub(super) fn window(&mut self, spec: &'t WindowSpec) -> Result<(), Refusal> {
        let WindowSpec { window_name, partition_by, order_by, window_frame } = spec;
        if let Some(name) = window_name {
            self.stand_at(name);
        }
        self.exprs(partition_by);
        self.ordering(order_by)?;
        if let Some(WindowFrame { units: _, start_bound, end_bound }) = window_frame {
            for bound in [Some(start_bound), end_bound.as_ref()].into_iter().flatten() {
                self.exprs(match bound {
                    WindowFrameBound::CurrentRow => None,
                    WindowFrameBound::Preceding(expr) | WindowFrameBound::Following(expr) => expr.as_deref(),
                });
            }
        }
        Ok(())
    }
}

/// The sentence for a function that is on no list: what it would do, or what allows it.
pub(super) fn unknown_function(name: &str) -> String {
    if let Some(does) = functions_denied::danger(name) {
        return format!("The name {} is never allowed: a function of this name {does}.", echo(name));
    }
    if let Some(sentence) = constructs::named(name) {
        return sentence.to_owned();
    }
    let set = functions_sets::SETS.iter().find(|set| set.has_function(name));
    let allowed_by = set.map(|set| format!("={}", set.name)).unwrap_or_default();
    format!(
        "The function {} is not on the list of allowed functions; use another, or ask the operator to allow it with \
         MCP_SQL_ALLOW_FUNCTIONS{allowed_by}.",
        echo(name)
    )
}
