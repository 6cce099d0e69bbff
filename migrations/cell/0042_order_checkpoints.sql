-- compatible with programs from migration 0030 on
-- Checkpoints along a team's orders, in the order of (created_at, id): how many whose users are not deleted lie from the checkpoint before,
-- or from the beginning, up to this one, exclusive. They take the place of order_mark, which counts the orders of deleted users too; programs
-- up to migration 41 go on with that one.
create table order_checkpoint (
  team_id     uuid not null references team,
  created_at  timestamptz not null,
  id          uuid not null,
  shown       bigint not null,
  primary key (team_id, created_at, id)
);

-- Whoever deletes a user, or takes a deletion back, changes the counts of the user's orders' parts of the list. The row of the team is the
-- lock under which checkpoints are set.
create function count_order_checkpoints_of_user() returns trigger language plpgsql as $$
begin
  perform from team where id = new.team_id for no key update;
  update order_checkpoint c
  set shown = c.shown + case when new.deleted_at is null then moved.n else -moved.n end
  from (
    select next.created_at, next.id, count(*) as n
    from lab_order o
    cross join lateral (
      select c.created_at, c.id from order_checkpoint c
      where c.team_id = o.team_id and (c.created_at, c.id) > (o.created_at, o.id)
      order by c.created_at, c.id limit 1) next
    where o.user_id = new.id and o.team_id = new.team_id
    group by next.created_at, next.id) moved
  where c.team_id = new.team_id and c.created_at = moved.created_at and c.id = moved.id;
  return null;
end $$;
create trigger user__order_checkpoints after update of deleted_at on "user"
  for each row when ((old.deleted_at is null) <> (new.deleted_at is null)) execute function count_order_checkpoints_of_user();

-- An order that is given to another user is shown, or hidden, as that one is.
create function count_order_checkpoint() returns trigger language plpgsql as $$
declare
  change integer;
begin
  perform from team where id = new.team_id for no key update;
  select sum(case when u.deleted_at is not null then 0 when u.id = new.user_id then 1 else -1 end) into change
  from "user" u where u.team_id = new.team_id and u.id in (old.user_id, new.user_id);
  if change <> 0 then
    update order_checkpoint set shown = shown + change
    where team_id = new.team_id and (created_at, id) = (
      select c.created_at, c.id from order_checkpoint c
      where c.team_id = new.team_id and (c.created_at, c.id) > (new.created_at, new.id)
      order by c.created_at, c.id limit 1);
  end if;
  return null;
end $$;
create trigger lab_order__checkpoint after update of user_id on lab_order
  for each row when (old.user_id <> new.user_id) execute function count_order_checkpoint();
