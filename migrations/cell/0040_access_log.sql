-- compatible with programs from migration 0030 on
-- Who read or changed the data of which patients. A line is JSON text: what is exported, and what hashes are made of. Beside it stand
-- only columns that lines are found by.

-- Lines that transactions have left and that are not part of the log yet. No index and no array: a transaction that changes something
-- pays for one row and nothing else.
create table access_line (
  team_id  uuid,
  -- An array of ids, as text.
  users    text not null,
  line     text not null
);

-- The log: lines one after the other, each with a hash over the hash before it and its own text. Rows are never updated; they go a day at
-- a time.
create table access_log (
  -- When the line became part of the log, so that days follow each other as lines do. By the machine's clock, UTC.
  day      date not null,
  seq      bigint not null,
  team_id  uuid,
  users    uuid[] not null,
  line     text not null,
  hash     bytea not null,
  primary key (seq, day)
) partition by range (day);
create index access_log__users on access_log using gin (users);

-- The days of the log. A day that was dropped keeps its row, since the next day goes on from its hash. The first row is that of no day:
-- there the chain begins.
create table access_day (
  day         date primary key,
  -- The number of the day's last line, and its hash.
  seq         bigint not null,
  hash        bytea not null,
  dropped_at  timestamptz
);
insert into access_day (day, seq, hash, dropped_at) values ('1970-01-01', 0, sha256(''), '1970-01-01 00:00:00+00');

create function access_link(state bytea, first bytea, line text) returns bytea language plpgsql immutable as $$
begin
  return sha256(coalesce(state, first) || convert_to(line, 'UTF8'));
end $$;

-- Over a window, the hash of each line: of the first one it goes on from `first`, of every other from the hash before it.
create aggregate access_chain(first bytea, line text) (sfunc = access_link, stype = bytea);

-- Makes the lines given and those that transactions have left part of the log, oldest first, and says how many they were. One caller at a
-- time: what it reads after the lock is what the caller before it has committed. The arrays are of one length.
create function access_seal(today date, teams uuid[], patients text[], lines text[]) returns bigint language plpgsql as $$
declare
  head access_day;
  sealed bigint;
  last_seq bigint;
  last_hash bytea;
begin
  lock table access_day in exclusive mode;
  if cardinality(lines) = 0 and not exists (select from access_line) then
    return 0;
  end if;
  select * into strict head from access_day order by day desc limit 1;
  if today > head.day then
    execute format('create table %I partition of access_log for values from (%L) to (%L)',
                   'access_log_' || to_char(today, 'YYYYMMDD'), today, today + 1);
    insert into access_day (day, seq, hash) values (today, head.seq, head.hash);
    head.day := today;
  end if;
  with
    left_here as (delete from access_line returning team_id, users, line),
    waiting as (
      select team_id, users, line from left_here
      union all
      select given.team_id, given.users, given.line from unnest(teams, patients, lines) as given (team_id, users, line)),
    written as (
      insert into access_log (day, seq, team_id, users, line, hash)
      select head.day, head.seq + row_number() over w, team_id, users::uuid[], line, access_chain(head.hash, line) over w
      from waiting window w as (order by line collate "C" rows unbounded preceding)
      returning seq, hash)
  select count(*) over (), seq, hash into strict sealed, last_seq, last_hash from written order by seq desc limit 1;
  update access_day set seq = last_seq, hash = last_hash where day = head.day;
  return sealed;
end $$;

-- Drops the lines of a day; its row stays.
create function access_drop(gone date, at timestamptz) returns void language plpgsql as $$
begin
  execute format('drop table if exists %I', 'access_log_' || to_char(gone, 'YYYYMMDD'));
  update access_day set dropped_at = at where day = gone and dropped_at is null;
end $$;
