-- compatible with programs from migration 0090 on
-- The scopes of a cloud that a user has granted; null: the provider has none, or did not say.
alter table connection add column granted_scopes text[];
