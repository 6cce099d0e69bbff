-- compatible with programs from migration 0058 on
-- Gives tables, columns, functions and jobs the names of docs/ARCHITECTURE.md. Programs of earlier releases cannot run beside it: stop
-- them first. Rows stay as they are, except for the names of jobs that wait and for what only earlier programs read.
do $$
declare
  renamed record;
  part record;
begin
  for renamed in
    select * from (values
      ('announcement', 'event_outbox'),
      ('audit', 'audit_log'),
      ('catalog_load', 'catalog_data_version'),
      ('delivery_tally', 'delivery_attempt_count'),
      ('followed_team', 'event_subscribed_team'),
      ('geocoded_place', 'geocoding_cache'),
      ('handful', 'dispatch_batch'),
      ('idempotency', 'idempotency_key'),
      ('insurance_load', 'insurance_data_version'),
      ('lane_recall', 'revoked_webhook_lease'),
      ('pipeline_lane', 'pipeline_queue'),
      ('postal_place', 'postal_code_location'),
      ('psc_directory', 'psc_directory_version'),
      ('webhook_lane', 'webhook_lease')) as t (old, new)
  loop
    execute format('alter table %I rename to %I', renamed.old, renamed.new);
    -- The names of constraints, indexes and identity sequences begin with that of their table.
    for part in
      select conname::text as name from pg_constraint
      where conrelid = renamed.new::regclass and starts_with(conname::text, renamed.old || '_')
    loop
      execute format('alter table %I rename constraint %I to %I',
                     renamed.new, part.name, renamed.new || substr(part.name, length(renamed.old) + 1));
    end loop;
    for part in
      select c.relname::text as name, case c.relkind when 'S' then 'sequence' else 'index' end as kind
      from pg_class c
      where starts_with(c.relname::text, renamed.old || '_')
        and (c.oid in (select indexrelid from pg_index where indrelid = renamed.new::regclass
                       except select conindid from pg_constraint where conrelid = renamed.new::regclass)
          or c.relkind = 'S' and c.oid in (select objid from pg_depend where refobjid = renamed.new::regclass and classid = 'pg_class'::regclass))
    loop
      execute format('alter %s %I rename to %I', part.kind, part.name, renamed.new || substr(part.name, length(renamed.old) + 1));
    end loop;
  end loop;

  for renamed in
    select * from (values
      ('appointment', 'facts', 'internal_data'),
      ('delivery', 'number', 'queue_position'),
      ('delivery', 'reported', 'last_report'),
      ('delivery_attempt_count', 'at', 'bucket_start'),
      ('delivery_attempt_count', 'n', 'attempts'),
      ('dispatch_batch', 'nths', 'webhook_indexes'),
      ('geocoding_cache', 'asked_at', 'fetched_at'),
      ('geocoding_cache', 'found_city', 'result_city'),
      ('geocoding_cache', 'found_state', 'result_state'),
      ('icd_exclusion', 'excluded', 'excluded_code'),
      ('lab_order', 'intake', 'internal_data'),
      ('lab_order', 'lifecycle', 'lifecycle_name'),
      ('lab_order', 'low_status', 'low_level_status'),
      ('lab_test', 'approved', 'is_approved'),
      ('lab_test', 'made_of', 'composition_key'),
      ('mail', 'done_at', 'finished_at'),
      ('patient_message', 'done_at', 'finished_at'),
      ('phlebotomist', 'area', 'service_box'),
      ('phlebotomy_visit', 'busy_min', 'blocked_minutes'),
      ('phlebotomy_visit', 'told', 'visit_details'),
      ('pipeline_queue', 'failures', 'consecutive_failures'),
      ('psc_directory_version', 'sandbox_form', 'sandbox_data_revision'),
      ('raw_result', 'delivery', 'payload'),
      ('raw_result', 'searched', 'search_text'),
      ('raw_result', 'shown', 'visible_to_team'),
      ('raw_result', 'user_ids', 'candidate_user_ids'),
      ('team', 'features_off', 'disabled_features'),
      ('team', 'features_on', 'enabled_options'),
      ('webhook_lease', 'throttled_until', 'paused_until')) as t (relation, old, new)
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

alter sequence delivery_number rename to delivery_queue_position;
alter index delivery_attempt_count__at rename to delivery_attempt_count__bucket_start;
alter index geocoding_cache__asked rename to geocoding_cache__fetched;
alter index lab_test__made_of rename to lab_test__composition_key;
alter index phlebotomist__area rename to phlebotomist__service_box;
alter table phlebotomy_visit rename constraint phlebotomy_visit__taken to phlebotomy_visit__booked;
alter table pipeline_delivery rename constraint pipeline_delivery__lane to pipeline_delivery__queue;

alter view idempotency_of_team rename to idempotency_key_of_team;
alter view lab_order_of_team rename column low_status to low_level_status;
alter view lab_order_of_team rename column lifecycle to lifecycle_name;
alter view raw_result_of_team rename column user_ids to candidate_user_ids;

-- Programs up to migration 41 counted orders by these marks; order_checkpoint took their place.
drop table order_mark;

-- Deletes the deliveries of deleted events.
drop trigger event__deliveries on event;
drop function forget_deliveries_of_events();
create function delete_event_deliveries() returns trigger language plpgsql as $$
begin
  delete from delivery
  where webhook_id = any (array(
      select w.id from webhook w where w.team_id = any (array(select distinct team_id from deleted_events))
      union all
      select d.webhook_id from deleted_webhook d where d.team_id = any (array(select distinct team_id from deleted_events))))
    and message_id = any (array(select id from deleted_events));
  return null;
