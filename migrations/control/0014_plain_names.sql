-- compatible with programs from migration 0014 on
-- Gives tables and columns the names of docs/ARCHITECTURE.md, as migration 0058 of cells. Programs of earlier releases cannot run beside
-- it: stop them first.
do $$
declare
  renamed record;
  part record;
begin
  for renamed in
    select * from (values
      ('audit', 'audit_log'),
      ('embedded_member', 'integration_member'),
      ('embedding', 'dashboard_embedding'),
      ('idempotency', 'idempotency_key')) as t (old, new)
  loop
    execute format('alter table %I rename to %I', renamed.old, renamed.new);
    -- The names of constraints and indexes begin with that of their table.
    for part in
      select conname::text as name from pg_constraint
      where conrelid = renamed.new::regclass and starts_with(conname::text, renamed.old || '_')
    loop
      execute format('alter table %I rename constraint %I to %I',
                     renamed.new, part.name, renamed.new || substr(part.name, length(renamed.old) + 1));
    end loop;
    for part in
      select c.relname::text as name from pg_index i join pg_class c on c.oid = i.indexrelid
      where i.indrelid = renamed.new::regclass and starts_with(c.relname::text, renamed.old || '_')
        and not exists (select from pg_constraint where conindid = c.oid)
    loop
      execute format('alter index %I rename to %I', part.name, renamed.new || substr(part.name, length(renamed.old) + 1));
    end loop;
  end loop;

  for renamed in
    select * from (values
      ('api_key', 'hint', 'last_four'),
      ('api_key', 'last_used_from', 'last_used_ip'),
      ('dashboard_session', 'launch_hash', 'launch_token_hash'),
      ('dashboard_session', 'session_hash', 'session_token_hash'),
      ('mail', 'done_at', 'finished_at'),
      ('management_key', 'hint', 'last_four'),
      ('management_key', 'last_used_from', 'last_used_ip'),
      ('org_domain', 'target', 'cname_target'),
      ('org_domain', 'token', 'verification_token')) as t (relation, old, new)
  loop
    execute format('alter table %I rename column %I to %I', renamed.relation, renamed.old, renamed.new);
    -- PostgreSQL 18 names the constraint of a column that is not null.
    if exists (
      select from pg_constraint
      where conrelid = renamed.relation::regclass and conname = format('%s_%s_not_null', renamed.relation, renamed.old))
    then
      execute format('alter table %I rename constraint %I to %I', renamed.relation,
                     format('%s_%s_not_null', renamed.relation, renamed.old), format('%s_%s_not_null', renamed.relation, renamed.new));
    end if;
  end loop;
end $$;
