// Checks a link step by step, before its first message: each step says what it found, and what to do if it failed.
import { ForbiddenAddressError, type TargetPolicy } from '../../platform/net/outbound-targets.ts'
import { dbNow } from '../../platform/db/leases.ts'
import type { Queries } from '../../platform/db/transaction.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { AccountLink } from '../accounts/account-links.ts'
import { FolderError, type FileStore } from '../link-transports/file-store.ts'
import { LocalFolder } from '../link-transports/local-folder.ts'
import { connectTo, type Destination } from '../link-transports/secure-connect.ts'
import { SftpStore } from '../link-transports/sftp-store.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { destinationOf } from './exchange-message.ts'

export interface CheckStep {
  name: string
  /** `open`: it cannot be said yet. */
  outcome: 'ok' | 'failed' | 'open'
  text: string
  /** What to do; null if nothing. */
  advice: string | null
}

/** What a process may reach. */
export interface NetworkContext {
  targets: TargetPolicy
  isSandbox: boolean
  /** `LAB_FOLDER`. */
  lab_folder: string | undefined
}

type CheckContext = NetworkContext & { account_id: string }

/**
 * Checks the account, the mode and the transport of a link, and whether the laboratory has acknowledged and sent messages. Sends no message.
 * After a step of the transport that failed, its next ones are left out.
 * @param link with its secrets
 */
export async function* checkLink(db: Queries, link: AccountLink, environment: NetworkContext): AsyncGenerator<CheckStep> {
  yield checkMode(link)
  yield await checkAccount(db, link)
  yield* checkTransports(link.profile, { ...environment, account_id: link.account_id })
  yield* checkTraffic(await readTraffic(db, link.account_id))
}

const createStep = (name: string, outcome: CheckStep['outcome'], text: string, advice: string | null = null): CheckStep => ({
  name,
  outcome,
  text,
  advice,
})

const checkMode = ({ mode, profile: { transport } }: AccountLink): CheckStep =>
  transport.orders === 'none' && transport.results === 'none'
    ? createStep('profile', 'failed', 'no transport', 'Set transport.orders or transport.results: bin/drawbridge links set')
    : createStep('profile', 'ok', `mode ${mode}, orders by ${transport.orders}, results by ${transport.results}`)

const Account = T.Object({ status: T.String(), org_id: Nullable(T.String()), teams: T.Integer() })

async function checkAccount(db: Queries, { account_id }: AccountLink): Promise<CheckStep> {
  const { status, org_id, teams } = await db.one(
    Account,
    sql`
    select status, org_id, (select count(*)::int from lab_account_team t where t.account_id = a.id) as teams
    from lab_account a where id = ${account_id}`,
  )
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
  return createStep('account', 'ok', org_id === null ? 'active, for every team' : `active, for ${teams} teams`)
}

/** The transports of a link, each once. */
async function* checkTransports({ transport }: AccountLink['profile'], context: CheckContext): AsyncGenerator<CheckStep> {
  const { orders, results, client, sftp } = transport
  if (orders === 'mllp') yield* checkPort(destinationOf(client), context)
  if (orders === 'sftp' || results === 'sftp') {
    const destination = { ...sftp, tls: undefined }
    let isOpen = true
    for await (const step of checkPort(destination, context)) {
      isOpen &&= step.outcome === 'ok'
      yield step
    }
    const connect = () => connectTo(destination, context.targets, context.isSandbox)
    if (isOpen) yield* checkFolders(transport, 'sftp', () => SftpStore.open(sftp, connect))
  }
  if (orders === 'folder' || results === 'folder')
    yield* checkFolders(transport, 'folder', () => LocalFolder.open(context.lab_folder, context.account_id))
  if (results === 'mllp')
    yield createStep(
      'listener',
      'open',
      `port ${transport.listener.port} waits for the laboratory`,
      'Ask the laboratory to connect',
    )
}

/** Name, port and TLS. What fails ends the steps. */
async function* checkPort(destination: Destination, { targets, isSandbox }: CheckContext): AsyncGenerator<CheckStep> {
  const { host, port, tls } = destination
  const addresses = await targets.addresses(host, isSandbox).catch((error: Error) => error)
  if (addresses instanceof ForbiddenAddressError)
    return yield createStep('name', 'failed', `${host} is not a public address`, 'Add it to WEBHOOK_ALLOW')
  if (addresses instanceof Error || addresses.length === 0)
    return yield createStep('name', 'failed', `${host} has no address`, 'Check the host and the name server of this machine')
  yield createStep('name', 'ok', `${host} is ${addresses.join(', ')}`)
  const problem = await tryConnection({ ...destination, tls: undefined }, targets, isSandbox)
  if (problem) return yield createStep('port', 'failed', `port ${port}: ${problem}`, portAdvice(problem))
  yield createStep('port', 'ok', `port ${port} is open`)
  if (!tls) return
  const tlsProblem = await tryConnection(destination, targets, isSandbox)
  if (tlsProblem) return yield createStep('tls', 'failed', tlsProblem, tlsAdvice(tlsProblem))
  yield createStep('tls', 'ok', 'TLS 1.2 or newer, with a certificate for the name')
}

