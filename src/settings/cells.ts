// The cells that can be served, and the keys of each.
import { isKeyText, MANAGEMENT_PREFIX } from '../platform/crypto/api-keys.ts'
import type { Paper } from '../platform/pdf/canvas.ts'

export const cellNames = ['sandbox-us', 'sandbox-eu', 'production-us', 'production-eu'] as const
/** Environment × region: the unit of storage, and the scope in which a key is valid. */
export type CellName = string
export type KnownCell = (typeof cellNames)[number]

export const isSandboxCell = <Cell extends CellName>(cell: Cell): boolean => cell.startsWith('sandbox-')

export const isEuropean = (cell: CellName): boolean => cell.endsWith('-eu')

/** The paper of the documents of a cell: A4 in the European Union, US Letter in the United States. */
export const paperOf = (cell: CellName): Paper => (isEuropean(cell) ? 'a4' : 'letter')

/** Prefix of a team key → its cell. Source: management-auth.md 3. */
const cellOfPrefix = new Map<string, CellName>([
  ['sk_us_', 'sandbox-us'],
  ['sk_eu_', 'sandbox-eu'],
  ['pk_us_', 'production-us'],
  ['pk_eu_', 'production-eu'],
])

/** The prefix of the keys of teams in a cell. */
export const prefixOf = (cell: CellName): string => [...cellOfPrefix].find(([, named]) => named === cell)![0]

/** The cell in a team key's prefix; undefined for a management key, and for an imported key without a known prefix. */
export const cellFromKey = (text: string): CellName | undefined => cellOfPrefix.get(text.slice(0, 6))

/** What a key of this program opens by its prefix: a cell, or the Management API; undefined for any other text. */
export const placeOfKey = (text: string): CellName | 'management' | undefined =>
  isKeyText(text) ? (text.startsWith(MANAGEMENT_PREFIX) ? 'management' : cellFromKey(text)) : undefined
