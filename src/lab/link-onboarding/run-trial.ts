// Sends the trial orders of a link in mode `test` and records the answers. Owns lab_link_trial: the newest trial of each link. Nothing of it
// is of a patient.
import { randomBytes, randomUUID } from 'node:crypto'
import type { Db } from '../../platform/db/database.ts'
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { Nullable, T, Timestamp, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { AccountLink } from '../accounts/account-links.ts'
import { findAccount } from '../accounts/accounts.ts'
import { writeOrder } from '../link-orders/order-message.ts'
import { Unsendable } from '../link-orders/unsendable.ts'
import { openFileStore } from '../link-transports/link-places.ts'
import { FolderError } from '../link-transports/file-store.ts'
import { FolderWriter } from '../link-transports/folder-writer.ts'
import { withLineEnds } from '../link-transports/line-ends.ts'
import type { NetworkContext } from './check-step.ts'
import { EXCHANGE_TEXTS, exchangeMessage } from './exchange-message.ts'
import { createTrialCases, type ExpectedAnswer, type TrialCase, type TrialTest } from './trial-cases.ts'

/** A message of a trial. Without bytes it could not be written, and `error` says why. */
export interface TrialMessage {
  position: number
  name: string
  contents: string
  results: string
  expected: ExpectedAnswer
  placer_number: string
  control_id: string
  bytes: Buffer | null
  answer: Buffer | null
  error: string | null
}

interface TrialRequest {
  db: Db
  /** With its secrets. */
  link: AccountLink
  /** Codes of tests to order; by default the first orderable tests of the catalog. */
  codes: readonly string[]
  network: NetworkContext
}

/**
 * Writes the ten orders of a trial and sends them, one after the other: over MLLP it waits for each answer, in folders answers come as files.
 * Replaces the earlier trial of the link. Writes lab_link_trial.
 * Errors: 400 the link is not in mode `test`, or the laboratory has no test of a given code, or none at all.
 */
export async function runTrial({ db, link, codes, network }: TrialRequest): Promise<TrialMessage[]> {
  if (link.mode !== 'test') throw badRequest(`A trial needs a link in mode test; this one is in mode ${link.mode}`)
  const now = await db.plainTx(async (tx) => tx.now)
  const cases = await prepareCases(db.queries, link, now, codes)
  const messages: TrialMessage[] = []
  for (const trial of cases) {
    const position = messages.length + 1
    const written = writeCase(trial, { link, now, position })
    messages.push(await sendCase(link, network, written))
  }
  await db.plainTx((tx) => saveTrial(tx, link.account_id, messages))
  return messages
}

async function prepareCases(db: Queries, link: AccountLink, now: Date, codes: readonly string[]): Promise<TrialCase[]> {
  const tests = await findTests(db, link.account_id, codes)
  const missing = codes.filter((code) => !tests.some((test) => test.code === code))
  if (missing.length > 0) throw badRequest(`The catalog of the laboratory has no orderable test ${missing.join(', ')}`)
  if (tests.length === 0) throw badRequest('The catalog of the laboratory has no orderable test')
  const account = await findAccount(db, link.account_id)
  const run = randomBytes(3).toString('hex').toUpperCase()
  return createTrialCases({
    tests,
    microbiology: tests.find(({ name }) => /culture/iu.test(name)),
    lab_slug: link.lab_slug,
    account: {
      number: link.account_number,
      name: account?.account_name ?? null,
      business_units: account?.business_units ?? [],
    },
    createNumber: (position) => `T${run}${String(position).padStart(2, '0')}`,
    createId: () => randomUUID(),
    created_at: now.toISOString(),
    time_zone: link.profile.text.time_zone,
  })
}

const MarkerRow = T.Object({
  code: T.String(),
  name: T.String(),
  aoe: T.Unsafe<{ questions?: TrialTest['questions'] } | null>({}),
})
const TESTS_MAX = 20

/** Orderable tests of the account's laboratory: those of the codes, or the first ones, with one that has questions and one with a culture. */
async function findTests(db: Queries, account_id: string, codes: readonly string[]): Promise<TrialTest[]> {
  const rows = await db.many(
    MarkerRow,
    sql`
    select m.provider_id as code, m.name, m.aoe
    from marker m join lab_account a on a.lab_id = m.lab_id
    where a.id = ${account_id} and m.is_orderable and (${codes.length} = 0 or m.provider_id = any (${codes}::text[]))
    order by m.name ilike '%culture%' desc, m.aoe is not null desc, m.name, m.id limit ${TESTS_MAX}`,
  )
  const tests = rows.map(({ code, name, aoe }) => ({ code, name, questions: aoe?.questions ?? [] }))
  // The plain case comes first: a test without questions.
  return tests.toSorted((a, b) => a.questions.length - b.questions.length)
}

interface WriteOptions {
  link: AccountLink
  now: Date
  position: number
}

function writeCase(
  { name, contents, results, answer, action, content }: TrialCase,
  { link, now, position }: WriteOptions,
): TrialMessage {
  const control_id = `TRIAL${randomBytes(6).toString('hex').toUpperCase()}`
  const message = { position, name, contents, results, expected: answer, control_id, answer: null, error: null }
  try {
    const [written] = writeOrder({
      action,
      content,
      profile: link.profile,
      client_user_id: content.order.user_id,
      filler_number: null,
      processing_id: 'T',
      now,
      newControlId: () => control_id,
    })
    return { ...message, placer_number: written!.placer_numbers[0]!, bytes: written!.bytes }
  } catch (error) {
    if (!(error instanceof Unsendable)) throw error
    return { ...message, placer_number: content.order.sample_id!, bytes: null, error: error.message }
  }
}

async function sendCase(link: AccountLink, network: NetworkContext, message: TrialMessage): Promise<TrialMessage> {
  const { bytes, control_id } = message
  const { orders } = link.profile.transport
  if (!bytes || orders === 'none') return message
  return orders === 'mllp'
    ? sendOverMllp(link, network, { ...message, bytes })
    : { ...message, error: await writeFile(link, network, { kind: orders, bytes, control_id }) }
}

async function sendOverMllp(
  { profile }: AccountLink,
  network: NetworkContext,
  message: TrialMessage & { bytes: Buffer },
): Promise<TrialMessage> {
  const { bytes, control_id } = message
  const wait_ms = profile.transport.client.answer_timeout_s * 1000
  try {
    const exchange = await exchangeMessage({ profile, network, bytes, control_id, wait_ms })
    return 'bytes' in exchange ? { ...message, answer: exchange.bytes } : { ...message, error: EXCHANGE_TEXTS[exchange.problem] }
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    return { ...message, error: `The laboratory cannot be reached (${code})` }
  }
}

/** Writes a message as a file for the laboratory. @returns why it cannot be written, or null */
async function writeFile(
  { account_id, profile }: AccountLink,
  network: NetworkContext,
  { kind, bytes, control_id }: { kind: 'folder' | 'sftp'; bytes: Buffer; control_id: string },
): Promise<string | null> {
  try {
    const store = await openFileStore(kind, { account_id, profile, ...network })
    try {
      const writer = new FolderWriter(store, profile.transport[kind].orders)
      await writer.write(control_id, withLineEnds(bytes, profile.text.line_end))
    } finally {
      await store.close()
    }
    return null
  } catch (error) {
    if (error instanceof FolderError) return error.message
    throw error
  }
}

async function saveTrial(tx: PlainTx, account_id: string, messages: readonly TrialMessage[]): Promise<void> {
  await tx.run(sql`delete from lab_link_trial where account_id = ${account_id}`)
  for (const { position, name, contents, results, expected, placer_number, control_id, bytes, answer, error } of messages)
    await tx.run(sql`
      insert into lab_link_trial (account_id, position, name, contents, results, expected, placer_number, control_id, bytes, answer, error, created_at)
      values (${account_id}, ${position}, ${name}, ${contents}, ${results}, ${expected}, ${placer_number}, ${control_id}, ${bytes}, ${answer},
              ${error}, ${tx.now})`)
}

const TrialRow = T.Object({
  position: T.Integer(),
  name: T.String(),
  contents: T.String(),
  results: T.String(),
  expected: T.Unsafe<ExpectedAnswer>({ type: 'string' }),
  placer_number: T.String(),
  control_id: T.String(),
  bytes: Nullable(T.Unsafe<Buffer>({})),
  answer: Nullable(T.Unsafe<Buffer>({})),
  error: Nullable(T.String()),
  created_at: Timestamp,
})
export type StoredTrialMessage = Static<typeof TrialRow>

/** The messages of the newest trial of a link, in the order in which they were sent. */
export const listTrial = (db: Queries, account_id: string): Promise<StoredTrialMessage[]> =>
  db.many(
    TrialRow,
    sql`
    select position, name, contents, results, expected, placer_number, control_id, bytes, answer, error, created_at
    from lab_link_trial where account_id = ${account_id} order by position`,
  )
