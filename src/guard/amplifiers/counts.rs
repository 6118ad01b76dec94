//! Counts: each call or type that makes as much as a number says, and how much it can make.

use sqlparser::ast::{ArrayElemTypeDef, DataType, TypeModifier, Value};

use super::arena::Kind;
use super::excess::{Excess, MAX_CORNERS, MAX_COUNT, MAX_GROUPS, MAX_LITERAL, Quantity};
use super::listing::Listing;
use super::literals::{self, NUMERIC_DIGITS, as_float};
use super::templates::Template;
use crate::guard::functions::{Function, Keys, Size, operators};
use crate::guard::judge::names::type_name;

/// The largest count or replacement that counts only where calls nest.
const SMALL: f64 = 100.0;
/// The count that a column stands for where calls nest.
const COLUMN: f64 = 100.0;
/// The most elements of a text whose length is not counted.
const ELEMENTS: f64 = 500.0;

/// Bytes that each byte of a multirange's text takes while it is read.
const RANGE_BYTES: f64 = 1_000.0;

/// A factor of the size of a statement's values.
#[derive(Debug)]
pub(super) struct Factor {
    pub(super) index: usize,
    pub(super) by: f64,
}

/// All counts of a statement.
#[derive(Debug)]
pub(super) struct Counts {
    pub(super) factors: Vec<Factor>,
    /// Counts that hold a column, by the call they stand in, with what their literals multiply.
    pub(super) moving: Vec<Factor>,
    /// The growth of its arguments by each node alone.
    pub(super) growth: Vec<f64>,
    /// Calls whose replacement is no literal.
    pub(super) replacing: Vec<usize>,
    /// Bytes that each byte of a text takes where its matches or its ranges are read.
    pub(super) overhead: f64,
}

type Verdict = Result<(), (usize, Excess)>;

impl Counts {
    pub(super) fn of(listing: &Listing<'_>) -> Result<Self, (usize, Excess)> {
        let growth = vec![1.0; listing.items.len()];
        let mut counts =
            Self { factors: Vec::new(), moving: Vec::new(), growth, replacing: Vec::new(), overhead: 1.0 };
        for (index, item) in listing.iter() {
            match item.kind {
                Kind::Call(_, Some(function)) => counts.call(listing, index, function)?,
                Kind::Call(_, None) | Kind::Build => counts.grow(index, 2.0),
                Kind::Operator("^") => counts.digits(listing, index, listing.argument(index, 1)),
                Kind::Cast(data_type) => counts.cast(listing, index, data_type)?,
                _ => {}
            }
        }
        Ok(counts)
    }

    fn factor(&mut self, index: usize, by: f64) {
        if by > SMALL {
            self.factors.push(Factor { index, by });
        }
    }

    fn grow(&mut self, index: usize, by: f64) {
        if let Some(growth) = self.growth.get_mut(index) {
            *growth *= by.max(1.0);
        }
    }

    /// A factor, or growth where calls nest.
    fn lengthen(&mut self, index: usize, by: f64) {
        if by > SMALL {
            self.factor(index, by);
        } else {
            self.grow(index, by);
        }
    }

    fn cast(&mut self, listing: &Listing<'_>, index: usize, data_type: &DataType) -> Verdict {
        let length = padding(listing, index, data_type);
        if length > MAX_COUNT {
            return Err((
                listing.at(index),
                Excess::Count { name: listing.name(index), count: Quantity(length) },
            ));
        }
        self.factor(index, length);
        if type_name(data_type).ends_with("multirange") {
            self.overhead = self.overhead.max(RANGE_BYTES);
        }
        Ok(())
    }

