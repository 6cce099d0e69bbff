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
