// What the calls of the table of commands work on (command-table.ts): a team per environment, files, and rows that commands change.
import type { KnownCell } from '../../src/settings/cells.ts'
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { runToEnd } from './command-line.ts'
import { staff } from './home-visits.ts'
import { address, patient } from './people.ts'
import { profile, receiveBytes, toBytes } from './link-messages.ts'
import { writeMail } from './mail.ts'
import { answer, orderLink, queuedMessages } from './link-orders.ts'
import { createOrder, kit } from './orders.ts'
import { book, siteWithSchedule, slots, walkIn } from './psc-booking.ts'
import { acceptedOrder, deliveryFor, receiveOverLink } from './results.ts'
import { cells, createTestTeam, url, type TestTeam } from './server.ts'
import type { LinkMode } from '../../src/lab/links/link-modes.ts'
import { saveLink, setLinkMode } from '../../src/lab/accounts/account-links.ts'
import { releaseColumns } from '../../src/lab-reports/loinc/release-file.ts'
import { weekdays } from '../../src/visits/psc-booking/schedule.ts'
import { publishDemo } from '../../src/cli/demo-file.ts'

export const folder = mkdtempSync(join(tmpdir(), 'commands-'))
after(() => rmSync(folder, { recursive: true }))
let files = 0
export function writeFile(text: string | Uint8Array, ending = 'csv'): string {
  const path = join(folder, `${++files}.${ending}`)
  writeFileSync(path, text)
  return path
}

export const SANDBOX = ['--cell', 'sandbox-us']
export const EVERY_CELL = ['--cell', 'all']
export const PRODUCTION = ['--cell', 'production-us']
export const NOBODY = '01890000-0000-7000-8000-000000000000'
export const ABSENT = join(folder, 'absent')

export interface Made {
  team: TestTeam
  production: TestTeam
  /** Options that name the server and the key of `team`. */
  remote: string[]
}
export let commandData: Made
/** Makes what the calls of the table work on. */
export async function makeTableData(): Promise<void> {
  const [team, production] = [await createTestTeam(), await createTestTeam('production-us')]
  commandData = { team, production, remote: ['--url', url, '--key', team.key] }
  await siteWithSchedule('TABLE-1', { confirms: 'by_hand', places: 5 })
  await kit(team)
  const keys = Object.fromEntries(cells.names.map((cell) => [cell, team.key])) as Record<KnownCell, string>
  publishDemo(folder, {
    base_url: url,
    org_id: team.org_id,
    management_key: team.orgKey,
    teams: { us: NOBODY, eu: NOBODY },
    api_keys: keys,
  })
}

export const wordAfter = (text: string, label: string): string => new RegExp(`${label}\\s+(\\S+)`).exec(text)![1]!
export async function runAndPrint(...words: string[]): Promise<string> {
  const { code, stdout, err } = await runToEnd(words)
  assert.deepEqual([code, err], [0, ''], words.join(' '))
  return stdout
}

export const account = async (): Promise<string> => {
  const words = [
    'lab-account',
    'create',
    ...SANDBOX,
    '--lab',
    'quest',
    '--account',
    randomUUID(),
    '--org',
    commandData.team.org_id,
  ]
  return wordAfter(await runAndPrint(...words), 'lab account')
}

export async function createUnassignedResult(): Promise<string> {
  const delivery = await deliveryFor(commandData.team, await acceptedOrder(commandData.team), {
    sample_id: `NOBODYS-${randomUUID()}`,
  })
  return (await receiveOverLink(delivery)).raw_result_id
}

/** An account with a link, without teams: orders do not choose it. */
export async function linkedAccount(transport = {}, mode: LinkMode = 'live'): Promise<string> {
  const id = await account()
  await cells.db('sandbox-us').plainTx(async (tx) => {
    await saveLink(tx, id, { ...profile, transport })
    await setLinkMode(tx, id, mode)
  })
  return id
}

/** A message of a link that cannot be read. */
export const failedMessage = async (): Promise<string> =>
  (await receiveBytes(commandData.team, await linkedAccount(), toBytes({ fictional: randomUUID() }))).message_id

