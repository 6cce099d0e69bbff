// What commands read: arguments and options, which cells they concern, and what these name. Errors: UsageError for a word that is invalid by
// itself; Error for what depends on the installation.
import { UsageError, type Call } from './command-tree.ts'
import { findOrg } from '../tenancy/organizations/organizations.ts'
import { appendLines } from '../platform/access-log/access-log.ts'
import { cellNames, type CellName } from '../platform/db/cell-names.ts'
import type { Cells } from '../platform/db/cells.ts'
import type { Db } from '../platform/db/database.ts'
import type { PlainTx } from '../platform/db/transaction.ts'
import { Problem } from '../platform/runtime/problem.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function requireText(word: string | undefined, otherwise: string): string {
  const text = word?.trim()
  if (!text || text.length > 100) throw new UsageError(`${otherwise} (1 to 100 characters).`)
  return text
}

export const isId = (word: string | undefined): word is string => word !== undefined && UUID.test(word)

export function requireId(word: string | undefined, option: string): string {
  if (!isId(word)) throw new UsageError(`${option} must be an id.`)
  return word.toLowerCase()
}

export const optionalId = (word: string | undefined, option: string): string | undefined =>
  word === undefined ? undefined : requireId(word, option)

export function requireOneOf<const V extends string>(allowed: readonly V[], word: string | undefined, option: string): V {
  const found = allowed.find((value) => value === word)
  if (found === undefined) throw new UsageError(`${option} must be one of ${allowed.join(', ')}.`)
  return found
}

/** A database that a command reads or changes. */
export interface Place<Name extends string = CellName> {
  name: Name
  db: Db
}

/** The cell of `--cell`; this installation must serve it. */
export function requireCell(cells: Cells, word: string | undefined): Place {
  const name = requireOneOf(cellNames, word, '--cell')
  if (!cells.has(name)) throw new Error(`Cell ${name} is not listed in CELLS.`)
  return { name, db: cells.of(name) }
}

/** Every cell that is served. */
export const servedCells = ({ cells }: Pick<Call, 'cells'>): Place[] => cells.names.map((name) => ({ name, db: cells.of(name) }))

/** The cell of `--cell`; default: every cell that is served. */
export const chosenCells = (call: Call<{ cell?: string }>): Place[] =>
  call.values.cell === undefined ? servedCells(call) : [requireCell(call.cells, call.values.cell)]

/** The cell of `--cell`; default: the production cells that are served, because the sandbox has data of its own. */
export function chosenProductionCells(call: Call<{ cell?: string }>): Place[] {
  const places = chosenCells(call)
  if (call.values.cell !== undefined) return places
  const production = places.filter(({ name }) => name.startsWith('production'))
  if (production.length === 0) throw new Error('This process serves no production cell; specify --cell.')
  return production
}

/** A value that was looked up. Errors: Error with `otherwise` if there is none. */
export function found<V>(value: V, otherwise: string): NonNullable<Exclude<V, false>> {
  if (value === undefined || value === null || value === false) throw new Error(otherwise)
  return value as NonNullable<Exclude<V, false>>
}

/** The organization of `--org`; null without it. */
export async function optionalOrg({ cells, values: { org } }: Call<{ org?: string }>): Promise<string | null> {
  const id = optionalId(org, '--org') ?? null
  if (id !== null) found(await cells.control.plainTx((tx) => findOrg(tx, id)), 'Organization not found.')
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
