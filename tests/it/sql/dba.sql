-- Queries as database administrators keep them: bloat, indexes, locks, lag, caches, vacuum, sizes.
-- Each begins with its title and ends with a semicolon at the end of a line.

-- table bloat by statistics
WITH columns AS (
    SELECT schemaname, tablename, sum((1 - null_frac) * avg_width) AS width, count(*) FILTER (WHERE null_frac > 0) AS nullable
    FROM pg_catalog.pg_stats
    GROUP BY schemaname, tablename
), pages AS (
    SELECT c.oid, n.nspname, c.relname, c.relpages, c.reltuples, current_setting('block_size')::numeric AS block,
        CASE WHEN version() ~ '(x86_64|aarch64|64-bit)' THEN 8 ELSE 4 END AS align,
        coalesce(substring(array_to_string(c.reloptions, ' ') FROM 'fillfactor=([0-9]+)')::smallint, 100) AS fill,
        23 + s.width + CASE WHEN s.nullable > 0 THEN (7 + s.nullable) / 8 ELSE 0 END AS tuple
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN columns s ON s.schemaname = n.nspname AND s.tablename = c.relname
    WHERE c.relkind IN ('r', 'm') AND c.relpages > 0
), needed AS (
    SELECT *, ceil(reltuples * (4 + tuple + align - CASE WHEN ceil(tuple)::int % align = 0 THEN align ELSE
        ceil(tuple)::int % align END) / ((block - 24) * fill / 100)) AS need
    FROM pages
)
SELECT current_database(), nspname, relname, pg_size_pretty((block * relpages)::bigint) AS size,
    pg_size_pretty(greatest(block * (relpages - need::bigint), 0)::bigint) AS bloat,
    round(100 * greatest(relpages - need, 0)::numeric / relpages, 1) AS percent
FROM needed
ORDER BY greatest(relpages - need, 0) DESC;

-- table bloat against the dead rows
SELECT t.schemaname, t.relname, t.n_live_tup, t.n_dead_tup,
    round(t.n_dead_tup * 100.0 / nullif(t.n_live_tup + t.n_dead_tup, 0), 2) AS dead_percent,
    pg_size_pretty(pg_relation_size(t.relid) * t.n_dead_tup / nullif(t.n_live_tup + t.n_dead_tup, 0)) AS dead_size
FROM pg_stat_user_tables t
WHERE t.n_dead_tup > 0.2 * t.n_live_tup
ORDER BY t.n_dead_tup DESC;

-- index bloat
WITH keys AS (
    SELECT i.indexrelid, i.indrelid, ci.relname, ci.relpages, ci.reltuples, k.position,
        (string_to_array(pg_catalog.textin(pg_catalog.int2vectorout(i.indkey)), ' ')::int2[])[k.position] AS attnum,
        coalesce(substring(array_to_string(ci.reloptions, ' ') FROM 'fillfactor=([0-9]+)')::smallint, 90) AS fill
    FROM pg_index i
    JOIN pg_class ci ON ci.oid = i.indexrelid
    JOIN pg_am m ON m.oid = ci.relam AND m.amname = 'btree'
    CROSS JOIN LATERAL pg_catalog.generate_series(1, i.indnatts) AS k(position)
    WHERE ci.relpages > 0
), widths AS (
    SELECT k.indexrelid, k.indrelid::regclass AS of_table, k.relname, k.relpages, k.reltuples, k.fill,
        current_setting('block_size')::numeric AS block,
        8 + sum((1 - coalesce(s.null_frac, 0)) * coalesce(s.avg_width, 32)) AS entry
    FROM keys k
    JOIN pg_class c ON c.oid = k.indrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_attribute a ON a.attrelid = k.indrelid AND a.attnum = k.attnum AND a.attnum <> 0
    LEFT JOIN pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname AND s.attname = a.attname
    GROUP BY 1, 2, 3, 4, 5, 6, 7
)
SELECT of_table, relname, pg_size_pretty((relpages * block)::bigint) AS size,
    round(100 * (1 - least(1 + ceil(reltuples / floor((block - 40) * fill / (100 * (4 + entry)))), relpages)::numeric
        / relpages), 1) AS percent
