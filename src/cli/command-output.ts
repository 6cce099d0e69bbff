// What commands print: lists, JSON, the part of each cell.
import type { Place } from './command-input.ts'
import type { Db } from '../platform/db/database.ts'
import type { PlainTx } from '../platform/db/transaction.ts'

/** A line for each row; `none` if there is no row. */
export const printList = <R>(rows: readonly R[], line: (row: R) => string, none?: string): string =>
  rows.length || none === undefined ? rows.map((row) => `${line(row)}\n`).join('') : `${none}\n`

export const printJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

const LISTED_MAX = 1000

/** The first 1,000 rows of what `list` finds, as lines, and whether there are more. */
export async function printFirst<R>(
  list: (page: { after: string; limit: number }) => Promise<R[]>,
  line: (row: R) => string,
): Promise<string> {
  const rows = await list({ after: '', limit: LISTED_MAX + 1 })
  return printList(rows.slice(0, LISTED_MAX), line) + (rows.length > LISTED_MAX ? '  … and more\n' : '')
}

/** The name of each cell, and below it what `work` prints of it, one cell after the other. */
export async function printEach(places: Place[], work: (place: Place) => Promise<string>): Promise<string> {
  let printed = ''
  for (const place of places) printed += `${place.name}\n${await work(place)}`
  return printed
}

/** Changes what each word names, in one transaction, and prints for each what `change` says. */
export const printOfEach = (db: Db, words: string[], change: (tx: PlainTx, word: string) => Promise<string>): Promise<string> =>
  db.plainTx(async (tx) => {
    let printed = ''
    for (const word of words) printed += `  ${word}  ${await change(tx, word)}\n`
    return printed
  })
