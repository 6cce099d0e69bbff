// Messages of laboratories for tests, as they come over a link.
import { randomUUID } from 'node:crypto'
import { saveLink, setLinkMode } from '../../src/lab/accounts/account-links.ts'
import type { LinkProfile, ProfileOptions } from '../../src/lab/links/profile/link-profile.ts'
import { readProfileFile, wholeProfile } from '../../src/lab/links/profile/read-profile.ts'
import type { Order } from '../../src/lab/orders/schema.ts'
import type { LinkMessage } from '../../src/lab/links/link-message.ts'
import { MessageGroups } from '../../src/lab/link-messages/message-groups.ts'
import {
  receiveMessage,
  type IncomingBytes,
  type MessageReceipt,
  type StoredIncoming,
} from '../../src/lab/link-messages/receive-message.ts'
import { labAccount } from './lab-accounts.ts'
import { reportedPatient } from './results.ts'
import { guard, vault, type TestTeam } from './server.ts'

/** The options that every profile must have. */
export const profile = {
  text: { decimal_mark: '.', time_zone: 'America/New_York' },
  results: { reports: 'incremental' },
} satisfies ProfileOptions

export const profileWith = ({ text, results, ...others }: ProfileOptions): ProfileOptions => ({
  ...others,
  text: { ...profile.text, ...text },
  results: { ...profile.results, ...results },
})

/** The whole profile of a written one. */
export const toProfile = (file: unknown): LinkProfile => wholeProfile(readProfileFile(file))

/** The link of a new account of the team at the laboratory of `acceptedOrder`. @returns the id of the account */
export async function labLink(team: TestTeam, changes: ProfileOptions = {}): Promise<string> {
  const account = await labAccount(team, { lab: 'quest', provider_account_id: `FICTIONAL-${randomUUID()}` })
  await team.db.plainTx(async (tx) => {
    await saveLink(tx, account, profileWith(changes), vault)
    await setLinkMode(tx, account, 'live')
  })
  return account
}

type Test = LinkMessage['tests'][number]

export const observedTest = (changes: Partial<Test> & Pick<Test, 'code' | 'observations'>): Test => ({
  name: `Test ${changes.code}`,
  filler: `F-${changes.code}`,
  status: 'F',
  reported_at: '20300104100000',
  ...changes,
})

export const observation = (code: string, value: string, changes: Partial<Test['observations'][number]> = {}) => ({
  code,
  name: `Analyte ${code}`,
  value,
  status: 'F',
  ...changes,
})

/** A message about an order, with a control id of its own. */
export const messageFor = (order: Order, tests: Test[], changes: Partial<LinkMessage> = {}): LinkMessage => ({
  sender: 'FICTIONAL-LIS',
  control_id: randomUUID(),
  sent_at: '20300104101500',
  patient: {
    first_name: reportedPatient.first_name!,
    last_name: reportedPatient.last_name!,
    dob: reportedPatient.dob!,
    gender: reportedPatient.gender!,
  },
  numbers: { placer: [order.sample_id!], filler: [`F-${order.id}`] },
  tests,
  ...changes,
})

export const toBytes = (message: unknown): Buffer => Buffer.from(JSON.stringify(message))

const groups = new MessageGroups()

/** Stores a message as a transport does. */
export const storeMessage = ({ db }: TestTeam, incoming: IncomingBytes): Promise<StoredIncoming> =>
  groups.store(db, incoming, incoming.link_account_id ?? incoming.source)

/** Receives a message over the link of an account. */
export const receiveBytes = ({ db }: TestTeam, account: string, bytes: Uint8Array): Promise<MessageReceipt> =>
  receiveMessage({ cell: 'sandbox-us', db, findTenant: guard.tenant }, account, bytes)
