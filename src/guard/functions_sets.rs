//! Named sets for `MCP_SQL_ALLOW_FUNCTIONS`: what an operator allows with one word.

use super::functions;

/// Functions and types that belong together.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Set {
    /// As written in the setting, with the `@`.
    pub(crate) name: &'static str,
    /// Names, or prefixes ending in `*`.
    pub(crate) functions: &'static [&'static str],
    /// Names that a prefix covers and that are left out, or prefixes of them ending in `*`.
    pub(crate) except: &'static [&'static str],
    /// Types that may be cast to.
    pub(crate) types: &'static [&'static str],
}

impl Set {
    /// Whether the set holds the function.
    pub(crate) fn has_function(&self, name: &str) -> bool {
        functions::matches_any(self.functions, name) && !functions::matches_any(self.except, name)
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

/// Every set.
#[rustfmt::skip]
pub(crate) const SETS: &[Set] = &[
    // What psql's own commands ask the catalog. It tells about every object of the database, also those that the role
    // may not read, and about sizes on disk.
    Set {
        name: "@catalog",
        functions: &[
            "acldefault", "aclexplode", "array_to_string", "col_description", "current_database",
            "current_schema", "current_schemas", "current_setting", "format_type", "getdatabaseencoding",
            "has_any_column_privilege", "has_column_privilege", "has_database_privilege",
            "has_foreign_data_wrapper_privilege", "has_function_privilege", "has_language_privilege",
            "has_parameter_privilege", "has_schema_privilege", "has_sequence_privilege",
            "has_server_privilege", "has_table_privilege", "has_tablespace_privilege", "has_type_privilege",
            "obj_description", "oidvectortypes", "pg_char_to_encoding", "pg_client_encoding",
            "pg_collation_for", "pg_collation_is_visible", "pg_column_compression", "pg_column_is_updatable",
            "pg_conversion_is_visible", "pg_database_size", "pg_describe_object", "pg_encoding_to_char",
            "pg_function_is_visible", "pg_get_constraintdef", "pg_get_expr", "pg_get_function_arg_default",
            "pg_get_function_arguments", "pg_get_function_identity_arguments", "pg_get_function_result",
            "pg_get_function_sqlbody", "pg_get_functiondef", "pg_get_indexdef", "pg_get_keywords",
            "pg_get_partition_constraintdef", "pg_get_partkeydef", "pg_get_ruledef", "pg_get_serial_sequence",
            "pg_get_statisticsobjdef", "pg_get_statisticsobjdef_columns",
            "pg_get_statisticsobjdef_expressions", "pg_get_triggerdef", "pg_get_userbyid", "pg_get_viewdef",
            "pg_has_role", "pg_identify_object", "pg_index_column_has_property", "pg_index_has_property",
            "pg_indexam_has_property", "pg_indexes_size", "pg_is_in_recovery", "pg_is_other_temp_schema",
            "pg_my_temp_schema", "pg_opclass_is_visible", "pg_operator_is_visible", "pg_opfamily_is_visible",
            "pg_options_to_table", "pg_partition_ancestors", "pg_partition_root", "pg_partition_tree",
            "pg_relation_is_publishable", "pg_relation_is_updatable", "pg_relation_size",
            "pg_sequence_parameters", "pg_statistics_obj_is_visible", "pg_table_is_visible", "pg_table_size",
            "pg_tablespace_location", "pg_tablespace_size", "pg_total_relation_size",
            "pg_ts_config_is_visible", "pg_ts_dict_is_visible", "pg_ts_parser_is_visible",
            "pg_ts_template_is_visible", "pg_type_is_visible", "row_security_active", "shobj_description",
            "to_regclass", "to_regcollation", "to_regnamespace", "to_regoper", "to_regoperator", "to_regproc",
            "to_regprocedure", "to_regrole", "to_regtype", "ts_token_type", "version",
        ],
        except: &[],
        types: &[
            "aclitem", "regclass", "regcollation", "regconfig", "regdictionary", "regnamespace", "regoper",
            "regoperator", "regproc", "regprocedure", "regrole", "regtype",
        ],
    },
    Set { name: "@citext", functions: &["citext*"], except: &[], types: &["citext"] },
    Set { name: "@cube", functions: &["cube", "cube_*"], except: &[], types: &["cube"] },
    Set {
        name: "@earthdistance",
        functions: &[
            "earth", "earth_box", "earth_distance", "gc_to_sec", "latitude", "ll_to_earth", "longitude",
            "sec_to_gc",
        ],
        except: &[],
        types: &["earth"],
    },
    Set {
        name: "@fuzzystrmatch",
        functions: &[
            "daitch_mokotoff", "difference", "dmetaphone", "dmetaphone_alt", "levenshtein",
            "levenshtein_less_equal", "metaphone", "soundex",
        ],
        except: &[],
        types: &[],
    },
    Set {
        name: "@hstore",
        functions: &[
            "akeys", "avals", "defined", "delete", "each", "exist", "exists_all", "exists_any", "fetchval",
            "hstore*", "isdefined", "isexists", "skeys", "slice", "slice_array", "svals",
        ],
        except: &[],
        types: &["hstore"],
    },
    Set {
        name: "@intarray",
        functions: &["icount", "idx", "intset", "sort", "sort_asc", "sort_desc", "subarray", "uniq"],
        except: &[],
        types: &["query_int"],
    },
    Set {
        name: "@ltree",
        functions: &["index", "lca", "ltree2text", "nlevel", "subltree", "subpath", "text2ltree"],
        except: &[],
        types: &["lquery", "ltree", "ltxtquery"],
    },
    Set {
        name: "@pg_trgm",
        functions: &[
            "show_limit", "show_trgm", "similarity", "similarity_op", "strict_word_similarity",
            "word_similarity",
        ],
        except: &[],
        types: &[],
    },
    Set {
        name: "@pgcrypto",
        functions: &[
            "armor", "crypt", "dearmor", "decrypt*", "digest", "encrypt*", "gen_random_bytes", "gen_salt",
            "hmac",
        ],
        except: &[],
        types: &[],
    },
    Set {
        name: "@pgvector",
        functions: &[
            "binary_quantize", "cosine_distance", "halfvec*", "hamming_distance", "inner_product",
            "jaccard_distance", "l1_distance", "l2_distance", "l2_norm", "l2_normalize", "sparsevec*",
            "subvector", "vector", "vector_*",
        ],
        except: &[],
        types: &["halfvec", "sparsevec", "vector"],
    },
    // Measuring, relating, building and printing of geometries. The prefix also covers aggregates and casts; what
    // changes tables (`AddGeometryColumn`, `UpdateGeometrySRID`, `Populate_…`) does not begin with it.
    Set {
        name: "@postgis",
        functions: &[
            "box2d", "box3d", "find_srid", "geography", "geometry", "geometrytype", "postgis_lib_version",
            "postgis_version", "st_*",
        ],
        except: &[
            // Tables and statistics read by name, tables made, files of the server, raster drivers, SQL given as text.
            "st_addband",
            "st_asgdalraster",
            "st_band*",
            "st_createoverview",
            "st_estimated*",
            "st_findextent",
            "st_find_extent",
            "st_fromflatgeobuf*",
            "st_fromgdalraster",
            "st_gdal*",
            "st_makeemptycoverage",
            "st_mapalgebra*",
            "st_rastfrom*",
            "st_retile",
            "st_setbandindex",
            "st_setbandpath",
        ],
        types: &["box2d", "box3d", "geography", "geometry", "geometry_dump"],
    },
    Set { name: "@seg", functions: &["seg_*"], except: &[], types: &["seg"] },
    Set { name: "@unaccent", functions: &["unaccent"], except: &[], types: &[] },
    Set { name: "@uuid-ossp", functions: &["uuid_*"], except: &[], types: &[] },
];
