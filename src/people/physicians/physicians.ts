// The service network: physicians who order for a team, by state, if the customer has no physician of its own. Owns team_physician; does
// not know orders. Source: lab-testing.md 4, 33 (21).
import type { Tx } from '../../platform/db/transaction.ts'
import { assertBelowLimit, badRequest, notFound } from '../../platform/http/errors.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { TeamPhysician, type AddPhysician, type Physician } from './schema.ts'

/** Maximum number of physicians of a team in an environment. */
const PHYSICIANS_MAX = 200

const KEY = 'physicians'

const loadPhysicians = (tx: Tx): Promise<TeamPhysician[]> =>
  tx.many(
    TeamPhysician,
    sql`
    select id, first_name, last_name, npi, states, created_at from team_physician
    where team_id = ${tx.team} order by created_at, id`,
  )

const sameNpi = ({ first_name, last_name, npi }: TeamPhysician): Physician => ({ first_name, last_name, npi })

/** Lists the team's physicians in the order they were added, for the team's own keys. Errors: 404 another team. */
export async function listOwnPhysicians(tx: Tx, team_id: string): Promise<Physician[]> {
  if (team_id !== tx.team) throw notFound('Not Found')
  return (await loadPhysicians(tx)).map(sameNpi)
}

/** Lists the team's physicians in the order they were added, for managers of the team. */
export const listPhysicians = async (tx: Tx): Promise<{ physicians: TeamPhysician[] }> => ({
  physicians: await loadPhysicians(tx),
})

/**
 * Returns the ordering physician for a patient in `state` if the customer names none: the first one added for that state, otherwise the
 * first one added for every state; undefined if there is none. At most 4 s old.
 * @param state two-letter code; any other text matches only physicians of every state
 */
export async function servicePhysician(tx: Tx, state: string): Promise<Physician | undefined> {
  const all = (await tx.readCached(KEY, () => loadPhysicians(tx)))!
  const chosen = all.find(({ states }) => states.includes(state)) ?? all.find(({ states }) => states.length === 0)
  return chosen && sameNpi(chosen)
}

const Count = T.Object({ n: T.Integer() })

/** Adds a physician. Writes team_physician. Errors: 400 there are already 200; 400 the number already exists. */
export async function addPhysician(tx: Tx, body: AddPhysician): Promise<TeamPhysician> {
  await tx.locking.run(sql`select id from team where id = ${tx.team} for no key update`)
  const present = sql`select count(*) as n from team_physician where team_id = ${tx.team}`
  await assertBelowLimit(tx, present, PHYSICIANS_MAX, 'A team', 'physicians')
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

/** Removes a physician; orders that name one do not change. Writes team_physician. Errors: 404 the team has no such physician. */
export async function removePhysician(tx: Tx, id: string): Promise<void> {
  const deletedCount = await tx.run(sql`delete from team_physician where id = ${id} and team_id = ${tx.team}`)
  if (!deletedCount) throw notFound('Physician not found')
  tx.invalidate(tx.team, KEY)
}
