-- compatible with programs from migration 0092 on
-- The sum of a team's counts in order_checkpoint, as for users.
create table order_checkpoint_total (
  team_id  uuid primary key references team,
  shown    bigint not null
);

create trigger order_checkpoint__insert after insert on order_checkpoint
  referencing new table as added for each statement execute function add_checkpoints_to_total();
create trigger order_checkpoint__update after update on order_checkpoint
  referencing new table as added old table as removed for each statement execute function add_checkpoints_to_total();
create trigger order_checkpoint__delete after delete on order_checkpoint
  referencing old table as removed for each statement execute function add_checkpoints_to_total();

-- Nobody changes checkpoints until these triggers are in force.
insert into order_checkpoint_total (team_id, shown) select team_id, sum(shown) from order_checkpoint group by team_id;
