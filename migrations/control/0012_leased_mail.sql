-- compatible with programs from migration 0007 on
-- Mail is claimed under leases as jobs are: an owner, a fencing token, the end of the lease. Programs of before claim by
-- due_at alone, which a claim of this program moves to the end of its lease as well. Dead letters are listed and retried by command.
alter table mail add column owner uuid, add column fence integer not null default 0, add column leased_until timestamptz;
