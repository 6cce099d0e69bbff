-- Rows of a release with the migrations 57 of cells and 13 of the control plane: in tables that release-30.sql leaves empty, and jobs under
-- the names of that release. They refer to rows of release-30.sql. What waits is due later, except for one job.

insert into control."embedding" (org_id, slug, modalities, origins)
select id, 'fictional', '{link_out}', '[{"origin": "https://app.example.com"}]' from control."org" limit 1;

insert into control."embedded_member" (id, org_id, integration_member_id, name, email, created_at)
select '01a20200-0000-7000-8000-000000000001', id, 'fictional-1', 'Testa Fictional', 'testa@example.com', now() from control."org" limit 1;

insert into control."dashboard_session" (id, member_id, team_id, environment, feature, modality, launch_hash, session_hash, expires_at)
select '01a20200-0000-7000-8000-000000000002', '01a20200-0000-7000-8000-000000000001', id, 'sandbox', 'orders', 'link_out', '\x01', '\x02',
       now() + interval '1 day'
from control."team" limit 1;

insert into control."org_domain" (id, org_id, domain, token, verified_at, target, created_at)
select '01a20200-0000-7000-8000-000000000003', id, 'clinic.example.com', 'fictional', now(), 'dashboard.example.com', now()
from control."org" limit 1;

insert into control."idempotency" (team_id, scope, key, status, body, expires_at)
select id, 'create_team', 'first', 200, '{}', now() + interval '1 day' from control."org" limit 1;

insert into sandbox_us."job" (id, team_id, name, payload, run_at, due_at, attempts, failed_at, last_error)
select gen_random_uuid(), team.id, waiting.name, '{}', now() + waiting.after, now() + waiting.after, waiting.attempts, waiting.failed_at,
       case when waiting.failed_at is not null then 'fictional' end
from (select id from sandbox_us."team" limit 1) team, (values
  ('orders.mark', interval '0', 0, null::timestamptz),
  ('users.mark', interval '2 days', 0, null),
  ('messages.plan_visit', interval '2 days', 0, null),
  ('messages.remind_visit', interval '2 days', 0, null),
  ('phlebotomy.date', interval '2 days', 0, null),
  ('phlebotomy.play', interval '2 days', 0, null),
  ('simulator.rehearse', interval '2 days', 3, null),
  ('scheduling.give-up', interval '2 days', 8, now())) as waiting (name, after, attempts, failed_at);

insert into sandbox_us."order_mark" (team_id, rank, created_at, id)
select team_id, 500, created_at, id from sandbox_us."lab_order" limit 1;

insert into sandbox_us."lane_recall" (webhook_id, team_id, owner, leased_until)
select id, team_id, gen_random_uuid(), now() + interval '1 hour' from sandbox_us."webhook" limit 1;

insert into sandbox_us."pipeline"
  (team_id, push_historical_data, provider_raw_data, preferred, enabled, destinations, created_at, updated_at)
select id, false, false, 'svix', '{svix,rabbitmq}', 'fictional', now(), now() from sandbox_us."team" limit 1;

insert into sandbox_us."pipeline_lane" (team_id, destination, owner, leased_until, due_at, failures, fence)
select team_id, 'rabbitmq', gen_random_uuid(), now() + interval '1 day', now() + interval '1 day', 3, 2 from sandbox_us."pipeline";

insert into sandbox_us."pipeline_delivery" (team_id, destination, event_id, user_id, due_at, attempts, created_at)
select team_id, 'rabbitmq', id, user_id, now() + interval '1 day', 1, now() from sandbox_us."event" limit 1;

insert into sandbox_us."postal_place" (country, postal_code, city, state, lat, lng)
values ('US', '00000', 'Fictional City', 'AZ', 33.4, -112.1);

insert into sandbox_us."geocoded_place" (country, postal_code, city, lat, lng, found_city, found_state, asked_at)
values ('US', '00001', 'Fictional City', 33.4, -112.1, 'Fictional City', 'AZ', now());

insert into sandbox_us."raw_result"
  (id, team_id, lab_id, sender, message_id, searched, delivery, status, decision_code, candidates, user_ids, shown, created_at, updated_at)
select gen_random_uuid(), team_id, lab_id, 'fictional', 'first', 'testa fictional 1990-01-31', '{}', 'pending_ops_review', 'no_match', '[]',
       array[user_id], false, now(), now()
from sandbox_us."lab_order" limit 1;

insert into sandbox_us."phlebotomist" (id, reference, is_active, service_types, zips, area, document)
values ('01a20200-0000-7000-8000-000000000004', 'fictional', true, '{appointment-ready}', '{85001}', '((1, 1), (0, 0))', '{}');

insert into sandbox_us."appointment"
  (id, team_id, order_id, type, provider, provider_id, event_status, start_at, end_at, created_at, updated_at, document, facts)
select '01a20200-0000-7000-8000-000000000005', team_id, id, 'phlebotomy', 'getlabs', 'fictional', 'scheduled', now() + interval '2 days',
       now() + interval '50 hours', now(), now(), '{}', '{"movable": true}'
from sandbox_us."lab_order" where method = 'at_home_phlebotomy';

insert into sandbox_us."phlebotomy_visit" (appointment_id, team_id, user_id, provider, staff_id, start_at, end_at, busy_min, told)
select a.id, a.team_id, o.user_id, a.provider, '01a20200-0000-7000-8000-000000000004', a.start_at, a.end_at, 60, '{}'
from sandbox_us."appointment" a join sandbox_us."lab_order" o on o.id = a.order_id;

-- A registered kit that was shipped, written by a program before migration 55.
update sandbox_us."lab_order"
set low_status = 'registered', document = replace(document, '"status":"received.testkit.awaiting_registration"', '"status":"collecting_sample.testkit.transit_customer"')
where id = '01a20160-0080-72ca-a07a-b3b26a2a1a38';
