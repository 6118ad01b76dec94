//! The attacks of `attacks.tsv`, read by the guard's own tests and by those on a real server.

/// One attack.
#[derive(Clone, Debug)]
pub(crate) struct Attack {
    /// The problem is `MCP_QUERY_VIOLATION`; `MCP_VALIDATION_ERROR` otherwise.
    pub(crate) understood: bool,
    /// The judges that refuse it when one looks alone.
    pub(crate) alone: Alone,
    /// The idea that no other attack has.
    pub(crate) idea: &'static str,
    /// The statement.
    pub(crate) sql: String,
}

/// The judges that refuse an attack when one looks alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alone {
    /// Each judge does.
    Both,
    /// The judge of the tree; past that of the tokens PostgreSQL does, with this SQLSTATE.
    Tree(&'static str),
    /// The judge of the tokens; past that of the tree PostgreSQL does, with this SQLSTATE.
    Tokens(&'static str),
    /// The rule of amplifiers, on the tree. PostgreSQL would run it, within the limits of a statement.
    Sizes,
}

impl Alone {
    fn parse(text: &'static str) -> Option<Self> {
        match text.split_once(' ') {
            None if text == "both" => Some(Self::Both),
            None if text == "sizes" => Some(Self::Sizes),
            Some(("tree", sqlstate)) => Some(Self::Tree(sqlstate)),
            Some(("tokens", sqlstate)) => Some(Self::Tokens(sqlstate)),
            Some(_) | None => None,
        }
    }
}

/// Returns all attacks.
pub(crate) fn attacks() -> Vec<Attack> {
    let lines =
        include_str!("attacks.tsv").lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    lines.map(|line| read(line).unwrap_or_else(|| panic!("not an attack: {line}"))).collect()
}

fn read(line: &'static str) -> Option<Attack> {
    let mut fields = line.splitn(4, '\t');
    let understood = match fields.next()? {
        "Q" => true,
        "V" => false,
        _ => return None,
    };
    let alone = Alone::parse(fields.next()?)?;
    Some(Attack { understood, alone, idea: fields.next()?, sql: unescaped(fields.next()?) })
}

/// Undoes the escapes of a line of a corpus.
pub(crate) fn unescaped(line: &str) -> String {
    let mut text = String::new();
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        let escaped = if c == '\\' { characters.next() } else { None };
        text.push(match escaped {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('0') => '\0',
            Some('u') => {
                let digits: String = characters.by_ref().skip(1).take_while(|c| *c != '}').collect();
                u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).unwrap()
            }
            Some(other) => other,
            None => c,
        });
    }
    text
}
