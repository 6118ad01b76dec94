DO $$
DECLARE
    extension name;
    path text := {search_path};
BEGIN
    -- Without the schema of citext in the path, = on it is text's, and finds nothing.
    FOR extension IN
        SELECT DISTINCT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
        WHERE n.nspname <> 'pg_catalog' AND n.nspname <> ALL ({schema_list}) ORDER BY 1
    LOOP
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', extension, {literal});
        path := path || ', ' || quote_ident(extension);
    END LOOP;
    EXECUTE format('ALTER ROLE %I SET search_path = %s', {literal}, path);
END
$$;
