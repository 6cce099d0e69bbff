// Links to laboratories for the pages of the console: accounts of the demo organization, and messages as a transport stores them.
import { createHash, randomUUID } from 'node:crypto'
import { connectionOf, onDatabase } from '../support/program.ts'
import { eventually } from '../support/eventually.ts'
import { manageOrg, MARKUP } from './org-requests.ts'
import type { ConsoleVisit } from './console.ts'

export interface TestLink {
  account_id: string
  /** Of the account at the laboratory. */
  number: string
}

/** A link of a new lab account of the demo team. */
export async function createLink(visit: ConsoleVisit, lab = 'quest', mode = 'live'): Promise<TestLink> {
  const [account_id, number] = [randomUUID(), `FICTIONAL-${randomUUID().slice(0, 8)}`]
  const account = { lab, provider_account_id: number, status: 'active', team_id_allowlist: [visit.demo.teams.us] }
  await manageOrg(visit, 'PUT', `/lab_account/sandbox/us/${account_id}`, account)
  const profile = {
    preset: 'us-23',
    text: { decimal_mark: '.', time_zone: 'America/New_York' },
    results: { reports: 'incremental' },
  }
  await manageOrg(visit, 'PUT', `/lab_link/sandbox/us/${account_id}`, profile)
  await manageOrg(visit, 'PUT', `/lab_link/sandbox/us/${account_id}/mode`, { mode })
  return { account_id, number }
}

const onCell = ({ server }: ConsoleVisit, statement: string, values: unknown[]) =>
  onDatabase(connectionOf(server.dataDir), (client) => client.query(statement, values))

/** Stores the bytes of a laboratory's message, and waits until the server has processed it. @returns its id */
export async function receive(visit: ConsoleVisit, { account_id }: TestLink, text: string): Promise<string> {
  const id = randomUUID()
  await onCell(
    visit,
    `insert into sandbox_us.lab_message (id, link_account_id, direction, source, digest, bytes, message_type, sender, control_id, state, due_at,
                                         created_at, updated_at)
     values ($1, $2, 'in', 'mllp 192.0.2.7', $3, $4, 'ORU^R01', 'FICTIONAL-LIS', $5, 'received', now(), now(), now())`,
    [id, account_id, createHash('sha256').update(text).digest('base64url'), Buffer.from(text), randomUUID().slice(0, 20)],
  )
  await eventually(async () => (await manageOrg(visit, 'GET', `/lab_message/sandbox/us/${id}`)).state !== 'received')
  return id
}

/** A message about an order that the laboratory has refused. @returns its id */
export async function refuse(visit: ConsoleVisit, { account_id }: TestLink, order_id: string, error: string): Promise<string> {
  const id = randomUUID()
  const control_id = randomUUID().slice(0, 20)
  const text = `MSH|^~\\&|DRAWBRIDGE|CLINIC|LIS|LAB|20300104||OML^O21|${control_id}|T|2.5.1\rPID|1||P1||Fictional^Testa`
  const answer = `MSH|^~\\&|LIS|LAB|DRAWBRIDGE|CLINIC|20300104||ACK|A1|T|2.5.1\rMSA|AR|${control_id}|${MARKUP}`
  await onCell(
    visit,
    `insert into sandbox_us.lab_message (id, team_id, link_account_id, direction, digest, bytes, message_type, control_id, state, attempts, reason,
                                         error, order_id, answer, answered_at, queued_at, created_at, updated_at)
     values ($1, $2, $3, 'out', $4, $5, 'OML^O21', $6, 'refused', 1, 'refused_order', $7, $8, $9, now(), now(), now() - interval '3 hours', now())`,
    [id, visit.demo.teams.us, account_id, control_id, Buffer.from(text), control_id, error, order_id, Buffer.from(answer)],
  )
  return id
}

/** Sets where the messages of a link go, as the operator does by command. */
export const connect = (visit: ConsoleVisit, { account_id }: TestLink, port: number) =>
  onCell(
    visit,
    `update sandbox_us.lab_link set options = (options::jsonb || $2)::text, sends_orders = true, updated_at = now() where account_id = $1`,
    [account_id, { transport: { orders: 'mllp', client: { host: '127.0.0.1', port, tls: false } } }],
  )

/** A link that fails, and over which messages came and went. */
export const fail = (visit: ConsoleVisit, { account_id }: TestLink, reason: string) =>
  onCell(
    visit,
    `update sandbox_us.lab_link
     set state = 'failing', state_at = now() - interval '2 hours', state_reason = $2, received_at = now() - interval '1 day', sent_at = now()
     where account_id = $1`,
    [account_id, reason],
  )

/** An issue of a link without a message. */
export async function reportIssue(
  visit: ConsoleVisit,
  { account_id }: TestLink,
  {
    reason,
    source = null,
    detail = null,
    count = 1,
  }: { reason: string; source?: string | null; detail?: string | null; count?: number },
): Promise<void> {
  await onCell(
    visit,
    `insert into sandbox_us.lab_link_issue (id, link_account_id, source, reason, detail, count, state, created_at, updated_at)
     values (gen_random_uuid(), $1, $2, $3, $4, $5, 'open', now() - interval '2 days', now())`,
    [account_id, source, reason, detail, count],
  )
}
