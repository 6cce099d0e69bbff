import type { Module } from '../module/module.ts'

export const embeddedPostgres: Module = {
  name: 'platform/embedded-postgres',
  about: 'the PostgreSQL that comes with the program',
}
