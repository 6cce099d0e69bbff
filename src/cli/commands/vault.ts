// The vault by command: shows which keys the secrets of an installation depend on, and re-encrypts them with the newest key while servers
// run.
import { setTimeout as sleep } from 'node:timers/promises'
import { contents } from '../../app/contents.ts'
import { UsageError, type Call } from '../command-tree.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { cellNames } from '../../platform/db/cell-names.ts'
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
      : cells.names.map((name) => ({ where: name, db: cells.of(name), column })),
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

interface KeyUsage {
  /** How many texts each key has encrypted. */
  byKey: Map<string, number>
  lines: string[]
}

async function countValuesByKey(cells: Cells): Promise<KeyUsage> {
  const byKey = new Map<string, number>()
  const lines: string[] = []
  for (const { where, db, column } of listDatabaseScopes(cells))
    for (const [key, n] of await countByKey(db, column)) {
      byKey.set(key, (byKey.get(key) ?? 0) + n)
      lines.push(`${formatColumn(where, column)}  ${key}  ${String(n).padStart(7)}\n`)
    }
  return { byKey, lines }
}

const addCounts = (numbers: Iterable<number>): number => [...numbers].reduce((sum, n) => sum + n, 0)
const sumValues = async (cells: Cells): Promise<number> => addCounts((await countValuesByKey(cells)).byKey.values())
const values = (n: number): string => (n === 1 ? '1 value' : `${n} values`)

/** `vault status`. */
export async function status(call: Call): Promise<string> {
  const { vault, file } = openVault(call)
  return file && !file.exists && (await sumValues(call.cells)) === 0
    ? 'No encryption key yet; it is created with the first secret.\n'
    : printStatus(call.cells, vault)
}

async function printStatus(cells: Cells, vault: Vault): Promise<string> {
  const { byKey, lines } = await countValuesByKey(cells)
  const [newest, ...old] = vault.keyIds()
  const countForKey = (key: string): number => byKey.get(key) ?? 0
  const absent = [...byKey.keys()].filter((key) => key !== newest && !old.includes(key))
  const depend = addCounts(old.map(countForKey))
  return [
    `key ${newest}  newest    ${values(countForKey(newest!))}\n`,
    ...old.map((key) => `key ${key}  old       ${values(countForKey(key))}\n`),
    ...absent.map((key) => `key ${key}  missing   ${values(countForKey(key))}, unreadable\n`),
    ...(lines.length ? ['\n', ...lines] : []),
    '\n',
    depend
      ? `${values(depend)} ${depend === 1 ? 'depends' : 'depend'} on old keys: run "vault rotate" to re-encrypt them with the newest key.\n`
      : `No value depends on an old key.${old.length ? ' Old keys can be removed 10 minutes after the newest key was added (the lifetime of access tokens).' : ''}\n`,
    skippedCellsNote(cells),
  ].join('')
}

const skippedCellsNote = (cells: Cells): string => {
  const absent = cellNames.filter((name) => !cells.has(name))
  return absent.length ? `Skipped (not listed in CELLS): ${absent.join(', ')}.\n` : ''
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

const formatColumn = (where: string, { table, column }: EncryptedColumn): string =>
  `${where.padEnd(13)}  ${`${table}.${column}`.padEnd(24)}`
