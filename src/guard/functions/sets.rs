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

/// The set of this name.
pub(crate) fn named(name: &str) -> Option<&'static Set> {
    SETS.iter().find(|set| set.name == name)
}

/// The set that was made from this extension.
pub(crate) fn of_extension(extension: &str) -> Option<&'static Set> {
    let name = match extension {
        "vector" => "pgvector",
        _ if extension.starts_with("postgis_") => "postgis",
        _ => extension,
    };
    SETS.iter().find(|set| set.name.strip_prefix('@') == Some(name))
}

/// Every set, sorted by name.
#[rustfmt::skip]
pub(crate) const SETS: &[Set] = &[
    Set {
        name: "@catalog",
        group: Group::Catalog,
        prefixes: &[],
        except: &[],
        types: &[
            "aclitem", "regclass", "regcollation", "regconfig", "regdictionary", "regnamespace", "regoper",
            "regoperator", "regproc", "regprocedure", "regrole", "regtype",
        ],
    },
    Set { name: "@citext", group: Group::Citext, prefixes: &["citext*"], except: &[], types: &["citext"] },
    Set { name: "@cube", group: Group::Cube, prefixes: &["cube_*"], except: &[], types: &["cube"] },
    Set { name: "@earthdistance", group: Group::EarthDistance, prefixes: &[], except: &[], types: &["earth"] },
    Set { name: "@fuzzystrmatch", group: Group::FuzzyStrMatch, prefixes: &[], except: &[], types: &[] },
    Set { name: "@hstore", group: Group::Hstore, prefixes: &["hstore*"], except: &[], types: &["hstore"] },
    Set { name: "@intarray", group: Group::IntArray, prefixes: &[], except: &[], types: &["query_int"] },
    Set {
        name: "@ltree",
        group: Group::Ltree,
        prefixes: &[],
        except: &[],
        types: &[
            "lquery", "ltree", "ltxtquery",
        ],
    },
    Set { name: "@pg_trgm", group: Group::PgTrgm, prefixes: &[], except: &[], types: &[] },
    Set {
        name: "@pgcrypto",
        group: Group::PgCrypto,
        prefixes: &["decrypt*", "encrypt*"],
        except: &[],
        types: &[

        ],
    },
    Set {
        name: "@pgvector",
        group: Group::PgVector,
        prefixes: &["halfvec*", "sparsevec*", "vector_*"],
        except: &[],
        types: &[
            "halfvec", "sparsevec", "vector",
        ],
    },
    // Measuring, relating, building and printing of geometries. The prefix also covers aggregates and casts; what
    // changes tables (`AddGeometryColumn`, `UpdateGeometrySRID`, `Populate_…`) does not begin with it.
    Set {
        name: "@postgis",
        group: Group::PostGis,
        prefixes: &["st_*"],
        // Tables and statistics read by name, tables made, files of the server, raster drivers, SQL given as text.
        except: &[
            "st_addband", "st_asgdalraster", "st_band*", "st_createoverview", "st_estimated*", "st_findextent",
            "st_find_extent", "st_fromflatgeobuf*", "st_fromgdalraster", "st_gdal*", "st_makeemptycoverage",
            "st_mapalgebra*", "st_rastfrom*", "st_retile", "st_setbandindex", "st_setbandpath",
        ],
        types: &["box2d", "box3d", "geography", "geometry", "geometry_dump"],
    },
    Set { name: "@seg", group: Group::Seg, prefixes: &["seg_*"], except: &[], types: &["seg"] },
    Set { name: "@unaccent", group: Group::Unaccent, prefixes: &[], except: &[], types: &[] },
    Set { name: "@uuid-ossp", group: Group::UuidOssp, prefixes: &["uuid_*"], except: &[], types: &[] },
];
