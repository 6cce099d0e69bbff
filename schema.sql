-- The schema after all migrations, printed from the catalogs. Written by the tests with UPDATE=1; not to be run.

-- control plane

table api_key
  id uuid not null
  team_id uuid not null
  cell text not null
  label text not null
  key_hash bytea not null
  last_four text not null
  created_at timestamp with time zone not null
  last_used_at timestamp with time zone
  last_used_ip text
  member_id uuid
  creator_member_id uuid
  constraint api_key__hash UNIQUE (key_hash)
  constraint api_key_pkey PRIMARY KEY (id)
  constraint api_key_member_id_fkey FOREIGN KEY (member_id) REFERENCES member(id) ON DELETE CASCADE
  constraint api_key_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint api_key__cell CHECK ((cell = ANY (ARRAY['sandbox-us'::text, 'sandbox-eu'::text, 'production-us'::text, 'production-eu'::text])))
  CREATE INDEX api_key__member ON api_key USING btree (member_id) WHERE (member_id IS NOT NULL)
  CREATE INDEX api_key__team ON api_key USING btree (team_id)

table audit_log
  id uuid not null
  org_id uuid not null
  team_id uuid
  actor text not null
  member_id uuid
  operation text not null
  object text
  created_at timestamp with time zone not null
  constraint audit_log_pkey PRIMARY KEY (id)
  CREATE INDEX audit_log__org ON audit_log USING btree (org_id, id)

table completed_backup
  completed_at timestamp with time zone not null
  bytes bigint not null
  constraint completed_backup_pkey PRIMARY KEY (completed_at)

table console_session
  id uuid not null
  member_id uuid not null
  token_hash bytea not null
  method text not null
  address text not null
  user_agent text not null
  created_at timestamp with time zone not null
  last_seen_at timestamp with time zone not null
  idle_expires_at timestamp with time zone not null
  expires_at timestamp with time zone not null
  constraint console_session__token UNIQUE (token_hash)
  constraint console_session_pkey PRIMARY KEY (id)
  constraint console_session_member_id_fkey FOREIGN KEY (member_id) REFERENCES member(id) ON DELETE CASCADE
  CREATE INDEX console_session__expired ON console_session USING btree (idle_expires_at)
  CREATE INDEX console_session__member ON console_session USING btree (member_id, last_seen_at, id)

table dashboard_embedding
  org_id uuid not null
  slug text not null
  modalities text[] not null
  origins jsonb not null
  constraint dashboard_embedding__slug UNIQUE (slug)
  constraint dashboard_embedding_pkey PRIMARY KEY (org_id)
  constraint dashboard_embedding_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)

table dashboard_session
  id uuid not null
  member_id uuid not null
  team_id uuid not null
  environment text not null
  feature text not null
  modality text not null
  launch_token_hash bytea not null
  session_token_hash bytea
  expires_at timestamp with time zone not null
  constraint dashboard_session__launch UNIQUE (launch_token_hash)
  constraint dashboard_session__session UNIQUE (session_token_hash)
  constraint dashboard_session_pkey PRIMARY KEY (id)
  constraint dashboard_session__member FOREIGN KEY (member_id) REFERENCES integration_member(id) ON DELETE CASCADE
  constraint dashboard_session_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint dashboard_session__environment CHECK ((environment = ANY (ARRAY['sandbox'::text, 'production'::text])))
  constraint dashboard_session__modality CHECK ((modality = ANY (ARRAY['feature_embed'::text, 'link_out'::text])))
  CREATE INDEX dashboard_session__expired ON dashboard_session USING btree (expires_at)
  CREATE INDEX dashboard_session__of_member ON dashboard_session USING btree (member_id)

table idempotency_key
  team_id uuid not null
  scope text not null
  key text not null
  status integer
  body text
  object_id uuid
  expires_at timestamp with time zone not null
  fingerprint text
  user_ids uuid[]
  constraint idempotency_key_pkey PRIMARY KEY (team_id, scope, key)
  constraint idempotency_key_team_id_fkey FOREIGN KEY (team_id) REFERENCES org(id)
  CREATE INDEX idempotency_key__expired ON idempotency_key USING btree (expires_at)

table integration_member
  id uuid not null
  org_id uuid not null
  integration_member_id text not null
  name text not null
  email text not null
  avatar text
  team_ids uuid[]
  created_at timestamp with time zone not null
  constraint integration_member__reference UNIQUE (org_id, integration_member_id)
  constraint integration_member_pkey PRIMARY KEY (id)
  constraint integration_member_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
  CREATE INDEX integration_member__newest ON integration_member USING btree (org_id, created_at, id)

table invite
  id uuid not null
  org_id uuid not null
  email text not null
  role text not null
  team_ids uuid[] not null
  team_roles jsonb not null default '{}'::jsonb
  token_hash bytea not null
  invited_at timestamp with time zone not null
  resent_at timestamp with time zone
  expires_at timestamp with time zone not null
  creator_member_id uuid
  constraint invite__token UNIQUE (token_hash)
  constraint invite_pkey PRIMARY KEY (id)
  constraint invite_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
  constraint invite__role CHECK ((role = ANY (ARRAY['org_admin'::text, 'team_admin'::text, 'no_role'::text])))
  CREATE UNIQUE INDEX invite__email ON invite USING btree (org_id, lower(email))

table mail
  id uuid not null
  recipient text not null
  subject text not null
  body text
  created_at timestamp with time zone not null
  expires_at timestamp with time zone not null
  state text not null
  attempts integer not null
  due_at timestamp with time zone
  error text
  finished_at timestamp with time zone
  owner uuid
  fence integer not null default 0
  leased_until timestamp with time zone
  constraint mail_pkey PRIMARY KEY (id)
  constraint mail__state CHECK ((state = ANY (ARRAY['waiting'::text, 'sent'::text, 'failed'::text])))
  constraint mail__text CHECK (((state = 'sent'::text) = (body IS NULL)))
  constraint mail__waiting CHECK (((state = 'waiting'::text) = (due_at IS NOT NULL)))
  CREATE INDEX mail__due ON mail USING btree (due_at, id) WHERE (due_at IS NOT NULL)
  CREATE INDEX mail__failed ON mail USING btree (finished_at) WHERE (state = 'failed'::text)
  CREATE INDEX mail__old ON mail USING btree (created_at)

table management_key
  id uuid not null
  org_id uuid not null
  role text not null
  label text not null
  key_hash bytea not null
  last_four text not null
  created_at timestamp with time zone not null
  last_used_at timestamp with time zone
  last_used_ip text
  previous_hash bytea
  previous_until timestamp with time zone
  member_id uuid
  creator_member_id uuid
  constraint management_key__hash UNIQUE (key_hash)
  constraint management_key_pkey PRIMARY KEY (id)
  constraint management_key_member_id_fkey FOREIGN KEY (member_id) REFERENCES member(id) ON DELETE CASCADE
  constraint management_key_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
  constraint management_key__role CHECK ((role = ANY (ARRAY['org_admin'::text, 'team_admin'::text])))
  CREATE INDEX management_key__member ON management_key USING btree (member_id) WHERE (member_id IS NOT NULL)
  CREATE INDEX management_key__org ON management_key USING btree (org_id)
  CREATE UNIQUE INDEX management_key__previous ON management_key USING btree (previous_hash) WHERE (previous_hash IS NOT NULL)

table management_key_team
  key_id uuid not null
  team_id uuid not null
  constraint management_key_team_pkey PRIMARY KEY (key_id, team_id)
  constraint management_key_team_key_id_fkey FOREIGN KEY (key_id) REFERENCES management_key(id) ON DELETE CASCADE
  constraint management_key_team_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  CREATE INDEX management_key_team__team ON management_key_team USING btree (team_id)

table member
  id uuid not null
  org_id uuid not null
  name text not null
  email text not null
  role text not null
  team_ids uuid[] not null
  team_roles jsonb not null default '{}'::jsonb
  created_at timestamp with time zone not null
  constraint member_pkey PRIMARY KEY (id)
  constraint member_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
  constraint member__role CHECK ((role = ANY (ARRAY['org_admin'::text, 'team_admin'::text, 'no_role'::text])))
  CREATE UNIQUE INDEX member__email ON member USING btree (lower(email))
  CREATE INDEX member__newest ON member USING btree (org_id, created_at, id)

table member_identity
  issuer text not null
  subject text not null
  member_id uuid not null
  created_at timestamp with time zone not null
  constraint member_identity_pkey PRIMARY KEY (issuer, subject)
  constraint member_identity_member_id_fkey FOREIGN KEY (member_id) REFERENCES member(id) ON DELETE CASCADE
  CREATE INDEX member_identity__member ON member_identity USING btree (member_id)

table member_password
  member_id uuid not null
  password_hash text not null
  updated_at timestamp with time zone not null
  constraint member_password_pkey PRIMARY KEY (member_id)
  constraint member_password_member_id_fkey FOREIGN KEY (member_id) REFERENCES member(id) ON DELETE CASCADE

table migration
  number integer not null
  name text not null
  checksum text not null
  applied_at timestamp with time zone not null
  compatible_from integer not null
  constraint migration_pkey PRIMARY KEY (number)

table one_time_link
  id uuid not null
  member_id uuid
  token_hash bytea not null
  created_at timestamp with time zone not null
  expires_at timestamp with time zone not null
  constraint one_time_link__token UNIQUE (token_hash)
  constraint one_time_link_pkey PRIMARY KEY (id)
  constraint one_time_link_member_id_fkey FOREIGN KEY (member_id) REFERENCES member(id) ON DELETE CASCADE
  CREATE INDEX one_time_link__expired ON one_time_link USING btree (expires_at)
  CREATE INDEX one_time_link__member ON one_time_link USING btree (member_id, created_at, id)

table org
  id uuid not null
  name text not null
  created_at timestamp with time zone not null
  plan text not null default 'scale'::text
  expires_at timestamp with time zone
  constraint org_pkey PRIMARY KEY (id)
  constraint org__plan CHECK ((plan = ANY (ARRAY['launch'::text, 'grow'::text, 'scale'::text])))

table org_domain
  id uuid not null
  org_id uuid not null
  domain text not null
  verification_token text not null
  verified_at timestamp with time zone
  cname_target text
  created_at timestamp with time zone not null
  constraint org_domain__domain UNIQUE (domain)
  constraint org_domain_pkey PRIMARY KEY (id)
  constraint org_domain_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
  CREATE INDEX org_domain__org ON org_domain USING btree (org_id, created_at, id)

table passkey
  id uuid not null
  member_id uuid not null
  credential_id text not null
  public_key text not null
  counter bigint not null
  transports text[] not null
  name text not null
  created_at timestamp with time zone not null
  last_used_at timestamp with time zone
  constraint passkey__credential UNIQUE (credential_id)
  constraint passkey_pkey PRIMARY KEY (id)
  constraint passkey_member_id_fkey FOREIGN KEY (member_id) REFERENCES member(id) ON DELETE CASCADE
  CREATE INDEX passkey__member ON passkey USING btree (member_id, created_at, id)

table readiness
  single boolean not null default true
  checked_at timestamp with time zone not null
  constraint readiness_pkey PRIMARY KEY (single)
  constraint readiness_single_check CHECK (single)

table scope_requirement
  team_id uuid not null
  provider text not null
  user_must_grant text[] not null
  user_may_grant text[] not null
  updated_at timestamp with time zone not null
  constraint scope_requirement_pkey PRIMARY KEY (team_id, provider)
  constraint scope_requirement_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)