FROM widths
ORDER BY 4 DESC, 2;

-- tables that autovacuum will take
WITH options AS (
    SELECT c.oid, c.relname, c.reltuples, o.threshold, o.scale
    FROM pg_class c
    CROSS JOIN LATERAL (
        SELECT max(split_part(x, '=', 2)) FILTER (WHERE x LIKE 'autovacuum_vacuum_threshold=%') AS threshold,
            max(split_part(x, '=', 2)) FILTER (WHERE x LIKE 'autovacuum_vacuum_scale_factor=%') AS scale
        FROM unnest(c.reloptions) AS x
    ) o
    WHERE c.relkind = 'r'
), limits AS (
    SELECT oid, relname, coalesce(threshold, current_setting('autovacuum_vacuum_threshold'))::bigint
        + coalesce(scale, current_setting('autovacuum_vacuum_scale_factor'))::numeric * greatest(reltuples, 0)::numeric AS most
    FROM options
)
SELECT l.relname, s.n_dead_tup, to_char(l.most, 'FM999G999G990') AS most, s.n_dead_tup > l.most AS due,
    to_char(greatest(s.last_vacuum, s.last_autovacuum), 'YYYY-MM-DD HH24:MI') AS last, s.vacuum_count + s.autovacuum_count AS runs
FROM limits l
JOIN pg_stat_user_tables s ON s.relid = l.oid
ORDER BY s.n_dead_tup / nullif(l.most, 0) DESC NULLS LAST;

-- transaction wraparound
SELECT d.datname, age(d.datfrozenxid) AS age, round(100.0 * age(d.datfrozenxid) / 2 ^ 31) AS of_the_end,
    round(100.0 * age(d.datfrozenxid) / (SELECT setting::int FROM pg_settings WHERE name = 'autovacuum_freeze_max_age'))
    AS of_the_freeze
FROM pg_catalog.pg_database d
WHERE d.datallowconn
ORDER BY 2 DESC;

-- duplicate indexes
SELECT a.indrelid::regclass AS "table", a.indexrelid::regclass AS one, b.indexrelid::regclass AS other,
    pg_size_pretty(pg_relation_size(b.indexrelid)) AS size
FROM pg_index a
JOIN pg_index b ON b.indrelid = a.indrelid AND b.indexrelid > a.indexrelid
    AND (b.indkey::text, b.indclass::text, b.indoption::text) = (a.indkey::text, a.indclass::text, a.indoption::text)
    AND pg_get_expr(b.indpred, b.indrelid) IS NOT DISTINCT FROM pg_get_expr(a.indpred, a.indrelid)
    AND pg_get_expr(b.indexprs, b.indrelid) IS NOT DISTINCT FROM pg_get_expr(a.indexprs, a.indrelid)
ORDER BY pg_relation_size(b.indexrelid) DESC;

-- indexes that are the beginning of another
SELECT a.indexrelid::regclass AS short, b.indexrelid::regclass AS long, pg_get_indexdef(a.indexrelid)
FROM pg_index a
JOIN pg_index b ON b.indrelid = a.indrelid AND b.indexrelid <> a.indexrelid
    AND b.indkey::text LIKE a.indkey::text || ' %' AND NOT a.indisunique;

-- foreign keys without an index
SELECT f.conrelid::regclass AS "table", f.conname, pg_get_constraintdef(f.oid),
    (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY k.n)
     FROM unnest(f.conkey) WITH ORDINALITY AS k(attnum, n)
     JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.attnum) AS columns
FROM pg_constraint f
WHERE f.contype = 'f' AND NOT EXISTS (
    SELECT FROM pg_index i WHERE i.indrelid = f.conrelid AND i.indisvalid
    AND f.conkey OPERATOR(pg_catalog.<@) (i.indkey::int2[])[0:cardinality(f.conkey) - 1]);

