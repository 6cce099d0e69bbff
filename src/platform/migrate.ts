// Migrations: numbered SQL files, forward only, each in a transaction of its own, recorded with a checksum. Two processes that
// start together do not both apply one; a program that is older than the database refuses to run on it.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import type { Connection } from './db.ts'

export type MigrationKind = 'cell' | 'control'

export interface Migration {
  number: number
  name: string
  text: string
  checksum: string
}

const folder = new URL('../../migrations/', import.meta.url)

/** The migrations of a kind of schema, in order. Throws when a number is missing or used twice. */
export function migrationsOf(kind: MigrationKind): Migration[] {
  const files = readdirSync(new URL(`${kind}/`, folder)).filter((name) => name.endsWith('.sql'))
  return files.sort().map((name, i) => {
    const number = Number(name.slice(0, 4))
    if (number !== i + 1) throw new Error(`migrations/${kind}/${name}: expected number ${i + 1}`)
    const text = readFileSync(new URL(`${kind}/${name}`, folder), 'utf8')
    return { number, name, text, checksum: createHash('sha256').update(text).digest('hex').slice(0, 32) }
  })
}

/** The database is newer than this program, or its history is another one. */
export class MigrationError extends Error {}

/**
 * Bring a schema up to date; creates it if needed.
 * @returns the names of the migrations applied
 */
export async function migrate(connection: Connection, schema: string, kind: MigrationKind): Promise<string[]> {
  const client = new pg.Client({ ...connection, application_name: 'drawbridge migrate' })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [lockOf(schema)])
    await client.query(`create schema if not exists ${schema}`)
    await client.query(`set search_path = ${schema}`)
    await client.query(
      'create table if not exists migration (number integer primary key, name text not null, checksum text not null, applied_at timestamptz not null)',
    )
    const { rows } = await client.query<{ number: number; checksum: string }>(
      'select number, checksum from migration order by number',
    )
    const migrations = migrationsOf(kind)
    verify(rows, migrations, schema)
    const pending = migrations.slice(rows.length)
    for (const { number, name, text, checksum } of pending) {
      await client.query('begin')
      await client.query(text)
      await client.query('insert into migration (number, name, checksum, applied_at) values ($1, $2, $3, clock_timestamp())', [
        number,
        name,
        checksum,
      ])
      await client.query('commit')
    }
    return pending.map(({ name }) => name)
  } finally {
    await client.end()
  }
}

function verify(applied: { number: number; checksum: string }[], known: Migration[], schema: string): void {
  if (applied.length > known.length)
    throw new MigrationError(
      `The schema "${schema}" is newer than this program (migration ${applied.length}, known ${known.length}). Run the newer release.`,
    )
  for (const [i, { number, checksum }] of applied.entries())
    if (known[i]?.number !== number || known[i].checksum !== checksum)
      throw new MigrationError(
        `Migration ${number} of schema "${schema}" is not the one this program knows. Migrations that have run must not be changed.`,
      )
}

/** Whether every migration of a schema has run, read without waiting for anybody. */
export async function isCurrent(pool: pg.Pool, kind: MigrationKind): Promise<boolean> {
  const known = migrationsOf(kind)
  const { rows } = await pool.query<{ n: number; last: string | null }>(
    'select count(*)::int as n, (select checksum from migration order by number desc limit 1) as last from migration',
  )
  return rows[0]!.n === known.length && rows[0]!.last === (known.at(-1)?.checksum ?? null)
}

const lockOf = (schema: string): number => createHash('sha256').update(`drawbridge migrate ${schema}`).digest().readInt32BE(0)
