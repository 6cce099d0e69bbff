// Payors and diagnoses by command: the operator imports the full lists, in every cell that is served. Errors: Error for a file that cannot
// be read or has an error; then nothing has changed. Source: lab-testing.md 26.
import { readFile } from 'node:fs/promises'
import type { Call, Outcome } from '../command-tree.ts'
import { servedCells, type Place } from '../command-input.ts'
import { withConsent, type Changes } from '../file-import.ts'
import { InvalidFileError } from '../../people/insurance/data-files.ts'
import { changeOfCodes, importCodes, importPayors } from '../../people/insurance/load.ts'
import type { Db } from '../../platform/db/database.ts'
import { decodeUtf8 } from '../../platform/runtime/utf8.ts'

const ERRORS_SHOWN = 50

/** `payors import`. */
export const importPayorFile = (call: Call): Promise<Outcome> =>
  reportInvalidRows(async () => {
    const text = await readText(call.args[0]!)
    return importInto(servedCells(call), 'payors', (db) => importPayors(db, text))
  })

/** `icd import`. Removing codes needs consent. */
export const importDiagnosisFile = (call: Call<{ yes?: boolean; dryRun?: boolean }>): Promise<Outcome> =>
  reportInvalidRows(async () => {
    const text = await readText(call.args[0]!)
    const changes: Changes = { lines: '', losses: [] }
    const places = servedCells(call)
    for (const { name, db } of places) {
      const { there, removed, added, changed } = await changeOfCodes(db, text)
      changes.lines += `${name.padEnd(13)}  ${removed} of ${there} codes removed, ${added} added, ${changed} changed\n`
      if (removed) changes.losses.push(`${removed} of ${there} codes in ${name}`)
    }
    const run = async () => changes.lines + (await importInto(places, 'diagnoses', (db) => importCodes(db, text)))
    return withConsent(call, changes, run)
  })

const readText = (file: string): Promise<string> =>
  readFile(file).then(decodeUtf8, (error: NodeJS.ErrnoException) => {
    throw new Error(`Cannot read the file (${error.code}).`)
  })

async function importInto(places: Place[], subject: string, run: (db: Db) => Promise<number>): Promise<string> {
  let rows = 0
  for (const { db } of places) rows = await run(db)
  return `${rows} ${subject} in each of ${places.map(({ name }) => name).join(', ')}. Takes effect within 5 s.\n`
}

async function reportInvalidRows(work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof InvalidFileError)) throw error
    const firstLines = error.lines.slice(0, ERRORS_SHOWN).map((line) => `  ${line}\n`)
    const rest = error.lines.length - firstLines.length
    throw new Error(`Nothing was imported:\n${firstLines.join('')}${rest ? `  and ${rest} more\n` : ''}`)
  }
}
