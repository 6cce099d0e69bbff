-- compatible with programs from migration 0030 on
-- The checkpoints of the orders that there are: where marks are, without the orders of deleted users. Teams are locked, so that no user is
-- deleted and no mark is set or forgotten meanwhile; orders and users can be created.
select from team order by id for no key update;
insert into order_checkpoint (team_id, created_at, id, shown)
select team_id, created_at, id, rank - lag(rank, 1, 0::bigint) over (partition by team_id order by rank) from order_mark;
update order_checkpoint c
set shown = c.shown - hidden.n
from (
  select o.team_id, next.created_at, next.id, count(*) as n
  from "user" u
  join lab_order o on o.user_id = u.id and o.team_id = u.team_id
  cross join lateral (
    select c.created_at, c.id from order_checkpoint c
    where c.team_id = o.team_id and (c.created_at, c.id) > (o.created_at, o.id)
    order by c.created_at, c.id limit 1) next
  where u.deleted_at is not null
  group by o.team_id, next.created_at, next.id) hidden
where c.team_id = hidden.team_id and c.created_at = hidden.created_at and c.id = hidden.id;
