-- compatible with programs from migration 0030 on
-- Checkpoints along a team's users, in the order of (created_on, id): how many that are not deleted lie from the checkpoint before, or from
-- the beginning, up to this one, exclusive. The total of the list, and a page far down it, start from here.
create table user_checkpoint (
  team_id     uuid not null references team,
  created_on  timestamptz not null,
  id          uuid not null,
  shown       bigint not null,
  primary key (team_id, created_on, id)
);

-- Whoever deletes a user, or takes a deletion back, changes the count of the user's part of the list. The row of the team is the lock under
-- which checkpoints are set.
create function count_user_checkpoint() returns trigger language plpgsql as $$
begin
  perform from team where id = new.team_id for no key update;
  update user_checkpoint
  set shown = shown + case when new.deleted_at is null then 1 else -1 end
  where team_id = new.team_id and (created_on, id) = (
    select c.created_on, c.id from user_checkpoint c
    where c.team_id = new.team_id and (c.created_on, c.id) > (new.created_on, new.id)
    order by c.created_on, c.id limit 1);
  return null;
end $$;
create trigger user__checkpoint after update of deleted_at on "user"
  for each row when ((old.deleted_at is null) <> (new.deleted_at is null)) execute function count_user_checkpoint();
