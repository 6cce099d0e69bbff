// Diagnoses: the billable codes of ICD-10-CM, their search, and the check of codes against each other. Reads the tables that load.ts fills.
// Source: lab-testing.md 26; ICD-10-CM Official Guidelines, I.A.12 (Excludes).
import { LRUCache } from 'lru-cache'
import type { Tx } from '../../platform/db/transaction.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { buildIcdIndex, searchIndex, type IndexedDiagnosis } from './icd-index.ts'
import { codePrefixes, toStoredCode, toDisplayCode } from './icd-codes.ts'
import type { Diagnosis, ValidatedCodes } from './schema.ts'

/** Cells may have different code sets; beyond this number the index that was not used the longest is dropped and read again when needed. */
const INDEXES_MAX = 4
const indexes = new LRUCache<string, Promise<IndexedDiagnosis[]>>({ max: INDEXES_MAX })

const Loaded = T.Object({ checksum: T.String() })
const Text = T.Object({ text: Nullable(T.String()) })

/** Returns the index of the loaded codes, at most 4 s old. Each process reads a code set from the database once, at the first query. */
async function indexFor(tx: Tx): Promise<IndexedDiagnosis[]> {
  const loaded = await tx.readCached('icd codes', () =>
    tx.maybe(Loaded, sql`select checksum from insurance_data_version where part = 'icd'`),
  )
  if (!loaded) return buildIcdIndex('')
  const known = indexes.get(loaded.checksum)
  if (known) return known
  const index = readIndex(tx)
  indexes.set(loaded.checksum, index)
  index.catch(() => indexes.delete(loaded.checksum))
  return index
}

async function readIndex(tx: Tx): Promise<IndexedDiagnosis[]> {
  // Sorted by bytes, as the index requires.
  const { text } = await tx.one(
    Text,
    sql`
    select string_agg(code || chr(9) || description || chr(9) || is_secondary::integer, chr(10) order by code collate "C") as text
    from icd_code`,
  )
  return buildIcdIndex(text ?? '')
}

/** Returns the 50 most relevant diagnoses by a prefix of their code or by words of their text. */
export const searchDiagnoses = async (tx: Tx, query: string): Promise<Diagnosis[]> => searchIndex(await indexFor(tx), query)

const Described = T.Object({ code: T.String(), description: T.String() })

/** Returns the descriptions of diagnosis codes, by their position in the list; none for a code that the loaded table lacks. */
export async function describeDiagnoses(tx: Tx, codes: readonly string[]): Promise<Map<number, string>> {
  const kept = codes.map(toStoredCode)
  const unique = [...new Set(kept.filter((code) => code !== undefined))]
  if (unique.length === 0) return new Map()
  const rows = await tx.many(Described, sql`select code, description from icd_code where code = any (${unique}::text[])`)
  const known = new Map(rows.map(({ code, description }) => [code, description]))
  return new Map(kept.flatMap((code, i) => (code !== undefined && known.has(code) ? [[i, known.get(code)!]] : [])))
}

const Known = T.Object({ code: T.String(), is_known: T.Boolean(), has_more: T.Boolean() })

/** Returns the error of each code that cannot be billed, by its position in the list. */
export async function findCodeErrors(tx: Tx, codes: readonly string[]): Promise<Map<number, string>> {
  const kept = codes.map(toStoredCode)
  const uniqueCodes = [...new Set(kept.filter((code) => code !== undefined))]
  const rows = await tx.many(
    Known,
    sql`
    select w.code, exists (select from icd_code c where c.code = w.code) as is_known,
           exists (select from icd_code c where c.code > w.code and c.code < w.code || 'a') as has_more
    from unnest(${uniqueCodes}::text[]) as w (code)`,
  )
  const known = new Map(rows.map((row) => [row.code, row]))
  const faults = new Map<number, string>()
  kept.forEach((code, i) => {
    const row = code === undefined ? undefined : known.get(code)
    if (!row?.is_known)
      faults.set(i, row?.has_more ? 'is not specific enough to be billed' : 'is not an ICD-10-CM code that can be billed')
  })
  return faults
}

const Exclusion = T.Object({ code: T.String(), excluded_code: T.String(), type: T.String() })

/** Checks codes against the table and against each other. The first code of a pair is the one whose note excludes the other. */
export async function validateCodes(tx: Tx, codes: readonly string[]): Promise<ValidatedCodes> {
  const faults = await findCodeErrors(tx, codes)
  const sound = [...new Set(codes.filter((_, i) => !faults.has(i)).map((code) => toStoredCode(code)!))]
  const beginnings = [...new Set(sound.flatMap(codePrefixes))]
  const exclusions = await tx.many(
    Exclusion,
    sql`
    select code, excluded_code, type from icd_exclusion
    where code = any (${beginnings}::text[]) and excluded_code = any (${beginnings}::text[]) order by code, excluded_code`,
  )
  const result: ValidatedCodes = { valid: true, errors: [], violations: [], warnings: [] }
  for (const [i, text] of faults) result.errors.push(`${codes[i]!.trim()} ${text}`)
  const reported = new Set<string>()
  for (const { code, excluded_code, type } of exclusions)
    for (const one of sound.filter((candidate) => candidate.startsWith(code)))
      for (const other of sound.filter((candidate) => candidate !== one && candidate.startsWith(excluded_code))) {
        // Notes often exist in both directions, which is one conflict.
        const pair = `${type} ${[one, other].sort().join()}`
        if (reported.has(pair)) continue
        reported.add(pair)
        if (type === 'excludes1') result.violations.push({ code: toDisplayCode(one), conflicts_with: toDisplayCode(other), type })
        else result.warnings.push({ code: toDisplayCode(one), overlaps_with: toDisplayCode(other), type })
      }
  result.valid = !result.errors.length && !result.violations.length
  return result
}
