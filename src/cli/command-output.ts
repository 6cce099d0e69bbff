// What commands print: lists, JSON, the part of each cell.
import type { Place } from './command-input.ts'
import type { Db } from '../platform/db/database.ts'
import type { PlainTx } from '../platform/db/transaction.ts'

/** A line for each row; `none` if there is no row. */
export const printList = <R>(rows: readonly R[], line: (row: R) => string, emptyText?: string): string =>
  rows.length || emptyText === undefined ? rows.map((row) => `${line(row)}\n`).join('') : `${emptyText}\n`

export const printJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** What a command has created: as JSON with every id and secret, or a line for each label. */
export function printCreated(json: boolean | undefined, entity: object, lines: Record<string, string>): string {
  if (json) return printJson(entity)
  const width = Math.max(...Object.keys(lines).map((label) => label.length))
  return Object.entries(lines)
    .map(([label, value]) => `${label.padEnd(width)}  ${value}\n`)
    .join('')
}

const LISTED_MAX = 1000

/** Lists rows: as JSON, or a line for each; `none` if there is no row. */
export const printRows = <R>(
  json: boolean | undefined,
  rows: readonly R[],
  line: (row: R) => string,
  emptyText?: string,
): string => (json ? printJson(rows) : printList(rows, line, emptyText))

/**
 * Lists rows of each cell: as one JSON list in which each row names its cell, or as lines below the name of the cell, at most 1,000 of each
 * and a hint that there are more.
 */
export async function printRowsOfCells<R extends object>(
  { json, places }: { json: boolean | undefined; places: Place[] },
  load: (place: Place) => Promise<R[]>,
  line: (row: R) => string,
): Promise<string> {
  if (!json)
    return printEach(places, async (place) => {
      const rows = await load(place)
      return printList(rows.slice(0, LISTED_MAX), line) + (rows.length > LISTED_MAX ? '  … and more\n' : '')
    })
  const found: object[] = []
  for (const place of places) for (const row of await load(place)) found.push({ cell: place.name, ...row })
  return printJson(found)
}

/** Every row of a list that is read in pages; each page continues after the last key of the one before. */
export async function loadPages<R>(
  list: (page: { afterKey: string; limit: number }) => Promise<R[]>,
  keyOf: (row: R) => string,
): Promise<R[]> {
  const rows: R[] = []
  for (;;) {
    const page = await list({ afterKey: rows.length ? keyOf(rows.at(-1)!) : '', limit: LISTED_MAX })
    rows.push(...page)
    if (page.length < LISTED_MAX) return rows
  }
}

/** The name of each cell, and below it what `work` prints of it, one cell after the other. */
export async function printEach(places: Place[], work: (place: Place) => Promise<string>): Promise<string> {
  let output = ''
  for (const place of places) output += `${place.name}\n${await work(place)}`
  return output
}

/** Changes what each word names, in one transaction, and prints for each what `change` says. */
export const printOfEach = (db: Db, words: string[], change: (tx: PlainTx, word: string) => Promise<string>): Promise<string> =>
  db.plainTx(async (tx) => {
    let output = ''
    for (const word of words) output += `  ${word}  ${await change(tx, word)}\n`
    return output
  })
