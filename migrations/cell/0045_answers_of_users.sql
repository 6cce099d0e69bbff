-- compatible with programs from migration 0030 on
-- The users whom a kept answer is about: it is hidden while one of them is deleted, and erased with them. Answers that were kept before name
-- nobody; most are gone a day later, bookings after 14 days, so those are read for whom they are about.
alter table idempotency add column user_ids uuid[];
create index idempotency__users on idempotency using gin (user_ids) where user_ids is not null;
update idempotency
set user_ids = array(select distinct m[1]::uuid from regexp_matches(body, '"user_id":"([0-9a-f-]{36})"', 'g') m)
where scope = 'book_psc_appointment' and body like '%"user_id":"%';
