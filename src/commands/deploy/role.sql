-- Run by a superuser, connected to the database that is to be read:
--   mcp-server-suite deploy role … | psql -v ON_ERROR_STOP=1 -d DATABASE
-- Then give it a password: \password {name}
BEGIN;

-- It is nothing else and a member of nothing.
CREATE ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS NOINHERIT CONNECTION LIMIT {connections};

-- What a session begins with. A role may change its own defaults, but the last, which is a superuser's to change.
ALTER ROLE {role} SET default_transaction_read_only = on;
ALTER ROLE {role} SET statement_timeout = '5s';
ALTER ROLE {role} SET lock_timeout = '1s';
ALTER ROLE {role} SET idle_in_transaction_session_timeout = '30s';
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

-- What it may read.
GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT SELECT ON {tables} TO {role};

COMMIT;

-- PUBLIC may execute functions unless that was revoked. Look through those that act as their owner:
--   SELECT oid::regprocedure FROM pg_proc WHERE prosecdef AND has_function_privilege({literal}, oid, 'EXECUTE');
