-- compatible with programs from migration 0092 on
-- Appends lines to the access log: those that transactions have left in access_line, at most 20,000 a call, and those of `new_lines`. There
-- each line has three fields, separated by tabs: the team or nothing, the users, and the line of the log as JSON text, which holds neither
-- tabs nor line breaks. The table of a new day is attached, because creating it as a partition would wait for every reader of the log.
-- Returns the number of appended lines. Whether there are lines is asked only before that table is created: lines that have
-- been appended stay in the pages of access_line until it is vacuumed, so each look reads them all.
create or replace function append_access_log(today date, new_lines text) returns bigint
  language plpgsql security definer set search_path from current as $$
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
