-- The key was looked up for each event; what a line of the feed is made of has it already. Lines come in the order of their time.
alter table feed drop constraint feed_team_id_fkey;
drop index feed__old;
create index feed__old on feed using brin (created_at);
