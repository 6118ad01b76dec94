-- The demo's asset inventory: a few sites, what stands there, who works with it. The same data on every run.

CREATE SCHEMA inventory;
SET search_path = inventory;

CREATE TABLE sites (
    site_id  int PRIMARY KEY,
    code     text NOT NULL UNIQUE,
    name     text NOT NULL UNIQUE,
    city     text NOT NULL,
    opened   date NOT NULL
);

CREATE TABLE people (
    person_id      int PRIMARY KEY,
    site_id        int NOT NULL REFERENCES sites,
    full_name      text NOT NULL,
    email          text NOT NULL UNIQUE,
    department     text NOT NULL,
    password_hash  text NOT NULL,
    mfa_secret     text NOT NULL
);
COMMENT ON COLUMN people.password_hash IS 'Secret: no reader needs it';
COMMENT ON COLUMN people.mfa_secret IS 'Secret: no reader needs it';

CREATE TABLE devices (
    device_id  int PRIMARY KEY,
    site_id    int NOT NULL REFERENCES sites,
    owner_id   int REFERENCES people,
    hostname   text NOT NULL UNIQUE,
    kind       text NOT NULL CHECK (kind IN ('laptop', 'server', 'switch')),
    address    inet NOT NULL,
    bought     date NOT NULL,
    price      numeric(10, 2) NOT NULL,
    last_seen  date NOT NULL
);
COMMENT ON TABLE devices IS 'What stands at a site';
COMMENT ON COLUMN devices.owner_id IS 'Who answers for it; nobody does for switches';

CREATE TABLE software (
    software_id  int PRIMARY KEY,
    name         text NOT NULL UNIQUE,
    vendor       text NOT NULL
);

CREATE TABLE installed_software (
    device_id    int NOT NULL REFERENCES devices,
    software_id  int NOT NULL REFERENCES software,
    version      text NOT NULL,
    installed    timestamptz NOT NULL,
    PRIMARY KEY (device_id, software_id)
);

CREATE TABLE tickets (
    ticket_id  int PRIMARY KEY,
    device_id  int NOT NULL REFERENCES devices,
    opened_by  int NOT NULL REFERENCES people,
    opened     timestamptz NOT NULL,
    closed     timestamptz,
    severity   text NOT NULL CHECK (severity IN ('low', 'normal', 'high')),
    subject    text NOT NULL,
    details    jsonb NOT NULL
);

CREATE TABLE api_tokens (
    token_id    int PRIMARY KEY,
    person_id   int NOT NULL REFERENCES people,
    token_hash  text NOT NULL,
    scopes      text[] NOT NULL
);
COMMENT ON TABLE api_tokens IS 'Secret: no reader needs it';

INSERT INTO sites VALUES
    (1, 'HAM', 'Harbour', 'Hamburg', '2014-05-01'),
    (2, 'LEI', 'Mill', 'Leiden', '2017-09-15'),
    (3, 'BIO', 'Foundry', 'Bilbao', '2021-02-08');

INSERT INTO people
SELECT n, 1 + n % 3,
       (ARRAY['Ada', 'Björn', 'Chloé', 'Dario', 'Esra', 'Femke'])[1 + n % 6] || ' ' ||
       (ARRAY['Aalto', 'Bakker', 'Costa', 'Dupont'])[1 + n % 4],
       'person' || n || '@inventory.example',
       (ARRAY['Operations', 'Design', 'Sales'])[1 + n / 3 % 3], md5('password ' || n), upper(left(md5('mfa ' || n), 16))
FROM generate_series(1, 24) AS n;

INSERT INTO devices
SELECT n, 1 + n % 3, CASE WHEN n % 5 <> 0 THEN 1 + n % 24 END,
       (ARRAY['switch', 'laptop', 'laptop', 'server', 'laptop'])[1 + n % 5] || '-' || lpad(n::text, 3, '0'),
       (ARRAY['switch', 'laptop', 'laptop', 'server', 'laptop'])[1 + n % 5],
       '10.20.0.0'::inet + n, DATE '2022-01-10' + n * 11, 400 + (n * 37 % 90) * 12.5,
       DATE '2026-01-31' - CASE WHEN n % 8 = 4 THEN 40 + n ELSE n % 6 END
FROM generate_series(1, 60) AS n;

INSERT INTO software VALUES
    (1, 'PostgreSQL', 'PostgreSQL Global Development Group'),
    (2, 'OpenSSH', 'OpenBSD'),
    (3, 'Firefox', 'Mozilla'),
    (4, 'LibreOffice', 'The Document Foundation');

INSERT INTO installed_software
SELECT d, s, (s + d % 3) || '.' || d % 10, TIMESTAMPTZ '2025-03-01 08:00+00' + d * INTERVAL '5 hours'
FROM generate_series(1, 60) AS d, generate_series(1, 4) AS s
WHERE (d + s) % 3 <> 0;

INSERT INTO tickets
SELECT n, 1 + n % 60, 1 + n % 24, TIMESTAMPTZ '2026-01-05 09:00+00' + n * INTERVAL '7 hours',
       CASE WHEN n % 5 <> 0 THEN TIMESTAMPTZ '2026-01-06 15:30+00' + n * INTERVAL '7 hours' END,
       (ARRAY['low', 'normal', 'normal', 'high'])[1 + n % 4],
       (ARRAY['Does not start', 'Disk is full', 'Battery is weak', 'Certificate expired'])[1 + n % 4],
       jsonb_build_object('attempts', n % 5, 'remote', n % 2 = 0)
FROM generate_series(1, 240) AS n;

INSERT INTO api_tokens
SELECT n, n, md5('token ' || n), ARRAY['read', 'write'] FROM generate_series(1, 12) AS n;

-- The role that the server uses: it logs in, reads what it needs, column by column where a table holds secrets.
CREATE ROLE mcp_reader LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOINHERIT CONNECTION LIMIT 8;
ALTER ROLE mcp_reader SET search_path = inventory;
ALTER ROLE mcp_reader SET default_transaction_read_only = on;
REVOKE ALL ON DATABASE assets FROM PUBLIC;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION lo_creat(int), lo_create(oid), lo_from_bytea(oid, bytea) FROM PUBLIC;
GRANT CONNECT ON DATABASE assets TO mcp_reader;
GRANT USAGE ON SCHEMA inventory TO mcp_reader;
GRANT SELECT ON sites, devices, software, installed_software, tickets TO mcp_reader;
GRANT SELECT (person_id, site_id, full_name, email, department) ON people TO mcp_reader;

ANALYZE;
