// The access log by command: export it for an archive or an auditor, and verify it.
import type { Typed } from '../command-tree.ts'
import { requireCell, requireId, UsageError } from './org.ts'
import { leaveCommand } from '../../platform/access-log/access-line.ts'
import { exportLines, verifyLog, type Position } from '../../platform/access-log/access-archive.ts'
import { appendLines } from '../../platform/access-log/access-log.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { FormatError, formats } from '../../platform/schema/formats.ts'
import { importIntoCells } from './places.ts'

const SAY = 'Usage: bin/drawbridge access-log export | access-log verify. See "bin/drawbridge help".'

/**
 * Runs `access-log export` or `access-log verify`. Writes access_line: the log records the export, too. Throws UsageError for invalid
 * arguments, and Error with the first invalid line if the log has been changed.
 * @param write receives the output in pieces; the next one is produced after it resolves
 */
export async function accessLogCommand(
  cells: Cells,
  {
    positionals,
    values,
  }: Typed<{ cell?: string; from?: string; until?: string; user?: string; team?: string; known?: string[] }>,
  write: (text: string) => Promise<void>,
): Promise<string> {
  const [, command, ...more] = positionals
  if ((command !== 'export' && command !== 'verify') || more.length) throw new UsageError(SAY)
  if (command === 'verify') {
    await verify(cells, values.cell, values.known ?? [], write)
    return ''
  }
  const db = placeOf(cells, values.cell)
  const user = values.user === undefined ? undefined : requireId(values.user, '--user')
  const team = values.team === undefined ? undefined : requireId(values.team, '--team')
  const wanted = { from: day(values.from, '--from'), until: day(values.until, '--until'), user, team }
  const about = { ...(team !== undefined && { team }), ...(user !== undefined && { users: [user] }) }
  await db.plainTx(async (tx) => leaveCommand(tx, 'access-log export', about))
  await appendLines(db)
  for await (const text of exportLines(db, wanted)) await write(text)
  return ''
}

function placeOf(cells: Cells, named: string | undefined) {
  const name = requireCell(named)
  if (!cells.has(name)) throw new Error(`Cell ${name} is not listed in CELLS.`)
  return cells.of(name)
}

function day(text: string | undefined, name: string): string | undefined {
  if (text !== undefined && formats.date!(text) instanceof FormatError)
    throw new UsageError(`${name} must be a day like 2026-01-31.`)
  return text
}

function position(text: string): Position {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/i.exec(text) ?? []
  if (!seq || !hash) throw new UsageError('--known must be the number of a line and its hash, with a colon between them.')
  return { seq: Number(seq), hash: hash.toLowerCase() }
}

async function verify(
  cells: Cells,
  named: string | undefined,
  noted: string[],
  write: (text: string) => Promise<void>,
): Promise<void> {
  const known = noted.map(position)
  if (known.length && named === undefined) throw new UsageError('--known needs --cell: each cell has a log of its own.')
  const broken: string[] = []
  for (const name of importIntoCells(cells, named)) {
    await appendLines(cells.of(name))
    const { lines, since, head, fault } = await verifyLog(cells.of(name), known)
    if (fault !== undefined) broken.push(`${name}: ${fault}`)
    else
      await write(
        `${name}  ${lines} lines${since === null ? '' : ` since ${since}`}, none changed; the last is ${head.seq}:${head.hash}\n`,
      )
  }
  if (broken.length) throw new Error(`The access log has been changed. ${broken.join('; ')}.`)
}
