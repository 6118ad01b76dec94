//! Every function that the guard knows, a line each: its group, and its classes.
//!
//! Made from `pg_proc` of PostgreSQL 13 to 18: what is immutable or stable and has no effect, minus what only
//! operators, indexes and planners call, plus a few volatile ones that change nothing. A name stands for all its
//! overloads, so a name with one dangerous overload is absent. To allow a function, add its line here.
//!
//! The file is longer than others because it is data, and because one table is searched and sorted as a whole.

use super::function::{
    Function, Group,
    Keys::{First, Pairs, Path, Read, Second},
    Members::{Inspects, Keeps},
    Number,
    Rows::{Aggregate, Collects, Set, Window},
    Size, Time,
};

/// The function of this name.
pub(crate) fn find(name: &str) -> Option<&'static Function> {
    TABLE.binary_search_by(|function| function.name.cmp(name)).ok().and_then(|index| TABLE.get(index))
}

/// Whether the name is a built-in function that may be called.
pub(crate) fn is_built_in(name: &str) -> bool {
    find(name).is_some_and(|function| function.group.is_built_in())
}

/// A function as the table has it, for tests that compare it with a server.
#[derive(Debug)]
pub struct Listed {
    /// As `pg_proc` has it.
    pub name: &'static str,
    /// The first release of PostgreSQL that has it.
    pub since: u8,
    /// The reason why a volatile function may be called.
    pub volatile: Option<&'static str>,
    /// Whether it is PostgreSQL's own, of which `pg_proc` always has it.
    pub of_server: bool,
}

/// Returns all functions of the table that may be called, by default or by a set.
pub fn listed() -> impl Iterator<Item = Listed> {
    TABLE.iter().filter(|function| function.group != Group::Grammar).map(|function| Listed {
        name: function.name,
        since: function.since,
        volatile: function.volatile,
        of_server: function.group.is_built_in() || function.group == Group::Catalog,
    })
}

/// Lines of name, group, size, time and number, and what is rare behind commas. A line without a class does not compile.
macro_rules! table {
    ($($name:ident $group:ident $size:ident $(($($argument:literal),+))? $time:ident $number:ident
        $(, $column:ident: $value:expr)*;)*) => {
        &[$(Function {
            name: stringify!($name),
            group: Group::$group,
            size: Size::$size $(($($argument),+))?,
            time: Time::$time,
            number: Number::$number,
            $($column: $value,)*
            ..Function::PLAIN
        }),*]
    };
}