/** @returns the code or the message of the error; undefined if the connection was opened */
async function tryConnection(destination: Destination, targets: TargetPolicy, isSandbox: boolean): Promise<string | undefined> {
  try {
    const socket = await connectTo(destination, targets, isSandbox)
    socket.destroy()
    return undefined
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code ?? message
  }
}

function portAdvice(problem: string): string {
  if (problem === 'ECONNREFUSED')
    return 'Nothing listens there: check the port, and ask the laboratory whether its interface runs'
  if (problem === 'ETIMEDOUT')
    return 'A firewall drops the connection: tell the laboratory the address of this server, or check the tunnel'
  return 'Check the network between this server and the laboratory'
}

function tlsAdvice(problem: string): string {
  if (/CERT|ISSUER|SELF_SIGNED|ALTNAME/u.test(problem))
    return "Set transport.client.authority to the laboratory's certificate authority, or server_name to its name"
  return 'Ask the laboratory whether its port has TLS 1.2, and whether it asks for transport.client.certificate'
}

const CHECK_FILE = 'drawbridge-check.tmp'

/** Login, and the rights in the folders: to write a file and delete it, and to list. Files of the laboratory stay as they are. */
async function* checkFolders(
  { orders, results, ...transport }: LinkProfile['transport'],
  kind: 'folder' | 'sftp',
  open: () => Promise<FileStore>,
): AsyncGenerator<CheckStep> {
  const store = await open().catch((error: Error) => error)
  if (store instanceof Error) return yield createStep('login', 'failed', store.message, loginAdvice(kind))
  yield createStep('login', 'ok', kind === 'sftp' ? `logged in as ${transport.sftp.user}` : 'the folder of the link exists')
  try {
    const folders = transport[kind]
    if (orders === kind)
      yield await checkRights(`orders in ${folders.orders}`, async () => {
        if (kind === 'folder') await store.createFolder(folders.orders)
        await store.write(`${folders.orders}/${CHECK_FILE}`, Buffer.from('check\n'))
        await store.remove(`${folders.orders}/${CHECK_FILE}`)
        return 'a file was written and deleted'
      })
    if (results === kind)
      yield await checkRights(`results in ${folders.results}`, async () => {
        if (kind === 'folder') await store.createFolder(folders.results)
        return `${(await store.list(folders.results)).length} files`
      })
  } finally {
    await store.close()
  }
}

const loginAdvice = (kind: 'folder' | 'sftp'): string =>
  kind === 'sftp'
    ? 'Check transport.sftp.user, password or private_key, and host_key'
    : 'Set LAB_FOLDER to a folder that the account of the server may write'

async function checkRights(subject: string, work: () => Promise<string>): Promise<CheckStep> {
  try {
    return createStep('folder', 'ok', `${subject}: ${await work()}`)
  } catch (error) {
    if (!(error instanceof FolderError)) throw error
    return createStep('folder', 'failed', `${subject}: ${error.message}`, 'Check the name of the folder and the rights in it')
  }
}

const Traffic = T.Object({ answered: T.Integer(), waiting: T.Integer(), received: T.Integer() })
type Traffic = { answered: number; waiting: number; received: number }

/** Messages of the last 30 days. */
const readTraffic = (db: Queries, account_id: string): Promise<Traffic> =>
  db.one(
    Traffic,
    sql`
    select count(*) filter (where direction = 'out' and answered_at is not null)::int as answered,
           count(*) filter (where direction = 'out' and answered_at is null and state <> 'done')::int as waiting,
           count(*) filter (where direction = 'in')::int as received
    from lab_message where link_account_id = ${account_id} and created_at > ${dbNow} - interval '30 days'`,
  )

function* checkTraffic({ answered, waiting, received }: Traffic): Generator<CheckStep> {
  yield answered > 0
    ? createStep('acknowledgment', 'ok', `${answered} messages answered in 30 days, ${waiting} without an answer`)
    : createStep(
        'acknowledgment',
        'open',
        'no answer of the laboratory yet',
        'Send the trial orders in mode test: bin/drawbridge links trial',
      )
  yield received > 0
    ? createStep('results', 'ok', `${received} messages received in 30 days`)
    : createStep('results', 'open', 'no message of the laboratory yet', 'Ask the laboratory to send a test message')
}
