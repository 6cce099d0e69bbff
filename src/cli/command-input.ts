// What commands read: arguments and options, which cells they concern, and what these name. Errors: UsageError for a word that is invalid by
// itself; Error for what depends on the installation.
import { ALL_CELLS, DEFAULT_CELL, UsageError, type Call } from './command-tree.ts'
import { findOrg } from '../tenancy/organizations/organizations.ts'
import { appendLines } from '../platform/access-log/access-log.ts'
import { cellNames, type CellName } from '../settings/cells.ts'
import type { Db } from '../platform/db/database.ts'
import type { PlainTx } from '../platform/db/transaction.ts'
import { Problem } from '../platform/runtime/problem.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function requireText(word: string | undefined, problem: string): string {
  const text = word?.trim()
  if (!text || text.length > 100) throw new UsageError(`${problem} (1 to 100 characters).`)
  return text
}

export const isId = (word: string | undefined): word is string => word !== undefined && UUID.test(word)

export function requireId(word: string | undefined, option: string): string {
  if (!isId(word)) throw new UsageError(`${option} must be an id.`)
  return word.toLowerCase()
}

export const optionalId = (word: string | undefined, option: string): string | undefined =>
  word === undefined ? undefined : requireId(word, option)

export function requireChoice<const V extends string>(choices: readonly V[], word: string | undefined, option: string): V {
  const choice = choices.find((value) => value === word)
  if (choice === undefined) throw new UsageError(`${option} must be one of ${choices.join(', ')}.`)
  return choice
}

/** A database that a command reads or changes. */
export interface Place<Name extends string = CellName> {
  name: Name
  db: Db
}

type OfCell = Pick<Call<{ cell?: string }>, 'cells' | 'default_cell' | 'values'>

/** The word of `--cell`, or what takes its place. */
export const cellWord = ({ values, default_cell }: Pick<OfCell, 'default_cell' | 'values'>): string =>
  values.cell ?? default_cell ?? DEFAULT_CELL

/** The cell of `--cell`; this installation must serve it. Errors: UsageError for no cell; Error for one that is not served. */
export function requireCell(call: OfCell): Place {
  const { cells } = call
  const name = requireChoice(cellNames, cellWord(call), '--cell')
  if (!cells.has(name))
    throw new Error(`Cell ${name} is not listed in CELLS, which has ${cells.names.join(', ')}. Specify --cell.`)
  return { name, db: cells.db(name) }
}

/** Every cell that is served. */
export const servedCells = ({ cells }: Pick<Call, 'cells'>): Place[] => cells.names.map((name) => ({ name, db: cells.db(name) }))

/** The cell of `--cell`; with `all` every cell that is served. */
export function chosenCells(call: OfCell): Place[] {
  const word = cellWord(call)
  if (word === ALL_CELLS) return servedCells(call)
  requireChoice([...cellNames, ALL_CELLS], word, '--cell')
  return [requireCell(call)]
}

export type AnyPlace = Place<CellName | 'control'>

/** As `chosenCells`, for what the control plane has too: `--cell control` alone means it, and `all` includes it. */
export function controlAndCells(call: OfCell): AnyPlace[] {
  const control: AnyPlace = { name: 'control', db: call.cells.control }
  const word = cellWord(call)
  if (word === 'control') return [control]
  return word === ALL_CELLS ? [control, ...chosenCells(call)] : chosenCells(call)
}

/** A value that was looked up. Errors: Error with `otherwise` if there is none. */
export function requireFound<V>(value: V, problem: string): NonNullable<Exclude<V, false>> {
  if (value === undefined || value === null || value === false) throw new Error(problem)
  return value as NonNullable<Exclude<V, false>>
}

/** The organization of `--org`; null without it. */
export async function optionalOrg({ cells, values: { org } }: Call<{ org?: string }>): Promise<string | null> {
  const id = optionalId(org, '--org') ?? null
  if (id !== null) requireFound(await cells.control.plainTx((tx) => findOrg(tx, id)), 'Organization not found.')
  return id
}

/** Runs `work` in a cell. Validation errors become a UsageError. */
export async function runReportingProblems<R>(db: Db, work: (tx: PlainTx) => Promise<R>): Promise<R> {
  try {
    return await db.plainTx(work)
  } catch (error) {
    if (error instanceof Problem && typeof error.body.detail === 'string') throw new UsageError(`${error.body.detail}.`)
    throw error
  }
}

/** The result of a transaction that has left lines for the access log of a cell, once they are appended to it. */
export async function whenLogged<R>(db: Db, transaction: Promise<R>): Promise<R> {
  const result = await transaction
  await appendLines(db)
  return result
}
