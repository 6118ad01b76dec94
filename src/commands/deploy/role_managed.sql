-- It is a member of nothing. temp_file_limit is the provider's to set, and so is the bound on memory. The
-- attributes that only a superuser may name are not a new role's anyway.
CREATE ROLE {role} LOGIN NOCREATEDB NOCREATEROLE NOINHERIT CONNECTION LIMIT {connections};

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

