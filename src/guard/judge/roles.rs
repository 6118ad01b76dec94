//! The role of every name in the tree.

/// The meaning that the tree gives to a name that could be a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum NameRole {
    /// None: the judge of the tokens decides alone.
    #[default]
    None,
    /// A call of an allowed function.
    Call,
    /// An allowed type with a modifier.
    Type,
    /// A type that the lists do not have: only the server knows whether it is harmless.
    OpenType,
    /// The name of a list of columns.
    Columns,
    /// A name behind a dot that need not be a column.
    Field,
    /// A relation that is read.
    Relation,
}
