-- compatible with programs from migration 0092 on
-- How many days the access log is kept, as `migrate` read it from the settings. The roles of the program can only read it.
create table access_log_retention (
  -- One row.
  id boolean primary key default true check (id),
  days integer not null check (days >= 1)
);
insert into access_log_retention (days) values (400);

-- The retention when the day was dropped; null for days that programs before this migration dropped.
alter table access_day add column retention_days integer;

-- Drops the table of a day of the access log, in the order of locks of append_access_log. Refuses a day that is not older than the
-- retention by the clock of the database, so that no caller can shorten the log. It waits only briefly for readers of the log, for
-- example a backup; the retention tries again.
create function drop_access_log_day(dropped_day date) returns void
  language plpgsql security definer set search_path from current set lock_timeout = '200ms' as $$
declare
  current_days integer;
begin
  select days into strict current_days from access_log_retention;
  if dropped_day >= (now() at time zone 'UTC')::date - current_days then
    raise exception 'the access log is kept for % days, and % is younger', current_days, dropped_day using errcode = 'insufficient_privilege';
  end if;
  lock table access_day in exclusive mode;
  execute format('drop table if exists %I', 'access_log_' || to_char(dropped_day, 'YYYYMMDD'));
  update access_day set dropped_at = now(), retention_days = current_days where day = dropped_day and dropped_at is null;
end $$;
revoke execute on function drop_access_log_day(date) from public;

-- For programs before this migration, which name the time.
create or replace function drop_access_log_day(dropped_day date, at timestamptz) returns void
  language sql security definer set search_path from current set lock_timeout = '200ms' as $$
  select drop_access_log_day(dropped_day)
$$;