table sign_in_attempt
  token_hash bytea not null
  purpose text not null
  member_id uuid
  data jsonb not null
  expires_at timestamp with time zone not null
  constraint sign_in_attempt_pkey PRIMARY KEY (token_hash)
  constraint sign_in_attempt_member_id_fkey FOREIGN KEY (member_id) REFERENCES member(id) ON DELETE CASCADE
  CREATE INDEX sign_in_attempt__expired ON sign_in_attempt USING btree (expires_at)
  CREATE INDEX sign_in_attempt__member ON sign_in_attempt USING btree (member_id) WHERE (member_id IS NOT NULL)

table sign_in_key
  id smallint not null
  private_key text not null
  created_at timestamp with time zone not null
  constraint sign_in_key_pkey PRIMARY KEY (id)
  constraint sign_in_key_id_check CHECK ((id = 1))

table team
  id uuid not null
  org_id uuid not null
  name text not null
  region text not null
  created_at timestamp with time zone not null
  integration_team_id text
  deleted_at timestamp with time zone
  constraint team_pkey PRIMARY KEY (id)
  constraint team_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
  constraint team__region CHECK ((region = ANY (ARRAY['us'::text, 'eu'::text])))
  CREATE UNIQUE INDEX team__integration_team_id ON team USING btree (org_id, integration_team_id) WHERE (deleted_at IS NULL)
  CREATE INDEX team__newest ON team USING btree (org_id, created_at, id) WHERE (deleted_at IS NULL)


-- each cell

table access_archive
  first_seq bigint not null
  last_seq bigint not null
  day date not null
  previous_hash bytea not null
  last_hash bytea not null
  set_id uuid not null
  name text not null
  bytes integer not null
  digest bytea not null
  user_keys integer[] not null
  constraint access_archive_pkey PRIMARY KEY (first_seq)
  constraint access_archive_day_fkey FOREIGN KEY (day) REFERENCES access_day(day)
  constraint access_archive_set_id_name_fkey FOREIGN KEY (set_id, name) REFERENCES stored_file(set_id, name)
  constraint access_archive_check CHECK ((last_seq >= first_seq))
  CREATE INDEX access_archive__day ON access_archive USING btree (day)
  CREATE INDEX access_archive__file ON access_archive USING btree (set_id, name)
  CREATE INDEX access_archive__user_keys ON access_archive USING gin (user_keys)
  policy of_team for all false

table access_archive_lease
  id boolean not null default true
  leased_until timestamp with time zone not null
  constraint access_archive_lease_pkey PRIMARY KEY (id)
  constraint access_archive_lease_id_check CHECK (id)
  policy of_team for all false

table access_day
  day date not null
  seq bigint not null
  hash bytea not null
  archived_at timestamp with time zone
  dropped_at timestamp with time zone
  retention_days integer
  constraint access_day_pkey PRIMARY KEY (day)
  constraint access_day_check CHECK (((dropped_at IS NULL) = (retention_days IS NULL)))

table access_line
  team_id uuid
  users text not null
  line text not null
  policy of_team for all (team_id = current_team())

table access_log
  day date not null
  seq bigint not null
  team_id uuid
  users uuid[] not null
  line text not null
  hash bytea not null
  constraint access_log_pkey PRIMARY KEY (seq, day)
  CREATE INDEX access_log__users ON ONLY access_log USING gin (users)
  policy of_team for all (team_id = current_team())

table access_log_check
  id boolean not null default true
  checked_at timestamp with time zone not null
  lines bigint not null
  last_line bigint not null
  fault text
  constraint access_log_check_pkey PRIMARY KEY (id)
  constraint access_log_check_id_check CHECK (id)

table access_log_retention
  id boolean not null default true
  days integer not null
  database_days integer
  constraint access_log_retention_pkey PRIMARY KEY (id)
  constraint access_log_retention_database_days_check CHECK ((database_days >= 1))
  constraint access_log_retention_days_check CHECK ((days >= 1))
  constraint access_log_retention_id_check CHECK (id)

table analyte
  id integer not null generated always as identity
  slug text not null
  name text not null
  loinc text
  loinc_name text
  definition jsonb not null
  constraint analyte__slug UNIQUE (slug)
  constraint analyte_pkey PRIMARY KEY (id)

table appointment
  team_id uuid not null
  id uuid not null
  order_id uuid not null
  type text not null
  provider text not null
  provider_id text not null
  site_code text
  event_status text not null
  start_at timestamp with time zone
  end_at timestamp with time zone
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  document text not null
  internal_data text not null
  constraint appointment_pkey PRIMARY KEY (team_id, id)
  constraint appointment_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint appointment_team_id_order_id_fkey FOREIGN KEY (team_id, order_id) REFERENCES lab_order(team_id, id)
  constraint appointment__event_status CHECK ((event_status = ANY (ARRAY['pending'::text, 'reserved'::text, 'scheduled'::text, 'in_progress'::text, 'completed'::text, 'cancelled'::text])))
  constraint appointment__span CHECK ((end_at > start_at))
  constraint appointment__type CHECK ((type = ANY (ARRAY['phlebotomy'::text, 'patient_service_center'::text])))
  CREATE INDEX appointment__id ON appointment USING btree (id)
  CREATE UNIQUE INDEX appointment__one_active ON appointment USING btree (team_id, order_id) WHERE (event_status <> 'cancelled'::text)
  CREATE INDEX appointment__order ON appointment USING btree (team_id, order_id, created_at)
  CREATE INDEX appointment__provider ON appointment USING btree (provider, provider_id)
  CREATE INDEX appointment__site ON appointment USING btree (provider, site_code, start_at) WHERE ((event_status <> 'cancelled'::text) AND (site_code IS NOT NULL))
  policy of_team for all (team_id = current_team())

table audit_log
  id uuid not null
  org_id uuid not null
  team_id uuid
  actor text not null
  member_id uuid
  operation text not null
  object text
  created_at timestamp with time zone not null
  constraint audit_log_pkey PRIMARY KEY (id)
  CREATE INDEX audit_log__org ON audit_log USING btree (org_id, id)
  CREATE INDEX audit_log__team ON audit_log USING btree (team_id, id)
  policy of_team for all (team_id = current_team())

table bulk_operation
  team_id uuid not null
  id uuid not null
  type text not null
  provider text not null
  status text not null
  total integer not null
  processed integer not null default 0
  started_at timestamp with time zone not null
  ended_at timestamp with time zone
  expires_at timestamp with time zone
  constraint bulk_operation_pkey PRIMARY KEY (team_id, id)
  constraint bulk_operation_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint bulk_operation_status_check CHECK ((status = ANY (ARRAY['in_progress'::text, 'success'::text, 'failure'::text, 'aborted'::text])))
  constraint bulk_operation_type_check CHECK ((type = ANY (ARRAY['link_bulk_import'::text, 'link_bulk_historical_trigger'::text])))
  CREATE INDEX bulk_operation__expires ON bulk_operation USING btree (expires_at)
  CREATE INDEX bulk_operation__unfinished ON bulk_operation USING btree (team_id, id) WHERE (ended_at IS NULL)
  policy of_team for all (team_id = current_team())

table bulk_operation_user
  team_id uuid not null
  operation_id uuid not null
  position integer not null
  user_id uuid not null
  recipe text
  result text
  constraint bulk_operation_user_pkey PRIMARY KEY (team_id, operation_id, "position")
  constraint bulk_operation_user_team_id_operation_id_fkey FOREIGN KEY (team_id, operation_id) REFERENCES bulk_operation(team_id, id) ON DELETE CASCADE
  constraint bulk_operation_user_result_check CHECK ((result = ANY (ARRAY['done'::text, 'failed'::text])))
  CREATE INDEX bulk_operation_user__user ON bulk_operation_user USING btree (team_id, user_id)
  policy of_team for all (team_id = current_team())

table catalog_data_version
  part text not null
  checksum text not null
  constraint catalog_data_version_pkey PRIMARY KEY (part)

table chunk
  team_id uuid not null
  user_id uuid not null
  series_id bigint not null
  hour timestamp with time zone not null
  samples integer not null
  at integer[] not null
  values double precision[] not null
  seconds double precision[]
  lengths integer[]
  zones integer[]
  types text[]
  constraint chunk_pkey PRIMARY KEY (team_id, user_id, series_id, hour)
  constraint chunk_team_id_user_id_series_id_fkey FOREIGN KEY (team_id, user_id, series_id) REFERENCES series(team_id, user_id, id)
  policy of_team for all (team_id = current_team())

table clock_move
  team_id uuid not null
  owner uuid
  fence integer not null default 0
  leased_until timestamp with time zone
  constraint clock_move_pkey PRIMARY KEY (team_id)
  constraint clock_move_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  policy of_team for all (team_id = current_team())

table connection
  team_id uuid not null
  user_id uuid not null
  provider text not null
  id uuid not null
  status text not null
  external_user_id text
  granted_permissions text[]
  error_type text
  error_message text
  errored_at timestamp with time zone
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  is_demo boolean not null default false
  granted_scopes text[]
  constraint connection_pkey PRIMARY KEY (team_id, user_id, provider)
  constraint connection_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint connection_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  constraint connection__error CHECK (((status = 'error'::text) = ((error_type IS NOT NULL) AND (error_message IS NOT NULL) AND (errored_at IS NOT NULL))))
  constraint connection_status_check CHECK ((status = ANY (ARRAY['connected'::text, 'error'::text, 'paused'::text])))
  CREATE INDEX connection__created ON connection USING btree (team_id, created_at)
  CREATE INDEX connection__failing ON connection USING btree (team_id, errored_at, id) WHERE (status = 'error'::text)
  policy of_team for all (team_id = current_team())

table continuous_query
  id uuid not null
  org_id uuid not null
  team_id uuid
  slug text not null
  title text not null
  status text not null
  query json not null
  provider_priority_overrides text[]
  minimum_gap_duration_second integer
  data_events boolean not null
  fhir_observations boolean not null
  result_table_schema json not null
  resource_dependencies text[] not null
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  constraint continuous_query_pkey PRIMARY KEY (id)
  constraint continuous_query_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint continuous_query__gap CHECK ((minimum_gap_duration_second >= 1800))
  constraint continuous_query__status CHECK ((status = ANY (ARRAY['active'::text, 'archived'::text])))
  CREATE INDEX continuous_query__newest ON continuous_query USING btree (org_id, created_at, id)
  CREATE UNIQUE INDEX continuous_query__platform_slug ON continuous_query USING btree (org_id, slug) WHERE (team_id IS NULL)
  CREATE UNIQUE INDEX continuous_query__slug ON continuous_query USING btree (team_id, slug) WHERE (team_id IS NOT NULL)
  policy of_organization for all ((team_id IS NULL) AND (org_id = current_organization()))
  policy of_team for all (team_id = current_team())

table custom_credential
  team_id uuid not null
  id uuid not null
  provider text not null
  client_id text
  client_secret text
  details text
  redirect_url_override text
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  constraint custom_credential__once UNIQUE (team_id, provider)
  constraint custom_credential_pkey PRIMARY KEY (team_id, id)
  constraint custom_credential_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  CREATE INDEX custom_credential__id ON custom_credential USING btree (id)
  CREATE INDEX custom_credential__newest ON custom_credential USING btree (created_at, id)
  policy of_team for all (team_id = current_team())

table data_pull_preference
  team_id uuid not null
  provider text not null
  days integer not null
  resource_overrides jsonb
  updated_at timestamp with time zone not null
  constraint data_pull_preference_pkey PRIMARY KEY (team_id, provider)
  constraint data_pull_preference_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint data_pull_preference__days CHECK (((days >= 1) AND (days <= 365)))
  policy of_team for all (team_id = current_team())