-- blocked sessions by their locks
SELECT w.pid AS waiting, h.pid AS holding, w.locktype, w.mode AS wants, h.mode AS has, w.relation::regclass,
    left(wa.query, 60) AS waiting_query, left(ha.query, 60) AS holding_query
FROM pg_locks w
JOIN pg_locks h ON h.granted AND h.pid <> w.pid AND h.locktype = w.locktype
    AND (h.database, h.relation, h.page, h.tuple, h.virtualxid, h.transactionid, h.classid, h.objid, h.objsubid)
    IS NOT DISTINCT FROM
    (w.database, w.relation, w.page, w.tuple, w.virtualxid, w.transactionid, w.classid, w.objid, w.objsubid)
JOIN pg_stat_activity wa ON wa.pid = w.pid
JOIN pg_stat_activity ha ON ha.pid = h.pid
WHERE NOT w.granted;

-- blocked sessions by pid
SELECT a.pid, b.pid AS blocked_by, now() - a.state_change AS waits, a.wait_event_type || '.' || a.wait_event AS for_what,
    b.state AS blocker_state, regexp_replace(left(b.query, 100), E'\\s+', ' ', 'g') AS blocker_query
FROM pg_stat_activity a
CROSS JOIN LATERAL unnest(pg_blocking_pids(a.pid)) AS x(pid)
JOIN pg_stat_activity b ON b.pid = x.pid
ORDER BY 3 DESC;

-- chains of blocked sessions
WITH RECURSIVE waits AS (
    SELECT a.pid, b.pid AS by FROM pg_stat_activity a, unnest(pg_blocking_pids(a.pid)) AS b(pid)
), chain AS (
    SELECT w.by AS root, w.pid, 1 AS depth FROM waits w WHERE w.by NOT IN (SELECT pid FROM waits)
    UNION ALL
    SELECT c.root, w.pid, c.depth + 1 FROM chain c JOIN waits w ON w.by = c.pid WHERE c.depth < 20
)
SELECT root, pid, lpad(' ', depth * 2) || pid AS tree FROM chain ORDER BY root, depth, pid;

-- checkpoints
SELECT checkpoints_timed, checkpoints_req, round(100.0 * checkpoints_req / nullif(checkpoints_timed + checkpoints_req, 0), 1)
    AS forced_percent, (now() - stats_reset) / nullif(checkpoints_timed + checkpoints_req, 0) AS every, buffers_checkpoint,
    buffers_clean, buffers_backend
FROM pg_stat_bgwriter;

-- connections
SELECT state, count(*), current_setting('max_connections')::int - sum(count(*)) OVER () AS left,
    current_setting('superuser_reserved_connections') AS reserved, max(now() - state_change) AS oldest
FROM pg_stat_activity
WHERE backend_type = 'client backend'
GROUP BY state;

-- unused indexes
SELECT u.relid::regclass AS "table", u.indexrelname, u.idx_scan, pg_size_pretty(pg_relation_size(u.indexrelid)) AS size,
    pg_get_indexdef(u.indexrelid)
FROM pg_stat_user_indexes u
JOIN pg_index i USING (indexrelid)
WHERE u.idx_scan = 0 AND NOT i.indisunique AND NOT i.indisprimary
    AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = u.indexrelid)
ORDER BY pg_relation_size(u.indexrelid) DESC;

-- cache hit ratio
SELECT sum(heap_blks_read) AS heap_read, sum(heap_blks_hit) AS heap_hit,
    round(sum(heap_blks_hit) / nullif(sum(heap_blks_hit) + sum(heap_blks_read), 0) * 100, 2) AS ratio
FROM pg_statio_user_tables;

