-- Postal codes that the operator has imported, without spaces and hyphens; those of the United States come with the program.
create table postal_place (
  country      text not null,
  postal_code  text not null,
  city         text not null,
  state        text not null,
  lat          double precision not null,
  lng          double precision not null,
  primary key (country, postal_code, city)
);

-- What the geocoder said; without `lat` it knew no such place.
create table geocoded_place (
  country      text not null,
  postal_code  text not null,
  city         text not null,
  lat          double precision,
  lng          double precision,
  found_city   text not null,
  found_state  text not null,
  asked_at     timestamptz not null,
  primary key (country, postal_code, city)
);

-- Patient service centers: sites of laboratories where samples are taken. `site_code` is the laboratory's own.
create table psc_site (
  lab_id                integer not null references lab,
  site_code             text not null,
  name                  text not null,
  first_line            text not null,
  second_line           text,
  city                  text not null,
  state                 text not null,
  zip_code              text not null,
  phone_number          text,
  fax_number            text,
  hours                 jsonb,
  website               text,
  lat                   double precision not null,
  lng                   double precision not null,
  capabilities          text[] not null,
  supported_bill_types  text[] not null,
  active                boolean not null,
  updated_at            timestamptz not null,
  primary key (lab_id, site_code)
);

-- A laboratory's sites as a whole. `version` rises with every change, `sandbox_form` is that of the fictional sites loaded.
create table psc_directory (
  lab_id        integer primary key references lab,
  version       bigint not null,
  sandbox_form  text
);
