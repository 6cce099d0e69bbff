// Part of `npm run check`: the migrations are numbered without a gap, no number is used twice, and each says what programs it is compatible
// with. Without this a number that two branches have taken is found only when a database is migrated.
import { pathToFileURL } from 'node:url'
import { MigrationError, readMigrations, type MigrationKind } from '../src/platform/db/migrations.ts'

/** A folder with the folders `cell` and `control`, in place of the project's. */
const [folder = new URL('../migrations/', import.meta.url).href] = process.argv
  .slice(2)
  .map((path) => `${pathToFileURL(path).href}/`)

for (const kind of ['cell', 'control'] as const satisfies readonly MigrationKind[])
  try {
    readMigrations(kind, new URL(folder))
  } catch (error) {
    if (!(error instanceof MigrationError)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
