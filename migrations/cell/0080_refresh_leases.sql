-- compatible with programs from migration 0079 on
-- The lease of the one that refreshes the tokens of a grant: a random id, and its end by the clock of the database.
alter table provider_grant add column refresh_owner uuid, add column refreshing_until timestamptz;
