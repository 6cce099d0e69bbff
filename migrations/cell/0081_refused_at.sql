-- compatible with programs from migration 0080 on
-- When the vendor refused to refresh the tokens of refused_version.
alter table provider_grant add column refused_at timestamptz;
