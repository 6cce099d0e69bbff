-- Teams whose events somebody receives or once received: only theirs are announced.
create table followed_team (team_id uuid primary key references team);
insert into followed_team (team_id) select distinct team_id from webhook;

-- Read in blocks of 64 by each process.
alter sequence order_event_id increment by 64;
