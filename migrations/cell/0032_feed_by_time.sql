-- compatible with programs from migration 0030 on
-- Expired lines are looked for several times a minute. A block index does not do for that: the space of deleted rows is used again, and
-- then every range of blocks has had an old row and a new one.
create index feed__created on feed (created_at);
