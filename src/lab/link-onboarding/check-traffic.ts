// The steps of a check about messages that have gone over the link: whether both directions were seen, and their acknowledgments.
import { dbNow } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Queries } from '../../platform/db/transaction.ts'
import { Nullable, T, Timestamp, type Static } from '../../platform/schema/schema.ts'
import type { AccountLink } from '../accounts/account-links.ts'
import { createStep, type CheckStep } from './check-step.ts'

/** A check looks at this number of messages in each direction: a link may have millions. */
const NEWEST_MAX = 1000

const Direction = T.Object({
  count: T.Integer(),
  first_at: Nullable(Timestamp),
  last_at: Nullable(Timestamp),
  answered: T.Integer(),
  last_answered_at: Nullable(Timestamp),
  waiting: T.Integer(),
  repeated: T.Integer(),
})
type Direction = Static<typeof Direction>

export interface Traffic {
  outgoing: Direction
  incoming: Direction
}

/** The newest messages of a link in the last 30 days, at most 1,000 in each direction. */
export const readTraffic = async (db: Queries, account_id: string): Promise<Traffic> => ({
  outgoing: await readDirection(db, account_id, 'out'),
  incoming: await readDirection(db, account_id, 'in'),
})

const readDirection = (db: Queries, account_id: string, direction: 'in' | 'out'): Promise<Direction> =>
  db.one(
    Direction,
    sql`
    select count(*)::int as count, date_trunc('second', min(created_at)) as first_at, date_trunc('second', max(created_at)) as last_at,
           count(answered_at)::int as answered, date_trunc('second', max(answered_at)) as last_answered_at,
           count(*) filter (where answered_at is null and state <> 'done')::int as waiting,
           count(*) filter (where repetitions > 0)::int as repeated
    from (
      select created_at, answered_at, state, repetitions from lab_message
      where link_account_id = ${account_id} and direction = ${direction} and created_at > ${dbNow} - interval '30 days'
      order by created_at desc, id desc limit ${NEWEST_MAX}) newest`,
  )

/** Whether messages and their acknowledgments were seen in both directions, since when. */
export function* checkTraffic({ profile: { transport } }: AccountLink, { outgoing, incoming }: Traffic): Generator<CheckStep> {
  if (transport.orders !== 'none') yield checkSent(outgoing)
  if (transport.results !== 'none') yield checkReceived(incoming)
}

function checkSent(outgoing: Direction): CheckStep {
  const { count, answered, last_answered_at, waiting } = outgoing
  if (answered > 0)
    return createStep(
      'acknowledgment',
      'ok',
      `the laboratory has answered ${answered} of ${nameMessages(outgoing)}, the last at ${last_answered_at}; ${waiting} wait`,
    )
  return createStep(
    'acknowledgment',
    'open',
    count === 0 ? 'no message about an order in 30 days' : `the laboratory has answered none of ${nameMessages(outgoing)}`,
    'Send the trial orders in mode test: bin/drawbridge links trial',
  )
}

/** A laboratory that does not see acknowledgments sends its messages again and again. */
const REPEATED_SHARE_MAX = 0.5

function checkReceived(incoming: Direction): CheckStep {
  const { count, last_at, repeated } = incoming
  if (count === 0)
    return createStep('results', 'open', 'no message of the laboratory in 30 days', 'Ask the laboratory to send a test message')
  const text = `${nameMessages(incoming)}, the last at ${last_at}`
  return repeated > count * REPEATED_SHARE_MAX
    ? createStep(
        'results',
        'open',
        `${text}; ${repeated} came more than once`,
        'Ask the laboratory whether it gets our acknowledgments',
      )
    : createStep('results', 'ok', `${text}, received and acknowledged`)
}

/** What a step has looked at: all messages of 30 days, or the newest. */
const nameMessages = ({ count, first_at }: Direction): string =>
  count === NEWEST_MAX
    ? `the newest 1,000 messages, since ${first_at}`
    : `${count} message${count === 1 ? '' : 's'} in 30 days, since ${first_at}`
