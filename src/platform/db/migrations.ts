// The migrations that this program knows, and whether it can work with a schema. A schema may be newer than the program: each migration
// says which migrations a program must know to work with the schema after it, and the table `migration` stores that for older programs.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { Queries } from './transaction.ts'
import { T } from '../schema/schema.ts'
import { raw, sql } from './sql.ts'

export type MigrationKind = 'cell' | 'control'

export interface Migration {
  number: number
  /** The file name. */
  name: string
  text: string
  checksum: string
  /** Programs that know all migrations up to this number can work with the schema after this migration. */
  compatible_from: number
}

/** A schema that this program cannot work with, or a migration that cannot be applied. The message says what to do. */
export class MigrationError extends Error {}

const folder = new URL('../../../migrations/', import.meta.url)

const DECLARATION = /^-- compatible with programs from migration (\d{4}) on$/

const loaded = new Map<MigrationKind, Migration[]>()

/**
 * The migrations of a kind of schema, in order. The files are read once: a running process does not notice newer files that replace them.
 * Errors: as `readMigrations`.
 */
export function migrationsOf(kind: MigrationKind): Migration[] {
  let migrations = loaded.get(kind)
  if (!migrations) loaded.set(kind, (migrations = readMigrations(kind, folder)))
  return migrations
}

/**
 * Reads the files of a kind of schema below a folder as migrations, in order. Errors: MigrationError for a number that is missing or used
 * twice, and for a first line that does not declare the compatibility.
 */
export function readMigrations(kind: MigrationKind, folder: URL): Migration[] {
  const files = readdirSync(new URL(`${kind}/`, folder)).filter((name) => name.endsWith('.sql'))
  return files.sort().map((name, i) => {
    const before = files[i - 1]
    if (before?.slice(0, 4) === name.slice(0, 4))
      throw new MigrationError(
        `migrations/${kind}/${name}: The number is that of ${before}; the next free one is ${next(files)}.`,
      )
    return readMigration(kind, name, i + 1, readFileSync(new URL(`${kind}/${name}`, folder), 'utf8'))
  })
}

/** The next free number. */
const next = (files: readonly string[]): string => String(Number(files.at(-1)!.slice(0, 4)) + 1).padStart(4, '0')

/** Reads one file as a migration. Errors: as `migrationsOf`. */
export function readMigration(kind: MigrationKind, name: string, number: number, text: string): Migration {
  if (Number(name.slice(0, 4)) !== number) throw new MigrationError(`migrations/${kind}/${name}: The number must be ${number}.`)
  const checksum = createHash('sha256').update(text).digest('hex').slice(0, 32)
  return { number, name, text, checksum, compatible_from: declaredCompatibility(kind, name, number, text) }
}

function declaredCompatibility(kind: MigrationKind, name: string, number: number, text: string): number {
  const found = DECLARATION.exec(text.slice(0, text.indexOf('\n')))
  const compatible_from = Number(found?.[1])
  if (compatible_from >= 1 && compatible_from <= number) return compatible_from
  throw new MigrationError(
    `migrations/${kind}/${name}: The first line must say from which migration on programs can work with the schema after this one, ` +
      `at most its own number: "-- compatible with programs from migration ${String(Math.max(1, number - 1)).padStart(4, '0')} on" ` +
      '(CONTRIBUTING.md, "Add a table or a column").',
  )
}

/** A row of the table `migration`. */
export type AppliedMigration = Pick<Migration, 'number' | 'checksum' | 'compatible_from'>

export const APPLIED = 'select number, checksum, compatible_from from migration order by number'

export interface Comparison {
  /** Migrations of this program that the schema lacks. */
  pending: Migration[]
  /** The schema has migrations that this program does not know. */
  newer: boolean
}

/**
 * Compares the migrations of a schema with those of this program. Errors: MigrationError if the history differs, or if it is newer and not
 * compatible with this program. The first migration, the baseline, differs only in development versions.
 */
export function compare(rows: AppliedMigration[], migrations: Migration[], schema: string): Comparison {
  for (const [i, { number, checksum }] of rows.entries())
    if (number !== i + 1 || (migrations[i] && migrations[i].checksum !== checksum))
      throw new MigrationError(
        i === 0
          ? `The schema "${schema}" was made by a development version of Drawbridge: create a new data folder, or a new database.`
          : `Migration ${number} of schema "${schema}" is not the one this program knows. Migrations that have run must not be changed.`,
      )
  const required = Math.max(0, ...rows.slice(migrations.length).map((row) => row.compatible_from))
  if (required > migrations.length)
    throw new MigrationError(
      `The schema "${schema}" is newer than this program and not compatible with it: it has migration ${rows.length}, which requires ` +
        `a program with migration ${required}, and this program has ${migrations.length}. Run a newer release.`,
    )
  return { pending: migrations.slice(rows.length), newer: rows.length > migrations.length }
}

const Applied = T.Object({ number: T.Integer(), checksum: T.String(), compatible_from: T.Integer() })

const UNDEFINED_TABLE = '42P01'

/**
 * Checks that this program can work with a schema; changes nothing. One read of a small table. Errors: MigrationError if the schema does
 * not exist, lacks a migration, or is not compatible; otherwise the error of the database.
 */
export async function requireUsable(queries: Queries, schema: string, kind: MigrationKind): Promise<void> {
  const applied = await queries.many(Applied, sql`${raw(APPLIED)}`).catch((error: unknown) => {
    if ((error as { code?: string }).code === UNDEFINED_TABLE) return []
    throw error
  })
  const known = migrationsOf(kind)
  const { pending } = compare(applied, known, schema)
  if (pending.length)
    throw new MigrationError(
      `The schema "${schema}" ${applied.length ? `has ${applied.length} of the ${known.length} migrations of this program` : 'has not been created'}. ` +
        'Run "bin/drawbridge migrate" first.',
    )
}
