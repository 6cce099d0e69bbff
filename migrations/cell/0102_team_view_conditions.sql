-- compatible with programs from migration 0092 on
-- The conditions of the views are computed once for each statement, and not for each row. Computing them for each of 200 orders that were
-- found by a name took a seventh of the search.
create or replace view lab_order_of_team as
  select id, team_id, user_id, transaction_id, method, low_level_status, created_at, updated_at, activate_by, interpretation, patient_name,
         recipient_name, patient_dob, lifecycle_name, sample_id
  from lab_order where team_id = (select current_team()) or (select not row_security_active('lab_order'::regclass));

create or replace view idempotency_key_of_team as
  select team_id, scope, key, user_ids
  from idempotency_key where team_id = (select current_team()) or (select not row_security_active('idempotency_key'::regclass));

create or replace view access_log_of_team as
  select seq, team_id, users, line
  from access_log where team_id = (select current_team()) or (select not row_security_active('access_log'::regclass));

create or replace view raw_result_of_team as
  select id, team_id, candidate_user_ids
  from raw_result where team_id = (select current_team()) or (select not row_security_active('raw_result'::regclass));
