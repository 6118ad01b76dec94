//! Counts: each call or type that makes as much as a number says, and how much it can make.

use super::amounts;
use super::excess::{Excess, MAX_COUNT, MAX_GROUPS, MAX_LITERAL};
use super::literals::{NUMERIC_DIGITS, as_float};
use super::nodes::{Kind, Nodes};
use crate::guard::functions::{Function, Size};

/// The largest count or replacement that counts only where calls nest, and the count that a column stands for there.
const SMALL: f64 = 100.0;
/// Bytes that each byte of a multirange's text takes while it is read.
const RANGE_BYTES: f64 = 1_000.0;
/// Bytes that an element of an array takes while it is written out, on average: a range or a shape takes 1 KB.
pub(super) const ELEMENT_BYTES: f64 = 120.0;

/// All counts of a statement.
#[derive(Debug)]
pub(super) struct Counts {
    /// Factors of the size of a statement's values, by the node that multiplies.
    pub(super) factors: Vec<(usize, f64)>,
    /// Counts that hold a column, by the call they stand in, with what their literals multiply.
    pub(super) moving: Vec<(usize, f64)>,
    /// Calls whose replacement is no literal.
    pub(super) replacing: Vec<usize>,
    /// The growth of its arguments by each node alone.
    pub(super) growth: Vec<f64>,
    /// Bytes that each byte or element takes.
    pub(super) unit: f64,
}

type Verdict = Result<(), (usize, Excess)>;

impl Counts {
    pub(super) fn of(nodes: &Nodes) -> Result<Self, (usize, Excess)> {
        let growth = vec![1.0; nodes.len()];
        let mut counts =
            Self { factors: Vec::new(), moving: Vec::new(), replacing: Vec::new(), growth, unit: 1.0 };
        for (index, node) in nodes.iter() {
            match &node.kind {
                Kind::Call { function: Some(function), named, .. } => {
                    counts.call(nodes, index, function, *named)?;
                }
                Kind::Call { function: None, .. } | Kind::Build => counts.grow(index, 2.0),
                Kind::Operator(sign) if sign == "^" => counts.digits(nodes, index, 1),
                Kind::Cast { name, length } if *length > MAX_COUNT => {
                    return Err((index, Excess::Count { name: name.clone(), count: *length }));
                }
                Kind::Cast { length, .. } => counts.factor(index, *length),
                _ => {}
            }
            if nodes.name(index).ends_with("multirange") {
                counts.unit = counts.unit.max(RANGE_BYTES);
            }
        }
        Ok(counts)
    }

    fn factor(&mut self, index: usize, by: f64) {
        if by > SMALL {
            self.factors.push((index, by));
        }
    }

    fn grow(&mut self, index: usize, by: f64) {
        if let Some(growth) = self.growth.get_mut(index) {
            *growth *= by.max(1.0);
        }
    }

    /// A factor, or growth where calls nest.
    fn lengthen(&mut self, index: usize, by: f64) {
        if by > SMALL { self.factor(index, by) } else { self.grow(index, by) }
    }

    fn call(&mut self, nodes: &Nodes, index: usize, function: &Function, named: bool) -> Verdict {
        let argument = |nth| nodes.argument(index, nth);
        if named && !matches!(function.size, Size::Flat | Size::Grows) {
            return Err((index, Excess::Named { name: nodes.name(index) }));
        }
        match function.size {
            Size::Flat => {}
            Size::Grows => self.grow(index, 2.0),
            // With one argument `polygon` converts.
            Size::Count(nth) => argument(nth)
                .filter(|_| argument(1).is_some())
                .map_or(Ok(()), |count| self.count(nodes, index, count))?,
            Size::Lengths(nth) => {
                argument(nth).map_or(Ok(()), |lengths| self.lengths(nodes, index, lengths))?
            }
            Size::Template(nth) => argument(nth).map_or(Ok(()), |text| self.template(nodes, index, text))?,
            Size::Matches(nth) => {
                argument(nth).map_or(Ok(()), |pattern| self.matches(nodes, index, pattern))?
            }
            Size::Digits(nth) => self.digits(nodes, index, nth),
            Size::Product(from, to) => {
                let replaced =
                    argument(1).filter(|_| function.name == "replace").and_then(|it| nodes.literal(it));
                let mut by = 0.0;
                for argument in (from..=to).filter_map(argument) {
                    match nodes.literal(argument) {
                        Some(text) => by += as_float(text.len()),
                        None => self.replacing.push(index),
                    }
                }
                self.lengthen(index, by / as_float(replaced.map_or(1, str::len)).max(1.0));
            }
        }
        Ok(())
    }

