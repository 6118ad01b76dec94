-- It is a member of nothing. The attributes that only a superuser may name are not a new role's anyway.
CREATE ROLE {role} LOGIN NOCREATEDB NOCREATEROLE NOINHERIT CONNECTION LIMIT {connections};

-- The settings of a session. A role may change its own defaults. They keep a careless query small; temp_file_limit is the
-- provider's to set, and so is the bound on memory.
ALTER ROLE {role} SET default_transaction_read_only = on;
ALTER ROLE {role} SET statement_timeout = '5s';
ALTER ROLE {role} SET lock_timeout = '1s';
ALTER ROLE {role} SET idle_in_transaction_session_timeout = '30s';
ALTER ROLE {role} SET work_mem = '16MB';

-- Every role is PUBLIC, so what PUBLIC may write is taken from PUBLIC where that is ours to take. A role that needs it has to be
-- granted it. `mcp-server-suite check` shows what is left.
DO $$
DECLARE
    statement text;
BEGIN
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), {literal});
    FOREACH statement IN ARRAY ARRAY[
        format('REVOKE CREATE, TEMPORARY ON DATABASE %I FROM PUBLIC', current_database()),
        'REVOKE CREATE ON SCHEMA public FROM PUBLIC',
        'REVOKE EXECUTE ON FUNCTION lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea) FROM PUBLIC'
    ] LOOP
        BEGIN
            EXECUTE statement;
        EXCEPTION WHEN insufficient_privilege OR invalid_schema_name THEN
            RAISE NOTICE 'left to the owner: %', statement;
        END;
    END LOOP;
END
$$;

