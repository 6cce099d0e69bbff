-- compatible with programs from migration 0112 on
-- Webhook endpoints and brokers are destinations with one queue.
create table destination (
  -- That of the webhook, or the kind of broker and the team.
  id text primary key,
  team_id uuid not null references team (id),
  kind text not null check (kind in ('webhook', 'rabbitmq', 'azure_amqp', 'cloud_pubsub')),
  -- The events of a user are sent one after another, also after a failure.
  keeps_order boolean not null default false,
  -- The process that serves it, and until when.
  owner uuid,
  leased_until timestamptz,
  paused_until timestamptz,
  first_failure_at timestamptz,
  failing_since timestamptz,
  unreadable_since timestamptz
);
create index destination__team on destination (team_id);
insert into destination (id, team_id, kind, owner, leased_until, paused_until, first_failure_at, failing_since, unreadable_since)
select webhook_id, team_id, 'webhook', owner, leased_until, paused_until, first_failure_at, failing_since, unreadable_since from webhook_lease;
insert into destination (id, team_id, kind, keeps_order)
select destination || '_' || replace(team_id::text, '-', ''), team_id, destination, destination <> 'rabbitmq' from pipeline_queue;
drop table webhook_lease;

alter table revoked_webhook_lease rename to revoked_lease;
alter table revoked_lease rename column webhook_id to destination_id;
alter table revoked_lease rename constraint revoked_webhook_lease_pkey to revoked_lease_pkey;
alter table revoked_lease rename constraint revoked_webhook_lease_team_id_fkey to revoked_lease_team_id_fkey;
alter index revoked_webhook_lease__leased rename to revoked_lease__leased;
alter index revoked_webhook_lease__owner rename to revoked_lease__owner;
alter index revoked_webhook_lease__team rename to revoked_lease__team;

-- Destinations that were deleted, and how far their log has been erased.
drop trigger webhook__deliveries on webhook;
drop function record_deleted_webhooks();
alter table deleted_webhook rename to deleted_destination;
alter table deleted_destination rename column webhook_id to destination_id;
alter table deleted_destination rename constraint deleted_webhook_pkey to deleted_destination_pkey;
alter index deleted_webhook__oldest rename to deleted_destination__oldest;
alter index deleted_webhook__team rename to deleted_destination__team;

alter table delivery rename column webhook_id to destination_id;
alter table delivery_attempt rename column webhook_id to destination_id;
-- Deliveries with the same key are sent one after another; null: in any order.
alter table delivery add column order_key uuid;
create index delivery__ordered on delivery (destination_id, order_key, queue_position) where order_key is not null and due_at is not null;
create index delivery__failed on delivery (destination_id) where order_key is not null and attempts > 0 and due_at is not null;
insert into delivery (team_id, destination_id, message_id, order_key, queue_position, state, due_at, attempts, trigger, created_at)
select team_id, destination || '_' || replace(team_id::text, '-', ''), event_id,
       case when destination <> 'rabbitmq' then coalesce(user_id, team_id) end, nextval('delivery_queue_position'), 'pending', due_at, attempts, 'scheduled', created_at
from pipeline_delivery order by id;
drop table pipeline_delivery, pipeline_queue;

-- Deletes the deliveries of deleted events.
create or replace function delete_event_deliveries() returns trigger language plpgsql as $$
begin
  delete from delivery
  where destination_id = any (array(
      select d.id from destination d where d.team_id = any (array(select distinct team_id from deleted_events))
      union all
      select d.destination_id from deleted_destination d where d.team_id = any (array(select distinct team_id from deleted_events))))
    and message_id = any (array(select id from deleted_events));
  return null;
end $$;