/// The functions, sorted by name.
pub(crate) static TABLE: &[Function] = table! {
    abbrev                     Network    Flat          Linear    Large;
    abs                        Math       Flat          Linear    Keeps;
    acldefault                 Catalog    Flat          Linear    Large;
    aclexplode                 Catalog    Flat          Linear    Large, rows: Set;
    acos                       Math       Flat          Linear    Large;
    acosd                      Math       Flat          Linear    Large;
    acosh                      Math       Flat          Linear    Large;
    age                        Times      Flat          Linear    Large;
    akeys                      Hstore     Grows         Linear    Large;
    any_value                  Aggregates Flat          Linear    Keeps, since: 16, rows: Aggregate;
    area                       Geometry   Flat          Linear    Large;
    armor                      PgCrypto   Grows         Linear    Large;
    array                      Grammar    Flat          Linear    Large;
    array_agg                  Aggregates Grows         Linear    Keeps, rows: Collects, members: Keeps;
    array_append               Arrays     Flat          Linear    Large;
    array_cat                  Arrays     Flat          Linear    Large;
    array_dims                 Arrays     Flat          Linear    Large;
    array_fill                 Arrays     Lengths(1)    Linear    Large;
    array_length               Arrays     Flat          Linear    Counts, members: Inspects;
    array_lower                Arrays     Flat          Linear    Counts;
    array_ndims                Arrays     Flat          Linear    Counts;
    array_position             Arrays     Flat          Linear    Counts;
    array_positions            Arrays     Flat          Linear    Large;
    array_prepend              Arrays     Flat          Linear    Large;
    array_remove               Arrays     Flat          Linear    Large;
    array_replace              Arrays     Product(2, 2) Linear    Large;
    array_reverse              Arrays     Flat          Linear    Large, since: 18;
    array_sample               Arrays     Flat          Linear    Large, since: 16, volatile: Some("random");
    array_shuffle              Arrays     Flat          Linear    Large, since: 16, volatile: Some("random");
    array_sort                 Arrays     Flat          Linear    Large, since: 18;
    array_to_json              Json       Grows         Linear    Large;
    array_to_string            Arrays     Product(1, 2) Linear    Large;
    array_to_tsvector          Arrays     Grows         Linear    Large;
    array_upper                Arrays     Flat          Linear    Counts;
    ascii                      Texts      Flat          Linear    Large;
    asin                       Math       Flat          Linear    Large;
    asind                      Math       Flat          Linear    Large;
    asinh                      Math       Flat          Linear    Large;
    atan                       Math       Flat          Linear    Large;
    atan2                      Math       Flat          Linear    Large;
    atan2d                     Math       Flat          Linear    Large;
    atand                      Math       Flat          Linear    Large;
    atanh                      Math       Flat          Linear    Large;
    avals                      Hstore     Grows         Linear    Large;
    avg                        Aggregates Flat          Linear    Keeps, rows: Aggregate;
    binary_quantize            PgVector   Grows         Linear    Large;
    bit                        Texts      Count(1)      Linear    Large;
    bit_and                    Aggregates Flat          Linear    Large, rows: Aggregate;
    bit_count                  Texts      Flat          Linear    Counts, since: 14;
    bit_length                 Texts      Flat          Linear    Counts;
    bit_or                     Aggregates Flat          Linear    Large, rows: Aggregate;
    bit_xor                    Aggregates Flat          Linear    Large, since: 14, rows: Aggregate;
    bool                       Casts      Flat          Linear    Large;
    bool_and                   Aggregates Flat          Linear    Keeps, rows: Aggregate;
    bool_or                    Aggregates Flat          Linear    Keeps, rows: Aggregate;
    bound_box                  Geometry   Flat          Linear    Large;
    box                        Geometry   Flat          Linear    Large;
    box2d                      PostGis    Flat          Linear    Large;
    box3d                      PostGis    Flat          Linear    Large;
    bpchar                     Casts      Count(1)      Linear    Large;
    broadcast                  Network    Flat          Linear    Large;
    btrim                      Texts      Flat          Quadratic Large;
    cardinality                Arrays     Flat          Linear    Counts, members: Inspects;
    casefold                   Texts      Grows         Linear    Large, since: 18;
    cash_words                 Values     Grows         Linear    Large;
    cbrt                       Math       Flat          Linear    Keeps;
    ceil                       Math       Flat          Linear    Keeps;
    ceiling                    Math       Flat          Linear    Keeps;
    center                     Geometry   Flat          Linear    Large;
    char                       Casts      Flat          Linear    Large;
    char_length                Texts      Flat          Linear    Counts;
    character_length           Texts      Flat          Linear    Counts;
    chr                        Texts      Flat          Linear    Large;
    cidr                       Casts      Flat          Linear    Large;
    circle                     Geometry   Flat          Linear    Large;
    clock_timestamp            Times      Flat          Linear    Large, volatile: Some("the clock");
    coalesce                   Grammar    Flat          Linear    Keeps, members: Keeps;
    col_description            Catalog    Flat          Linear    Large;
    concat                     Texts      Flat          Linear    Large;
    concat_ws                  Texts      Product(0, 0) Linear    Large;
    convert                    Texts      Flat          Linear    Large;
    convert_from               Texts      Flat          Linear    Large;
    convert_to                 Texts      Flat          Linear    Large;
    corr                       Aggregates Flat          Linear    Large, rows: Aggregate;
    cos                        Math       Flat          Linear    Large;
    cosd                       Math       Flat          Linear    Large;
    cosh                       Math       Flat          Linear    Large;
    cosine_distance            PgVector   Flat          Linear    Large;
    cot                        Math       Flat          Linear    Large;
    cotd                       Math       Flat          Linear    Large;
    count                      Aggregates Flat          Linear    Counts, rows: Aggregate, members: Inspects;
    covar_pop                  Aggregates Flat          Linear    Large, rows: Aggregate;
    covar_samp                 Aggregates Flat          Linear    Large, rows: Aggregate;
    crc32                      Hashes     Flat          Linear    Large, since: 18;
    crc32c                     Hashes     Flat          Linear    Large, since: 18;
    crypt                      PgCrypto   Flat          Linear    Large;
    cube                       Cube       Flat          Linear    Large;
    cume_dist                  Aggregates Flat          Linear    Keeps, rows: Window;
    current_catalog            Grammar    Flat          Linear    Large;
    current_database           Catalog    Flat          Linear    Large;
    current_date               Grammar    Flat          Linear    Large;
    current_role               Grammar    Flat          Linear    Large;
    current_schema             Catalog    Flat          Linear    Large;
    current_schemas            Catalog    Flat          Linear    Large;
    current_setting            Catalog    Flat          Linear    Large;
    current_time               Grammar    Flat          Linear    Large;
    current_timestamp          Grammar    Flat          Linear    Large;
    current_user               Grammar    Flat          Linear    Large;
    daitch_mokotoff            FuzzyStrMatch Grows         Linear    Large;
    date                       Casts      Flat          Linear    Large;
    date_add                   Times      Flat          Linear    Large, since: 16;
    date_bin                   Times      Flat          Linear    Large, since: 14;
    date_part                  Times      Flat          Linear    Part;
    date_subtract              Times      Flat          Linear    Large, since: 16;
    date_trunc                 Times      Flat          Linear    Large;
    datemultirange             Ranges     Flat          Linear    Large, since: 14;
    daterange                  Ranges     Flat          Linear    Large;
    dearmor                    PgCrypto   Flat          Linear    Large;
    decode                     Texts      Flat          Linear    Large;
    defined                    Hstore     Flat          Linear    Large, keys: Read;
    degrees                    Math       Flat          Linear    Large;
    delete                     Hstore     Flat          Linear    Large, keys: Read;
    dense_rank                 Aggregates Flat          Linear    Counts, rows: Window;
    diagonal                   Geometry   Flat          Linear    Large;
    diameter                   Geometry   Flat          Linear    Large;
    difference                 FuzzyStrMatch Flat          Linear    Large;
    digest                     PgCrypto   Flat          Linear    Large;
    div                        Math       Flat          Linear    Keeps;
    dmetaphone                 FuzzyStrMatch Flat          Linear    Large;
    dmetaphone_alt             FuzzyStrMatch Flat          Linear    Large;
    each                       Hstore     Flat          Linear    Large, rows: Set;
    earth                      EarthDistance Flat          Linear    Large;
    earth_box                  EarthDistance Flat          Linear    Large;
    earth_distance             EarthDistance Flat          Linear    Large;
    encode                     Texts      Grows         Linear    Large;
    enum_first                 Values     Flat          Linear    Large;
    enum_last                  Values     Flat          Linear    Large;
    enum_range                 Ranges     Flat          Linear    Large;
    erf                        Math       Flat          Linear    Large, since: 16;
    erfc                       Math       Flat          Linear    Large, since: 16;
    every                      Aggregates Flat          Linear    Keeps, rows: Aggregate;
    exist                      Hstore     Flat          Linear    Large, keys: Read;
    exists_all                 Hstore     Flat          Quadratic Large, keys: Read;
    exists_any                 Hstore     Flat          Quadratic Large, keys: Read;
    exp                        Math       Digits(0)     Linear    Large;
    extract                    Times      Flat          Linear    Part, since: 14;
    factorial                  Math       Digits(0)     Linear    Large;
    family                     Network    Flat          Linear    Counts;
    fetchval                   Hstore     Flat          Linear    Large, keys: Read;
    find_srid                  PostGis    Flat          Linear    Large;
    first_value                Aggregates Flat          Linear    Keeps, rows: Window;
    float4                     Casts      Flat          Linear    Keeps;
    float8                     Casts      Flat          Linear    Keeps;
    floor                      Math       Flat          Linear    Keeps;
    format                     Texts      Template(0)   Linear    Large;
    format_type                Catalog    Flat          Linear    Large;
    gamma                      Math       Flat          Linear    Large, since: 18;
    gc_to_sec                  EarthDistance Flat          Linear    Large;
    gcd                        Math       Flat          Quadratic Keeps;
    gen_random_bytes           PgCrypto   Flat          Linear    Large;
    gen_random_uuid            Hashes     Flat          Linear    Large, volatile: Some("random");
    gen_salt                   PgCrypto   Flat          Linear    Large;
    generate_series            Arrays     Flat          Linear    Keeps, rows: Set;
    generate_subscripts        Arrays     Flat          Linear    Counts, rows: Set;
    geography                  PostGis    Flat          Linear    Large;
    geometry                   PostGis    Flat          Linear    Large;
    geometrytype               PostGis    Flat          Linear    Large;
    get_bit                    Texts      Flat          Linear    Large;
    get_byte                   Texts      Flat          Linear    Large;
    getdatabaseencoding        Catalog    Flat          Linear    Large;
    greatest                   Grammar    Flat          Linear    Keeps;
    grouping                   Grammar    Flat          Linear    Large;
    hamming_distance           PgVector   Flat          Linear    Large;
    has_any_column_privilege   Catalog    Flat          Linear    Large;
    has_column_privilege       Catalog    Flat          Linear    Large;
    has_database_privilege     Catalog    Flat          Linear    Large;
    has_foreign_data_wrapper_privilege Catalog    Flat          Linear    Large;
    has_function_privilege     Catalog    Flat          Linear    Large;
    has_language_privilege     Catalog    Flat          Linear    Large;
    has_parameter_privilege    Catalog    Flat          Linear    Large, since: 15;
    has_schema_privilege       Catalog    Flat          Linear    Large;
    has_sequence_privilege     Catalog    Flat          Linear    Large;
    has_server_privilege       Catalog    Flat          Linear    Large;
    has_table_privilege        Catalog    Flat          Linear    Large;
    has_tablespace_privilege   Catalog    Flat          Linear    Large;
    has_type_privilege         Catalog    Flat          Linear    Large;
    hashtext                   Hashes     Flat          Linear    Large;
    hashtextextended           Hashes     Flat          Linear    Large;
    height                     Geometry   Flat          Linear    Large;
    hmac                       PgCrypto   Flat          Linear    Large;
    host                       Network    Flat          Linear    Large;
    hostmask                   Network    Flat          Linear    Large;
    icount                     IntArray   Flat          Linear    Counts;
    idx                        IntArray   Flat          Linear    Large;
    index                      Ltree      Flat          Linear    Large;
    inet_merge                 Network    Flat          Linear    Large;
    inet_same_family           Network    Flat          Linear    Large;
    initcap                    Texts      Flat          Linear    Large;
    inner_product              PgVector   Flat          Linear    Large;
    int2                       Casts      Flat          Linear    Keeps;
    int4                       Casts      Flat          Linear    Keeps;
    int4multirange             Ranges     Flat          Linear    Large, since: 14;
    int4range                  Ranges     Flat          Linear    Large;
    int8                       Casts      Flat          Linear    Keeps;
    int8multirange             Ranges     Flat          Linear    Large, since: 14;
    int8range                  Ranges     Flat          Linear    Large;
    interval                   Casts      Flat          Linear    Large;
    intset                     IntArray   Flat          Linear    Large;
    is_normalized              Texts      Flat          Quadratic Large;
    isclosed                   Geometry   Flat          Linear    Large;
    isdefined                  Hstore     Flat          Linear    Large, keys: Read;
    isempty                    Ranges     Flat          Linear    Large;
    isexists                   Hstore     Flat          Linear    Large, keys: Read;
    isfinite                   Times      Flat          Linear    Large;
    ishorizontal               Geometry   Flat          Linear    Large;
    isopen                     Geometry   Flat          Linear    Large;
    isparallel                 Geometry   Flat          Linear    Large;
    isperp                     Geometry   Flat          Linear    Large;
    isvertical                 Geometry   Flat          Linear    Large;
    jaccard_distance           PgVector   Flat          Linear    Large;
    json_agg                   Aggregates Grows         Linear    Large, rows: Collects, members: Keeps;
    json_array_elements        Json       Flat          Linear    Large, rows: Set, members: Keeps;
    json_array_elements_text   Json       Flat          Linear    Large, rows: Set;
    json_array_length          Json       Flat          Linear    Counts, members: Inspects;
    json_build_array           Json       Grows         Linear    Large;
    json_build_object          Json       Grows         Linear    Large, keys: Pairs, members: Keeps;
    json_each                  Json       Flat          Linear    Large, rows: Set;
    json_each_text             Json       Flat          Linear    Large, rows: Set;
    json_extract_path          Json       Flat          Linear    Large, keys: Read, members: Keeps;
    json_extract_path_text     Json       Flat          Linear    Large, keys: Read;
    json_object                Json       Grows         Linear    Large, keys: First;
    json_object_agg            Aggregates Grows         Linear    Large, rows: Collects, keys: First;
    json_object_keys           Json       Flat          Linear    Large, rows: Set;
    json_populate_record       Json       Grows         Linear    Large;
    json_populate_recordset    Json       Grows         Linear    Large, rows: Set;
    json_strip_nulls           Json       Grows         Linear    Large;
    json_to_record             Json       Grows         Linear    Large;
    json_to_recordset          Json       Grows         Linear    Large, rows: Set;
    json_to_tsvector           Json       Grows         Linear    Large;
    json_typeof                Json       Flat          Linear    Large, members: Inspects;
    jsonb_agg                  Aggregates Grows         Linear    Large, rows: Collects, members: Keeps;
    jsonb_array_elements       Json       Flat          Linear    Large, rows: Set, members: Keeps;
    jsonb_array_elements_text  Json       Flat          Linear    Large, rows: Set;
    jsonb_array_length         Json       Flat          Linear    Counts, members: Inspects;
    jsonb_build_array          Json       Grows         Linear    Large;
    jsonb_build_object         Json       Grows         Linear    Large, keys: Pairs, members: Keeps;
    jsonb_concat               Json       Flat          Linear    Large;
    jsonb_each                 Json       Flat          Linear    Large, rows: Set;
    jsonb_each_text            Json       Flat          Linear    Large, rows: Set;
    jsonb_extract_path         Json       Flat          Linear    Large, keys: Read, members: Keeps;
    jsonb_extract_path_text    Json       Flat          Linear    Large, keys: Read;
    jsonb_insert               Json       Grows         Linear    Large, keys: Second;
    jsonb_object               Json       Grows         Linear    Large, keys: First;
    jsonb_object_agg           Aggregates Grows         Linear    Large, rows: Collects, keys: First;
    jsonb_object_keys          Json       Flat          Linear    Large, rows: Set;
    jsonb_path_exists          Json       Flat          Quadratic Large, pattern: Some(1), keys: Path;
    jsonb_path_exists_tz       Json       Flat          Quadratic Large, pattern: Some(1), keys: Path;
    jsonb_path_match           Json       Flat          Quadratic Large, pattern: Some(1), keys: Path;
    jsonb_path_match_tz        Json       Flat          Quadratic Large, pattern: Some(1), keys: Path;
    jsonb_path_query           Json       Flat          Quadratic Large, rows: Set, keys: Path;
    jsonb_path_query_array     Json       Grows         Quadratic Large, keys: Path;
    jsonb_path_query_array_tz  Json       Grows         Quadratic Large, keys: Path;
    jsonb_path_query_first     Json       Flat          Quadratic Large, keys: Path;
    jsonb_path_query_first_tz  Json       Flat          Quadratic Large, keys: Path;
    jsonb_path_query_tz        Json       Flat          Quadratic Large, rows: Set, keys: Path;
    jsonb_populate_record      Json       Grows         Linear    Large;
    jsonb_populate_recordset   Json       Grows         Linear    Large, rows: Set;
    jsonb_pretty               Json       Product(0, 0) Quadratic Large;
    jsonb_set                  Json       Grows         Linear    Large, keys: Second;
    jsonb_set_lax              Json       Grows         Linear    Large, keys: Second;
    jsonb_strip_nulls          Json       Grows         Linear    Large;
    jsonb_to_record            Json       Grows         Linear    Large;
    jsonb_to_recordset         Json       Grows         Linear    Large, rows: Set;
    jsonb_to_tsvector          Json       Grows         Linear    Large;
    jsonb_typeof               Json       Flat          Linear    Large, members: Inspects;
    justify_days               Times      Flat          Linear    Large;
    justify_hours              Times      Flat          Linear    Large;
    justify_interval           Times      Flat          Linear    Large;
    l1_distance                PgVector   Flat          Linear    Large;
    l2_distance                PgVector   Flat          Linear    Large;
    l2_norm                    PgVector   Flat          Linear    Large;
    l2_normalize               PgVector   Flat          Linear    Large;
    lag                        Aggregates Flat          Linear    Keeps, rows: Window;
    last_value                 Aggregates Flat          Linear    Keeps, rows: Window;
    latitude                   EarthDistance Flat          Linear    Large;
    lca                        Ltree      Flat          Linear    Large;
    lcm                        Math       Flat          Quadratic Large;
    lead                       Aggregates Flat          Linear    Keeps, rows: Window;
    least                      Grammar    Flat          Linear    Keeps;
    left                       Texts      Flat          Linear    Large;
    length                     Texts      Flat          Linear    Counts;
    levenshtein                FuzzyStrMatch Flat          Linear    Counts;
    levenshtein_less_equal     FuzzyStrMatch Flat          Linear    Counts;
    lgamma                     Math       Flat          Linear    Large, since: 18;
    like                       Texts      Flat          Quadratic Large, pattern: Some(1);
    line                       Geometry   Flat          Linear    Large;
    ll_to_earth                EarthDistance Flat          Linear    Large;
    ln                         Math       Flat          Linear    Large;
    localtime                  Grammar    Flat          Linear    Large;
    localtimestamp             Grammar    Flat          Linear    Large;
    log                        Math       Flat          Linear    Large;
    log10                      Math       Flat          Linear    Large;
    longitude                  EarthDistance Flat          Linear    Large;
    lower                      Texts      Flat          Linear    Large;
    lower_inc                  Ranges     Flat          Linear    Large;
    lower_inf                  Ranges     Flat          Linear    Large;
    lpad                       Texts      Count(1)      Linear    Large;
    lseg                       Geometry   Flat          Linear    Large;
    ltree2text                 Ltree      Flat          Linear    Large;
    ltrim                      Texts      Flat          Quadratic Large;
    macaddr                    Casts      Flat          Linear    Large;
    macaddr8                   Casts      Flat          Linear    Large;
    macaddr8_set7bit           Network    Flat          Linear    Large;
    make_date                  Times      Flat          Linear    Large;
    make_interval              Times      Flat          Linear    Large;
    make_time                  Times      Flat          Linear    Large;
    make_timestamp             Times      Flat          Linear    Large;
    make_timestamptz           Times      Flat          Linear    Large;
    masklen                    Network    Flat          Linear    Counts;
    max                        Aggregates Flat          Linear    Keeps, rows: Aggregate;
    md5                        Hashes     Flat          Linear    Large;
    metaphone                  FuzzyStrMatch Flat          Linear    Large;
    min                        Aggregates Flat          Linear    Keeps, rows: Aggregate;
    min_scale                  Math       Flat          Linear    Keeps;
    mod                        Math       Flat          Linear    Keeps;
    mode                       Aggregates Flat          Linear    Keeps, rows: Collects;
    money                      Casts      Flat          Linear    Keeps;
    multirange                 Ranges     Flat          Linear    Large, since: 14;
    name                       Casts      Flat          Linear    Large;
    netmask                    Network    Flat          Linear    Large;
    network                    Network    Flat          Linear    Large;
    nlevel                     Ltree      Flat          Linear    Counts;
    normalize                  Texts      Grows         Quadratic Large;
    now                        Times      Flat          Linear    Large;
    npoints                    Geometry   Flat          Linear    Counts;
    nth_value                  Aggregates Flat          Linear    Keeps, rows: Window;
    ntile                      Aggregates Flat          Linear    Keeps, rows: Window;
    nullif                     Grammar    Flat          Linear    Keeps;
    num_nonnulls               Values     Flat          Linear    Counts, members: Inspects;
    num_nulls                  Values     Flat          Linear    Counts, members: Inspects;
    numeric                    Casts      Digits(1)     Linear    Keeps;
    nummultirange              Ranges     Flat          Linear    Large, since: 14;
    numnode                    Search     Flat          Linear    Counts;
    numrange                   Ranges     Flat          Linear    Large;
    obj_description            Catalog    Flat          Linear    Large;
    octet_length               Texts      Flat          Linear    Counts;
    oid                        Casts      Flat          Linear    Large;
    oidvectortypes             Catalog    Flat          Linear    Large;
    overlaps                   Times      Flat          Linear    Large;
    overlay                    Texts      Flat          Linear    Large;
    parse_ident                Texts      Grows         Linear    Large;
    path                       Geometry   Flat          Linear    Large;
    pclose                     Geometry   Flat          Linear    Large;
    percent_rank               Aggregates Flat          Linear    Keeps, rows: Window;
    percentile_cont            Aggregates Flat          Linear    Keeps, rows: Collects;
    percentile_disc            Aggregates Flat          Linear    Keeps, rows: Collects;
    pg_char_to_encoding        Catalog    Flat          Linear    Large;
    pg_client_encoding         Catalog    Flat          Linear    Large;
    pg_collation_for           Catalog    Flat          Linear    Large;
    pg_collation_is_visible    Catalog    Flat          Linear    Large;
    pg_column_compression      Catalog    Flat          Linear    Large, since: 14;
    pg_column_is_updatable     Catalog    Flat          Linear    Large;
    pg_column_size             Values     Flat          Linear    Counts;
    pg_conversion_is_visible   Catalog    Flat          Linear    Large;
    pg_database_size           Catalog    Flat          Linear    Large, volatile: Some("sizes of files");
    pg_describe_object         Catalog    Flat          Linear    Large;
    pg_encoding_to_char        Catalog    Flat          Linear    Large;
    pg_function_is_visible     Catalog    Flat          Linear    Large;
    pg_get_constraintdef       Catalog    Flat          Linear    Large;
    pg_get_expr                Catalog    Flat          Linear    Large;
    pg_get_function_arg_default Catalog    Flat          Linear    Large;
    pg_get_function_arguments  Catalog    Flat          Linear    Large;
    pg_get_function_identity_arguments Catalog    Flat          Linear    Large;
    pg_get_function_result     Catalog    Flat          Linear    Large;
    pg_get_function_sqlbody    Catalog    Flat          Linear    Large, since: 14;
    pg_get_functiondef         Catalog    Flat          Linear    Large;
    pg_get_indexdef            Catalog    Flat          Linear    Large;
    pg_get_keywords            Catalog    Flat          Linear    Large, rows: Set;
    pg_get_partition_constraintdef Catalog    Flat          Linear    Large;
    pg_get_partkeydef          Catalog    Flat          Linear    Large;
    pg_get_ruledef             Catalog    Flat          Linear    Large;
    pg_get_serial_sequence     Catalog    Flat          Linear    Large;
    pg_get_statisticsobjdef    Catalog    Flat          Linear    Large;
    pg_get_statisticsobjdef_columns Catalog    Flat          Linear    Large, since: 14;
    pg_get_statisticsobjdef_expressions Catalog    Flat          Linear    Large, since: 14;
    pg_get_triggerdef          Catalog    Flat          Linear    Large;
    pg_get_userbyid            Catalog    Flat          Linear    Large;
    pg_get_viewdef             Catalog    Flat          Linear    Large;
    pg_has_role                Catalog    Flat          Linear    Large;
    pg_identify_object         Catalog    Flat          Linear    Large;
    pg_index_column_has_property Catalog    Flat          Linear    Large;
    pg_index_has_property      Catalog    Flat          Linear    Large;
    pg_indexam_has_property    Catalog    Flat          Linear    Large;
    pg_indexes_size            Catalog    Flat          Linear    Large, volatile: Some("sizes of files");
    pg_is_in_recovery          Catalog    Flat          Linear    Large, volatile: Some("the server");
    pg_is_other_temp_schema    Catalog    Flat          Linear    Large;
    pg_lsn                     Casts      Flat          Linear    Large;
    pg_my_temp_schema          Catalog    Flat          Linear    Large;
    pg_opclass_is_visible      Catalog    Flat          Linear    Large;
    pg_operator_is_visible     Catalog    Flat          Linear    Large;
    pg_opfamily_is_visible     Catalog    Flat          Linear    Large;
    pg_options_to_table        Catalog    Flat          Linear    Large, rows: Set;
    pg_partition_ancestors     Catalog    Flat          Linear    Large, volatile: Some("the catalog"), rows: Set;
    pg_partition_root          Catalog    Flat          Linear    Large;
    pg_partition_tree          Catalog    Flat          Linear    Large, volatile: Some("the catalog"), rows: Set;
    pg_relation_is_publishable Catalog    Flat          Linear    Large;
    pg_relation_is_updatable   Catalog    Flat          Linear    Large;
    pg_relation_size           Catalog    Flat          Linear    Large, volatile: Some("sizes of files");
    pg_sequence_parameters     Catalog    Flat          Linear    Large;
    pg_size_bytes              Values     Flat          Linear    Large;
    pg_size_pretty             Values     Flat          Linear    Large;
    pg_statistics_obj_is_visible Catalog    Flat          Linear    Large;
    pg_table_is_visible        Catalog    Flat          Linear    Large;
    pg_table_size              Catalog    Flat          Linear    Large, volatile: Some("sizes of files");
    pg_tablespace_location     Catalog    Flat          Linear    Large;
    pg_tablespace_size         Catalog    Flat          Linear    Large, volatile: Some("sizes of files");
    pg_total_relation_size     Catalog    Flat          Linear    Large, volatile: Some("sizes of files");
    pg_ts_config_is_visible    Catalog    Flat          Linear    Large;
    pg_ts_dict_is_visible      Catalog    Flat          Linear    Large;
    pg_ts_parser_is_visible    Catalog    Flat          Linear    Large;
    pg_ts_template_is_visible  Catalog    Flat          Linear    Large;
    pg_type_is_visible         Catalog    Flat          Linear    Large;
    pg_typeof                  Values     Flat          Linear    Large;
    phraseto_tsquery           Search     Grows         Quadratic Large;
    pi                         Math       Flat          Linear    Large;
    plainto_tsquery            Search     Grows         Quadratic Large;
    point                      Geometry   Flat          Linear    Large;
    polygon                    Geometry   Corners(0)    Linear    Large;
    popen                      Geometry   Flat          Linear    Large;
    position                   Texts      Flat          Quadratic Counts;
    postgis_lib_version        PostGis    Flat          Linear    Large;
    postgis_version            PostGis    Flat          Linear    Large;
    pow                        Math       Digits(1)     Linear    Large;
    power                      Math       Digits(1)     Linear    Large;
    quote_ident                Texts      Grows         Linear    Large;
    quote_literal              Texts      Grows         Linear    Large;
    quote_nullable             Texts      Grows         Linear    Large;
    radians                    Math       Flat          Linear    Large;
    radius                     Geometry   Flat          Linear    Large;
    random                     Math       Flat          Linear    Keeps, volatile: Some("random");
    random_normal              Math       Flat          Linear    Large, since: 16, volatile: Some("random");
    range_agg                  Aggregates Flat          Linear    Large, since: 14, rows: Collects;
    range_intersect_agg        Aggregates Flat          Linear    Large, since: 14, rows: Aggregate;
    range_merge                Ranges     Flat          Linear    Large;
    rank                       Aggregates Flat          Linear    Counts, rows: Window;
    regexp_count               Texts      Matches(1)    Linear    Counts, since: 15, pattern: Some(1);
    regexp_instr               Texts      Matches(1)    Linear    Counts, since: 15, pattern: Some(1);
    regexp_like                Texts      Matches(1)    Linear    Large, since: 15, pattern: Some(1);
    regexp_match               Texts      Matches(1)    Linear    Large, pattern: Some(1);
    regexp_matches             Texts      Matches(1)    Linear    Large, rows: Set, pattern: Some(1);
    regexp_replace             Texts      Product(2, 2) Linear    Large, pattern: Some(1);
    regexp_split_to_array      Texts      Matches(1)    Linear    Large, pattern: Some(1);
    regexp_split_to_table      Texts      Matches(1)    Linear    Large, rows: Set, pattern: Some(1);
    regexp_substr              Texts      Matches(1)    Linear    Large, since: 15, pattern: Some(1);
    regr_avgx                  Aggregates Flat          Linear    Large, rows: Aggregate;
    regr_avgy                  Aggregates Flat          Linear    Large, rows: Aggregate;
    regr_count                 Aggregates Flat          Linear    Large, rows: Aggregate;
    regr_intercept             Aggregates Flat          Linear    Large, rows: Aggregate;
    regr_r2                    Aggregates Flat          Linear    Large, rows: Aggregate;
    regr_slope                 Aggregates Flat          Linear    Large, rows: Aggregate;
    regr_sxx                   Aggregates Flat          Linear    Large, rows: Aggregate;
    regr_sxy                   Aggregates Flat          Linear    Large, rows: Aggregate;
    regr_syy                   Aggregates Flat          Linear    Large, rows: Aggregate;
    repeat                     Texts      Count(1)      Linear    Large;
    replace                    Texts      Product(2, 2) Quadratic Large;
    reverse                    Texts      Flat          Linear    Large;
    right                      Texts      Flat          Linear    Large;
    round                      Math       Digits(1)     Linear    Keeps;
    row                        Grammar    Grows         Linear    Large;
    row_number                 Aggregates Flat          Linear    Counts, rows: Window;
    row_security_active        Catalog    Flat          Linear    Large;
    row_to_json                Json       Grows         Linear    Large;
    rpad                       Texts      Count(1)      Linear    Large;
    rtrim                      Texts      Flat          Quadratic Large;
    scale                      Math       Flat          Linear    Keeps;
    sec_to_gc                  EarthDistance Flat          Linear    Large;
    session_user               Grammar    Flat          Linear    Large;
    set_bit                    Texts      Flat          Linear    Large;
    set_byte                   Texts      Flat          Linear    Large;
    set_masklen                Network    Flat          Linear    Large;
    setweight                  Search     Flat          Linear    Large;
    sha224                     Hashes     Flat          Linear    Large;
    sha256                     Hashes     Flat          Linear    Large;
    sha384                     Hashes     Flat          Linear    Large;
    sha512                     Hashes     Flat          Linear    Large;
    shobj_description          Catalog    Flat          Linear    Large;
    show_limit                 PgTrgm     Flat          Linear    Large;
    show_trgm                  PgTrgm     Grows         Linear    Large;
    sign                       Math       Flat          Linear    Keeps;
    similar_to_escape          Texts      Grows         Linear    Large, pattern: Some(0);
    similarity                 PgTrgm     Flat          Linear    Large;
    similarity_op              PgTrgm     Flat          Linear    Large;
    sin                        Math       Flat          Linear    Large;
    sind                       Math       Flat          Linear    Large;
    sinh                       Math       Flat          Linear    Large;
    skeys                      Hstore     Grows         Linear    Large, rows: Set;
    slice                      Hstore     Flat          Linear    Large, keys: Read;
    slice_array                Hstore     Flat          Linear    Large, keys: Read;
    slope                      Geometry   Flat          Linear    Large;
    sort                       IntArray   Flat          Linear    Large;
    sort_asc                   IntArray   Flat          Linear    Large;
    sort_desc                  IntArray   Flat          Linear    Large;
    soundex                    FuzzyStrMatch Flat          Linear    Large;
    split_part                 Texts      Flat          Quadratic Large;
    sqrt                       Math       Flat          Linear    Keeps;
    starts_with                Texts      Flat          Linear    Large;
    statement_timestamp        Times      Flat          Linear    Large;
    stddev                     Aggregates Flat          Linear    Keeps, rows: Aggregate;
    stddev_pop                 Aggregates Flat          Linear    Keeps, rows: Aggregate;
    stddev_samp                Aggregates Flat          Linear    Keeps, rows: Aggregate;
    strict_word_similarity     PgTrgm     Flat          Quadratic Large;
    string_agg                 Aggregates Product(1, 1) Linear    Large, rows: Collects;
    string_to_array            Arrays     Grows         Quadratic Large;
    string_to_table            Arrays     Flat          Quadratic Large, since: 14, rows: Set;
    strip                      Search     Flat          Linear    Large;
    strpos                     Texts      Flat          Quadratic Counts;
    subarray                   IntArray   Flat          Linear    Large;
    subltree                   Ltree      Flat          Linear    Large;
    subpath                    Ltree      Flat          Linear    Large;
    substr                     Texts      Flat          Linear    Large;
    substring                  Texts      Flat          Linear    Large, pattern: Some(1);
    subvector                  PgVector   Flat          Linear    Large;
    sum                        Aggregates Flat          Linear    Keeps, rows: Aggregate;
    svals                      Hstore     Grows         Linear    Large, rows: Set;
    tan                        Math       Flat          Linear    Large;
    tand                       Math       Flat          Linear    Large;
    tanh                       Math       Flat          Linear    Large;
    text                       Casts      Flat          Linear    Large;
    text2ltree                 Ltree      Flat          Linear    Large;
    time                       Casts      Flat          Linear    Large;
    timeofday                  Times      Flat          Linear    Large, volatile: Some("the clock");
    timestamp                  Casts      Flat          Linear    Large;
    timestamptz                Casts      Flat          Linear    Large;
    timetz                     Casts      Flat          Linear    Large;
    timezone                   Times      Flat          Linear    Large;
    to_ascii                   Texts      Flat          Linear    Large;
    to_bin                     Texts      Grows         Linear    Large, since: 17;
    to_char                    Texts      Grows         Linear    Large;
    to_date                    Times      Flat          Quadratic Large;
    to_hex                     Texts      Grows         Linear    Large;
    to_json                    Json       Grows         Linear    Large;
    to_jsonb                   Json       Grows         Linear    Large;
    to_number                  Texts      Flat          Linear    Large;
    to_oct                     Texts      Grows         Linear    Large, since: 17;
    to_regclass                Catalog    Flat          Linear    Large;
    to_regcollation            Catalog    Flat          Linear    Large;
    to_regnamespace            Catalog    Flat          Linear    Large;
    to_regoper                 Catalog    Flat          Linear    Large;
    to_regoperator             Catalog    Flat          Linear    Large;
    to_regproc                 Catalog    Flat          Linear    Large;
    to_regprocedure            Catalog    Flat          Linear    Large;
    to_regrole                 Catalog    Flat          Linear    Large;
    to_regtype                 Catalog    Flat          Linear    Large;
    to_timestamp               Times      Flat          Quadratic Large;
    to_tsquery                 Search     Grows         Quadratic Large, pattern: Some(0);
    to_tsvector                Search     Grows         Linear    Large;
    transaction_timestamp      Times      Flat          Linear    Large;
    translate                  Texts      Flat          Quadratic Large;
    trim                       Texts      Flat          Quadratic Large;
    trim_array                 Arrays     Flat          Linear    Large, since: 14;
    trim_scale                 Math       Flat          Linear    Large;
    trunc                      Math       Digits(1)     Linear    Keeps;
    ts_delete                  Search     Flat          Quadratic Large;
    ts_filter                  Search     Flat          Linear    Large;
    ts_headline                Search     Product(2, 3) Quadratic Large;
    ts_lexize                  Search     Flat          Linear    Large;
    ts_rank                    Search     Flat          Quadratic Large;
    ts_rank_cd                 Search     Flat          Quadratic Large;
    ts_token_type              Catalog    Flat          Linear    Large, rows: Set;
    tsmultirange               Ranges     Flat          Linear    Large, since: 14;
    tsquery_phrase             Search     Flat          Linear    Large;
    tsrange                    Ranges     Flat          Linear    Large;
    tstzmultirange             Ranges     Flat          Linear    Large, since: 14;
    tstzrange                  Ranges     Flat          Linear    Large;
    tsvector_to_array          Search     Grows         Linear    Large;
    unaccent                   Unaccent   Grows         Linear    Large;
    unicode_assigned           Texts      Flat          Linear    Large, since: 17;
    uniq                       IntArray   Flat          Linear    Large;
    unistr                     Texts      Grows         Linear    Large, since: 14;
    unnest                     Arrays     Flat          Linear    Keeps, rows: Set;
    upper                      Texts      Flat          Linear    Large;
    upper_inc                  Ranges     Flat          Linear    Large;
    upper_inf                  Ranges     Flat          Linear    Large;
    user                       Grammar    Flat          Linear    Large;
    uuid_extract_timestamp     Hashes     Flat          Linear    Large, since: 17;
    uuid_extract_version       Hashes     Flat          Linear    Large, since: 17;
    uuidv4                     Hashes     Flat          Linear    Large, since: 18, volatile: Some("random");
    uuidv7                     Hashes     Flat          Linear    Large, since: 18, volatile: Some("random");
    var_pop                    Aggregates Flat          Linear    Large, rows: Aggregate;
    var_samp                   Aggregates Flat          Linear    Large, rows: Aggregate;
    varbit                     Casts      Count(1)      Linear    Large;
    varchar                    Casts      Flat          Linear    Large;
    variance                   Aggregates Flat          Linear    Large, rows: Aggregate;
    vector                     PgVector   Flat          Linear    Large;
    version                    Catalog    Flat          Linear    Large;
    websearch_to_tsquery       Search     Grows         Quadratic Large;
    width                      Geometry   Flat          Linear    Large;
    width_bucket               Math       Flat          Linear    Keeps;
    word_similarity            PgTrgm     Flat          Quadratic Large;
    xid                        Casts      Flat          Linear    Large;
};
