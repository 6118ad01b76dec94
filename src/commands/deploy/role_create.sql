-- It is nothing else and a member of nothing.
CREATE ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS NOINHERIT CONNECTION LIMIT {connections};

-- A superuser's to change. A backend's memory is bounded by the host alone: MemoryMax= of PostgreSQL's unit.
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

