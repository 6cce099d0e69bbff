-- Names of the features that the operator has switched off for a team.
alter table team add column features_off text[] not null default '{}';
