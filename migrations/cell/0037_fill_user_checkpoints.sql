-- compatible with programs from migration 0030 on
-- The checkpoints of the users that there are. Teams are locked, so that no user is deleted meanwhile; orders and users can be created.
select from team order by id for no key update;
with settled as (
  -- Users of the last two minutes, by the time in their ids, may have others before them that are not committed yet.
  select lpad(to_hex(floor(extract(epoch from clock_timestamp() - interval '2 minutes') * 1000)::bigint), 12, '0') as hex)
insert into user_checkpoint (team_id, created_on, id, shown)
select team_id, created_on, id, 500
from (
  select team_id, created_on, id, row_number() over (partition by team_id order by created_on, id) as place
  from "user" where deleted_at is null) placed
where place > 1 and (place - 1) % 500 = 0
  and id < (select substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-7000-8000-000000000000' from settled)::uuid;
