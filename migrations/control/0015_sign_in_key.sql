-- compatible with programs from migration 0014 on
-- The key that signs the sign-in tokens of phones: one for the installation, encrypted with ENCRYPTION_KEYS.
create table sign_in_key (
  id smallint primary key check (id = 1),
  private_key text not null,
  created_at timestamptz not null
);
