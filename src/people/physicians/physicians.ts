// The service network: physicians who order for a team, state by state, where the customer's own physician does not. Owns
// team_physician; never knows what was ordered in their name. Source: lab-testing.md 4, 33 (21).
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { TeamPhysician, type AddPhysician, type Physician } from './schema.ts'

/** Physicians that a team can have in an environment. */
const PHYSICIANS_MAX = 200

const KEY = 'physicians'

const load = (tx: Tx): Promise<TeamPhysician[]> =>
  tx.many(
    TeamPhysician,
    sql`
    select id, first_name, last_name, npi, states, created_at from team_physician
    where team_id = ${tx.team} order by created_at, id`,
  )

const sameNpi = ({ first_name, last_name, npi }: TeamPhysician): Physician => ({ first_name, last_name, npi })

/** The team's physicians in the order they were added, as its own keys see them. 404: another team. */
export async function listOwnPhysicians(tx: Tx, team_id: string): Promise<Physician[]> {
  if (team_id !== tx.team) throw notFound('Not Found')
  return (await load(tx)).map(sameNpi)
}

/** The team's physicians in the order they were added, for who manages the team. */
export const listPhysicians = async (tx: Tx): Promise<{ physicians: TeamPhysician[] }> => ({ physicians: await load(tx) })

/**
 * The physician in whose name an order of a patient in `state` goes to the lab when the customer names none: the first that was added
 * for that state, else the first that was added for every state; undefined where none is. As it was at most 4 s ago.
 * @param state two-letter code; anything else is a state only of those who order in every one
 */
export async function servicePhysician(tx: Tx, state: string): Promise<Physician | undefined> {
  const all = (await tx.cached(KEY, () => load(tx)))!
  const chosen = all.find(({ states }) => states.includes(state)) ?? all.find(({ states }) => states.length === 0)
  return chosen && sameNpi(chosen)
}

const Count = T.Object({ n: T.Integer() })

/** Add a physician. Writes team_physician. 400: there are 200; the same number is there already. */
export async function addPhysician(tx: Tx, body: AddPhysician): Promise<TeamPhysician> {
  await tx.locking.run(sql`select id from team where id = ${tx.team} for no key update`)
  const { n } = await tx.one(Count, sql`select count(*) as n from team_physician where team_id = ${tx.team}`)
  if (n >= PHYSICIANS_MAX) throw badRequest(`A team has at most ${PHYSICIANS_MAX} physicians`)
  const same = await tx.one(Count, sql`select count(*) as n from team_physician where team_id = ${tx.team} and npi = ${body.npi}`)
  if (same.n) throw badRequest('The team already has a physician with this npi')
  const states = [...new Set(body.states ?? [])].sort()
  tx.invalidate(tx.team, KEY)
  return tx.one(
    TeamPhysician,
    sql`
    insert into team_physician (id, team_id, first_name, last_name, npi, states, created_at)
    values (${tx.uuid()}, ${tx.team}, ${body.first_name}, ${body.last_name}, ${body.npi}, ${states}, ${tx.now})
    returning id, first_name, last_name, npi, states, created_at`,
  )
}

/** Remove a physician; orders that named one stay as they are. Writes team_physician. 404: no such physician of the team. */
export async function removePhysician(tx: Tx, id: string): Promise<void> {
  const gone = await tx.run(sql`delete from team_physician where id = ${id} and team_id = ${tx.team}`)
  if (!gone) throw notFound('Physician not found')
  tx.invalidate(tx.team, KEY)
}
