-- Names are looked for by any part of them: trigrams of both names, in one index. The extension comes with PostgreSQL; where it stands
-- already, it stays in its schema.
create extension if not exists pg_trgm with schema public;
do $$
begin
  execute format(
    'create index lab_order__names on lab_order using gin (patient_name %1$I.gin_trgm_ops, recipient_name %1$I.gin_trgm_ops)',
    (select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm'));
end
$$;
