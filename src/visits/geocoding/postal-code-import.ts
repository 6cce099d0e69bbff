// Imports postal codes of other countries into a cell, from GeoNames files: tab-separated lines of twelve fields.
// Writes postal_code_location. An import replaces all postal codes of a country.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Db } from '../../platform/db/database.ts'
import type { PlainTx } from '../../platform/db/transaction.ts'
import { NOT_UTF8 } from '../../platform/files/csv.ts'
import { RejectedRows } from '../../platform/files/rejected-rows.ts'
import { textOfLatin1 } from '../../platform/runtime/utf8.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { countryCode } from '../../people/person/countries.ts'
import { isPoint } from './distance.ts'
import { normalizePostalCode } from './postal-places.ts'

interface Row {
  country: string
  postal_code: string
  city: string
  state: string
  lat: number
  lng: number
}

export interface ImportedCodes {
  rows: number
  countries: string[]
  rejections: RejectedRows
}

const Count = T.Object({ n: T.Integer() })

const BATCH = 1000
const LINE_MAX = 2000
const TEXT_MAX = 200

/**
 * Imports a file, or only the rows of one country. One transaction. Valid rows are imported even if others are invalid. A country without a
 * valid row does not change.
 */
export const importPostalCodes = (db: Db, path: string, country?: string): Promise<ImportedCodes> =>
  db.plainTx(async (tx) => {
    const rejections = new RejectedRows()
    const countries = new Set<string>()
    let rows = 0
    for await (const batch of batches(path, country, rejections)) rows += await writeBatch(tx, batch, countries)
    return { rows, countries: [...countries].sort(), rejections }
  })

/** Number of places of a country in a cell, and number of them that an import removes. */
export interface CountryLoss {
  country: string
  storedCount: number
  removedCount: number
}

/** Returns how an import of the file would change the countries that exist already. Changes nothing. */
export async function lossesOfImport(db: Db, path: string, onlyCountry?: string): Promise<CountryLoss[]> {
  const countries = new Map<string, number>()
  let losses: CountryLoss[] = []
  const compare = db.plainTx(async (tx) => {
    for await (const batch of batches(path, onlyCountry, new RejectedRows())) {
      for (const { country } of batch) if (!countries.has(country)) countries.set(country, await countPlaces(tx, country))
      const rows = sql`jsonb_to_recordset(${JSON.stringify(batch)}::jsonb) as r (country text, postal_code text, city text)`
      await tx.run(sql`
        delete from postal_code_location p using ${rows}
        where (p.country, p.postal_code, p.city) = (r.country, r.postal_code, r.city)`)
    }
    const existing = [...countries].filter(([, count]) => count > 0)
    losses = await Promise.all(
      existing.map(async ([country, count]) => ({ country, storedCount: count, removedCount: await countPlaces(tx, country) })),
    )
    // The rows that the file does not have are left now. The exception rolls everything back.
    throw new Compared()
  })
  await compare.catch((error: unknown) => {
    if (!(error instanceof Compared)) throw error
  })
  return losses
}

class Compared extends Error {}

const countPlaces = async (tx: PlainTx, country: string): Promise<number> =>
  (await tx.one(Count, sql`select count(*) as n from postal_code_location where country = ${country}`)).n

/** Yields the valid rows of a file, or of one country in it, 1,000 at a time. */
async function* batches(path: string, onlyCountry: string | undefined, rejections: RejectedRows): AsyncGenerator<Row[]> {
  let line = 0
  let batch: Row[] = []
  for await (const bytes of createInterface({ input: createReadStream(path, 'latin1'), crlfDelay: Infinity })) {
    line++
    const text = textOfLatin1(bytes)
    if (text.trim() === '') continue
    const row = parseRow(text)
    if (Array.isArray(row)) rejections.add(`line ${line}`, row)
    else if (onlyCountry === undefined || row.country === onlyCountry) batch.push(row)
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length) yield batch
}

/** Returns the row of a line, or its errors. */
function parseRow(text: string): Row | string[] {
  if (text.length > LINE_MAX) return ['the line is too long']
  if (!text.isWellFormed()) return [NOT_UTF8]
  const fields = text.split('\t').map((field) => field.trim().replaceAll('\0', ''))
  if (fields.length < 11) return [`${fields.length} fields instead of 12`]
  const [code = '', postal = '', city = '', stateName = '', stateCode = ''] = fields
  const [lat, lng] = [degrees(fields[9]!), degrees(fields[10]!)]
  const country = /^[A-Z]{2}$/.test(code) ? countryCode(code) : undefined
  const postal_code = normalizePostalCode(postal)
  const faults = [
    ...(country === undefined ? ['the first field is not the code of a country'] : []),
    ...(/^[\p{L}\p{N}]{1,20}$/u.test(postal_code) ? [] : ['the postal code is none']),
    ...(city === '' || city.length > TEXT_MAX ? [`the name of the place must have 1 to ${TEXT_MAX} characters`] : []),
    ...(isPoint({ lat, lng }) ? [] : ['latitude and longitude are not a point']),
  ]
  if (country === undefined || faults.length) return faults
  const state = (country === 'US' ? stateCode : stateName).slice(0, TEXT_MAX)
  return { country, postal_code, city, state, lat, lng }
}

const degrees = (text: string): number => (/^-?\d{1,3}(\.\d+)?$/.test(text) ? Number(text) : Number.NaN)

async function writeBatch(tx: PlainTx, batch: Row[], begunCountries: Set<string>): Promise<number> {
  for (const { country } of batch)
    if (!begunCountries.has(country)) {
      await tx.run(sql`delete from postal_code_location where country = ${country}`)
      begunCountries.add(country)
    }
  // The first of several lines for the same place counts.
  return tx.run(sql`
    insert into postal_code_location (country, postal_code, city, state, lat, lng)
    select country, postal_code, city, state, lat, lng
    from jsonb_to_recordset(${JSON.stringify(batch)}::jsonb) as r (
      country text, postal_code text, city text, state text, lat double precision, lng double precision)
    on conflict do nothing`)
}