-- index hit rate
SELECT relname, 100 * idx_blks_hit / nullif(idx_blks_hit + idx_blks_read, 0) AS percent
FROM pg_statio_user_indexes
ORDER BY 2 NULLS LAST;

-- locks
SELECT l.pid, l.locktype, l.mode, l.granted, l.relation::regclass, a.state, age(now(), a.query_start) AS age, a.query
FROM pg_locks l
LEFT JOIN pg_stat_activity a USING (pid)
WHERE l.pid <> pg_backend_pid()
ORDER BY a.query_start;

-- long transactions
SELECT pid, usename, datname, application_name, client_addr, now() - xact_start AS duration, state, wait_event_type,
    wait_event, left(query, 80) AS query
FROM pg_stat_activity
WHERE xact_start IS NOT NULL AND now() - xact_start > interval '5 minutes' AND pid <> pg_backend_pid()
ORDER BY xact_start;

-- idle in transaction, oldest xmin
SELECT pid, datname, usename, state, backend_xmin, age(backend_xmin)
FROM pg_stat_activity
WHERE backend_xmin IS NOT NULL
ORDER BY age(backend_xmin) DESC;

-- replication lag on the primary
SELECT application_name, client_addr, state, sync_state, pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(),
    sent_lsn)) AS sending_lag, pg_size_pretty(pg_wal_lsn_diff(sent_lsn, flush_lsn)) AS receiving_lag,
    pg_size_pretty(pg_wal_lsn_diff(flush_lsn, replay_lsn)) AS replaying_lag,
    pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)) AS total_lag, write_lag, flush_lag, replay_lag
FROM pg_stat_replication;

-- replication lag on a standby
SELECT CASE WHEN NOT pg_is_in_recovery() THEN 0 WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0 ELSE
    extract(epoch
FROM now() - pg_last_xact_replay_timestamp()) END AS lag_seconds;

-- replication slots
SELECT slot_name, slot_type, database, active, restart_lsn,
    pg_size_pretty(pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn() ELSE
    pg_current_wal_lsn() END, restart_lsn)) AS retained
FROM pg_replication_slots;

-- WAL position and file
SELECT pg_walfile_name(pg_current_wal_lsn()), pg_current_wal_insert_lsn(), pg_current_wal_flush_lsn();

-- table sizes
SELECT n.nspname AS table_schema, c.relname AS table_name, c.reltuples AS rows,
    pg_size_pretty(pg_total_relation_size(c.oid)) AS total, pg_size_pretty(pg_relation_size(c.oid)) AS heap,
    pg_size_pretty(pg_indexes_size(c.oid)) AS indexes,
    pg_size_pretty(pg_total_relation_size(c.reltoastrelid)) AS toast
FROM pg_class c
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')
ORDER BY pg_total_relation_size(c.oid) DESC;

-- database sizes
SELECT datname, pg_size_pretty(pg_database_size(datname)) AS size, age(datfrozenxid), datcollate,
    pg_encoding_to_char(encoding)
FROM pg_database
WHERE datallowconn
ORDER BY pg_database_size(datname) DESC;

-- vacuum progress
SELECT p.pid, now() - a.xact_start AS duration, coalesce(wait_event_type || '.' || wait_event, 'f') AS waiting,
    p.datname, p.relid::regclass AS "table", p.phase,
    pg_size_pretty(p.heap_blks_total * current_setting('block_size')::int) AS table_size,
    round(100.0 * p.heap_blks_scanned / nullif(p.heap_blks_total, 0), 1) AS scanned_pct, p.index_vacuum_count,
    round(100.0 * p.num_dead_tuples / nullif(p.max_dead_tuples, 0), 1) AS dead_pct
FROM pg_stat_progress_vacuum p
JOIN pg_stat_activity a USING (pid)
ORDER BY now() - a.xact_start DESC;

-- invalid indexes
SELECT n.nspname, c.relname, pg_get_indexdef(c.oid)
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_index i ON i.indexrelid = c.oid
WHERE NOT i.indisvalid;

