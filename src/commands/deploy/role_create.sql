-- It is nothing else and a member of nothing.
CREATE ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS NOINHERIT CONNECTION LIMIT {connections};

-- The settings of a session. A role may change its own defaults, but the last, which is a superuser's to change. They keep
-- a careless query small; a backend's memory is bounded by the host alone: MemoryMax= of PostgreSQL's unit.
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

