// Checks a link step by step: each step says what it found, and what to do if it failed. One check of a link runs at a time, because
// laboratories take few connections. Owns lab_link_check.
import { dbNow, dbNowPlus } from '../../platform/db/leases.ts'
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { conflict } from '../../platform/http/errors.ts'
import { Nullable, T, Timestamp } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { AccountLink } from '../accounts/account-links.ts'
import { listListeners } from '../link-transports/listener-states.ts'
import { LocalFolder } from '../link-transports/local-folder.ts'
import { connectTo } from '../link-transports/secure-connect.ts'
import { SftpStore } from '../link-transports/sftp-store.ts'
import { checkClient, checkPort } from './check-connection.ts'
import { checkFolders } from './check-folders.ts'
import { createStep, type CheckStep, type NetworkContext } from './check-step.ts'

/** What the database says of a link. */
interface CheckFacts {
  /** When the check began. */
  now: Date
  account: { status: string; org_id: string | null; teams: number }
  traffic: Traffic
  /** The processes that have, or should have, the port of the profile open. */
  listeners: Awaited<ReturnType<typeof listListeners>>
}

/** A check ends after this time, also if a laboratory keeps it waiting at every step. */
const CHECK_MS_MAX = 55_000
/** After a check that was killed, the next one may begin. */
const CLAIM_S = 90

/**
 * Begins a check. Writes lab_link_check.
 * Errors: 409 a check of the link is running.
 */
export async function startCheck(tx: PlainTx, link: AccountLink): Promise<CheckFacts> {
  await tx.run(sql`delete from lab_link_check where account_id = ${link.account_id} and expires_at <= ${dbNow}`)
  const count = await tx.run(sql`
    insert into lab_link_check (account_id, expires_at) values (${link.account_id}, ${dbNowPlus(CLAIM_S)}) on conflict do nothing`)
  if (!count) throw conflict('A check of the link is running')
  return { now: tx.now, ...(await readFacts(tx, link)) }
}

/** Ends a check. Deletes from lab_link_check. */
export const endCheck = (db: Queries, account_id: string): Promise<number> =>
  db.run(sql`delete from lab_link_check where account_id = ${account_id}`)

/**
 * The steps of a check: the account, the mode and the transport of the link, an echo that the laboratory acknowledges, and what has passed
 * before. The echo is a test message without a patient or an order. After a step of a transport that failed, its next ones are left out.
 * @param link with its secrets
 */
export async function* checkLink(
  link: AccountLink,
  facts: CheckFacts,
  network: NetworkContext,
  ms_max = CHECK_MS_MAX,
): AsyncGenerator<CheckStep> {
  yield checkMode(link)
  yield checkAccount(facts)
  yield* withDeadline(checkTransports(link, facts, network), ms_max)
  yield* checkTraffic(link, facts.traffic)
}

/** The steps that come in time; after them one that says so. */
async function* withDeadline(steps: AsyncGenerator<CheckStep>, ms_max: number): AsyncGenerator<CheckStep> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), ms_max)
  try {
    for (;;) {
      const next = await Promise.race([steps.next(), late])
      if (!next) {
        yield createStep(
          'time',
          'failed',
          `the check was ended after ${ms_max / 1000} s`,
          'The step after the last one shown takes too long',
        )
        return
      }
      if (next.done) return
      yield next.value
    }
  } finally {
    clearTimeout(timer)
    // Closes what the step in progress has open, when that ends.
    void steps.return(undefined).catch(() => undefined)
  }
}

const checkMode = ({ mode, profile: { transport } }: AccountLink): CheckStep =>
  transport.orders === 'none' && transport.results === 'none'
    ? createStep('profile', 'failed', 'no transport', 'Set transport.orders or transport.results: bin/drawbridge links set')
    : createStep('profile', 'ok', `mode ${mode}, orders by ${transport.orders}, results by ${transport.results}`)

function checkAccount({ account: { status, org_id, teams } }: CheckFacts): CheckStep {
  if (status !== 'active')
    return createStep(
      'account',
      'failed',
      `the lab account is ${status}`,
      'Activate it: bin/drawbridge lab-account update --status active',
    )
  if (org_id !== null && teams === 0)
    return createStep(
      'account',
      'open',
      'no team may order under the lab account',
      'Link one: bin/drawbridge lab-account update --team',
    )
  return createStep('account', 'ok', org_id === null ? 'active, for every team' : `active, for ${withNoun(teams, 'team')}`)
}

/** The transports of a link, each once. */
async function* checkTransports(link: AccountLink, facts: CheckFacts, network: NetworkContext): AsyncGenerator<CheckStep> {
  const { transport } = link.profile
  const { orders, results, sftp } = transport
  if (orders === 'mllp') yield* checkClient(link, network, facts.now)
  if (orders === 'sftp' || results === 'sftp') {
    const destination = { ...sftp, tls: undefined }
    let isOpen = true
    for await (const step of checkPort(destination, network)) {
      isOpen &&= step.outcome === 'ok'
      yield step
    }
    const connect = () => connectTo(destination, network.targets, network.isSandbox)
    if (isOpen) yield* checkFolders(transport, 'sftp', () => SftpStore.open(sftp, connect))
  }
  if (orders === 'folder' || results === 'folder')
    yield* checkFolders(transport, 'folder', () => LocalFolder.open(network.lab_folder, link.account_id))
  if (results === 'mllp') yield checkListener(link, facts)
}