    fn call(&mut self, listing: &Listing<'_>, index: usize, function: &Function) -> Verdict {
        if function.keys == Keys::Path && function.name.contains("query_array") && deep(listing, index) {
            // `**` finds a value and all that is within it.
            self.replacement(listing, index, 0..=0);
        }
        if function.name.ends_with("multirange") {
            self.overhead = self.overhead.max(RANGE_BYTES);
        }
        let (arity, named) = listing.arity(index);
        let wanted = match function.size {
            Size::Flat => return Ok(()),
            Size::Grows => {
                self.grow(index, 2.0);
                return Ok(());
            }
            Size::Count(n) | Size::Lengths(n) | Size::Template(n) | Size::Corners(n) => n,
            Size::Matches(n) | Size::Product(n, _) | Size::Digits(n) => n,
        };
        if named {
            return Err((listing.at(index), Excess::Named { name: function.name.to_owned() }));
        }
        let Some(argument) = listing.argument(index, wanted) else { return Ok(()) };
        match function.size {
            Size::Flat | Size::Grows => Ok(()),
            Size::Count(_) => self.count(listing, index, argument, function.name == "repeat"),
            Size::Lengths(_) => self.lengths(listing, index, argument),
            Size::Template(_) => self.template(listing, index, argument, arity),
            Size::Corners(_) if arity < 2 => Ok(()),
            Size::Corners(_) => match listing.amount(argument).and_then(|amount| amount.written) {
                Some(corners) if corners <= MAX_CORNERS => {
                    self.factor(index, corners);
                    Ok(())
                }
                _ => Err((listing.at(argument), Excess::Corners)),
            },
            Size::Matches(_) => self.matches(listing, index, argument),
            Size::Product(from, to) => {
                self.replacement(listing, index, from..=to);
                Ok(())
            }
            Size::Digits(_) => {
                self.digits(listing, index, Some(argument));
                Ok(())
            }
        }
    }

    /// A length or a number of repetitions.
    fn count(&mut self, listing: &Listing<'_>, index: usize, argument: usize, repeats: bool) -> Verdict {
        let name = listing.name(index);
        let refuse = |excess| Err((listing.at(index), excess));
        let Some(amount) = listing.amount(argument) else { return Ok(()) };
        match amount.written {
            _ if amount.unbounded => return refuse(Excess::Unbounded { name }),
            Some(count) if count > MAX_COUNT => {
                return refuse(Excess::Count { name, count: Quantity(count) });
            }
            Some(count) if repeats => self.lengthen(index, count),
            Some(count) => self.factor(index, count),
            None if !amount.moving => return refuse(Excess::Unbounded { name }),
            None if amount.largest > MAX_LITERAL => {
                return refuse(Excess::CountLiteral { name, literal: Quantity(amount.largest) });
            }
            None => {
                self.moving.push(Factor { index, by: amount.times.max(1.0) });
                self.factor(index, amount.times);
                self.grow(index, if repeats { COLUMN } else { 1.0 });
            }
        }
        Ok(())
    }

    /// The lengths of an array: each is a count, and they multiply.
    fn lengths(&mut self, listing: &Listing<'_>, index: usize, argument: usize) -> Verdict {
        let lengths = listing.bare(argument);
        let mut product = f64::INFINITY;
        if let Some(value) = listing.literal(argument) {
            let length = |text: &str| text.trim().parse::<u64>().map_or(f64::INFINITY, as_float);
            let list = literals::text(value).trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            product = list.map_or(product, |list| match list.trim() {
                "" => 0.0,
                list => list.split(',').map(length).product(),
            });
        } else if matches!(listing.kind(lengths), Kind::Build) {
            product = 1.0;
            for (child, _) in listing.children(lengths) {
                let amount = listing.amount(child).filter(|amount| !amount.unbounded);
                match amount.and_then(|amount| amount.written) {
                    Some(length) => product *= length,
                    None => self.count(listing, index, child, true)?,
                }
            }
        }
        if product > MAX_COUNT {
            return Err((listing.at(index), Excess::Lengths));
        }
        self.factor(index, product);
        Ok(())
    }

    fn template(&mut self, listing: &Listing<'_>, index: usize, argument: usize, arity: usize) -> Verdict {
        let Some(value) = listing.literal(argument) else {
            if matches!(listing.kind(listing.bare(argument)), Kind::Column { .. }) {
                self.moving.push(Factor { index, by: 1.0 });
                self.grow(index, COLUMN);
                return Ok(());
            }
            return Err((listing.at(index), Excess::Template));
        };
        let template = Template::parse(literals::text(value));
        if template.widths > MAX_COUNT {
            return Err((
                listing.at(index),
                Excess::Count { name: listing.name(index), count: Quantity(template.widths) },
            ));
        }
        self.factor(index, template.widths);
        for star in template.stars {
            if let Some(width) = listing.argument(index, star) {
                self.count(listing, index, width, false)?;
            }
        }
        let shown = as_float(u64::try_from(template.fields).unwrap_or(u64::MAX));
        let given = as_float(u64::try_from(arity.saturating_sub(1)).unwrap_or(u64::MAX));
        if shown > given {
            self.lengthen(index, shown);
        }
        Ok(())
    }

