-- compatible with programs from migration 0092 on

-- The identity of a laboratory may have an accreditation other than CLIA, and a country.
alter table lab add column accreditation text, add column country text not null default 'United States';