-- sequences near their end
SELECT schemaname, sequencename, data_type, last_value, max_value, round(100.0 * last_value / max_value, 2) AS percent
FROM pg_sequences
WHERE last_value IS NOT NULL
ORDER BY 6 DESC;

-- uptime
SELECT date_trunc('second', current_timestamp - pg_postmaster_start_time()) AS uptime, pg_conf_load_time(),
    version(), pg_is_in_recovery();

-- wal archiver
SELECT archived_count, last_archived_wal, age(now(), last_archived_time) AS since, failed_count, last_failed_wal
FROM pg_stat_archiver;

-- wal statistics
SELECT wal_records, wal_fpi, pg_size_pretty(wal_bytes) AS bytes, stats_reset
FROM pg_stat_wal;

-- settings that differ
SELECT name, setting, unit, boot_val, source, sourcefile
FROM pg_settings
WHERE source NOT IN ('default', 'override')
ORDER BY name;

-- available extensions
SELECT e.name, e.default_version, e.installed_version, v.version
FROM pg_available_extensions e
JOIN pg_available_extension_versions v ON v.name = e.name AND v.version = e.default_version
ORDER BY 1;

-- databases' commit ratio and deadlocks
SELECT datname, numbackends, xact_commit, xact_rollback,
    round(100.0 * xact_commit / nullif(xact_commit + xact_rollback, 0), 2) AS commit_pct, deadlocks, temp_files,
    pg_size_pretty(temp_bytes) AS temp, stats_reset
FROM pg_stat_database
WHERE datname = current_database();

-- sequential scans
SELECT schemaname, relname, seq_scan, seq_tup_read, seq_tup_read / nullif(seq_scan, 0) AS avg, idx_scan
FROM pg_stat_user_tables
WHERE seq_scan > 0
ORDER BY seq_tup_read DESC
LIMIT 25;

-- HOT updates
SELECT relname, n_tup_upd, n_tup_hot_upd, round(100.0 * n_tup_hot_upd / nullif(n_tup_upd, 0), 1) AS hot_pct
FROM pg_stat_all_tables
ORDER BY 4 NULLS LAST;

-- wait events
SELECT coalesce(wait_event_type, 'CPU') AS type, coalesce(wait_event, 'running') AS event, count(*)
FROM pg_stat_activity
WHERE state = 'active' AND backend_type = 'client backend'
GROUP BY 1, 2
ORDER BY 3 DESC;

-- roles and privileges
SELECT r.rolname, r.rolsuper, r.rolcanlogin, ARRAY(SELECT b.rolname
FROM pg_catalog.pg_auth_members m
JOIN pg_catalog.pg_roles b ON m.roleid = b.oid
WHERE m.member = r.oid) AS memberof, pg_catalog.shobj_description(r.oid, 'pg_authid')
FROM pg_catalog.pg_roles r
WHERE r.rolname !~ '^pg_'
ORDER BY 1;

-- tablespaces
SELECT spcname, pg_catalog.pg_get_userbyid(spcowner), pg_catalog.pg_tablespace_location(oid),
    pg_size_pretty(pg_tablespace_size(oid))
FROM pg_tablespace;

-- toast usage
SELECT c.relname, t.relname AS toast, pg_size_pretty(pg_relation_size(t.oid)) AS size, s.n_dead_tup
FROM pg_class c
JOIN pg_class t ON t.oid = c.reltoastrelid
LEFT JOIN pg_stat_all_tables s ON s.relid = t.oid
WHERE c.relkind = 'r'
ORDER BY pg_relation_size(t.oid) DESC
LIMIT 10;

-- statistics by function
SELECT relname, pg_stat_get_numscans(oid), pg_stat_get_tuples_inserted(oid), pg_stat_get_live_tuples(oid),
    pg_stat_get_dead_tuples(oid), pg_stat_get_last_autovacuum_time(oid),
    pg_stat_get_blocks_fetched(oid) - pg_stat_get_blocks_hit(oid) AS reads
