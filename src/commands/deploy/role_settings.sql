-- The settings of a session. They keep a careless query small; a role may change its own.
ALTER ROLE {role} SET default_transaction_read_only = on;
ALTER ROLE {role} SET statement_timeout = '5s';
ALTER ROLE {role} SET lock_timeout = '1s';
ALTER ROLE {role} SET idle_in_transaction_session_timeout = '30s';
ALTER ROLE {role} SET work_mem = '16MB';
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
        BEGIN
            EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', extension, {literal});
            path := path || ', ' || quote_ident(extension);
        EXCEPTION WHEN insufficient_privilege THEN
            RAISE NOTICE 'left to its owner: the schema %', extension;
        END;
    END LOOP;
    EXECUTE format('ALTER ROLE %I SET search_path = %s', {literal}, path);
END
$$;

