-- compatible with programs from migration 0007 on
-- As in cells, where answers are about users.
alter table idempotency add column user_ids uuid[];