/** Whether the laboratory can connect. */
function checkListener({ mode, profile: { transport } }: AccountLink, { listeners }: CheckFacts): CheckStep {
  const { port, tls } = transport.listener
  const usable = listeners.filter(({ is_tls }) => is_tls || !tls)
  const open = usable.filter(({ reason }) => reason === null)
  if (open.length > 0)
    return createStep(
      'listener',
      'ok',
      `port ${port} is open${tls ? ' with TLS' : ''} at ${open.length} ${open.length === 1 ? 'process' : 'processes'} of the server${
        mode === 'off' ? '; in mode off it refuses connections of the laboratory' : ''
      }`,
    )
  const reason = usable[0]?.reason ?? (listeners.length > 0 ? 'it has no TLS' : 'no process of the server has it')
  return createStep('listener', 'failed', `port ${port}: ${reason}`, 'Set LAB_LISTEN, and start the server')
}

const Account = T.Object({ status: T.String(), org_id: Nullable(T.String()), teams: T.Integer() })

async function readFacts(db: Queries, { account_id, profile }: AccountLink): Promise<Omit<CheckFacts, 'now'>> {
  const account = await db.one(
    Account,
    sql`
    select status, org_id, (select count(*)::int from lab_account_team t where t.account_id = a.id) as teams
    from lab_account a where id = ${account_id}`,
  )
  return {
    account,
    traffic: await readTraffic(db, account_id),
    listeners: await listListeners(db, profile.transport.listener.port),
  }
}

const Traffic = T.Object({
  answered: T.Integer(),
  first_answered_at: Nullable(Timestamp),
  last_answered_at: Nullable(Timestamp),
  waiting: T.Integer(),
  received: T.Integer(),
  first_received_at: Nullable(Timestamp),
  last_received_at: Nullable(Timestamp),
  repeated: T.Integer(),
})
type Traffic = {
  answered: number
  first_answered_at: string | null
  last_answered_at: string | null
  waiting: number
  received: number
  first_received_at: string | null
  last_received_at: string | null
  repeated: number
}

/** Messages of the last 30 days. */
const readTraffic = (db: Queries, account_id: string): Promise<Traffic> =>
  db.one(
    Traffic,
    sql`
    select count(*) filter (where direction = 'out' and answered_at is not null)::int as answered,
           date_trunc('second', min(answered_at) filter (where direction = 'out')) as first_answered_at,
           date_trunc('second', max(answered_at) filter (where direction = 'out')) as last_answered_at,
           count(*) filter (where direction = 'out' and answered_at is null and state <> 'done')::int as waiting,
           count(*) filter (where direction = 'in')::int as received,
           date_trunc('second', min(created_at) filter (where direction = 'in')) as first_received_at,
           date_trunc('second', max(created_at) filter (where direction = 'in')) as last_received_at,
           count(*) filter (where direction = 'in' and repetitions > 0)::int as repeated
    from lab_message where link_account_id = ${account_id} and created_at > ${dbNow} - interval '30 days'`,
  )

/** Whether messages and their acknowledgments were seen in both directions, since when. */
function* checkTraffic({ profile: { transport } }: AccountLink, traffic: Traffic): Generator<CheckStep> {
  if (transport.orders !== 'none') yield checkSent(traffic)
  if (transport.results !== 'none') yield checkReceived(traffic)
}

const checkSent = ({ answered, first_answered_at, last_answered_at, waiting }: Traffic): CheckStep =>
  answered > 0
    ? createStep(
        'acknowledgment',
        'ok',
        `the laboratory has answered ${withNoun(answered, 'message')} since ${first_answered_at}, the last at ${last_answered_at}; ${waiting} wait`,
      )
    : createStep(
        'acknowledgment',
        'open',
        `no message about an order was answered in 30 days; ${waiting} wait`,
        'Send the trial orders in mode test: bin/drawbridge links trial',
      )

const withNoun = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`

/** A laboratory that does not see acknowledgments sends its messages again and again. */
const REPEATED_SHARE_MAX = 0.5

function checkReceived({ received, first_received_at, last_received_at, repeated }: Traffic): CheckStep {
  if (received === 0)
    return createStep('results', 'open', 'no message of the laboratory in 30 days', 'Ask the laboratory to send a test message')
  const text = `${withNoun(received, 'message')} received since ${first_received_at}, the last at ${last_received_at}`
  return repeated > received * REPEATED_SHARE_MAX
    ? createStep(
        'results',
        'open',
        `${text}; ${repeated} came more than once`,
        'Ask the laboratory whether it gets our acknowledgments',
      )
    : createStep('results', 'ok', `${text}, and acknowledged`)
}
