-- What the role may do, object by object: one row for each kind of thing beyond reading, and one for each column name that
-- it may read. Runs with search_path = pg_catalog inside a read-only transaction, in which mcp.tables holds the numbers of
-- the catalog's tables (empty: there is no catalog) and mcp.danger a pattern of dangerous functions' names.
--
-- Objects with a number from 16384 on are not PostgreSQL's own (FirstNormalObjectId). What PostgreSQL itself grants to
-- PUBLIC on its own relations and functions is everybody's.
WITH me AS (
    SELECT oid FROM pg_roles WHERE rolname IN (CURRENT_USER, SESSION_USER)
),
-- The roles that a grant may name so that it reaches us, also by SET ROLE. Predefined roles are reported as memberships.
mine AS (
    SELECT r.oid, quote_ident(r.rolname) AS name,
           CASE WHEN r.oid NOT IN (SELECT oid FROM me) THEN
               (SELECT string_agg(format('REVOKE %I FROM %I', g.rolname, u.rolname), '; ')
                FROM pg_auth_members a JOIN pg_roles g ON g.oid = a.roleid JOIN pg_roles u ON u.oid = a.member
                WHERE a.member IN (SELECT oid FROM me) AND pg_has_role(a.roleid, r.oid, 'MEMBER'))
           END AS leave
    FROM pg_roles r
    WHERE (r.rolname NOT LIKE 'pg\_%' OR r.rolname = 'pg_database_owner')
      AND (pg_has_role(SESSION_USER, r.oid, 'MEMBER') OR pg_has_role(CURRENT_USER, r.oid, 'MEMBER'))
    UNION ALL SELECT 0, 'PUBLIC', NULL
),
catalog AS (
    SELECT array_remove(nullif(current_setting('mcp.tables'), '')::oid[], NULL) AS tables
),
relations AS (
    SELECT c.oid, c.relkind, n.nspname, format('%I.%I', n.nspname, c.relname) AS name, a.privilege_type AS privilege,
           m.name AS grantee, NULL::name AS attname
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    CROSS JOIN aclexplode(coalesce(c.relacl,
        acldefault(CASE c.relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", c.relowner))) a
    JOIN mine m ON m.oid = a.grantee
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
      AND (c.relacl IS NOT NULL OR c.relowner IN (SELECT oid FROM mine))
      AND (c.oid >= 16384 OR m.oid <> 0)
    UNION ALL
    SELECT c.oid, c.relkind, n.nspname, format('%I.%I', n.nspname, c.relname), a.privilege_type, m.name, t.attname
    FROM pg_attribute t
    JOIN pg_class c ON c.oid = t.attrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    CROSS JOIN aclexplode(t.attacl) a
    JOIN mine m ON m.oid = a.grantee
    WHERE t.attacl IS NOT NULL AND NOT t.attisdropped AND (c.oid >= 16384 OR m.oid <> 0)
),
functions AS (
    SELECT p.oid::regprocedure::text AS name, m.name AS grantee,
           p.oid >= 16384 AND p.prosecdef AND p.proowner NOT IN (SELECT oid FROM mine) AS definer,
           p.oid >= 16384 AND NOT l.lanpltrusted AND (l.oid NOT IN (12, 13) OR NOT EXISTS (
               SELECT FROM pg_depend d
               WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')) AS untrusted,
           CASE WHEN w.objoid IS NULL THEN 'function' ELSE 'granted function' END AS kind,
           p.proname ~ current_setting('mcp.danger') AS dangerous
    FROM pg_proc p
    JOIN pg_language l ON l.oid = p.prolang
    LEFT JOIN pg_init_privs w ON w.classoid = 'pg_proc'::regclass AND w.objoid = p.oid AND w.privtype = 'i'
    CROSS JOIN aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
    JOIN mine m ON m.oid = a.grantee
    -- Of PostgreSQL's own, those that it does not withhold are everybody's and the guard's matter, but for those that make
    -- large objects even in a read-only transaction.
    WHERE (p.oid >= 16384 OR w.objoid IS NOT NULL OR p.proname IN ('lo_creat', 'lo_create', 'lo_from_bytea'))
      AND (p.oid >= 16384 OR p.proname ~ current_setting('mcp.danger'))
      AND p.oid NOT IN (SELECT unnest(ARRAY[h.lanplcallfoid, h.laninline, h.lanvalidator]) FROM pg_language h)
),
-- With how not to read the column, or for a table that may be read as a whole, its number and by whom.
readable AS (
    SELECT oid, attname, ARRAY[name, CASE
        WHEN attname IS NULL THEN format('%s %s', oid, string_agg(DISTINCT grantee, ', '))
        ELSE format('REVOKE SELECT (%I) ON %s FROM %s', attname, name, string_agg(DISTINCT grantee, ', '))
    END] AS reported
    FROM relations, catalog
    WHERE privilege = 'SELECT' AND relkind <> 'S' AND (tables IS NULL OR oid = ANY (tables))
    GROUP BY oid, name, attname
),
owned AS (
    SELECT d.classid, d.objid, coalesce(m.leave, format('REASSIGN OWNED BY %s TO CURRENT_USER', m.name)) AS cure
    FROM pg_shdepend d JOIN mine m ON m.oid = d.refobjid
    WHERE d.refclassid = 'pg_authid'::regclass AND d.deptype = 'o'
      AND d.dbid IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
      AND d.classid NOT IN ('pg_default_acl'::regclass, 'pg_user_mapping'::regclass)
),
beyond (kind, object, cure) AS (
    SELECT 'create in schema', quote_ident(n.nspname), format('REVOKE CREATE ON SCHEMA %I FROM %s', n.nspname, m.name)
    FROM pg_namespace n
    CROSS JOIN aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) a
    JOIN mine m ON m.oid = a.grantee
    WHERE a.privilege_type = 'CREATE'
    UNION ALL
    SELECT CASE a.privilege_type WHEN 'CREATE' THEN 'create in database' ELSE 'temporary' END, quote_ident(d.datname),
           format('REVOKE %s ON DATABASE %I FROM %s', a.privilege_type, d.datname, m.name)
    FROM pg_database d
    CROSS JOIN aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
    JOIN mine m ON m.oid = a.grantee
    WHERE d.datname = current_database() AND a.privilege_type IN ('CREATE', 'TEMPORARY')
    UNION ALL
    SELECT 'write', name,
           format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON ALL TABLES IN SCHEMA %I FROM %s',
               nspname, grantee)
    FROM relations WHERE privilege <> 'SELECT' AND relkind <> 'S'
    UNION ALL
    SELECT 'sequence', name, format('REVOKE USAGE, UPDATE ON ALL SEQUENCES IN SCHEMA %I FROM %s', nspname, grantee)
    FROM relations WHERE privilege <> 'SELECT' AND relkind = 'S'
    UNION ALL
    SELECT 'outside', name, format('REVOKE ALL ON %s FROM %s', name, grantee)
    FROM relations, catalog WHERE oid <> ALL (tables)
    UNION ALL
    SELECT CASE WHEN dangerous THEN kind WHEN untrusted THEN 'untrusted' ELSE 'definer' END, name,
           format('REVOKE EXECUTE ON ROUTINE %s FROM %s', name, grantee)
    FROM functions WHERE dangerous OR untrusted OR definer
    UNION ALL
    SELECT 'other', pg_describe_object(d.classid, d.objid, 0),
           format('REVOKE ALL ON %s %s FROM %s', CASE i.type WHEN 'server' THEN 'FOREIGN SERVER'
               WHEN 'foreign-data wrapper' THEN 'FOREIGN DATA WRAPPER' WHEN 'parameter ACL' THEN 'PARAMETER'
               ELSE upper(i.type) END, i.identity, m.name)
    FROM pg_shdepend d
    JOIN mine m ON m.oid = d.refobjid
    CROSS JOIN pg_identify_object(d.classid, d.objid, 0) i
    WHERE d.refclassid = 'pg_authid'::regclass AND d.deptype = 'a'
      AND d.dbid IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
      AND d.classid NOT IN ('pg_class'::regclass, 'pg_namespace'::regclass, 'pg_database'::regclass,
          'pg_proc'::regclass, 'pg_type'::regclass, 'pg_language'::regclass, 'pg_default_acl'::regclass)
)
SELECT kind, count(DISTINCT object)::text, array_to_string((array_agg(DISTINCT object))[1:3], ', '),
       array_to_string((array_agg(DISTINCT cure))[1:3], '; '), NULL
FROM beyond
GROUP BY kind
UNION ALL
SELECT 'own', count(*)::text,
       array_to_string(ARRAY(SELECT pg_describe_object(classid, objid, 0) FROM owned ORDER BY classid, objid LIMIT 3), ', '),
       array_to_string((array_agg(DISTINCT cure))[1:3], '; '), NULL
FROM owned
HAVING count(*) > 0
UNION ALL
(
    -- Of the tables that have a column of the name, the first.
    SELECT 'column', count(*)::text, format('%s.%I', (min(r.reported))[1], t.attname), (min(r.reported))[2], t.attname
    FROM readable r JOIN pg_attribute t ON t.attrelid = r.oid AND t.attnum > 0 AND NOT t.attisdropped
    WHERE t.attname = coalesce(r.attname, t.attname)
    GROUP BY t.attname
    LIMIT 10001
)