table data_retention
  team_id uuid not null
  resource text
  days integer not null
  updated_at timestamp with time zone not null
  constraint data_retention__rule UNIQUE NULLS NOT DISTINCT (team_id, resource)
  constraint data_retention_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  policy of_team for all (team_id = current_team())

table data_retention_check
  team_id uuid not null
  next_at timestamp with time zone not null
  after_user uuid
  constraint data_retention_check_pkey PRIMARY KEY (team_id)
  constraint data_retention_check_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  CREATE INDEX data_retention_check__next ON data_retention_check USING btree (next_at)
  policy of_team for all (team_id = current_team())

table database_size
  day date not null
  bytes bigint not null
  constraint database_size_pkey PRIMARY KEY (day)

table day_record
  team_id uuid not null
  user_id uuid not null
  provider text not null
  resource text not null
  month date not null
  asked integer not null
  answered integer not null
  received integer not null
  stored integer not null
  failed integer not null
  error_type text
  error_message text
  errored_at timestamp with time zone
  constraint day_record_pkey PRIMARY KEY (team_id, user_id, provider, resource, month)
  constraint day_record_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint day_record_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  constraint day_record_month_check CHECK ((EXTRACT(day FROM month) = (1)::numeric))
  policy of_team for all (team_id = current_team())

table deleted_destination
  team_id uuid not null
  destination_id text not null
  deleted_at timestamp with time zone not null default statement_timestamp()
  attempts_to uuid
  deliveries_to uuid
  constraint deleted_destination_pkey PRIMARY KEY (team_id, destination_id)
  CREATE INDEX deleted_destination__oldest ON deleted_destination USING btree (deleted_at)
  policy of_team for all (team_id = current_team())

table delivery
  queue_position bigint
  team_id uuid not null
  destination_id text not null
  message_id uuid not null
  order_key uuid
  state text not null
  due_at timestamp with time zone
  attempts integer not null default 0
  trigger text not null
  last_report text
  created_at timestamp with time zone not null
  leased_until timestamp with time zone
  attempt_id uuid
  attempted_at timestamp with time zone
  duration_ms integer
  response_status integer
  response_body text
  signature text
  custom_headers text[]
  constraint delivery__once PRIMARY KEY (team_id, destination_id, message_id)
  constraint delivery__pending CHECK (((state = 'pending'::text) = (due_at IS NOT NULL)))
  constraint delivery__state CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text, 'stopped'::text])))
  CREATE INDEX delivery__created ON delivery USING btree (created_at)
  CREATE INDEX delivery__due ON delivery USING btree (destination_id, due_at, queue_position, message_id) WHERE (due_at IS NOT NULL)
  CREATE INDEX delivery__failed ON delivery USING btree (destination_id) WHERE ((order_key IS NOT NULL) AND (attempts > 0) AND (due_at IS NOT NULL))
  CREATE INDEX delivery__ordered ON delivery USING btree (destination_id, order_key, queue_position) WHERE ((order_key IS NOT NULL) AND (due_at IS NOT NULL))
  CREATE INDEX delivery__undelivered ON delivery USING btree (team_id, message_id) WHERE (state = ANY (ARRAY['failed'::text, 'stopped'::text]))
  policy of_team for all (team_id = current_team())

table delivery_attempt
  team_id uuid not null
  id uuid not null
  trigger text not null
  at timestamp with time zone not null
  duration_ms integer not null
  response_status integer
  response_body text not null
  error text
  succeeded boolean not null
  signature text not null
  custom_headers text[] not null
  destination_id text not null
  message_id uuid not null
  constraint delivery_attempt_pkey PRIMARY KEY (team_id, id)
  constraint delivery_attempt__of FOREIGN KEY (team_id, destination_id, message_id) REFERENCES delivery(team_id, destination_id, message_id) ON DELETE CASCADE
  CREATE INDEX delivery_attempt__delivery ON delivery_attempt USING btree (team_id, destination_id, message_id, id)
  policy of_team for all (team_id = current_team())

table delivery_attempt_count
  team_id uuid not null
  bucket_start timestamp with time zone not null
  destination_id text not null
  succeeded boolean not null
  attempts bigint not null
  constraint delivery_attempt_count_pkey PRIMARY KEY (team_id, bucket_start, destination_id, succeeded)
  CREATE INDEX delivery_attempt_count__bucket_start ON delivery_attempt_count USING btree (bucket_start)
  policy of_team for all (team_id = current_team())

table demo_connection
  team_id uuid not null
  user_id uuid not null
  provider text not null
  connection_id uuid not null
  seed text not null
  zone text not null
  has_timeseries boolean not null
  connected_at timestamp with time zone not null
  next_day integer
  written_until timestamp with time zone not null
  constraint demo_connection_pkey PRIMARY KEY (team_id, user_id, provider)
  constraint demo_connection_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint demo_connection_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  policy of_team for all (team_id = current_team())

table destination
  team_id uuid not null
  id text not null
  kind text not null
  keeps_order boolean not null default false
  owner uuid
  leased_until timestamp with time zone
  paused_until timestamp with time zone
  first_failure_at timestamp with time zone
  failing_since timestamp with time zone
  unreadable_since timestamp with time zone
  constraint destination_pkey PRIMARY KEY (team_id, id)
  constraint destination_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint destination_kind_check CHECK ((kind = ANY (ARRAY['webhook'::text, 'rabbitmq'::text, 'azure_amqp'::text, 'cloud_pubsub'::text])))
  CREATE INDEX destination__id ON destination USING btree (id)
  policy of_team for all (team_id = current_team())

table device
  team_id uuid not null
  user_id uuid not null
  provider text not null
  key text not null
  id uuid not null
  source_type text not null
  app_id text
  manufacturer text
  model text
  version text
  device_id text
  seen_at timestamp with time zone not null
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  constraint device_pkey PRIMARY KEY (team_id, user_id, provider, key)
  constraint device_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint device_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  policy of_team for all (team_id = current_team())

table ehr_pipeline
  team_id uuid not null
  id uuid not null
  ehr_type text not null
  base_url text not null
  authentication jsonb not null
  secret text
  allowed_mappers text[]
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  constraint ehr_pipeline__once UNIQUE (team_id, ehr_type)
  constraint ehr_pipeline_pkey PRIMARY KEY (team_id, id)
  constraint ehr_pipeline_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint ehr_pipeline__ehr_type CHECK ((ehr_type = ANY (ARRAY['fhir'::text, 'hint_health'::text])))
  policy of_team for all (team_id = current_team())

table event
  id uuid not null
  team_id uuid not null
  type text not null
  object_id uuid not null
  user_id uuid
  created_at timestamp with time zone not null
  body text
  historical boolean not null default false
  expires_at timestamp with time zone
  constraint event_pkey PRIMARY KEY (team_id, id)
  constraint event__body CHECK (((body IS NOT NULL) OR (expires_at IS NOT NULL)))
  CREATE INDEX event__expires ON event USING btree (expires_at) WHERE (expires_at IS NOT NULL)
  CREATE INDEX event__object ON event USING btree (object_id, id)
  CREATE INDEX event__type ON event USING btree (team_id, type, id)
  CREATE INDEX event__user ON event USING btree (user_id)
  policy of_team for all (team_id = current_team())

table event_body
  team_id uuid not null
  event_id uuid not null
  retained_from timestamp with time zone not null
  body text not null
  constraint event_body_pkey PRIMARY KEY (team_id, event_id)
  CREATE INDEX event_body__retained ON event_body USING btree (retained_from)
  policy of_team for all (team_id = current_team())

table event_outbox
  id bigint not null generated always as identity
  team_id uuid not null
  event_ids uuid[] not null
  constraint event_outbox_pkey PRIMARY KEY (team_id, id)
  policy of_team for all (team_id = current_team())

table event_subscribed_team
  team_id uuid not null
  constraint event_subscribed_team_pkey PRIMARY KEY (team_id)
  constraint event_subscribed_team_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  policy of_team for all (team_id = current_team())

table feed
  team_id uuid not null
  seq bigint not null default nextval('sandbox_us.feed_number'::regclass)
  event_id uuid not null
  created_at timestamp with time zone not null
  constraint feed_pkey PRIMARY KEY (team_id, seq)
  CREATE INDEX feed__created ON feed USING btree (created_at)
  policy of_team for all (team_id = current_team())

table feed_epoch
  single boolean not null default true
  epoch integer not null
  server_state text
  constraint feed_epoch_pkey PRIMARY KEY (single)
  constraint feed_epoch_single_check CHECK (single)

table file_import
  team_id uuid not null
  id uuid not null
  user_id uuid not null
  status text not null
  format text
  file_key text
  received_bytes bigint not null
  last_start bigint not null default 0
  progress double precision not null default 0
  attempts integer not null default 0
  batches integer not null default 0
  reader text
  results jsonb not null default '{}'::jsonb
  skipped jsonb not null default '{}'::jsonb
  error text
  created_at timestamp with time zone not null
  finished_at timestamp with time zone
  expires_at timestamp with time zone
  turns integer not null default 0
  constraint file_import_pkey PRIMARY KEY (team_id, id)
  constraint file_import_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint file_import_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  constraint file_import_status_check CHECK ((status = ANY (ARRAY['uploading'::text, 'queued'::text, 'importing'::text, 'completed'::text, 'partial'::text, 'failed'::text])))
  CREATE INDEX file_import__expires ON file_import USING btree (expires_at)
  CREATE INDEX file_import__unfinished ON file_import USING btree (team_id, id) WHERE (finished_at IS NULL)
  CREATE INDEX file_import__user ON file_import USING btree (team_id, user_id)
  policy of_team for all (team_id = current_team())

table file_import_part
  team_id uuid not null
  import_id uuid not null
  start_byte bigint not null
  bytes bytea not null
  constraint file_import_part_pkey PRIMARY KEY (team_id, import_id, start_byte)
  constraint file_import_part_team_id_import_id_fkey FOREIGN KEY (team_id, import_id) REFERENCES file_import(team_id, id) ON DELETE CASCADE
  policy of_team for all (team_id = current_team())

table geocoding_cache
  country text not null
  postal_code text not null
  city text not null
  lat double precision
  lng double precision
  result_city text not null
  result_state text not null
  fetched_at timestamp with time zone not null
  constraint geocoding_cache_pkey PRIMARY KEY (country, postal_code, city)
  CREATE INDEX geocoding_cache__fetched ON geocoding_cache USING btree (fetched_at)
  CREATE INDEX geocoding_cache__unknown ON geocoding_cache USING btree (fetched_at) WHERE (lat IS NULL)

table historical_pull
  team_id uuid not null
  user_id uuid not null
  provider text not null
  resource text not null
  range_start timestamp with time zone not null
  range_end timestamp with time zone not null
  ended_at timestamp with time zone
  started_at timestamp with time zone
  days_with_data integer not null default 0
  scheduled_at timestamp with time zone
  error text
  constraint historical_pull_pkey PRIMARY KEY (team_id, user_id, provider, resource)
  constraint historical_pull_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint historical_pull_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  policy of_team for all (team_id = current_team())

table icd_code
  code text not null
  description text not null
  is_secondary boolean not null
  constraint icd_code_pkey PRIMARY KEY (code)

table icd_exclusion
  code text not null
  excluded_code text not null
  type text not null
  constraint icd_exclusion_pkey PRIMARY KEY (code, excluded_code)
  constraint icd_exclusion__type CHECK ((type = ANY (ARRAY['excludes1'::text, 'excludes2'::text])))