/** One for all orders: a team that is linked to several accounts has to choose. */
let orderAccount: Promise<string> | undefined

/** An order that its laboratory has refused. */
export async function refusedOrder(): Promise<string> {
  const { team } = commandData
  const account = await (orderAccount ??= orderLink(team))
  const { id } = await createOrder(team, { lab_test_id: await team.test('walk_in_test'), lab_account_id: account })
  await team.settle()
  const [message] = await queuedMessages(team, account)
  await answer(team, message!, 'AR')
  return id
}

/** The message of an order that its laboratory has refused. */
export async function refusedMessage(): Promise<string> {
  const order_id = await refusedOrder()
  const { rows } = await cells
    .db('sandbox-us')
    .pool.query<{ id: string }>(`select id from lab_message where order_id = $1 and direction = 'out'`, [order_id])
  return rows[0]!.id
}

export async function booking(): Promise<string> {
  const { production } = commandData
  const [slot] = await slots(production, 'lab=quest&site_codes=TABLE-1')
  return (await book(production, await walkIn(production), slot!.booking_key, { async_confirmation: true })).body.id
}

export async function failedJob(): Promise<string> {
  const id = randomUUID()
  await cells.db('sandbox-us').pool.query(
    `insert into job (id, team_id, name, payload, run_at, due_at, attempts, failed_at, last_error)
     values ($1, $2, 'orders.dispatch', '{}', now(), now(), 30, now(), 'Error E_TEST')`,
    [id, (await createTestTeam()).team],
  )
  return id
}

export async function pendingTest(): Promise<string> {
  const { team } = commandData
  const id = await team.test()
  await team.db.pool.query(`update lab_test set status = 'pending_approval', is_approved = false where id = $1`, [id])
  return id
}

/** A text message to the patient of a walk-in order, which nobody sends. */
export async function textMessage(): Promise<string> {
  const team = await createTestTeam()
  await team.manage.patch(`/team/${team.team}`, { sandbox: { lab_tests_patient_sms_communication_enabled: true } })
  const lab_test_id = await team.test('walk_in_test')
  const body = { user_id: await team.user(), lab_test_id, patient_details: patient, patient_address: address }
  const { order } = (await team.api.post('/v3/order', body)).body
  await team.api.post(`/v3/order/${order.id}/test?final_status=received.walk_in_test.requisition_created`)
  await team.settle()
  const { data } = (await team.api.get(`/v3/order/${order.id}/messages`)).body
  return data.find(({ channel }: { channel: string }) => channel === 'sms').id
}

export async function failedMail(): Promise<string> {
  const to = await writeMail()
  const { rows } = await cells.control.pool.query(
    `update mail set state = 'failed', due_at = null, finished_at = now(), attempts = 1, error = 'EENVELOPE 550' where recipient = $1 returning id`,
    [to],
  )
  return rows[0].id
}

/** The hours of a site. */
export const allDay = Object.fromEntries(weekdays.map((name) => [name, ['00:00-24:00']]))
export const staffFile = (reference: string) => writeFile(JSON.stringify([{ reference, ...staff() }]), 'json')
export const importReference = async (reference: string) => {
  await runAndPrint('phlebotomy', 'import', staffFile(reference), ...PRODUCTION)
  return reference
}
export const loincFile = () => {
  const columns = [...releaseColumns, 'CLASSTYPE'] as const
  const values: Partial<Record<(typeof columns)[number], string>> = {
    LOINC_NUM: '90001-9',
    COMPONENT: 'Fictional zedprotein',
    PROPERTY: 'MCnc',
    TIME_ASPCT: 'Pt',
    SYSTEM: 'Ser/Plas',
    SCALE_TYP: 'Qn',
    CLASS: 'CHEM',
    LONG_COMMON_NAME: 'Fictional zedprotein [Mass/volume] in Serum or Plasma',
    COMMON_TEST_RANK: '0',
    STATUS: 'ACTIVE',
    CLASSTYPE: '1',
  }
  return writeFile(
    [columns, columns.map((name) => values[name] ?? '')].map((row) => row.map((cell) => `"${cell}"`).join(',')).join('\n'),
  )
}
