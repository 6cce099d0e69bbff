// Writes the ten orders of a trial as messages of a link. Nothing of them is of a patient.
import { randomBytes, randomUUID } from 'node:crypto'
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'
import type { AccountLink } from '../accounts/account-links.ts'
import { findAccount } from '../accounts/accounts.ts'
import { writeOrder } from '../link-orders/order-message.ts'
import { Unsendable } from '../link-orders/unsendable.ts'
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
  error: string | null
}

/**
 * @param link with its secrets
 * @param codes of tests to order; by default the first orderable tests of the catalog
 * Errors: 400 the laboratory has no test of a code, or none at all.
 */
export async function writeTrial(tx: PlainTx, link: AccountLink, codes: readonly string[]): Promise<TrialMessage[]> {
  const { now } = tx
  const cases = await prepareCases(tx, link, now, codes)
  return cases.map((trial, index) => writeCase(trial, { link, now, position: index + 1 }))
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
  const message = { position, name, contents, results, expected: answer, control_id, error: null }
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