table idempotency_key
  team_id uuid not null
  scope text not null
  key text not null
  status integer
  body text
  object_id uuid
  expires_at timestamp with time zone not null
  fingerprint text
  user_ids uuid[]
  constraint idempotency_key_pkey PRIMARY KEY (team_id, scope, key)
  constraint idempotency_key_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  CREATE INDEX idempotency_key__expired ON idempotency_key USING btree (expires_at)
  CREATE INDEX idempotency_key__users ON idempotency_key USING gin (user_ids) WHERE (user_ids IS NOT NULL)
  policy of_team for all (team_id = current_team())

table insurance
  team_id uuid not null
  id uuid not null
  user_id uuid not null
  is_primary boolean not null
  document jsonb not null
  created_at timestamp with time zone not null
  constraint insurance_pkey PRIMARY KEY (team_id, id)
  constraint insurance_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint insurance_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  CREATE INDEX insurance__user ON insurance USING btree (team_id, user_id, is_primary, id)
  policy of_team for all (team_id = current_team())

table insurance_data_version
  part text not null
  checksum text not null
  origin text not null
  constraint insurance_data_version_pkey PRIMARY KEY (part)
  constraint insurance_data_version__origin CHECK ((origin = ANY (ARRAY['shipped'::text, 'imported'::text])))

table job
  team_id uuid not null
  id uuid not null
  name text not null
  payload text not null
  run_at timestamp with time zone not null
  due_at timestamp with time zone not null
  attempts integer not null default 0
  leased_until timestamp with time zone
  failed_at timestamp with time zone
  owner uuid
  fence integer not null default 0
  last_error text
  constraint job_pkey PRIMARY KEY (team_id, id)
  constraint job_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  CREATE INDEX job__due ON job USING btree (due_at, id) WHERE (failed_at IS NULL)
  CREATE INDEX job__failed ON job USING btree (failed_at) WHERE (failed_at IS NOT NULL)
  CREATE INDEX job__failed_of_team ON job USING btree (team_id, failed_at, id) WHERE (failed_at IS NOT NULL)
  CREATE INDEX job__retrying ON job USING btree (due_at) WHERE ((failed_at IS NULL) AND (last_error IS NOT NULL))
  CREATE INDEX job__share ON job USING btree (team_id, due_at, id) WHERE (failed_at IS NULL)
  CREATE INDEX job__team ON job USING btree (team_id, run_at, id)
  policy of_team for all (team_id = current_team())

table lab
  id integer not null
  slug text not null
  name text not null
  first_line_address text not null
  city text not null
  state text not null
  zipcode text not null
  collection_methods text[] not null
  sample_types text[] not null
  logo_url text
  clia text
  medical_director text
  max_first_name integer
  max_last_name integer
  allowed_genders text[]
  accreditation text
  country text not null default 'United States'::text
  constraint lab__slug UNIQUE (slug)
  constraint lab_pkey PRIMARY KEY (id)

table lab_account
  id uuid not null
  lab_id integer not null
  org_id uuid
  status text not null
  delegated_flow text not null
  provider_account_id text not null
  account_name text
  default_clinical_notes text
  business_units text[]
  allowed_billing jsonb not null
  created_at timestamp with time zone not null
  constraint lab_account_pkey PRIMARY KEY (id)
  constraint lab_account_lab_id_fkey FOREIGN KEY (lab_id) REFERENCES lab(id)
  constraint lab_account__delegated_flow CHECK ((delegated_flow = ANY (ARRAY['order_delegated'::text, 'result_delegated'::text, 'fully_delegated'::text, 'not_delegated'::text])))
  constraint lab_account__status CHECK ((status = ANY (ARRAY['active'::text, 'pending'::text, 'suspended'::text, 'ready_to_launch'::text])))
  CREATE INDEX lab_account__org ON lab_account USING btree (org_id, created_at, id)
  CREATE UNIQUE INDEX lab_account__platform ON lab_account USING btree (lab_id) WHERE (org_id IS NULL)

table lab_account_team
  account_id uuid not null
  team_id uuid not null
  constraint lab_account_team_pkey PRIMARY KEY (account_id, team_id)
  constraint lab_account_team_account_id_fkey FOREIGN KEY (account_id) REFERENCES lab_account(id) ON DELETE CASCADE
  constraint lab_account_team_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  CREATE INDEX lab_account_team__team ON lab_account_team USING btree (team_id)
  policy of_team for all (team_id = current_team())

table lab_link
  account_id uuid not null
  preset text
  options text not null
  secrets text
  sends_orders boolean not null
  sends_kits boolean not null
  mode text not null
  live_team_id uuid
  state text not null
  state_at timestamp with time zone not null
  state_reason text
  received_at timestamp with time zone
  sent_at timestamp with time zone
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  constraint lab_link_pkey PRIMARY KEY (account_id)
  constraint lab_link_account_id_fkey FOREIGN KEY (account_id) REFERENCES lab_account(id)
  constraint lab_link__live_team CHECK (((mode = 'live_for_team'::text) = (live_team_id IS NOT NULL)))
  constraint lab_link__mode CHECK ((mode = ANY (ARRAY['off'::text, 'test'::text, 'shadow'::text, 'live_for_team'::text, 'live'::text])))
  constraint lab_link__state CHECK ((state = ANY (ARRAY['ok'::text, 'failing'::text])))

table lab_link_claim
  account_id uuid not null
  purpose text not null
  expires_at timestamp with time zone not null
  constraint lab_link_claim_pkey PRIMARY KEY (account_id)
  constraint lab_link_claim_account_id_fkey FOREIGN KEY (account_id) REFERENCES lab_link(account_id) ON DELETE CASCADE
  constraint lab_link_claim__purpose CHECK ((purpose = ANY (ARRAY['check'::text, 'trial'::text])))

table lab_link_issue
  id uuid not null
  link_account_id uuid
  message_id uuid
  source text
  order_team_id uuid
  reason text not null
  detail text
  count integer not null default 1
  state text not null
  comment text
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  constraint lab_link_issue_pkey PRIMARY KEY (id)
  constraint lab_link_issue_link_account_id_fkey FOREIGN KEY (link_account_id) REFERENCES lab_link(account_id)
  constraint lab_link_issue_message_id_fkey FOREIGN KEY (message_id) REFERENCES lab_message(id) ON DELETE CASCADE
  constraint lab_link_issue__state CHECK ((state = ANY (ARRAY['open'::text, 'done'::text])))
  CREATE INDEX lab_link_issue__created ON lab_link_issue USING btree (created_at, id)
  CREATE INDEX lab_link_issue__link ON lab_link_issue USING btree (link_account_id)
  CREATE INDEX lab_link_issue__message ON lab_link_issue USING btree (message_id)
  CREATE UNIQUE INDEX lab_link_issue__open ON lab_link_issue USING btree (link_account_id, message_id, source, reason) NULLS NOT DISTINCT WHERE (state = 'open'::text)

table lab_link_lease
  account_id uuid not null
  owner uuid
  fence integer not null default 0
  leased_until timestamp with time zone
  constraint lab_link_lease_pkey PRIMARY KEY (account_id)
  constraint lab_link_lease_account_id_fkey FOREIGN KEY (account_id) REFERENCES lab_link(account_id) ON DELETE CASCADE

table lab_link_trial
  account_id uuid not null
  position integer not null
  name text not null
  contents text not null
  results text not null
  expected text not null
  placer_number text not null
  control_id text not null
  bytes bytea
  sent_at timestamp with time zone
  answer bytea
  error text
  created_at timestamp with time zone not null
  constraint lab_link_trial_pkey PRIMARY KEY (account_id, "position")
  constraint lab_link_trial_account_id_fkey FOREIGN KEY (account_id) REFERENCES lab_link(account_id) ON DELETE CASCADE
  constraint lab_link_trial__expected CHECK ((expected = ANY (ARRAY['accepted'::text, 'refused'::text, 'cancelled'::text])))

table lab_listener
  owner uuid not null
  host text not null
  port integer not null
  is_tls boolean not null
  reason text
  seen_at timestamp with time zone not null
  constraint lab_listener_pkey PRIMARY KEY (owner, host, port)
  CREATE INDEX lab_listener__port ON lab_listener USING btree (port)

table lab_message
  id uuid not null
  team_id uuid
  link_account_id uuid
  direction text not null
  source text
  digest text not null
  bytes bytea not null
  message_type text
  sender text
  control_id text
  reuses_control_id boolean not null default false
  ordering_key text
  state text not null
  attempts integer not null default 0
  repetitions integer not null default 0
  reason text
  error text
  comment text
  raw_result_id uuid
  order_id uuid
  answer bytea
  answered_at timestamp with time zone
  due_at timestamp with time zone
  queued_at timestamp with time zone
  owner uuid
  fence integer not null default 0
  leased_until timestamp with time zone
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  constraint lab_message_pkey PRIMARY KEY (id)
  constraint lab_message_link_account_id_fkey FOREIGN KEY (link_account_id) REFERENCES lab_link(account_id)
  constraint lab_message_raw_result_id_fkey FOREIGN KEY (raw_result_id) REFERENCES raw_result(id) ON DELETE CASCADE
  constraint lab_message_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint lab_message__direction CHECK ((direction = ANY (ARRAY['in'::text, 'out'::text])))
  constraint lab_message__link CHECK (((direction = 'in'::text) OR ((link_account_id IS NOT NULL) AND (order_id IS NOT NULL) AND (team_id IS NOT NULL))))
  constraint lab_message__state CHECK ((((direction = 'in'::text) AND (state = ANY (ARRAY['received'::text, 'applied'::text, 'review'::text, 'test'::text, 'shadow'::text, 'failed'::text, 'done'::text]))) OR ((direction = 'out'::text) AND (state = ANY (ARRAY['queued'::text, 'sent'::text, 'committed'::text, 'accepted'::text, 'refused'::text, 'expired'::text, 'done'::text])))))
  CREATE INDEX lab_message__control_id ON lab_message USING btree (link_account_id, control_id)
  CREATE INDEX lab_message__created ON lab_message USING btree (created_at, id)
  CREATE INDEX lab_message__issues ON lab_message USING btree (created_at, id) WHERE (reason IS NOT NULL)
  CREATE UNIQUE INDEX lab_message__once ON lab_message USING btree (digest, link_account_id) NULLS NOT DISTINCT WHERE (direction = 'in'::text)
  CREATE INDEX lab_message__open_issues ON lab_message USING btree (link_account_id, created_at) WHERE ((reason IS NOT NULL) AND (state <> 'done'::text))
  CREATE INDEX lab_message__order ON lab_message USING btree (order_id) WHERE (order_id IS NOT NULL)
  CREATE INDEX lab_message__outbox ON lab_message USING btree (link_account_id, created_at, id) WHERE ((direction = 'out'::text) AND (due_at IS NOT NULL))
  CREATE INDEX lab_message__pending ON lab_message USING btree (ordering_key) WHERE (state = 'received'::text)
  CREATE INDEX lab_message__queue ON lab_message USING btree (link_account_id, created_at, id) WHERE (state = 'received'::text)
  CREATE INDEX lab_message__raw_result ON lab_message USING btree (raw_result_id) WHERE (raw_result_id IS NOT NULL)
  CREATE INDEX lab_message__received ON lab_message USING btree (link_account_id, created_at, id) WHERE (direction = 'in'::text)
  CREATE INDEX lab_message__sent ON lab_message USING btree (link_account_id, created_at, id) WHERE (direction = 'out'::text)
  CREATE UNIQUE INDEX lab_message__sent_once ON lab_message USING btree (link_account_id, control_id) WHERE (direction = 'out'::text)
  CREATE INDEX lab_message__team ON lab_message USING btree (team_id) WHERE (team_id IS NOT NULL)
  CREATE INDEX lab_message__unknown ON lab_message USING btree (source, created_at) WHERE (link_account_id IS NULL)
  policy of_team for all (team_id = current_team())

