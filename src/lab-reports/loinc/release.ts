// The full LOINC release of an operator in a cell: imported by command, searched for names that the shipped terms do not have.
import type { Db } from '../../platform/db/database.ts'
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { sql } from '../../platform/db/sql.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { releaseBatches } from './release-file.ts'
import { tokensOf } from './name-words.ts'
import type { Term } from './terms.ts'

/** What an import does to the terms of a cell. */
export interface ReleaseChange {
  previous_count: number
  removed_count: number
  added_count: number
  changed_count: number
}

const Count = T.Object({ n: T.Integer() })
const Outcomes = T.Object({ added: T.Integer(), changed: T.Integer() })

/**
 * Puts the laboratory terms of a release in place of those of the cell. Writes loinc_release_term. One transaction; nothing changes if the
 * file is not a LOINC table (InvalidFileError). Later starts of the program do not change the terms.
 */
export const importRelease = (db: Db, path: string): Promise<ReleaseChange> => db.plainTx((tx) => replaceTerms(tx, path))

/** Returns what `importRelease` would do. Changes nothing. Throws InvalidFileError as it does. */
export async function changeOfRelease(db: Db, path: string): Promise<ReleaseChange> {
  let change: ReleaseChange | undefined
  const compare = db.plainTx(async (tx) => {
    change = await replaceTerms(tx, path)
    // The exception rolls everything back.
    throw new Compared()
  })
  await compare.catch((error: unknown) => {
    if (!(error instanceof Compared)) throw error
  })
  return change!
}

class Compared extends Error {}

async function replaceTerms(tx: PlainTx, path: string): Promise<ReleaseChange> {
  // Imports that run at the same time wait for each other; readers do not.
  await tx.locking.run(sql`lock table loinc_release_term in share row exclusive mode`)
  const { n: previous_count } = await tx.one(Count, sql`select count(*)::int as n from loinc_release_term`)
  await tx.run(sql`update loinc_release_term set is_in_file = false where is_in_file`)
  const change: ReleaseChange = { previous_count, removed_count: 0, added_count: 0, changed_count: 0 }
  for await (const batch of releaseBatches(path)) {
    const { added, changed } = await tx.one(
      Outcomes,
      sql`
      with r as (
        select * from jsonb_to_recordset(${JSON.stringify(batch)}::jsonb) as r (
          code text, long_name text, component text, property text, timing text, system text, scale text, method text, class text,
          short_name text, units text, rank int, words text)
      ), before as (
        select t.code, (t.long_name, t.component, t.property, t.timing, t.system, t.scale, t.method, t.class, t.short_name, t.units, t.rank)
          is distinct from (r.long_name, r.component, r.property, r.timing, r.system, r.scale, r.method, r.class, r.short_name, r.units, r.rank)
          as differs
        from loinc_release_term t join r using (code)
      ), written as (
        insert into loinc_release_term (
          code, long_name, component, property, timing, system, scale, method, class, short_name, units, rank, search, is_in_file)
        select code, long_name, component, property, timing, system, scale, method, class, short_name, units, rank,
          to_tsvector('simple', words), true
        from r
        on conflict (code) do update set
          long_name = excluded.long_name, component = excluded.component, property = excluded.property, timing = excluded.timing,
          system = excluded.system, scale = excluded.scale, method = excluded.method, class = excluded.class,
          short_name = excluded.short_name, units = excluded.units, rank = excluded.rank, search = excluded.search, is_in_file = true
        returning 1)
      select ((select count(*) from written) - (select count(*) from before))::int as added,
        (select count(*) from before where differs)::int as changed`,
    )
    change.added_count += added
    change.changed_count += changed
  }
  change.removed_count = await tx.run(sql`delete from loinc_release_term where not is_in_file`)
  return change
}

/** A name of one common word takes 50 ms to search. */
const NAMES_MAX = 100
const WORDS_MAX = 8
const FOUND_MAX = 20

const released = {
  code: T.String(),
  long_name: T.String(),
  component: T.String(),
  property: T.String(),
  timing: T.String(),
  system: T.String(),
  scale: T.String(),
  method: T.String(),
  short_name: T.String(),
  units: T.String(),
  rank: T.Integer(),
}
const Released = T.Object(released)
const Found = T.Object({ name: T.String(), ...released })

/**
 * Finds terms of the imported release whose names have all words of a name, 20 of each name at most, the most frequent first; for
 * `matchLoinc`. Names without such a term are left out. One statement; the first 100 names are searched, 8 words of each.
 */
export async function findReleaseTerms(queries: Queries, names: readonly string[]): Promise<Map<string, Term[]>> {
  const asked = [...new Set(names)].slice(0, NAMES_MAX).flatMap((name) => {
    const words = tokensOf(name.slice(0, 300)).filter((word) => /^[\p{L}\p{N}]+$/u.test(word))
    return words.length === 0
      ? []
      : [{ name: name.toWellFormed().replaceAll('\0', ''), query: words.slice(0, WORDS_MAX).join(' & ') }]
  })
  const found = new Map<string, Term[]>()
  if (asked.length === 0) return found
  const rows = await queries.many(
    Found,
    sql`
    select q.name, t.* from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as q (name text, query text)
    cross join lateral (
      select code, long_name, component, property, timing, system, scale, method, short_name, units, rank from loinc_release_term
      where search @@ to_tsquery('simple', q.query)
      order by rank, code limit ${FOUND_MAX}) t`,
  )
  for (const { name, ...row } of rows) found.set(name, [...(found.get(name) ?? []), toTerm(row)])
  return found
}

/** A term of the imported release by its code. */
export async function findReleaseTerm(queries: Queries, code: string): Promise<Term | undefined> {
  const row = await queries.maybe(
    Released,
    sql`
    select code, long_name, component, property, timing, system, scale, method, short_name, units, rank from loinc_release_term
    where code = ${code}`,
  )
  return row && toTerm(row)
}

function toTerm(row: Static<typeof Released>): Term {
  const analyte = row.long_name.split(/ \[| in | by /)[0]!
  return {
    code: row.code,
    longName: row.long_name,
    component: row.component,
    property: row.property,
    timing: row.timing,
    system: row.system,
    scale: row.scale,
    method: row.method,
    shortName: row.short_name,
    displayName: analyte,
    aliases: [],
    sharedAliases: [row.component.replaceAll('.', ' ')],
    units: row.units
      .split(';')
      .map((unit) => unit.trim())
      .filter(Boolean),
    low: null,
    high: null,
    rangeUnit: '',
    panels: [],
    rank: row.rank,
    isOfRelease: true,
  }
}
