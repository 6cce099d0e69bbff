-- compatible with programs from migration 0109 on
-- Deliveries always have rows: fresh ones are inserted under the lease of the process that sends them. Programs of earlier releases, which
-- send batches of deliveries before they have rows, cannot run beside it: stop them first. Deliveries of their batches become due.
insert into delivery (team_id, webhook_id, message_id, queue_position, state, due_at, trigger, created_at)
select w.team_id, w.id, e.id, nextval('delivery_queue_position'), case when w.disabled then 'stopped' else 'pending' end,
       case when not w.disabled then statement_timestamp() end, 'scheduled', statement_timestamp()
from dispatch_batch b
cross join lateral unnest(b.event_ids, b.webhook_indexes) with ordinality as given (event_id, nth, n)
join webhook w on w.id = b.webhook_ids[given.nth]
join event e on e.team_id = w.team_id and e.id = given.event_id
order by b.id, given.n
on conflict (webhook_id, message_id) do nothing;
drop table dispatch_batch;
