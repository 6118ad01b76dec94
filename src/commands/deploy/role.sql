-- Run by a superuser, connected to the database that is to be read:
--   mcp-server-suite deploy role … | psql -v ON_ERROR_STOP=1 -d DATABASE
-- Then give it a password: \password {name}
BEGIN;

-- It is nothing else and a member of nothing.
CREATE ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS NOINHERIT CONNECTION LIMIT {connections};

-- The settings of a session. A role may change its own defaults, but the last, which is a superuser's to change. They keep
-- a careless query small; a backend's memory is bounded by the host alone: MemoryMax= of PostgreSQL's unit.
ALTER ROLE {role} SET search_path = {schema};
ALTER ROLE {role} SET default_transaction_read_only = on;
ALTER ROLE {role} SET statement_timeout = '5s';
ALTER ROLE {role} SET lock_timeout = '1s';
ALTER ROLE {role} SET idle_in_transaction_session_timeout = '30s';
ALTER ROLE {role} SET work_mem = '16MB';
ALTER ROLE {role} SET temp_file_limit = '256MB';

-- Every role is PUBLIC, so what PUBLIC may write is taken from PUBLIC. A role that needs it has to be granted it.
DO $$
BEGIN
    EXECUTE format('REVOKE CREATE, TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), {literal});
    IF to_regnamespace('public') IS NOT NULL THEN
        REVOKE CREATE ON SCHEMA public FROM PUBLIC;
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION
    lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea)
    FROM PUBLIC;

-- What it may read: what is named, but for columns that hold secrets by their names.
GRANT USAGE ON SCHEMA {schemas} TO {role};
DO $$
DECLARE
    relation regclass;
    plain text;
    secret text;
BEGIN
    FOR relation, plain, secret IN
        SELECT attrelid,
               string_agg(quote_ident(attname), ', ' ORDER BY attnum) FILTER (WHERE NOT is_secret),
               string_agg(quote_ident(attname), ', ' ORDER BY attnum) FILTER (WHERE is_secret)
        FROM pg_class c
        JOIN pg_attribute a ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped
        CROSS JOIN LATERAL (SELECT
            attname <> ALL (ARRAY[{waived}]::name[])
            AND (lower(attname) ~ '{anywhere}' OR lower(regexp_replace(regexp_replace(attname,
                '([[:lower:]])([[:upper:]])', '\1_\2', 'g'), '([[:upper:]])([[:upper:]][[:lower:]])', '\1_\2', 'g'))
                ~ '(^|[^[:alpha:]])({words})([^[:alpha:]]|$)')
        ) s (is_secret)
        WHERE {relations}
        GROUP BY attrelid
    LOOP
        IF secret IS NULL THEN
            EXECUTE format('GRANT SELECT ON %s TO %I', relation, {literal});
        ELSIF plain IS NOT NULL THEN
            EXECUTE format('GRANT SELECT (%s) ON %s TO %I', plain, relation, {literal});
        END IF;
        IF secret IS NOT NULL THEN
            RAISE NOTICE '%: not granted: %', relation, secret;
        END IF;
    END LOOP;
END
$$;

COMMIT;

-- PUBLIC may have been granted more. What reaches this role: log in as it and run `mcp-server-suite check`, which prints the
-- SQL that takes it away.