end $$;
create trigger event__deliveries after delete on event
  referencing old table as deleted_events for each statement execute function delete_event_deliveries();

-- Records deleted endpoints: their deliveries are erased later, in batches.
drop trigger webhook__deliveries on webhook;
drop function forget_deliveries_of_webhooks();
create function record_deleted_webhooks() returns trigger language plpgsql as $$
begin
  insert into deleted_webhook (webhook_id, team_id) select id, team_id from deleted_webhooks;
  return null;
end $$;
create trigger webhook__deliveries after delete on webhook
  referencing old table as deleted_webhooks for each statement execute function record_deleted_webhooks();

-- The booked times of phlebotomists and of sites, which serve several teams, without the patients. They run as the owner of the tables.
drop function taken_of_staff(uuid[], timestamptz, timestamptz, uuid);
create function booked_times_of_staff(staff_ids uuid[], start_from timestamptz, end_to timestamptz, except_appointment uuid)
  returns table (staff_id uuid, start_at timestamptz, end_at timestamptz, blocked_minutes integer)
  language sql stable security definer set search_path from current as $$
  select v.staff_id, v.start_at, v.end_at, v.blocked_minutes from phlebotomy_visit v
  where v.staff_id = any (staff_ids) and v.start_at < end_to and v.end_at > start_from
    and v.appointment_id is distinct from except_appointment
$$;
drop function taken_of_sites(text, text[], timestamptz, timestamptz, uuid);
create function booked_times_of_sites(lab text, site_codes text[], start_from timestamptz, end_to timestamptz, except_appointment uuid)
  returns table (site_code text, start_at timestamptz, end_at timestamptz, count bigint)
  language sql stable security definer set search_path from current as $$
  select a.site_code, a.start_at, a.end_at, count(*) from appointment a
  where a.provider = lab and a.site_code = any (site_codes) and a.event_status <> 'cancelled'
    and a.start_at < end_to and a.end_at > start_from and a.id is distinct from except_appointment
  group by a.site_code, a.start_at, a.end_at
$$;

-- Appends lines to the access log: those that transactions have left in access_line, at most 20,000 a call, and those of `new_lines`. There
-- each line has three fields, separated by tabs: the team or nothing, the users, and the line of the log as JSON text, which holds neither
-- tabs nor line breaks. The table of a new day is attached, because creating it as a partition would wait for every reader of the log.
-- Returns the number of appended lines. The function with arrays, for programs up to migration 45, is dropped.
drop function access_seal(date, uuid[], text[], text[]);
drop function access_seal(date, text);
create function append_access_log(today date, new_lines text) returns bigint
  language plpgsql security definer set search_path from current as $$
declare
  head access_day;
  appended bigint;
  last_seq bigint;
  last_hash bytea;
begin
  lock table access_day in exclusive mode;
  if new_lines = '' and not exists (select from access_line) then
    return 0;
  end if;
  select * into strict head from access_day order by day desc limit 1;
  if today > head.day then
    execute format('create table %I (like access_log including all)', 'access_log_' || to_char(today, 'YYYYMMDD'));
    execute format('alter table access_log attach partition %I for values from (%L) to (%L)',
                   'access_log_' || to_char(today, 'YYYYMMDD'), today, today + 1);
    insert into access_day (day, seq, hash) values (today, head.seq, head.hash);
    head.day := today;
  end if;
  with
    stored as (
      delete from access_line where ctid = any (array(select ctid from access_line limit 20000)) returning team_id, users, line),
    pending as (
      select team_id, users, line from stored
      union all
      select nullif(split_part(l, E'\t', 1), '')::uuid, split_part(l, E'\t', 2), split_part(l, E'\t', 3)
      from unnest(string_to_array(nullif(new_lines, ''), E'\n')) as t (l)),
    inserted as (
      insert into access_log (day, seq, team_id, users, line, hash)
      select head.day, head.seq + row_number() over w, team_id, users::uuid[], line, access_chain(head.hash, line) over w
      from pending window w as (order by line collate "C" rows unbounded preceding)
      returning seq, hash)
  select count(*) over (), seq, hash into strict appended, last_seq, last_hash from inserted order by seq desc limit 1;
  update access_day set seq = last_seq, hash = last_hash where day = head.day;
  return appended;
end $$;
revoke execute on function append_access_log(date, text) from public;

-- Drops the table of a day of the access log, in the order of locks of append_access_log. It waits only briefly for readers of the log, for
-- example a backup; the retention tries again.
drop function access_drop(date, timestamptz);
create function drop_access_log_day(dropped_day date, at timestamptz) returns void
  language plpgsql security definer set search_path from current set lock_timeout = '200ms' as $$
begin
  lock table access_day in exclusive mode;
  execute format('drop table if exists %I', 'access_log_' || to_char(dropped_day, 'YYYYMMDD'));
  update access_day set dropped_at = at where day = dropped_day and dropped_at is null;
end $$;
revoke execute on function drop_access_log_day(date, timestamptz) from public;

update job set name = renamed.new
from (values
  ('messages.plan_visit', 'messages.plan_appointment_reminders'),
  ('messages.remind_visit', 'messages.remind_appointment'),
  ('orders.mark', 'orders.create_checkpoints'),
  ('phlebotomy.date', 'phlebotomy.schedule_visit'),
  ('phlebotomy.play', 'phlebotomy.simulate_visit'),
  ('scheduling.give-up', 'scheduling.expire_booking'),
  ('simulator.rehearse', 'simulator.run_test_stage'),
  ('users.mark', 'users.create_checkpoints')) as renamed (old, new)
where job.name = renamed.old;
