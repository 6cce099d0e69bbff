-- compatible with programs from migration 0092 on
-- The sum of a team's counts in user_checkpoint. A list of 1,000,000 users has 2,000 of them, and their sum took as long as the rest of a
-- page of 100 users.
create table user_checkpoint_total (
  team_id  uuid primary key references team,
  shown    bigint not null
);

-- Adds what a statement has changed in a table of checkpoints to the table of their totals.
create function add_checkpoints_to_total() returns trigger language plpgsql as $$
begin
  execute format(
    'insert into %I.%I as total (team_id, shown) select team_id, sum(change) from (%s) changed group by team_id
     on conflict (team_id) do update set shown = total.shown + excluded.shown',
    tg_table_schema, tg_table_name || '_total',
    case tg_op
      when 'INSERT' then 'select team_id, shown as change from added'
      when 'DELETE' then 'select team_id, -shown as change from removed'
      else 'select team_id, shown as change from added union all select team_id, -shown from removed'
    end);
  return null;
end $$;

create trigger user_checkpoint__insert after insert on user_checkpoint
  referencing new table as added for each statement execute function add_checkpoints_to_total();
create trigger user_checkpoint__update after update on user_checkpoint
  referencing new table as added old table as removed for each statement execute function add_checkpoints_to_total();
create trigger user_checkpoint__delete after delete on user_checkpoint
  referencing old table as removed for each statement execute function add_checkpoints_to_total();

-- Nobody changes checkpoints until these triggers are in force.
insert into user_checkpoint_total (team_id, shown) select team_id, sum(shown) from user_checkpoint group by team_id;
