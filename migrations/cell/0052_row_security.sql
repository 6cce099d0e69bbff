-- compatible with programs from migration 0030 on
-- The database keeps teams apart once more than the conditions of the statements do. Roles, grants and the policies of tables with the column
-- team_id are made beside the migrations, for whatever tables there are then (src/platform/row-security.ts). Here is what they refer to, and
-- what some tables need besides. Nothing holds the owner of the tables: programs of before that connect as the owner work on.

-- The team that the present transaction names; null where it names none.
create function current_team() returns uuid language sql stable parallel safe
  as $$ select nullif(current_setting('drawbridge.team', true), '')::uuid $$;

create policy of_team on team using (id = current_team()) with check (id = current_team());

-- Payors of the platform are for every team.
create policy of_platform on payor for select using (team_id is null);

-- Queries of an organization are for each of its teams.
create policy of_organization on continuous_query
  using (team_id is null and org_id = (select t.org_id from team t where t.id = current_team()))
  with check (team_id is null and org_id = (select t.org_id from team t where t.id = current_team()));

-- Phlebotomists and sites serve several teams. A team is told which of their time is taken, and not for whom: these functions run as the
-- owner of the tables.
create function taken_of_staff(staff_ids uuid[], start_from timestamptz, end_to timestamptz, but_appointment uuid)
  returns table (staff_id uuid, start_at timestamptz, end_at timestamptz, busy_min integer)
  language sql stable security definer set search_path from current as $$
  select v.staff_id, v.start_at, v.end_at, v.busy_min from phlebotomy_visit v
  where v.staff_id = any (staff_ids) and v.start_at < end_to and v.end_at > start_from
    and v.appointment_id is distinct from but_appointment
$$;

create function taken_of_sites(lab text, site_codes text[], start_from timestamptz, end_to timestamptz, but_appointment uuid)
  returns table (site_code text, start_at timestamptz, end_at timestamptz, count bigint)
  language sql stable security definer set search_path from current as $$
  select a.site_code, a.start_at, a.end_at, count(*) from appointment a
  where a.provider = lab and a.site_code = any (site_codes) and a.event_status <> 'cancelled'
    and a.start_at < end_to and a.end_at > start_from and a.id is distinct from but_appointment
  group by a.site_code, a.start_at, a.end_at
$$;

-- A policy is asked before conditions that might tell something of a row. `ilike`, `@>` and functions are such: under policies their indexes
-- could not be used. Orders are looked for by names and codes of kits; answers, lines of the access log and what laboratories sent by the user
-- whom they are about: in these views, which have the condition of the policy and leave the planner free. They show a team's rows where a team
-- is named, all of them to the owner of the tables, and none to the role that works on the whole cell, which asks the tables.
create view lab_order_of_team as
  select id, team_id, user_id, transaction_id, method, low_status, created_at, updated_at, activate_by, interpretation, patient_name,
         recipient_name, patient_dob, lifecycle, sample_id
  from lab_order where team_id = current_team() or not row_security_active('lab_order'::regclass);

create view idempotency_of_team as
  select team_id, scope, key, user_ids
  from idempotency where team_id = current_team() or not row_security_active('idempotency'::regclass);

create view access_log_of_team as
  select seq, team_id, users, line
  from access_log where team_id = current_team() or not row_security_active('access_log'::regclass);

create view raw_result_of_team as
  select id, team_id, user_ids
  from raw_result where team_id = current_team() or not row_security_active('raw_result'::regclass);

-- Days of the access log are tables, which the roles of the program may not make or drop. These functions do it as the owner of the log, and
-- only for who works on the whole cell: after the migrations execution is granted to the role of the cell alone.
do $$
declare
  f regprocedure;
begin
  foreach f in array array['access_seal(date, uuid[], text[], text[])', 'access_seal(date, text)', 'access_drop(date, timestamptz)']::regprocedure[]
  loop
    execute format('alter function %s security definer set search_path = %I', f, current_schema());
    execute format('revoke execute on function %s from public', f);
  end loop;
end $$;
