-- compatible with programs from migration 0092 on
-- The sums of a team's counts in user_checkpoint and order_checkpoint by week. A page far down a list of 1,000,000 rows added up 2,000
-- counts, which took longer than the rest of the page; with these sums it adds up the weeks and the counts of one week.
create table user_checkpoint_week (
  team_id  uuid not null references team on delete cascade,
  week     timestamptz not null,
  shown    integer not null,
  primary key (team_id, week)
);

create table order_checkpoint_week (
  team_id  uuid not null references team on delete cascade,
  week     timestamptz not null,
  shown    integer not null,
  primary key (team_id, week)
);

-- Programs that do not know the tables of sums can erase a team.
alter table user_checkpoint_total drop constraint user_checkpoint_total_team_id_fkey,
  add constraint user_checkpoint_total_team_id_fkey foreign key (team_id) references team on delete cascade;
alter table order_checkpoint_total drop constraint order_checkpoint_total_team_id_fkey,
  add constraint order_checkpoint_total_team_id_fkey foreign key (team_id) references team on delete cascade;

-- Adds what a statement has changed in a table of checkpoints to the tables of their sums. The argument is the column of the team's time.
-- A week begins on Monday, in UTC.
create function add_checkpoints_to_sums() returns trigger language plpgsql as $$
declare
  changes text := format(
    case tg_op
      when 'INSERT' then 'select team_id, %1$I as at, shown as change from added'
      when 'DELETE' then 'select team_id, %1$I as at, -shown as change from removed'
      else 'select team_id, %1$I as at, shown as change from added union all select team_id, %1$I, -shown from removed'
    end, tg_argv[0]);
begin
  execute format(
    'insert into %I.%I as total (team_id, shown) select team_id, sum(change) from (%s) changed group by team_id
     on conflict (team_id) do update set shown = total.shown + excluded.shown',
    tg_table_schema, tg_table_name || '_total', changes);
  execute format(
    'insert into %I.%I as sums (team_id, week, shown)
     select team_id, date_trunc(''week'', at, ''UTC''), sum(change) from (%s) changed group by 1, 2
     on conflict (team_id, week) do update set shown = sums.shown + excluded.shown',
    tg_table_schema, tg_table_name || '_week', changes);
  return null;
end $$;

create or replace trigger user_checkpoint__insert after insert on user_checkpoint
  referencing new table as added for each statement execute function add_checkpoints_to_sums('created_on');
create or replace trigger user_checkpoint__update after update on user_checkpoint
  referencing new table as added old table as removed for each statement execute function add_checkpoints_to_sums('created_on');
create or replace trigger user_checkpoint__delete after delete on user_checkpoint
  referencing old table as removed for each statement execute function add_checkpoints_to_sums('created_on');
create or replace trigger order_checkpoint__insert after insert on order_checkpoint
  referencing new table as added for each statement execute function add_checkpoints_to_sums('created_at');
create or replace trigger order_checkpoint__update after update on order_checkpoint
  referencing new table as added old table as removed for each statement execute function add_checkpoints_to_sums('created_at');
create or replace trigger order_checkpoint__delete after delete on order_checkpoint
  referencing old table as removed for each statement execute function add_checkpoints_to_sums('created_at');
drop function add_checkpoints_to_total();

-- Nobody changes checkpoints until these triggers are in force.
insert into user_checkpoint_week (team_id, week, shown)
  select team_id, date_trunc('week', created_on, 'UTC'), sum(shown) from user_checkpoint group by 1, 2;
insert into order_checkpoint_week (team_id, week, shown)
  select team_id, date_trunc('week', created_at, 'UTC'), sum(shown) from order_checkpoint group by 1, 2;
