-- A key that stands for one body alone remembers which.
alter table idempotency add column fingerprint text;
