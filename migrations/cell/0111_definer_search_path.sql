-- compatible with programs from migration 0109 on
-- Functions that run as the owner of the tables look for temporary tables and types last. Without `pg_temp` in the path PostgreSQL looks for
-- them first, and a session could let such a function read and write its own tables, or run its own code as the owner.

-- Appends lines to the access log, under a day: those that transactions have left in access_line, at most 20,000 a call, and those of
-- `new_lines`. There each line has three fields, separated by tabs: the team or nothing, the users, and the line of the log as JSON text,
-- which holds neither tabs nor line breaks. The table of a new day is attached, because creating it as a partition would wait for every
-- reader of the log. Returns the number of appended lines. Whether there are lines is asked only before that table is created: lines that have
-- been appended stay in the pages of access_line until it is vacuumed, so each look reads them all. It has
-- the rights of its caller, of which only those of the owner suffice.
create function append_access_log_on(today date, new_lines text) returns bigint
  language plpgsql as $$
declare
  head access_day;
  appended bigint;
  last_seq bigint;
  last_hash bytea;
begin
  lock table access_day in exclusive mode;
  select * into strict head from access_day order by day desc limit 1;
  if today > head.day then
    if new_lines = '' and not exists (select from access_line) then
      return 0;
    end if;
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
  select count(*) over (), seq, hash into appended, last_seq, last_hash from inserted order by seq desc limit 1;
  if not found then
    return 0;
  end if;
  update access_day set seq = last_seq, hash = last_hash where day = head.day;
  return appended;
end $$;

-- The same under the present day. The clock of the database says which that is: under an old day lines would expire early, and under a day
-- that is far ahead they would never expire.
create function append_access_log(new_lines text) returns bigint
  language sql security definer as $$
  select append_access_log_on((now() at time zone 'UTC')::date, new_lines)
$$;
revoke execute on function append_access_log(text) from public;

-- For programs before this migration, which name the day.
create or replace function append_access_log(today date, new_lines text) returns bigint
  language sql security definer as $$
  select append_access_log(new_lines)
$$;

-- Drops the table of a day of the access log, in the order of locks of append_access_log. Refuses a day that is not older than the
-- retention by the clock of the database, so that no caller can shorten the log, and changes nothing for a day that the log does not have:
-- the year in the name of its table would be that of another day, as for the years before Christ. It waits only briefly for readers of the
-- log, for example a backup; the retention tries again.
create or replace function drop_access_log_day(dropped_day date) returns void
  language plpgsql security definer set lock_timeout = '200ms' as $$
declare
  current_days integer;
begin
  select days into strict current_days from access_log_retention;
  if dropped_day >= (now() at time zone 'UTC')::date - current_days then
    raise exception 'the access log is kept for % days, and % is younger', current_days, dropped_day using errcode = 'insufficient_privilege';
  end if;
  lock table access_day in exclusive mode;
  update access_day set dropped_at = now(), retention_days = current_days where day = dropped_day and dropped_at is null;
  if found then
    execute format('drop table if exists %I', 'access_log_' || to_char(dropped_day, 'YYYYMMDD'));
  end if;
end $$;

do $$
declare
  f regprocedure;
begin
  for f in select oid from pg_proc where pronamespace = current_schema()::regnamespace and prosecdef loop
    execute format('alter function %s set search_path = %I, pg_temp', f, current_schema());
  end loop;
end $$;
