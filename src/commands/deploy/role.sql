-- Run by {who}, connected to the database that is to be read:
--   mcp-server-suite deploy role … | psql -v ON_ERROR_STOP=1 -d DATABASE
{password}BEGIN;

{create}{session}-- What it may read: what is named, but for columns that hold secrets by their names.
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
