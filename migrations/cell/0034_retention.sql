-- compatible with programs from migration 0030 on
-- Two B-trees have taken the place of these block indexes.
drop index feed__old;
drop index delivery__old;
-- Expired rows of every kind are found by an index.
create index delivery_tally__at on delivery_tally (at);
create index webhook_message__created on webhook_message (created_at);
create index geocoded_place__asked on geocoded_place (asked_at);
create index geocoded_place__unknown on geocoded_place (asked_at) where lat is null;
