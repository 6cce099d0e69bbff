-- compatible with programs from migration 0015 on
-- The person for whom a key was issued. The key is removed with the member.
alter table api_key add column member_id uuid references member (id) on delete cascade;
create index api_key__member on api_key (member_id) where member_id is not null;
alter table management_key add column member_id uuid references member (id) on delete cascade;
create index management_key__member on management_key (member_id) where member_id is not null;