    fn matches(&mut self, listing: &Listing<'_>, index: usize, argument: usize) -> Verdict {
        let refused = || Err((listing.at(index), Excess::Groups { name: listing.name(index) }));
        let literals_within = |from| {
            listing.within(from).filter_map(|(_, item)| match item.kind {
                Kind::Literal(value) => Some(literals::text(value).matches('(').count()),
                _ => None,
            })
        };
        let mut groups: usize = literals_within(argument).sum();
        if listing.literal(argument).is_none() {
            // A pattern that comes through a column could be any literal of the statement.
            groups = groups.max(literals_within(0).max().unwrap_or_default());
            let calls = listing.within(argument).any(|(_, item)| matches!(item.kind, Kind::Call(..)));
            let columns = listing.within(argument).any(|(_, item)| matches!(item.kind, Kind::Column { .. }));
            if calls && !columns {
                return refused();
            }
        }
        if groups > MAX_GROUPS {
            return refused();
        }
        self.overhead = self.overhead.max(as_float(u64::try_from(groups + 1).unwrap_or(u64::MAX)));
        Ok(())
    }

    /// Replacements and separators: what is written is counted by its length, over what it replaces. That also bounds how
    /// often a regular expression's replacement repeats what was found: `\\1` is longer than one.
    fn replacement(
        &mut self,
        listing: &Listing<'_>,
        index: usize,
        arguments: std::ops::RangeInclusive<usize>,
    ) {
        let length = |value: &Value| as_float(literals::length(value));
        let replaced = match listing.kind(index) {
            Kind::Call("replace", _) => listing.argument(index, 1).and_then(|child| listing.literal(child)),
            _ => None,
        };
        let mut by = 0.0;
        for argument in arguments.filter_map(|argument| listing.argument(index, argument)) {
            match listing.literal(argument) {
                Some(value) => by += length(value),
                None => self.replacing.push(index),
            }
        }
        self.lengthen(index, by / replaced.map_or(1.0, length).max(1.0));
    }

    /// A number of so many digits, which PostgreSQL bounds.
    fn digits(&mut self, listing: &Listing<'_>, index: usize, argument: Option<usize>) {
        let Some(amount) = argument.and_then(|argument| listing.amount(argument)) else { return };
        let most = as_float(NUMERIC_DIGITS);
        match amount.written.filter(|_| !amount.unbounded) {
            Some(digits) => self.factor(index, digits.min(most)),
            None if amount.moving => {}
            None => self.factor(index, most),
        }
    }
}

/// Returns true for a path that looks into everything.
fn deep(listing: &Listing<'_>, index: usize) -> bool {
    let path =
        listing.named(index, "path").or(listing.argument(index, 1)).and_then(|path| listing.literal(path));
    path.is_some_and(|path| literals::text(path).contains("**"))
}

/// Returns the bytes to which a cast pads its value.
fn padding(listing: &Listing<'_>, index: usize, data_type: &DataType) -> f64 {
    if let DataType::Array(ArrayElemTypeDef::SquareBracket(element, _)) = data_type {
        let elements =
            listing.argument(index, 0).and_then(|inner| listing.literal(inner)).map(literals::length);
        let elements = elements.map_or(ELEMENTS, |length| as_float(length / 2 + 1));
        let each = padding(listing, index, element);
        return if each > 1.0 { each * elements } else { each };
    }
    let (DataType::Custom(_, modifiers), true) = (data_type, operators::pads(type_name(data_type))) else {
        return 1.0;
    };
    modifiers.iter().fold(1.0, |most: f64, modifier| match modifier {
        TypeModifier::Number(number, _) => most.max(number.parse().unwrap_or(f64::MAX)),
        TypeModifier::Identifier(_) | TypeModifier::String(_) => most,
    })
}
