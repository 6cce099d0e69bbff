// The vault by command: shows which keys the secrets of an installation depend on, and re-encrypts them with the newest key while servers
// run.
import { setTimeout as sleep } from 'node:timers/promises'
import { contents } from '../../app/contents.ts'
import { UsageError, type Call } from '../command-tree.ts'
import { printJson } from '../command-output.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { cellNames } from '../../settings/cells.ts'
import type { Db } from '../../platform/db/database.ts'
import { KeyFile, RELOAD_INTERVAL_MS } from '../../platform/crypto/key-file.ts'
import { reencryptColumn, countByKey, type EncryptedColumn } from '../../platform/crypto/encrypted-columns.ts'
import { Vault } from '../../platform/crypto/vault.ts'

/** A process that has not yet noticed the new key may still encrypt with the old one; a later pass finds those texts. */
const PASSES_MAX = 5

interface DatabaseScope {
  where: string
  db: Db
  column: EncryptedColumn
}

const listDatabaseScopes = (cells: Cells): DatabaseScope[] =>
  contents.encryptedColumns.flatMap((column) =>
    column.plane === 'control'
      ? [{ where: 'control', db: cells.control, column }]
      : cells.names.map((name) => ({ where: name, db: cells.db(name), column })),
  )

interface OpenVault {
  vault: Vault
  /** The key file of the data folder; undefined if the settings have the keys. */
  file: KeyFile | undefined
}

function openVault({ config: { encryption_keys: keys, data_dir } }: Call): OpenVault {
  const file = keys.length ? undefined : new KeyFile(data_dir)
  return { file, vault: new Vault(file?.load ?? (() => keys)) }
}

interface CountOfColumn {
  cell: string
  column: string
  key: string
  count: number
}

interface KeyUsage {
  /** How many texts each key has encrypted. */
  byKey: Map<string, number>
  columns: CountOfColumn[]
}

async function countValuesByKey(cells: Cells): Promise<KeyUsage> {
  const byKey = new Map<string, number>()
  const columns: CountOfColumn[] = []
  for (const { where, db, column } of listDatabaseScopes(cells))
    for (const [key, n] of await countByKey(db, column)) {
      byKey.set(key, (byKey.get(key) ?? 0) + n)
      columns.push({ cell: where, column: `${column.table}.${column.column}`, key, count: n })
    }
  return { byKey, columns }
}

const addCounts = (numbers: Iterable<number>): number => [...numbers].reduce((sum, n) => sum + n, 0)
const sumValues = async (cells: Cells): Promise<number> => addCounts((await countValuesByKey(cells)).byKey.values())
const values = (n: number): string => (n === 1 ? '1 value' : `${n} values`)

/** `vault status`. */
export async function status(call: Call<{ json?: boolean }>): Promise<string> {
  const { vault, file } = openVault(call)
  if (call.values.json) return printJson(await listKeyStates(call.cells, file && !file.exists ? [] : vault.keyIds()))
  return file && !file.exists && (await sumValues(call.cells)) === 0
    ? 'No encryption key yet; it is created with the first secret.\n'
    : printStatus(call.cells, vault)
}

/** Each key with its state and the values that depend on it, and what each column has. */
async function listKeyStates(cells: Cells, [newest, ...old]: string[]) {
  const { byKey, columns } = await countValuesByKey(cells)
  const known = [...(newest === undefined ? [] : [newest]), ...old]
  const missing = [...byKey.keys()].filter((key) => !known.includes(key))
  const stateOfKey = (key: string) => (key === newest ? 'newest' : old.includes(key) ? 'old' : 'missing')
  const keys = [...known, ...missing].map((key) => ({ key, state: stateOfKey(key), values: byKey.get(key) ?? 0 }))
  return { keys, columns, skipped_cells: cellNames.filter((name) => !cells.has(name)) }
}

async function printStatus(cells: Cells, vault: Vault): Promise<string> {
  const { keys, columns, skipped_cells } = await listKeyStates(cells, vault.keyIds())
  const lines = columns.map(
    ({ cell, column, key, count }) => `${columnLine(cell, column)}  ${key}  ${String(count).padStart(7)}\n`,
  )
  const old = keys.filter(({ state }) => state === 'old')
  const depend = addCounts(old.map((key) => key.values))
  return [
    ...keys.map(
      ({ key, state, values: count }) =>
        `key ${key}  ${state.padEnd(8)}  ${values(count)}${state === 'missing' ? ', unreadable' : ''}\n`,
    ),
    ...(lines.length ? ['\n', ...lines] : []),
    '\n',
    depend
      ? `${values(depend)} ${depend === 1 ? 'depends' : 'depend'} on old keys: run "vault rotate" to re-encrypt them with the newest key.\n`
      : `No value depends on an old key.${old.length ? ' Old keys can be removed 10 minutes after the newest key was added (the lifetime of access tokens).' : ''}\n`,
    skipped_cells.length ? `Skipped (not listed in CELLS): ${skipped_cells.join(', ')}.\n` : '',
  ].join('')
}

/** `vault rotate`. */
export async function rotate(call: Call): Promise<string> {
  const { cells } = call
  const { vault, file } = openVault(call)
  const before = await countValuesByKey(cells)
  if (file && !file.exists && before.byKey.size === 0) throw new UsageError('No encryption key and no secrets yet.')
  const [newest, ...old] = vault.keyIds()
  const ours = [newest!, ...old].some((key) => before.byKey.has(key))
  if (before.byKey.size && !ours)
    throw new UsageError(
      'The secrets of this database are encrypted with keys that this process does not have. Nothing was changed.',
    )
  const finished = !old.some((key) => before.byKey.has(key))
  if (finished && !file)
    throw new UsageError(
      'Every value is encrypted with the first key of ENCRYPTION_KEYS. To rotate, prepend a new key, restart every process, and run "vault rotate".',
    )
  // An interrupted rotation continues with the key that it created.
  if (finished) file!.addKey()
  if (file) await sleep(RELOAD_INTERVAL_MS + 1000)
  const lines: string[] = []
  let unreadable = 0
  for (let pass = 1; pass <= PASSES_MAX; pass++) {
    const moved = await reencryptOnce(cells, vault)
    lines.push(...moved.lines)
    unreadable = moved.unreadable
    if (moved.lines.length === 0) break
  }
  const stayed = unreadable ? [`${values(unreadable)} could not be decrypted and were not changed.\n`] : []
  return [...lines, ...stayed, '\n', await printStatus(cells, vault)].join('')
}

/** @returns a line for each column in which texts were re-encrypted */
async function reencryptOnce(cells: Cells, vault: Vault): Promise<{ lines: string[]; unreadable: number }> {
  const lines: string[] = []
  let unreadable = 0
  for (const { where, db, column } of listDatabaseScopes(cells)) {
    const moved = await reencryptColumn(db, vault, column)
    unreadable += moved.unreadable
    if (moved.reencrypted) lines.push(`${formatColumn(where, column)}  ${values(moved.reencrypted)} re-encrypted\n`)
  }
  return { lines, unreadable }
}

const formatColumn = (where: string, { table, column }: EncryptedColumn): string => columnLine(where, `${table}.${column}`)
const columnLine = (cell: string, column: string): string => `${cell.padEnd(13)}  ${column.padEnd(24)}`