table lab_message_result
  message_id uuid not null
  raw_result_id uuid not null
  team_id uuid
  constraint lab_message_result_pkey PRIMARY KEY (message_id, raw_result_id)
  constraint lab_message_result_message_id_fkey FOREIGN KEY (message_id) REFERENCES lab_message(id) ON DELETE CASCADE
  constraint lab_message_result_raw_result_id_fkey FOREIGN KEY (raw_result_id) REFERENCES raw_result(id) ON DELETE CASCADE
  constraint lab_message_result_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  CREATE INDEX lab_message_result__result ON lab_message_result USING btree (raw_result_id)
  CREATE INDEX lab_message_result__team ON lab_message_result USING btree (team_id)
  policy of_team for all (team_id = current_team())

table lab_order
  team_id uuid not null
  id uuid not null
  user_id uuid not null
  transaction_id uuid not null
  lifecycle_name text not null
  lab_test_id uuid not null
  lab_id integer not null
  method text not null
  low_level_status text not null
  status_at timestamp with time zone not null
  sample_id text
  activate_by date
  interpretation text
  patient_name text
  patient_dob date
  recipient_name text
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  document text not null
  internal_data text not null
  status_detail text
  kit_sent boolean
  lab_account_id uuid
  constraint lab_order_pkey PRIMARY KEY (team_id, id)
  constraint lab_order_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  CREATE INDEX lab_order__kit_spelling ON lab_order USING btree (translate(upper(sample_id), '- 	
'::text, ''::text), team_id) WHERE ((sample_id IS NOT NULL) AND (method = 'testkit'::text) AND (sample_id <> translate(upper(sample_id), '- 	
'::text, ''::text)))
  CREATE INDEX lab_order__names ON lab_order USING gin (patient_name gin_trgm_ops, recipient_name gin_trgm_ops)
  CREATE INDEX lab_order__newest ON lab_order USING btree (team_id, created_at, id) INCLUDE (user_id)
  CREATE INDEX lab_order__patient ON lab_order USING btree (team_id, patient_dob) WHERE (patient_dob IS NOT NULL)
  CREATE UNIQUE INDEX lab_order__sample_id ON lab_order USING btree (sample_id, lab_id, team_id) WHERE (sample_id IS NOT NULL)
  CREATE INDEX lab_order__status ON lab_order USING btree (team_id, low_level_status, created_at, id)
  CREATE INDEX lab_order__transaction ON lab_order USING btree (team_id, transaction_id)
  CREATE INDEX lab_order__unplaced ON lab_order USING btree (lab_account_id) WHERE (status_detail = 'fulfillment_error'::text)
  CREATE INDEX lab_order__user ON lab_order USING btree (user_id) INCLUDE (team_id)
  policy of_team for all (team_id = current_team())

table lab_order_number
  team_id uuid not null
  order_id uuid not null
  link_account_id uuid not null
  kind text not null
  number text not null
  created_at timestamp with time zone not null
  constraint lab_order_number_pkey PRIMARY KEY (team_id, order_id, link_account_id, kind, number)
  constraint lab_order_number_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint lab_order_number_team_id_order_id_fkey FOREIGN KEY (team_id, order_id) REFERENCES lab_order(team_id, id)
  constraint lab_order_number__kind CHECK ((kind = ANY (ARRAY['placer'::text, 'filler'::text, 'specimen'::text, 'accession'::text, 'group'::text])))
  CREATE INDEX lab_order_number__number ON lab_order_number USING btree (number, kind, link_account_id, team_id)
  policy of_team for all (team_id = current_team())

table lab_result
  team_id uuid not null
  order_id uuid not null
  status text not null
  interpretation text not null
  document text not null
  report text not null
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  withdrawn text
  pdf_ids uuid[] not null default '{}'::uuid[]
  constraint lab_result_pkey PRIMARY KEY (team_id, order_id)
  constraint lab_result_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint lab_result_team_id_order_id_fkey FOREIGN KEY (team_id, order_id) REFERENCES lab_order(team_id, id)
  constraint lab_result__status CHECK ((status = ANY (ARRAY['partial'::text, 'final'::text])))
  policy of_team for all (team_id = current_team())

table lab_result_pdf
  team_id uuid not null
  id uuid not null
  order_id uuid not null
  report_number text not null
  test_code text not null
  code text not null
  position integer not null
  name text not null
  checksum text not null
  bytes bytea not null
  created_at timestamp with time zone not null
  constraint lab_result_pdf_pkey PRIMARY KEY (team_id, id)
  constraint lab_result_pdf_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint lab_result_pdf_team_id_order_id_fkey FOREIGN KEY (team_id, order_id) REFERENCES lab_order(team_id, id)
  CREATE UNIQUE INDEX lab_result_pdf__newest ON lab_result_pdf USING btree (team_id, order_id, report_number, test_code, code, "position")
  policy of_team for all (team_id = current_team())

table lab_shadow_result
  team_id uuid not null
  id uuid not null
  order_id uuid
  link_account_id uuid not null
  message_id uuid not null
  control_id text not null
  mismatch text
  report text not null
  created_at timestamp with time zone not null
  constraint lab_shadow_result__once UNIQUE (team_id, message_id, control_id)
  constraint lab_shadow_result_pkey PRIMARY KEY (team_id, id)
  constraint lab_shadow_result_link_account_id_fkey FOREIGN KEY (link_account_id) REFERENCES lab_link(account_id)
  constraint lab_shadow_result_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint lab_shadow_result_team_id_order_id_fkey FOREIGN KEY (team_id, order_id) REFERENCES lab_order(team_id, id)
  CREATE INDEX lab_shadow_result__created ON lab_shadow_result USING btree (created_at)
  CREATE INDEX lab_shadow_result__link ON lab_shadow_result USING btree (team_id, link_account_id, created_at)
  CREATE INDEX lab_shadow_result__order ON lab_shadow_result USING btree (team_id, order_id)
  policy of_team for all (team_id = current_team())

table lab_test
  team_id uuid not null
  id uuid not null
  slug text not null
  name text not null
  description text not null
  lab_id integer not null
  method text not null
  sample_type text not null
  price numeric(12,2) not null
  fasting boolean not null
  status text not null
  auto_generated boolean not null default false
  has_collection_instructions boolean not null default false
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  composition_key text
  is_approved boolean not null default true
  constraint lab_test_pkey PRIMARY KEY (team_id, id)
  constraint lab_test_lab_id_fkey FOREIGN KEY (lab_id) REFERENCES lab(id)
  constraint lab_test_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint lab_test__status CHECK ((status = ANY (ARRAY['active'::text, 'pending_approval'::text, 'inactive'::text])))
  CREATE UNIQUE INDEX lab_test__composition_key ON lab_test USING btree (team_id, composition_key) WHERE (composition_key IS NOT NULL)
  CREATE INDEX lab_test__id ON lab_test USING btree (id)
  CREATE INDEX lab_test__team ON lab_test USING btree (team_id, created_at, id)
  policy of_team for all (team_id = current_team())

table lab_test_marker
  team_id uuid not null
  lab_test_id uuid not null
  marker_id integer not null
  position integer not null
  constraint lab_test_marker_pkey PRIMARY KEY (team_id, lab_test_id, "position")
  constraint lab_test_marker_marker_id_fkey FOREIGN KEY (marker_id) REFERENCES marker(id)
  constraint lab_test_marker_team_id_lab_test_id_fkey FOREIGN KEY (team_id, lab_test_id) REFERENCES lab_test(team_id, id) ON DELETE CASCADE
  CREATE INDEX lab_test_marker__marker ON lab_test_marker USING btree (marker_id)
  policy of_team for all (team_id = current_team())

table link_code
  team_id uuid not null
  user_id uuid not null
  code_hash text not null
  created_at timestamp with time zone not null
  expires_at timestamp with time zone not null
  constraint link_code_pkey PRIMARY KEY (team_id, user_id, code_hash)
  constraint link_code_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint link_code_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  CREATE INDEX link_code__expires ON link_code USING btree (expires_at)
  CREATE INDEX link_code__hash ON link_code USING btree (code_hash)
  policy of_team for all (team_id = current_team())

table link_session
  team_id uuid not null
  user_id uuid not null
  id uuid not null
  provider text
  redirect_url text
  filter_on_providers text[]
  redirects_on_error boolean not null
  redirects_on_close boolean not null
  started_provider text
  state_hash text
  state_provider text
  error_type text
  linked_provider text
  consumed_at timestamp with time zone
  created_at timestamp with time zone not null
  expires_at timestamp with time zone not null
  constraint link_session_pkey PRIMARY KEY (team_id, user_id, id)
  constraint link_session_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint link_session_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  CREATE INDEX link_session__expires ON link_session USING btree (expires_at)
  CREATE INDEX link_session__id ON link_session USING btree (team_id, id)
  policy of_team for all (team_id = current_team())

table list_count
  team_id uuid not null
  list text not null
  slot smallint not null
  row_count bigint not null
  constraint list_count_pkey PRIMARY KEY (team_id, list, slot)
  constraint list_count_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint list_count_list_check CHECK ((list = ANY (ARRAY['users'::text, 'orders'::text])))
  constraint list_count_slot_check CHECK (((slot >= 0) AND (slot <= 15)))
  policy of_team for all (team_id = current_team())

table loinc_release_term
  code text not null
  long_name text not null
  component text not null
  property text not null
  timing text not null
  system text not null
  scale text not null
  method text not null
  class text not null
  short_name text not null
  units text not null
  rank integer not null
  search tsvector not null
  is_in_file boolean not null
  constraint loinc_release_term_pkey PRIMARY KEY (code)
  CREATE INDEX loinc_release_term__search ON loinc_release_term USING gin (search)

table mail
  id uuid not null
  recipient text not null
  subject text not null
  body text
  created_at timestamp with time zone not null
  expires_at timestamp with time zone not null
  state text not null
  attempts integer not null
  due_at timestamp with time zone
  error text
  finished_at timestamp with time zone
  owner uuid
  fence integer not null default 0
  leased_until timestamp with time zone
  constraint mail_pkey PRIMARY KEY (id)
  constraint mail__state CHECK ((state = ANY (ARRAY['waiting'::text, 'sent'::text, 'failed'::text])))
  constraint mail__text CHECK (((state = 'sent'::text) = (body IS NULL)))
  constraint mail__waiting CHECK (((state = 'waiting'::text) = (due_at IS NOT NULL)))
  CREATE INDEX mail__due ON mail USING btree (due_at, id) WHERE (due_at IS NOT NULL)
  CREATE INDEX mail__failed ON mail USING btree (finished_at) WHERE (state = 'failed'::text)
  CREATE INDEX mail__old ON mail USING btree (created_at)

table marker
  id integer not null
  lab_id integer not null
  provider_id text not null
  name text not null
  slug text not null
  description text
  type text not null
  unit text
  price text not null
  aoe jsonb
  a_la_carte_enabled boolean not null
  is_orderable boolean not null
  common_tat_days integer
  worst_case_tat_days integer
  cpt_codes text[] not null default '{}'::text[]
  pricing jsonb
  constraint marker__provider_id UNIQUE (lab_id, provider_id)
  constraint marker_pkey PRIMARY KEY (id)
  constraint marker_lab_id_fkey FOREIGN KEY (lab_id) REFERENCES lab(id)
  constraint marker__type CHECK ((type = ANY (ARRAY['biomarker'::text, 'panel'::text])))

table marker_analyte
  marker_id integer not null
  analyte_id integer not null
  position integer not null
  required boolean not null
  constraint marker_analyte_pkey PRIMARY KEY (marker_id, "position")
  constraint marker_analyte_analyte_id_fkey FOREIGN KEY (analyte_id) REFERENCES analyte(id)
  constraint marker_analyte_marker_id_fkey FOREIGN KEY (marker_id) REFERENCES marker(id) ON DELETE CASCADE
  CREATE INDEX marker_analyte__analyte ON marker_analyte USING btree (analyte_id)

table migration
  number integer not null
  name text not null
  checksum text not null
  applied_at timestamp with time zone not null
  compatible_from integer not null
  constraint migration_pkey PRIMARY KEY (number)

table parsing_job
  team_id uuid not null
  id uuid not null
  user_id uuid not null
  status text not null
  failure_reason text
  needs_human_review boolean not null
  is_reviewed boolean not null default false
  file_key text
  file_types jsonb not null
  pages integer not null
  attempts integer not null default 0
  extracted jsonb
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  review_version integer not null default 0
  reviewed jsonb
  decided_by text
  decided_at timestamp with time zone
  constraint parsing_job_pkey PRIMARY KEY (team_id, id)
  constraint parsing_job_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint parsing_job_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  constraint parsing_job_status_check CHECK ((status = ANY (ARRAY['upload_pending'::text, 'started'::text, 'pending_review'::text, 'completed'::text, 'failed'::text])))
  CREATE INDEX parsing_job__counted ON parsing_job USING btree (team_id) WHERE ((failure_reason IS NULL) AND (status <> 'failed'::text))
  CREATE INDEX parsing_job__pending_review ON parsing_job USING btree (team_id, created_at, id) WHERE (status = 'pending_review'::text)
  CREATE INDEX parsing_job__unfinished ON parsing_job USING btree (team_id, id) WHERE (status = ANY (ARRAY['upload_pending'::text, 'started'::text]))
  CREATE INDEX parsing_job__user ON parsing_job USING btree (team_id, user_id)
  policy of_team for all (team_id = current_team())

table parsing_job_correction
  team_id uuid not null
  job_id uuid not null
  number integer not null
  action text not null
  result_id integer
  fields jsonb not null
  key_id text not null
  created_at timestamp with time zone not null
  constraint parsing_job_correction_pkey PRIMARY KEY (team_id, job_id, number)
  constraint parsing_job_correction_team_id_job_id_fkey FOREIGN KEY (team_id, job_id) REFERENCES parsing_job(team_id, id) ON DELETE CASCADE
  constraint parsing_job_correction_action_check CHECK ((action = ANY (ARRAY['change_metadata'::text, 'change_result'::text, 'add_result'::text, 'remove_result'::text])))
  policy of_team for all (team_id = current_team())

table patient_message
  team_id uuid not null
  order_id uuid not null
  id uuid not null
  kind text not null
  channel text not null
  recipient text not null
  body text not null
  created_at timestamp with time zone not null
  mail_id uuid
  state text not null
  attempts integer not null default 0
  due_at timestamp with time zone
  error text
  finished_at timestamp with time zone
  owner uuid
  fence integer not null default 0
  leased_until timestamp with time zone
  constraint patient_message_pkey PRIMARY KEY (team_id, order_id, id)
  CREATE INDEX patient_message__due ON patient_message USING btree (due_at) WHERE (due_at IS NOT NULL)
  CREATE INDEX patient_message__failed ON patient_message USING btree (finished_at) WHERE (state = 'failed'::text)
  CREATE INDEX patient_message__mail ON patient_message USING btree (mail_id) WHERE (mail_id IS NOT NULL)
  CREATE INDEX patient_message__newest ON patient_message USING btree (team_id, id)
  policy of_team for all (team_id = current_team())

table patient_message_opt_out
  team_id uuid not null
  user_id uuid not null
  channel text not null
  created_at timestamp with time zone not null
  constraint patient_message_opt_out_pkey PRIMARY KEY (team_id, user_id, channel)
  constraint patient_message_opt_out_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint patient_message_opt_out_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  policy of_team for all (team_id = current_team())

table payor
  code text not null
  team_id uuid
  origin text not null
  name text not null
  aliases text[] not null
  org_address jsonb not null
  payer_id text
  external_codes jsonb not null
  program text
  state text
  created_at timestamp with time zone not null
  constraint payor_pkey PRIMARY KEY (code)
  constraint payor_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint payor__origin CHECK ((origin = ANY (ARRAY['shipped'::text, 'imported'::text, 'team'::text])))
  constraint payor__owner CHECK (((team_id IS NULL) = (origin <> 'team'::text)))
  constraint payor__program CHECK ((program = ANY (ARRAY['medicare'::text, 'medicaid'::text])))
  CREATE UNIQUE INDEX payor__program_state ON payor USING btree (program, state) WHERE (program IS NOT NULL)
  CREATE INDEX payor__team ON payor USING btree (team_id) WHERE (team_id IS NOT NULL)
  policy of_platform for select (team_id IS NULL)
  policy of_team for all (team_id = current_team())

table phlebotomist
  id uuid not null
  org_id uuid
  reference text not null
  is_active boolean not null
  service_types text[] not null
  zips text[] not null
  service_box box
  document text not null
  constraint phlebotomist__reference UNIQUE NULLS NOT DISTINCT (org_id, reference)
  constraint phlebotomist_pkey PRIMARY KEY (id)
  CREATE INDEX phlebotomist__service_box ON phlebotomist USING gist (service_box) WHERE (service_box IS NOT NULL)
  CREATE INDEX phlebotomist__zips ON phlebotomist USING gin (zips)

table phlebotomy_visit
  team_id uuid not null
  appointment_id uuid not null
  user_id uuid not null
  provider text not null
  staff_id uuid
  start_at timestamp with time zone
  end_at timestamp with time zone
  blocked_minutes integer
  visit_details text not null
  constraint phlebotomy_visit_pkey PRIMARY KEY (team_id, appointment_id)
  constraint phlebotomy_visit__staff FOREIGN KEY (staff_id) REFERENCES phlebotomist(id)
  constraint phlebotomy_visit_team_id_appointment_id_fkey FOREIGN KEY (team_id, appointment_id) REFERENCES appointment(team_id, id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
  constraint phlebotomy_visit_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint phlebotomy_visit__booked CHECK (((staff_id IS NULL) OR ((start_at IS NOT NULL) AND (end_at IS NOT NULL) AND (blocked_minutes > 0))))
  constraint phlebotomy_visit__span CHECK ((end_at > start_at))
  CREATE UNIQUE INDEX phlebotomy_visit__patient ON phlebotomy_visit USING btree (team_id, user_id, provider)
  CREATE INDEX phlebotomy_visit__staff_time ON phlebotomy_visit USING btree (staff_id, start_at) WHERE (staff_id IS NOT NULL)
  policy of_team for all (team_id = current_team())

table phone_session
  team_id uuid not null
  user_id uuid not null
  id uuid not null
  token_hashes text[] not null
  created_at timestamp with time zone not null
  ended_at timestamp with time zone
  expires_at timestamp with time zone not null
  constraint phone_session_pkey PRIMARY KEY (team_id, user_id, id)
  constraint phone_session_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint phone_session_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  CREATE INDEX phone_session__expires ON phone_session USING btree (expires_at)
  policy of_team for all (team_id = current_team())

table phone_sync
  team_id uuid not null
  user_id uuid not null
  provider text not null
  received_at timestamp with time zone not null
  report jsonb not null
  constraint phone_sync_pkey PRIMARY KEY (team_id, user_id, provider)
  constraint phone_sync_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint phone_sync_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  policy of_team for all (team_id = current_team())

table pipeline
  team_id uuid not null
  push_historical_data boolean not null
  provider_raw_data boolean not null
  preferred text not null
  enabled text[] not null
  event_type_prefixes text[]
  destinations text not null
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  constraint pipeline_pkey PRIMARY KEY (team_id)
  constraint pipeline_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  CREATE INDEX pipeline__newest ON pipeline USING btree (created_at, team_id)
  policy of_team for all (team_id = current_team())

table portal_link
  team_id uuid not null
  user_id uuid not null
  code_hash text not null
  order_id uuid
  wrong_answers integer not null default 0
  created_at timestamp with time zone not null
  expires_at timestamp with time zone not null
  constraint portal_link_pkey PRIMARY KEY (team_id, user_id, code_hash)
  constraint portal_link_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint portal_link_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  CREATE INDEX portal_link__expires ON portal_link USING btree (expires_at)
  CREATE INDEX portal_link__hash ON portal_link USING btree (team_id, code_hash)
  policy of_team for all (team_id = current_team())

table postal_code_location
  country text not null
  postal_code text not null
  city text not null
  state text not null
  lat double precision not null
  lng double precision not null
  constraint postal_code_location_pkey PRIMARY KEY (country, postal_code, city)

table provider_grant
  team_id uuid not null
  id uuid not null
  user_id uuid not null
  provider text not null
  connection_id uuid not null
  external_user_id text
  access_token text not null
  refresh_token text
  expires_at timestamp with time zone
  scopes text[]
  version integer not null
  refused_version integer
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  ended_at timestamp with time zone
  refresh_owner uuid
  refreshing_until timestamp with time zone
  refused_at timestamp with time zone
  constraint provider_grant_pkey PRIMARY KEY (team_id, id)
  constraint provider_grant_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint provider_grant_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  CREATE UNIQUE INDEX provider_grant__current ON provider_grant USING btree (team_id, user_id, provider) WHERE (ended_at IS NULL)
  CREATE INDEX provider_grant__ended ON provider_grant USING btree (ended_at) WHERE (ended_at IS NOT NULL)
  CREATE INDEX provider_grant__external ON provider_grant USING btree (team_id, provider, external_user_id) WHERE (ended_at IS NULL)
  CREATE INDEX provider_grant__user ON provider_grant USING btree (team_id, user_id)
  policy of_team for all (team_id = current_team())

table provider_limit
  team_id uuid not null
  provider text not null
  tokens double precision[] not null
  refilled_at timestamp with time zone not null
  blocked_until timestamp with time zone
  constraint provider_limit_pkey PRIMARY KEY (team_id, provider)
  constraint provider_limit_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  policy of_team for all (team_id = current_team())

table provider_pull
  team_id uuid not null
  user_id uuid not null
  provider text not null
  resource text not null
  covered tstzmultirange not null default '{}'::tstzmultirange
  asked_at timestamp with time zone
  result text
  error text
  refresh_id uuid
  constraint provider_pull_pkey PRIMARY KEY (team_id, user_id, provider, resource)
  constraint provider_pull_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint provider_pull_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  policy of_team for all (team_id = current_team())

table provider_watermark
  team_id uuid not null
  user_id uuid not null
  provider text not null
  notified_at timestamp with time zone
  polled_at timestamp with time zone
  constraint provider_watermark_pkey PRIMARY KEY (team_id, user_id, provider)
  constraint provider_watermark_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint provider_watermark_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  policy of_team for all (team_id = current_team())

table psc_directory_version
  lab_id integer not null
  version bigint not null
  sandbox_data_revision text
  constraint psc_directory_version_pkey PRIMARY KEY (lab_id)
  constraint psc_directory_version_lab_id_fkey FOREIGN KEY (lab_id) REFERENCES lab(id)

table psc_schedule
  lab_id integer not null
  site_code text not null
  schedule jsonb not null
  updated_at timestamp with time zone not null
  constraint psc_schedule_pkey PRIMARY KEY (lab_id, site_code)
  constraint psc_schedule_lab_id_site_code_fkey FOREIGN KEY (lab_id, site_code) REFERENCES psc_site(lab_id, site_code) ON DELETE CASCADE

table psc_site
  lab_id integer not null
  site_code text not null
  name text not null
  first_line text not null
  second_line text
  city text not null
  state text not null
  zip_code text not null
  phone_number text
  fax_number text
  hours jsonb
  website text
  lat double precision not null
  lng double precision not null
  capabilities text[] not null
  supported_bill_types text[] not null
  active boolean not null
  updated_at timestamp with time zone not null
  constraint psc_site_pkey PRIMARY KEY (lab_id, site_code)
  constraint psc_site_lab_id_fkey FOREIGN KEY (lab_id) REFERENCES lab(id)

table query_result
  team_id uuid not null
  user_id uuid not null
  query_id uuid not null
  computed text not null
  shown text not null
  evaluated_at timestamp with time zone not null
  constraint query_result_pkey PRIMARY KEY (team_id, user_id, query_id)
  constraint query_result_query_id_fkey FOREIGN KEY (query_id) REFERENCES continuous_query(id)
  constraint query_result_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint query_result_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  CREATE INDEX query_result__query ON query_result USING btree (query_id)
  policy of_team for all (team_id = current_team())

table query_task
  team_id uuid not null
  user_id uuid not null
  query_id uuid not null
  id uuid not null
  status text not null
  scheduled_at timestamp with time zone not null
  started_at timestamp with time zone
  ended_at timestamp with time zone
  error_details text
  from_day date not null
  to_day date not null
  created_at timestamp with time zone not null default statement_timestamp()
  attempts integer not null default 0
  constraint query_task_pkey PRIMARY KEY (team_id, user_id, query_id, id)
  constraint query_task_query_id_fkey FOREIGN KEY (query_id) REFERENCES continuous_query(id)
  constraint query_task_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint query_task_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  constraint query_task__status CHECK ((status = ANY (ARRAY['scheduled'::text, 'started'::text, 'completed'::text, 'error'::text, 'skipped'::text])))
  CREATE INDEX query_task__created ON query_task USING btree (created_at)
  CREATE INDEX query_task__newest ON query_task USING btree (team_id, user_id, query_id, scheduled_at, id)
  CREATE INDEX query_task__query ON query_task USING btree (query_id)
  CREATE UNIQUE INDEX query_task__scheduled ON query_task USING btree (team_id, user_id, query_id) WHERE (status = 'scheduled'::text)
  CREATE INDEX query_task__started ON query_task USING btree (team_id, user_id, query_id, started_at DESC)
  policy of_team for all (team_id = current_team())

table raw_result
  id uuid not null
  team_id uuid
  lab_id integer not null
  link_account_id uuid
  sender text not null
  message_id text not null
  digest text not null
  sample_id text
  search_text text not null
  payload text not null
  pdfs bytea[] not null default '{}'::bytea[]
  status text not null
  decision_code text not null
  sub_reason_codes text[] not null default '{}'::text[]
  candidates text not null
  candidate_user_ids uuid[] not null default '{}'::uuid[]
  visible_to_team boolean not null default false
  note text
  resolution_action text
  resolved_user_id uuid
  resolved_order_id uuid
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  reviewed_at timestamp with time zone
  constraint raw_result__once UNIQUE NULLS NOT DISTINCT (lab_id, link_account_id, sender, message_id, digest)
  constraint raw_result_pkey PRIMARY KEY (id)
  constraint raw_result_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint raw_result__status CHECK ((status = ANY (ARRAY['matched'::text, 'pending_customer_review'::text, 'pending_ops_review'::text, 'resolved'::text])))
  CREATE INDEX raw_result__review ON raw_result USING btree (team_id, created_at, id) WHERE (status <> 'matched'::text)
  CREATE INDEX raw_result__sample ON raw_result USING btree (sample_id, lab_id, team_id) WHERE (sample_id IS NOT NULL)
  CREATE INDEX raw_result__team ON raw_result USING btree (team_id)
  CREATE INDEX raw_result__unassigned ON raw_result USING btree (created_at, id) WHERE (team_id IS NULL)
  CREATE INDEX raw_result__users ON raw_result USING btree (candidate_user_ids)
  policy of_team for all (team_id = current_team())

table readiness
  single boolean not null default true
  checked_at timestamp with time zone not null
  constraint readiness_pkey PRIMARY KEY (single)
  constraint readiness_single_check CHECK (single)

table rejected_post
  team_id uuid not null
  user_id uuid not null
  provider text not null
  resource text not null
  digest bytea not null
  is_whole boolean not null
  records integer not null
  message text not null
  posts integer not null
  first_at timestamp with time zone not null
  last_at timestamp with time zone not null
  constraint rejected_post_pkey PRIMARY KEY (team_id, user_id, provider, resource, digest)
  constraint rejected_post_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint rejected_post_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  policy of_team for all (team_id = current_team())

table repeated_post
  team_id uuid not null
  user_id uuid not null
  provider text not null
  resource text not null
  posts integer not null
  first_at timestamp with time zone not null
  last_at timestamp with time zone not null
  constraint repeated_post_pkey PRIMARY KEY (team_id, user_id, provider, resource)
  constraint repeated_post_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint repeated_post_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  CREATE INDEX repeated_post__many ON repeated_post USING btree (team_id, user_id, provider, resource) WHERE (posts >= 100)
  policy of_team for all (team_id = current_team())

table request_count
  team_id uuid not null
  bucket_start timestamp with time zone not null
  outcome text not null
  requests bigint not null
  duration_ms double precision not null
  constraint request_count_pkey PRIMARY KEY (team_id, bucket_start, outcome)
  constraint request_count_outcome_check CHECK ((outcome = ANY (ARRAY['success'::text, 'client_error'::text, 'server_error'::text])))
  CREATE INDEX request_count__bucket_start ON request_count USING btree (bucket_start)
  policy of_team for all (team_id = current_team())

table request_log
  team_id uuid not null
  id uuid not null
  request_id text not null
  at timestamp with time zone not null
  method text not null
  path text not null
  operation text not null
  status integer not null
  duration_ms double precision not null
  key_id text not null
  member_id uuid
  error text
  constraint request_log_pkey PRIMARY KEY (team_id, id)
  CREATE INDEX request_log__at ON request_log USING btree (at)
  CREATE INDEX request_log__errors ON request_log USING btree (team_id, id) WHERE (status >= 400)
  CREATE INDEX request_log__request ON request_log USING btree (team_id, request_id)
  policy of_team for all (team_id = current_team())

table resource_state
  team_id uuid not null
  user_id uuid not null
  provider text not null
  resource text not null
  last_attempt_at timestamp with time zone not null
  oldest_data timestamp with time zone
  newest_data timestamp with time zone
  sent_count bigint not null
  constraint resource_state_pkey PRIMARY KEY (team_id, user_id, provider, resource)
  constraint resource_state_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint resource_state_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  policy of_team for all (team_id = current_team())

table revoked_lease
  team_id uuid not null
  destination_id text not null
  owner uuid not null
  leased_until timestamp with time zone not null
  constraint revoked_lease_pkey PRIMARY KEY (team_id, destination_id)
  constraint revoked_lease_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  CREATE INDEX revoked_lease__leased ON revoked_lease USING btree (leased_until)
  CREATE INDEX revoked_lease__owner ON revoked_lease USING btree (owner)
  policy of_team for all (team_id = current_team())

table sandbox_fault
  team_id uuid not null
  kind text not null
  position smallint not null
  matches text
  fault jsonb not null
  remaining integer not null
  expires_at timestamp with time zone not null
  constraint sandbox_fault_pkey PRIMARY KEY (team_id, kind, "position")
  constraint sandbox_fault_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint sandbox_fault_kind_check CHECK ((kind = ANY (ARRAY['request'::text, 'delivery'::text])))
  constraint sandbox_fault_remaining_check CHECK ((remaining >= 0))
  policy of_team for all (team_id = current_team())

table saved_view
  team_id uuid not null
  id uuid not null
  member_id uuid
  page text not null
  name text not null
  query text not null
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  constraint saved_view__name UNIQUE NULLS NOT DISTINCT (team_id, member_id, page, name)
  constraint saved_view_pkey PRIMARY KEY (team_id, id)
  constraint saved_view_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  policy of_team for all (team_id = current_team())

table series
  id bigint not null generated always as identity
  team_id uuid not null
  user_id uuid not null
  resource text not null
  provider text not null
  source_type text not null
  app_id text
  device_id uuid
  workout_id uuid
  sport text
  changed_at timestamp with time zone not null
  constraint series__source UNIQUE NULLS NOT DISTINCT (team_id, user_id, resource, provider, source_type, app_id, device_id, workout_id, sport)
  constraint series_pkey PRIMARY KEY (team_id, user_id, id)
  constraint series_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint series_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  policy of_team for all (team_id = current_team())

table simulation
  team_id uuid not null
  order_id uuid not null
  plan jsonb not null
  constraint simulation_pkey PRIMARY KEY (team_id, order_id)
  constraint simulation_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint simulation_team_id_order_id_fkey FOREIGN KEY (team_id, order_id) REFERENCES lab_order(team_id, id) ON DELETE CASCADE
  policy of_team for all (team_id = current_team())

table stored_file
  set_id uuid not null
  name text not null
  storage text not null
  bytes bytea
  delete_at timestamp with time zone
  is_of_cell boolean not null default false
  constraint stored_file_pkey PRIMARY KEY (set_id, name)
  constraint stored_file_storage_check CHECK ((storage = ANY (ARRAY['disk'::text, 's3'::text, 'database'::text])))
  CREATE INDEX stored_file__delete_at ON stored_file USING btree (delete_at)
  policy of_team for all (NOT is_of_cell)

table summary
  team_id uuid not null
  user_id uuid not null
  kind text not null
  provider text not null
  key text not null
  id uuid not null
  source_type text not null
  app_id text
  calendar_date date
  document jsonb not null
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  device_id uuid
  raw jsonb
  computed_hr_zones integer[]
  query_values jsonb
  joined_keys text[]
  constraint summary_pkey PRIMARY KEY (team_id, user_id, kind, provider, key)
  constraint summary_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint summary_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  CREATE INDEX summary__date ON summary USING btree (team_id, user_id, kind, calendar_date)
  CREATE INDEX summary__id ON summary USING btree (team_id, id)
  policy of_team for all (team_id = current_team())

table team
  id uuid not null
  org_id uuid not null
  clock_offset_s bigint not null default 0
  settings jsonb not null default '{}'::jsonb
  created_at timestamp with time zone not null
  deleted_at timestamp with time zone
  source_priorities text
  disabled_features text[] not null default '{}'::text[]
  enabled_options text[] not null default '{}'::text[]
  constraint team_pkey PRIMARY KEY (id)
  constraint team__clock_forward CHECK ((clock_offset_s >= 0))
  policy of_team for all (id = current_team())

table team_physician
  team_id uuid not null
  id uuid not null
  first_name text not null
  last_name text not null
  npi text not null
  states text[] not null
  created_at timestamp with time zone not null
  constraint team_physician_pkey PRIMARY KEY (team_id, id)
  constraint team_physician_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  CREATE INDEX team_physician__team ON team_physician USING btree (team_id, created_at, id)
  policy of_team for all (team_id = current_team())

table unmatched_result_test
  team_id uuid not null
  id uuid not null
  status text not null
  stage text not null
  request text not null
  orders text not null
  plan text
  raw_result_id uuid
  error text
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  started_at timestamp with time zone
  completed_at timestamp with time zone
  constraint unmatched_result_test_pkey PRIMARY KEY (team_id, id)
  constraint unmatched_result_test_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  policy of_team for all (team_id = current_team())

table user
  team_id uuid not null
  id uuid not null
  client_user_id text not null
  created_on timestamp with time zone not null
  fallback_time_zone jsonb
  fallback_birth_date jsonb
  ingestion_start date
  ingestion_end date
  deleted_at timestamp with time zone
  connected_sources jsonb not null default '[]'::jsonb
  constraint user_pkey PRIMARY KEY (team_id, id)
  constraint user_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint user__ingestion_bounds CHECK ((ingestion_end >= ingestion_start))
  CREATE UNIQUE INDEX user__client_user_id ON "user" USING btree (team_id, client_user_id) WHERE (deleted_at IS NULL)
  CREATE INDEX user__deleted ON "user" USING btree (team_id, client_user_id) WHERE (deleted_at IS NOT NULL)
  CREATE INDEX user__newest ON "user" USING btree (team_id, created_on DESC, id DESC) WHERE (deleted_at IS NULL)
  policy of_team for all (team_id = current_team())

table user_demographics
  team_id uuid not null
  user_id uuid not null
  document jsonb not null
  updated_at timestamp with time zone not null
  constraint user_demographics_pkey PRIMARY KEY (team_id, user_id)
  constraint user_demographics_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint user_demographics_team_id_user_id_fkey FOREIGN KEY (team_id, user_id) REFERENCES "user"(team_id, id)
  policy of_team for all (team_id = current_team())

table webhook
  team_id uuid not null
  id text not null
  url text not null
  description text not null
  rate_limit integer
  disabled boolean not null
  filter_types text[]
  headers text not null
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  constraint webhook_pkey PRIMARY KEY (team_id, id)
  constraint webhook_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint webhook__rate_limit CHECK ((rate_limit >= 1))
  CREATE INDEX webhook__team ON webhook USING btree (team_id, created_at, id)
  policy of_team for all (team_id = current_team())

table webhook_message
  team_id uuid not null
  id uuid not null
  type text not null
  created_at timestamp with time zone not null
  body text not null
  constraint webhook_message_pkey PRIMARY KEY (team_id, id)
  constraint webhook_message_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  CREATE INDEX webhook_message__created ON webhook_message USING btree (created_at)
  policy of_team for all (team_id = current_team())

table webhook_secret
  team_id uuid not null
  id uuid not null
  webhook_id text not null
  secret text not null
  created_at timestamp with time zone not null
  expires_at timestamp with time zone
  constraint webhook_secret_pkey PRIMARY KEY (team_id, id)
  constraint webhook_secret_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint webhook_secret_team_id_webhook_id_fkey FOREIGN KEY (team_id, webhook_id) REFERENCES webhook(team_id, id) ON DELETE CASCADE
  CREATE INDEX webhook_secret__webhook ON webhook_secret USING btree (team_id, webhook_id, id)
  policy of_team for all (team_id = current_team())

table workout_stream
  team_id uuid not null
  user_id uuid not null
  provider text not null
  key text not null
  kind text not null default 'workouts'::text
  samples integer not null
  stream text not null
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  constraint workout_stream_pkey PRIMARY KEY (team_id, user_id, provider, key)
  constraint workout_stream_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id)
  constraint workout_stream_team_id_user_id_kind_provider_key_fkey FOREIGN KEY (team_id, user_id, kind, provider, key) REFERENCES summary(team_id, user_id, kind, provider, key) ON DELETE CASCADE
  constraint workout_stream_kind_check CHECK ((kind = 'workouts'::text))
  policy of_team for all (team_id = current_team())

sequence delivery_queue_position
sequence feed_number
sequence order_event_id

view access_log_of_team
 SELECT seq,
    team_id,
    users,
    line
   FROM access_log
  WHERE ((team_id = ( SELECT current_team() AS current_team)) OR ( SELECT (NOT row_security_active(('access_log'::regclass)::oid))));

view idempotency_key_of_team
 SELECT team_id,
    scope,
    key,
    user_ids
   FROM idempotency_key
  WHERE ((team_id = ( SELECT current_team() AS current_team)) OR ( SELECT (NOT row_security_active(('idempotency_key'::regclass)::oid))));

view lab_order_of_team
 SELECT id,
    team_id,
    user_id,
    transaction_id,
    method,
    low_level_status,
    created_at,
    updated_at,
    activate_by,
    interpretation,
    patient_name,
    recipient_name,
    patient_dob,
    lifecycle_name,
    sample_id
   FROM lab_order
  WHERE ((team_id = ( SELECT current_team() AS current_team)) OR ( SELECT (NOT row_security_active(('lab_order'::regclass)::oid))));

view raw_result_of_team
 SELECT id,
    team_id,
    candidate_user_ids
   FROM raw_result
  WHERE ((team_id = ( SELECT current_team() AS current_team)) OR ( SELECT (NOT row_security_active(('raw_result'::regclass)::oid))));

function access_archive_end(date)
  (select last_seq, last_hash from access_archive where day = of_day order by last_seq desc limit 1)
    union all
    (select d.seq, d.hash from access_day d where d.day < of_day order by d.day desc limit 1)
    order by 1 desc limit 1

aggregate access_chain(bytea,text) of access_link

function access_link(bytea,bytea,text)
  begin
    return sha256(coalesce(state, first) || convert_to(line, 'UTF8'));
  end

function add_access_log_file(access_archive) security definer
  declare
    previous record;
  begin
    lock table access_day in exclusive mode;
    select * into strict previous from access_archive_end(file.day);
    if not is_archivable(file.day) or file.first_seq <> previous.seq + 1 then
      return false;
    end if;
    if file.previous_hash <> previous.hash
      or not exists (select from access_log l where l.day = file.day and l.seq = file.last_seq and l.hash = file.last_hash) then
      raise exception 'the file does not continue the access log' using errcode = 'check_violation';
    end if;
    insert into access_archive values (file.*);
    return true;
  end

function append_access_log(text) security definer
  select append_access_log_on((now() at time zone 'UTC')::date, new_lines)

function append_access_log_on(date,text)
  declare
    head access_day;
    appended bigint;
    last_seq bigint;
    last_hash bytea;
  begin
    lock table access_day in exclusive mode;
    select * into strict head from access_day order by day desc limit 1;
    if today > head.day then
      if new_lines = '' and not exists (select from access_line) then
        return 0;
      end if;
      execute format('create table %I (like access_log including all)', 'access_log_' || to_char(today, 'YYYYMMDD'));
      execute format('alter table access_log attach partition %I for values from (%L) to (%L)',
                     'access_log_' || to_char(today, 'YYYYMMDD'), today, today + 1);
      insert into access_day (day, seq, hash) values (today, head.seq, head.hash);
      head.day := today;
    end if;
    with
      stored as (
        delete from access_line where ctid = any (array(select ctid from access_line limit 20000)) returning team_id, users, line),
      pending as (
        select team_id, users, line from stored
        union all
        select nullif(split_part(l, E'\t', 1), '')::uuid, split_part(l, E'\t', 2), split_part(l, E'\t', 3)
        from unnest(string_to_array(nullif(new_lines, ''), E'\n')) as t (l)),
      inserted as (
        insert into access_log (day, seq, team_id, users, line, hash)
        select head.day, head.seq + row_number() over w, team_id, users::uuid[], line, access_chain(head.hash, line) over w
        from pending window w as (order by line collate "C" rows unbounded preceding)
        returning seq, hash)
    select count(*) over (), seq, hash into appended, last_seq, last_hash from inserted order by seq desc limit 1;
    if not found then
      return 0;
    end if;
    update access_day set seq = last_seq, hash = last_hash where day = head.day;
    return appended;
  end

function archive_access_log_day(date,uuid[]) security definer
  declare
    first_seq bigint;
    last_seq bigint;
  begin
    lock table access_day in exclusive mode;
    if not is_archivable(archived_day)
      or not exists (select from access_day d, access_archive_end(d.day) e where d.day = archived_day and e.seq = d.seq and e.hash = d.hash)
      or read_set_ids is distinct from array(select a.set_id from access_archive a where a.day = archived_day order by a.first_seq) then
      return false;
    end if;
    select min(a.first_seq), max(a.last_seq) into first_seq, last_seq from access_archive a where a.day = archived_day;
    if exists (select from access_log l where l.day = archived_day and (l.seq < first_seq or l.seq > last_seq)) then
      raise exception 'the table of % has lines that are not part of the chain', archived_day using errcode = 'check_violation';
    end if;
    update access_day set archived_at = now() where day = archived_day;
    execute format('drop table %I', 'access_log_' || to_char(archived_day, 'YYYYMMDD'));
    return true;
  end

function booked_times_of_sites(text,text[],timestamp with time zone,timestamp with time zone,uuid) security definer
  begin
    return query
    select a.site_code, a.start_at, a.end_at, count(*) from appointment a
    where a.provider = lab and a.site_code = any (site_codes) and a.event_status <> 'cancelled'
      and a.start_at < end_to and a.end_at > start_from and a.id is distinct from except_appointment
    group by a.site_code, a.start_at, a.end_at;
  end

function booked_times_of_staff(uuid[],timestamp with time zone,timestamp with time zone,uuid) security definer
  begin
    return query
    select v.staff_id, v.start_at, v.end_at, v.blocked_minutes from phlebotomy_visit v
    where v.staff_id = any (staff_ids) and v.start_at < end_to and v.end_at > start_from
      and v.appointment_id is distinct from except_appointment;
  end

function current_organization()
  select t.org_id from team t where t.id = current_team()

function current_team()
  select nullif(current_setting('drawbridge.team', true), '')::uuid

function drop_access_log_day(date) security definer
  declare
    current_days integer;
  begin
    select days into strict current_days from access_log_retention;
    if dropped_day >= (now() at time zone 'UTC')::date - current_days then
      raise exception 'the access log is kept for % days, and % is younger', current_days, dropped_day using errcode = 'insufficient_privilege';
    end if;
    lock table access_day in exclusive mode;
    update access_day set dropped_at = now(), retention_days = current_days where day = dropped_day and dropped_at is null;
    if found then
      delete from access_archive where day = dropped_day;
      execute format('drop table if exists %I', 'access_log_' || to_char(dropped_day, 'YYYYMMDD'));
    end if;
  end

function forget_access_log_files(date,bigint) security definer
  begin
    lock table access_day in exclusive mode;
    if not is_archivable(of_day) then
      raise exception 'the lines of % are only in its files', of_day using errcode = 'insufficient_privilege';
    end if;
    delete from access_archive where day = of_day and first_seq >= from_seq;
  end

function is_archivable(date)
  select exists (
      select from access_day d, access_log_retention r
      where d.day = tested_day and d.seq > 0 and d.archived_at is null and d.dropped_at is null
        and d.day < (now() at time zone 'UTC')::date - r.database_days and d.day >= (now() at time zone 'UTC')::date - r.days
        and exists (select from access_day l where l.day > d.day))
