-- When a key was last used, to the minute or so, and from which address.
alter table api_key
  add column last_used_at timestamptz,
  add column last_used_from text;
alter table management_key
  add column last_used_at timestamptz,
  add column last_used_from text;
