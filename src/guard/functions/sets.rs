//! Named sets for `MCP_SQL_ALLOW_FUNCTIONS`: what an operator allows with one word.

use super::function::Group;
use super::patterns::matches_any;
use super::table;

/// Functions and types that belong together.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Set {
    /// As written in the setting, with the `@`.
    pub(crate) name: &'static str,
    /// Its functions in the table.
    group: Group,
    /// Prefixes of an extension's other functions, ending in `*`. Nothing is known of these: they count as added by the operator.
    pub(crate) prefixes: &'static [&'static str],
    /// Functions that a prefix covers and the set leaves out: names, or prefixes ending in `*`.
    pub(crate) except: &'static [&'static str],
    /// Types that may be cast to.
    pub(crate) types: &'static [&'static str],
}

impl Set {
    /// Returns true for a function of the set.
    pub(crate) fn has_function(&self, name: &str) -> bool {
        table::find(name).is_some_and(|function| function.group == self.group)
            || matches_any(self.prefixes, name) && !matches_any(self.except, name)
    }
}

/// Returns the set of this name.
pub(crate) fn named(name: &str) -> Option<&'static Set> {
    SETS.iter().find(|set| set.name == name)
}

/// Returns the set that was made from this extension.
pub(crate) fn of_extension(extension: &str) -> Option<&'static Set> {
    let name = match extension {
        "vector" => "pgvector",
        _ if extension.starts_with("postgis_") => "postgis",
        _ => extension,
    };
    SETS.iter().find(|set| set.name.strip_prefix('@') == Some(name))
}

/// A set of a group of the table, without types and prefixes.
const fn of_group(name: &'static str, group: Group) -> Set {
    Set { name, group, prefixes: &[], except: &[], types: &[] }
}

/// Every set, sorted by name.
#[rustfmt::skip]
pub(crate) const SETS: &[Set] = &[
    Set {
        types: &[
            "aclitem", "regcollation", "regdictionary", "regnamespace", "regoper", "regoperator", "regproc",
            "regprocedure", "regrole",
        ],
        ..of_group("@catalog", Group::Catalog)
    },
    Set { prefixes: &["citext*"], types: &["citext"], ..of_group("@citext", Group::Citext) },
    Set { prefixes: &["cube_*"], types: &["cube"], ..of_group("@cube", Group::Cube) },
    Set { types: &["earth"], ..of_group("@earthdistance", Group::EarthDistance) },
    of_group("@fuzzystrmatch", Group::FuzzyStrMatch),
    Set { prefixes: &["hstore*"], types: &["hstore"], ..of_group("@hstore", Group::Hstore) },
    Set { types: &["query_int"], ..of_group("@intarray", Group::IntArray) },
    Set { types: &["lquery", "ltree", "ltxtquery"], ..of_group("@ltree", Group::Ltree) },
    of_group("@monitoring", Group::Monitoring),
    of_group("@pg_trgm", Group::PgTrgm),
    Set { prefixes: &["decrypt*", "encrypt*"], ..of_group("@pgcrypto", Group::PgCrypto) },
    Set {
        prefixes: &["halfvec*", "sparsevec*", "vector_*"],
        types: &["halfvec", "sparsevec", "vector"],
        ..of_group("@pgvector", Group::PgVector)
    },
    // Measuring, relating, building and printing of geometries. The prefix also covers aggregates and casts; what
    // changes tables (`AddGeometryColumn`, `UpdateGeometrySRID`, `Populate_…`) does not begin with it.
    Set {
        prefixes: &["st_*"],
        // Tables and statistics read by name, tables made, files of the server, raster drivers, SQL given as text.
        except: &[
            "st_addband", "st_asgdalraster", "st_band*", "st_createoverview", "st_estimated*", "st_findextent",
            "st_find_extent", "st_fromflatgeobuf*", "st_fromgdalraster", "st_gdal*", "st_makeemptycoverage",
            "st_mapalgebra*", "st_rastfrom*", "st_retile", "st_setbandindex", "st_setbandpath",
        ],
        types: &["box2d", "box3d", "geography", "geometry", "geometry_dump"],
        ..of_group("@postgis", Group::PostGis)
    },
    Set { prefixes: &["seg_*"], types: &["seg"], ..of_group("@seg", Group::Seg) },
    of_group("@unaccent", Group::Unaccent),
    Set { prefixes: &["uuid_*"], ..of_group("@uuid-ossp", Group::UuidOssp) },
];
