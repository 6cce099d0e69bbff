-- compatible with programs from migration 0030 on
-- Endpoints that have been deleted and whose log is still to be erased, a batch at a time. Each deletion of an endpoint, by whatever
-- program, leaves a row; the log itself was erased by the same statement before, which took as long as the log was large. `attempts_to`
-- and `deliveries_to` are how far the erasing has come, in the order of messages.
create table deleted_webhook (
  webhook_id     text primary key,
  team_id        uuid not null,
  deleted_at     timestamptz not null default statement_timestamp(),
  attempts_to    uuid,
  deliveries_to  uuid
);
create index deleted_webhook__oldest on deleted_webhook (deleted_at);
create index deleted_webhook__team on deleted_webhook (team_id);

create or replace function forget_deliveries_of_webhooks() returns trigger language plpgsql as $$
begin
  insert into deleted_webhook (webhook_id, team_id) select id, team_id from gone;
  return null;
end $$;

create or replace function forget_deliveries_of_events() returns trigger language plpgsql as $$
begin
  delete from delivery
  where webhook_id = any (array(
      select w.id from webhook w where w.team_id = any (array(select distinct team_id from gone))
      union all
      select d.webhook_id from deleted_webhook d where d.team_id = any (array(select distinct team_id from gone))))
    and message_id = any (array(select id from gone));
  return null;
end $$;
