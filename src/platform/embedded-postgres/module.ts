import type { Module } from '../module/module.ts'

export const embeddedPostgres: Module = {
  name: 'platform/embedded-postgres',
  about: 'the PostgreSQL server shipped with the program',
}
