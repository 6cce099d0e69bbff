-- compatible with programs from migration 0092 on
-- The keys of the sessions that a night was joined of, beside its own. Null: of none.
alter table summary add column joined_keys text[];