FROM pg_class
WHERE relkind = 'r' AND relname = 'orders';

-- partitions
SELECT pt.relid::regclass, pt.level, pt.isleaf, pg_size_pretty(pg_total_relation_size(pt.relid))
FROM pg_partition_tree('orders') pt;

-- prepared transactions
SELECT gid, prepared, owner, database, transaction
FROM pg_prepared_xacts
ORDER BY age(transaction) DESC;

-- last statistics reset
SELECT pg_stat_get_db_stat_reset_time(oid)
FROM pg_database
WHERE datname = current_database();

-- logical replication
SELECT s.subname, s.pid, s.received_lsn, s.latest_end_lsn, pg_wal_lsn_diff(s.received_lsn, s.latest_end_lsn)
FROM pg_stat_subscription s;

-- publications
SELECT p.pubname, pt.schemaname, pt.tablename
FROM pg_publication p
LEFT JOIN pg_publication_tables pt USING (pubname);

-- wal receiver
SELECT status, flushed_lsn, latest_end_lsn, pg_wal_lsn_diff(latest_end_lsn, flushed_lsn), slot_name
FROM pg_stat_wal_receiver;

-- who blocks me
SELECT pid, pg_blocking_pids(pid) AS blocked_by, cardinality(pg_blocking_pids(pid)) AS n, query
FROM pg_stat_activity
WHERE cardinality(pg_blocking_pids(pid)) > 0;

-- memory of this session
SELECT name, ident, level, total_bytes
FROM pg_backend_memory_contexts
ORDER BY total_bytes DESC
LIMIT 10;

-- shared memory
SELECT name, pg_size_pretty(allocated_size)
FROM pg_shmem_allocations
ORDER BY allocated_size DESC;

-- simple caches
SELECT blks_zeroed, blks_hit, blks_read
FROM pg_stat_slru;

-- this connection
SELECT inet_server_addr(), inet_server_port(), inet_client_addr(), pg_backend_pid();

-- age of databases
SELECT datname, age(datfrozenxid), mxid_age(datminmxid)
FROM pg_database
ORDER BY 2 DESC;

-- age of tables
SELECT c.oid::regclass, age(c.relfrozenxid), mxid_age(c.relminmxid), pg_size_pretty(pg_table_size(c.oid))
FROM pg_class c
WHERE relkind IN ('r','m')
ORDER BY 2 DESC
LIMIT 20;

-- source of a function
SELECT pg_get_functiondef(p.oid)
FROM pg_proc p
WHERE proname = 'now';

-- triggers
SELECT t.tgname, pg_get_triggerdef(t.oid)
FROM pg_trigger t;

-- grants on a table
SELECT grantee, privilege_type
FROM information_schema.role_table_grants
WHERE table_name = 'orders';

-- privileges
SELECT has_schema_privilege('public', 'USAGE'), has_column_privilege('orders', 'id', 'SELECT'),
    pg_has_role('pg_monitor', 'MEMBER');

-- access control list
SELECT x.grantee::regrole, x.privilege_type
FROM pg_class c, LATERAL aclexplode(c.relacl) x
WHERE c.relname='orders';

-- progress of CREATE INDEX
SELECT *
FROM pg_stat_progress_create_index;

-- progress of base backups
SELECT *
FROM pg_stat_progress_basebackup;

-- encrypted connections
SELECT *
FROM pg_stat_ssl;

-- control file
SELECT checkpoint_lsn, redo_wal_file, next_xid, checkpoint_time, system_identifier, wal_block_size, min_recovery_end_lsn
FROM pg_control_checkpoint(), pg_control_system(), pg_control_init(), pg_control_recovery();

-- server at a glance
SELECT current_database(), pg_size_pretty(pg_database_size(current_database())), pg_backend_pid() <> 0,
    pg_conf_load_time(), current_setting('server_version'), pg_is_in_recovery();
