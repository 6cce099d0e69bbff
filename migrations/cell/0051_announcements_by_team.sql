-- compatible with programs from migration 0030 on
-- Each look at what was announced takes the first rows of every team, so that one team's backlog does not hide what another has
-- announced. Still one index: a second one would cost every order. The table holds only what waits, so the new index is made at once.
alter table announcement drop constraint announcement_pkey, add constraint announcement_pkey primary key (team_id, id);
