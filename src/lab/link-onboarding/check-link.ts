// Checks a link step by step: each step says what it has shown, and what to do if it failed.
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { AccountLink } from '../accounts/account-links.ts'
import { listListeners } from '../link-transports/listener-states.ts'
import { LocalFolder } from '../link-transports/local-folder.ts'
import { connectTo } from '../link-transports/secure-connect.ts'
import { SftpStore } from '../link-transports/sftp-store.ts'
import { checkClient, checkPort } from './check-connection.ts'
import { checkFolders } from './check-folders.ts'
import { createStep, type CheckStep, type NetworkContext } from './check-step.ts'
import { checkTraffic, readTraffic, type Traffic } from './check-traffic.ts'
import { claimLink, type LinkClaim } from './link-claims.ts'

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

/** Begins a check, whose claim its caller ends. Writes lab_link_claim. Errors: as `claimLink`. */
export async function startCheck(tx: PlainTx, link: AccountLink): Promise<CheckFacts & { claim: LinkClaim }> {
  const claim = await claimLink(tx, link.account_id, 'check', CLAIM_S)
  return { claim, now: tx.now, ...(await readFacts(tx, link)) }
}

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

const withNoun = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
