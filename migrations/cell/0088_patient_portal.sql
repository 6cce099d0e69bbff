-- compatible with programs from migration 0087 on
-- Long-lived links to the portal of a patient, for messages of the team. Links that open it at once are signed and not stored.
create table portal_link (
  team_id uuid not null references team (id),
  user_id uuid not null references "user" (id),
  -- SHA-256 of the code in the link.
  code_hash text not null,
  -- The order that the portal opens with.
  order_id uuid,
  -- Wrong birth dates in a row.
  wrong_answers integer not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (team_id, user_id, code_hash)
);
create index portal_link__hash on portal_link (team_id, code_hash);
create index portal_link__user on portal_link (user_id);
create index portal_link__expires on portal_link (expires_at);

-- Channels on which a patient receives no messages, by the patient's own choice.
create table patient_message_opt_out (
  team_id uuid not null references team (id),
  user_id uuid not null references "user" (id),
  channel text not null,
  created_at timestamptz not null,
  primary key (team_id, user_id, channel)
);
create index patient_message_opt_out__user on patient_message_opt_out (user_id);
