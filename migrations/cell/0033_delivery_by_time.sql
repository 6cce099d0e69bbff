-- compatible with programs from migration 0030 on
-- As for the feed.
create index delivery__created on delivery (created_at);
