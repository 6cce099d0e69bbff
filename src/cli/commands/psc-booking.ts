// Bookings pending confirmation, by command.
import type { Call } from '../command-tree.ts'
import { chosenCells, requireFound, requireCell, requireId, whenLogged } from '../command-input.ts'
import { printRowsOfCells } from '../command-output.ts'
import { loadTenant } from '../../tenancy/teams/teams.ts'
import { leaveCommand, leaveCommands } from '../../platform/access-log/access-line.ts'
import { findBookingTeam, listPendingBookings, resolvePendingBooking } from '../../visits/psc-booking/pending-bookings.ts'

const LISTED_MAX = 1000
const NOT_FOUND = 'Pending booking not found.'

type Options = { cell?: string; json?: boolean }

/** `psc booking list`. */
export const printBookings = (call: Call<Options>): Promise<string> =>
  printRowsOfCells(
    { json: call.values.json, places: chosenCells(call) },
    ({ db }) => {
      const listed = db.plainTx(async (tx) => {
        const waiting = await listPendingBookings(tx, LISTED_MAX)
        const listedBookings = waiting.map(({ id, team_id, user_id }) => ({ team_id, user_id, object: id }))
        leaveCommands(tx, { actor: call.actor, operation: 'psc booking list' }, listedBookings)
        return waiting
      })
      return whenLogged(db, listed)
    },
    ({ id, provider, site_code, start_at, team_id }) => `  ${id}  ${provider} ${site_code}  ${start_at}  team ${team_id}`,
  )

/** Confirms or refuses a booking; refusing cancels its appointment. */
async function resolve(call: Call<Options>, verb: 'confirm' | 'refuse', output: string): Promise<string> {
  const booking = requireId(call.args[0], 'The booking')
  const { name, db } = requireCell(call)
  const team = requireFound(await findBookingTeam(db.queries, booking), NOT_FOUND)
  const tenant = requireFound(await loadTenant(call.cells, name, team), NOT_FOUND)
  const resolved = db.tx(tenant, async (tx) => {
    const done = await resolvePendingBooking(tx, booking, verb === 'confirm')
    if (done)
      leaveCommand(
        tx,
        { actor: call.actor, operation: `psc booking ${verb}` },
        { team: tx.team, org: tx.tenant.org, objects: [booking] },
      )
    return done
  })
  requireFound(await whenLogged(db, resolved), NOT_FOUND)
  return output
}

/** `psc booking confirm`. */
export const confirm = (call: Call<Options>): Promise<string> => resolve(call, 'confirm', 'Confirmed.\n')
/** `psc booking refuse`. */
export const refuse = (call: Call<Options>): Promise<string> =>
  resolve(call, 'refuse', 'Rejected; the appointment was cancelled.\n')