    /// A length or a number of repetitions.
    fn count(&mut self, nodes: &Nodes, index: usize, argument: usize) -> Verdict {
        let name = nodes.name(index);
        // What pads does not multiply what it is given.
        let repeats = |by| if name == "repeat" { by } else { 1.0 };
        match amounts::of(nodes, argument) {
            None => return Err((index, Excess::Unbounded { name })),
            Some(amount) if !amount.moving && amount.times > MAX_COUNT => {
                return Err((index, Excess::Count { name, count: amount.times }));
            }
            Some(amount) if !amount.moving && amount.times > SMALL => self.factor(index, amount.times),
            Some(amount) if !amount.moving => self.grow(index, repeats(amount.times)),
            Some(amount) if amount.largest > MAX_LITERAL => {
                return Err((
                    index,
                    Excess::Beside { name, literal: format!("The literal {}", amount.largest) },
                ));
            }
            Some(amount) => {
                self.moving.push((index, amount.times.max(1.0)));
                self.factor(index, amount.times);
                self.grow(index, repeats(SMALL));
            }
        }
        Ok(())
    }

    /// The lengths of an array: each is a count, and they multiply.
    fn lengths(&mut self, nodes: &Nodes, index: usize, argument: usize) -> Verdict {
        let mut product = 1.0;
        if let Some(list) = nodes.literal(argument) {
            let list = list.trim().trim_matches(['{', '}']);
            let length = |text: &str| text.trim().parse().unwrap_or(f64::INFINITY);
            product = if list.is_empty() { 0.0 } else { list.split(',').map(length).product() };
        } else if matches!(nodes.kind(argument), Kind::Build) {
            for (length, _) in nodes.children(argument) {
                match amounts::of(nodes, length).filter(|amount| !amount.moving) {
                    Some(amount) => product *= amount.times,
                    None => self.count(nodes, index, length)?,
                }
            }
        } else {
            return Err((index, Excess::Unbounded { name: nodes.name(index) }));
        }
        if product > MAX_COUNT {
            return Err((index, Excess::Count { name: nodes.name(index), count: product }));
        }
        self.factor(index, product);
        self.unit = self.unit.max(if product > SMALL { ELEMENT_BYTES } else { 1.0 });
        Ok(())
    }

    /// A template of `format`. With `*` every argument is taken as a width.
    fn template(&mut self, nodes: &Nodes, index: usize, argument: usize) -> Verdict {
        let Some(template) = nodes.literal(argument) else {
            if !matches!(nodes.kind(argument), Kind::Column { .. }) {
                return Err((index, Excess::Unbounded { name: nodes.name(index) }));
            }
            self.moving.push((index, 1.0));
            self.grow(index, SMALL);
            return Ok(());
        };
        let fields = template.split('%').skip(1);
        let widths = fields.filter_map(|field| {
            let flags = field.split_once('$').map_or(field, |(_, rest)| rest).trim_start_matches('-');
            flags.split(|c: char| !c.is_ascii_digit()).next()?.parse::<f64>().ok()
        });
        let widths = widths.sum();
        if widths > MAX_COUNT {
            return Err((index, Excess::Count { name: nodes.name(index), count: widths }));
        }
        self.factor(index, widths);
        if template.contains('*') {
            let text = |kind: &Kind| matches!(kind, Kind::Literal { number: None, .. });
            for (width, _) in nodes.arguments(index).skip(1).filter(|(_, node)| !text(&node.kind)) {
                self.count(nodes, index, width)?;
            }
        }
        self.lengthen(index, as_float(template.matches('$').count()));
        Ok(())
    }

    /// A pattern whose matches are returned. One that comes through a column could be any literal of the statement.
    fn matches(&mut self, nodes: &Nodes, index: usize, argument: usize) -> Verdict {
        let groups = |from| {
            nodes.within(from).map(|(_, node)| match &node.kind {
                Kind::Literal { text, .. } => as_float(text.matches('(').count()),
                _ => 0.0,
            })
        };
        let mut most: f64 = groups(argument).sum();
        let has = |kind: fn(&Kind) -> bool| nodes.within(argument).any(|(_, node)| kind(&node.kind));
        if nodes.literal(argument).is_none() {
            most = groups(0).fold(most, f64::max);
            if has(|kind| matches!(kind, Kind::Call { .. }))
                && !has(|kind| matches!(kind, Kind::Column { .. }))
            {
                most = f64::INFINITY;
            }
        }
        if most > MAX_GROUPS {
            let name = nodes.name(index);
            return Err((index, Excess::Pattern { name, most: MAX_GROUPS, what: "parentheses" }));
        }
        self.unit = self.unit.max(most + 1.0);
        Ok(())
    }

    /// A number of so many digits, which PostgreSQL bounds.
    fn digits(&mut self, nodes: &Nodes, index: usize, nth: usize) {
        match nodes.argument(index, nth).map(|digits| amounts::of(nodes, digits)) {
            Some(Some(amount)) if amount.moving => {}
            Some(amount) => {
                self.factor(index, amount.map_or(NUMERIC_DIGITS, |amount| amount.times.min(NUMERIC_DIGITS)));
            }
            None => {}
        }
    }
}
