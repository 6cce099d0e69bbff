-- compatible with programs from migration 0030 on
-- Since when nothing is sent to an endpoint because its secret or its headers cannot be decrypted.
alter table webhook_lane add column unreadable_since timestamptz;
