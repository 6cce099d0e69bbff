#!/bin/bash
# The image of PostgreSQL runs this once, on an empty volume: a database and a login that may create the roles of Drawbridge
# (docs/operating/database.md, "Roles and row-level security") and is no superuser.
set -euo pipefail
psql --set=ON_ERROR_STOP=1 --set=password="$DRAWBRIDGE_DATABASE_PASSWORD" --username="${POSTGRES_USER:-postgres}" --dbname=postgres <<'SQL'
create role drawbridge login createrole password :'password';
create database drawbridge owner drawbridge;
SQL
