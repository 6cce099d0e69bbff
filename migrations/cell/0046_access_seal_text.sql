-- compatible with programs from migration 0030 on
-- Making lines part of the access log, in bounded steps and without keeping readers of the log away.

-- As the function of before that takes arrays, which stays for programs of before. Lines are given as one text, since quoting three arrays
-- cost more than a third of the whole: one line of the text is the team or nothing, the users and the line of the log, with tabs between
-- them; JSON text holds neither tabs nor line breaks. Of the lines that transactions have left a call takes 20,000, so that each call ends
-- within its deadline, however many wait: who gets back at least that many calls again. The table of a new day is attached, since creating
-- it as a partition would wait for everybody who reads the log, a backup too, and let nobody else read it meanwhile.
create function access_seal(today date, given text) returns bigint language plpgsql as $$
declare
  head access_day;
  sealed bigint;
  last_seq bigint;
  last_hash bytea;
begin
  lock table access_day in exclusive mode;
  if given = '' and not exists (select from access_line) then
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
    left_here as (
      delete from access_line where ctid = any (array(select ctid from access_line limit 20000)) returning team_id, users, line),
    waiting as (
      select team_id, users, line from left_here
      union all
      select nullif(split_part(l, E'\t', 1), '')::uuid, split_part(l, E'\t', 2), split_part(l, E'\t', 3)
      from unnest(string_to_array(nullif(given, ''), E'\n')) as t (l)),
    written as (
      insert into access_log (day, seq, team_id, users, line, hash)
      select head.day, head.seq + row_number() over w, team_id, users::uuid[], line, access_chain(head.hash, line) over w
      from waiting window w as (order by line collate "C" rows unbounded preceding)
      returning seq, hash)
  select count(*) over (), seq, hash into strict sealed, last_seq, last_hash from written order by seq desc limit 1;
  update access_day set seq = last_seq, hash = last_hash where day = head.day;
  return sealed;
end $$;

-- As before, but in the order of locks of access_seal, and without keeping readers away for long: while somebody reads the log, a backup for
-- example, the day stays and is tried again at the next look of the retention.
create or replace function access_drop(gone date, at timestamptz) returns void language plpgsql set lock_timeout = '200ms' as $$
begin
  lock table access_day in exclusive mode;
  execute format('drop table if exists %I', 'access_log_' || to_char(gone, 'YYYYMMDD'));
  update access_day set dropped_at = at where day = gone and dropped_at is null;
end $$;
