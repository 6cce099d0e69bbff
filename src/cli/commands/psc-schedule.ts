// Schedules of sites and bookings pending confirmation, by command: the operator maintains the calendars.
import type { Outcome, Typed } from '../command-tree.ts'
import { requireCell, requireId, UsageError } from './org.ts'
import { loadTenant } from '../../tenancy/teams/teams.ts'
import { importIntoCells, reportInvalidFile } from './places.ts'
import { leaveCommand, leaveCommands } from '../../platform/access-log/access-line.ts'
import { appendLines } from '../../platform/access-log/access-log.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { CellName } from '../../platform/db/cell-names.ts'
import type { Db } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { taken } from '../../platform/files/rejected-rows.ts'
import { findLabId } from '../../visits/psc/site-import.ts'
import { resolvePendingBooking, findBookingTeam, listPendingBookings } from '../../visits/psc-booking/pending-bookings.ts'
import { importSchedules } from '../../visits/psc-booking/schedule-import.ts'
import { formatSchedule } from '../../visits/psc-booking/schedule-row.ts'
import { listSchedules, removeSchedule, loadSchedules } from '../../visits/psc-booking/schedules.ts'
import { bookableLabs } from '../../visits/psc-booking/schema.ts'

const LISTED = 1000
const USAGE =
  'Usage: bin/drawbridge psc schedule import | psc schedule list | psc schedule show | psc schedule remove | psc booking list | psc booking confirm | psc booking refuse. See "bin/drawbridge help".'

/** Runs `psc schedule ...` and `psc booking ...`. An import without a cell goes to the production cells. @returns what to print */
export async function scheduleCommand(
  cells: Cells,
  { positionals, values }: Typed<{ cell?: string; lab?: string; strict?: boolean }>,
): Promise<Outcome> {
  const [, noun, command, ...named] = positionals
  if (noun === 'booking') return runBookingCommand(cells, command, named[0], values.cell)
  if (!['import', 'list', 'show', 'remove'].includes(command ?? '')) throw new UsageError(USAGE)
  const lab = bookableLabs.find((slug) => slug === values.lab)
  if (!lab) throw new UsageError(`--lab must be one of ${bookableLabs.join(', ')}.`)
  if (command !== 'list' && named.length === 0)
    throw new UsageError(
      command === 'import' ? 'psc schedule import requires a file.' : `psc schedule ${command} requires at least one site code.`,
    )
  const wanted = command === 'import' ? (name: CellName) => name.startsWith('production') : undefined
  const places = importIntoCells(cells, values.cell, wanted)
  if (places.length === 0) throw new Error('This process serves no production cell; specify --cell.')
  let [printed, rejected] = ['', 0]
  for (const name of places) {
    const db = cells.of(name)
    const lab_id = await findLabId(db.queries, lab)
    if (lab_id === undefined) throw new Error('Lab not found in the cell.')
    if (command === 'import') {
      const { schedules, rejections } = await reportInvalidFile(importSchedules(db, lab_id, named[0]!, values.strict ?? false))
      printed += `${name}\n${schedules} imported\n${rejections.text()}`
      rejected += rejections.count
    } else if (command === 'show') {
      // The output can be edited and imported again.
      printed += await show(db, lab_id, named)
    } else printed += `${name}\n${await (command === 'remove' ? remove(db, lab_id, named) : list(db, lab_id))}`
  }
  return taken(printed, rejected)
}

async function list(db: Db, lab_id: number): Promise<string> {
  const listed = await listSchedules(db.queries, lab_id, { after: '', limit: LISTED + 1 })
  const lines = listed.slice(0, LISTED).map(({ site_code, schedule: { slot_minutes, places, confirms } }) => {
    const how = confirms === 'by_hand' ? '  confirmed by hand' : ''
    return `  ${site_code.padEnd(12)} ${String(slot_minutes).padStart(3)} minutes  ${places} at a time${how}\n`
  })
  return [...lines, ...(listed.length > LISTED ? ['  … and more\n'] : [])].join('')
}

async function remove(db: Db, lab_id: number, codes: string[]): Promise<string> {
  const lines: string[] = []
  await db.plainTx(async (tx) => {
    lines.length = 0
    for (const code of codes)
      lines.push(`  ${code}  ${(await removeSchedule(tx, lab_id, code)) ? 'removed' : 'has no schedule'}\n`)
  })
  return lines.join('')
}

async function show(db: Db, lab_id: number, codes: string[]): Promise<string> {
  const found = await loadSchedules(db.queries, lab_id, codes)
  const shown = [...found].map(([site_code, schedule]) => formatSchedule({ site_code, schedule }))
  return `${JSON.stringify(shown, null, 2)}\n`
}

async function runBookingCommand(
  cells: Cells,
  command: string | undefined,
  named: string | undefined,
  where: string | undefined,
): Promise<string> {
  if (command === 'list') {
    let printed = ''
    for (const name of importIntoCells(cells, where)) {
      const db = cells.of(name)
      const waiting = await db.plainTx(async (tx) => {
        const found = await listPendingBookings(tx, LISTED)
        leaveCommands(
          tx,
          'psc booking list',
          found.map(({ id, team_id, user_id }) => ({ team_id, user_id, object: id })),
        )
        return found
      })
      await appendLines(db)
      printed += `${name}\n${waiting.map((one) => `  ${one.id}  ${one.provider} ${one.site_code}  ${one.start_at}  team ${one.team_id}\n`).join('')}`
    }
    return printed
  }
  if (command !== 'confirm' && command !== 'refuse') throw new UsageError(USAGE)
  const booking = requireId(named, 'The booking')
  const name = requireCell(where)
  const db = cells.has(name) ? cells.of(name) : undefined
  if (!db) throw new Error(`Cell ${name} is not listed in CELLS.`)
  const team = await findBookingTeam(db.queries, booking)
  const tenant = team === undefined ? undefined : await loadTenant(cells, name, team)
  const answer = async (tx: Tx) => {
    const done = await resolvePendingBooking(tx, booking, command === 'confirm')
    if (done) leaveCommand(tx, `psc booking ${command}`, { team: tx.team, org: tx.tenant.org, objects: [booking] })
    return done
  }
  const isDone = tenant && (await db.tx(tenant, answer))
  await appendLines(db)
  if (!isDone) throw new Error('Pending booking not found.')
  return command === 'confirm' ? 'Confirmed.\n' : 'Rejected; the appointment was cancelled.\n'
}
