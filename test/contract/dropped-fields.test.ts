// Nothing that a caller says is dropped without a word. Every field of a request that the reference describes is one that we read or refuse,
// and what a team says about a patient with it is afterwards in the database or in the answer. The few fields that steer what is done, and
// are kept in no form, are listed with the reason, as docs/reference/api.md has it.
// test/contract/reference-bodies.tsv is made from the two descriptions of the reference: REFERENCE=<file>,<file> UPDATE=1.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { contents } from '../../src/app/contents.ts'
import type { Operation } from '../../src/platform/http/operation.ts'
import { createTestTeam, type TestTeam } from '../support/server.ts'
import { describeReply, success } from './operations/operation-cases.ts'
import { namesOf, withoutParameterNames, type OpenApi } from './operations/names.ts'
import { send, valid } from './operations/requests.ts'
import { rowsOf } from './operations/rows.ts'
import { compact, listFields, fullBody } from './operations/traces.ts'

const { operations } = contents

const LIST = new URL('reference-bodies.tsv', import.meta.url)
const read = (file: string | URL): OpenApi => JSON.parse(readFileSync(file, 'utf8')) as OpenApi
const bodiesOf = (description: OpenApi): [string, string[]][] =>
  [...namesOf(description)].filter(([, { body }]) => body.length).map(([operation, { body }]) => [operation, body])

const { REFERENCE, UPDATE } = process.env
if (REFERENCE && UPDATE) {
  const lines = REFERENCE.split(',').flatMap((file) => bodiesOf(read(file)))
  writeFileSync(
    LIST,
    lines
      .map(([operation, body]) => `${[operation, ...body].join('\t')}\n`)
      .toSorted()
      .join(''),
  )
}
const reference = new Map(
  readFileSync(LIST, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t') as [string, ...string[]])
    .map(([operation, ...fields]) => [operation, fields] as const),
)
const own = new Map(bodiesOf(read(new URL('../../api/openapi.json', import.meta.url))))
const addresses = ({ method, path, aliases = [] }: Operation): string[] =>
  [path, ...aliases].map((address) => withoutParameterNames(method, address))
const described = operations.filter((operation) => addresses(operation).some((address) => reference.has(address)))

/** Fields of the reference that are not read: none that says anything of a patient. */
const unread: [RegExp, string][] = [
  [
    /(continuous_query|\/query) \S*\.placeholder$/,
    'marks a part that is still missing while a query is edited; such a query is refused, since it cannot run',
  ],
]

test('every field of a request that the reference describes is one that is read', () => {
  assert(described.length >= 55, 'the list of the reference is not whole')
  const dropped = described.flatMap((operation) => {
    const address = addresses(operation).find((address) => reference.has(address))!
    const fields = own.get(address) ?? []
    return reference
      .get(address)!
      .filter((field) => !fields.includes(field))
      .map((field) => `${address} ${field}`)
  })
  assert.deepEqual(
    dropped.filter((line) => !unread.some(([lines]) => lines.test(line))),
    [],
  )
  for (const [lines] of unread)
    assert(
      dropped.some((line) => lines.test(line)),
      `${lines} is read by now`,
    )
})

/** What steers a request and is kept in no form, or in another one, and why. */
const steering: [RegExp, string][] = [
  [
    /^(create|import)_\S*order\S* (order_set\b.*|collection_method|lab_test_id)$/,
    'what is ordered: it becomes the lab test of the order',
  ],
  [/^generate_link_token (on_(error|close)|filter_on_providers)$/, 'kept as a yes, and in a list'],
  [/^create_user_portal_url (context|order_id)$/, 'which link is made, and the order that its page opens with'],
  [/^book_\S+ a?sync_confirmation/, 'how long the answer may wait'],
  [/^(book|reschedule)_\S+ booking_key$/, 'a time that was offered: it becomes the time of the appointment'],
  [/^(accept|resolve)_(team_)?unmatched_result (order_id|user_id|action)$/, 'what becomes of the result: the answer is that'],
  [/^cancel_\S+ cancellation_?reason/i, 'held to the list of reasons'],
  [/^(create|import)_\S*order\S* lab_account_id$/, 'under which account: it is that of the order'],
]

/**
 * What is asked of these says nothing of a patient: which events are emitted again, what the sandbox plays, whose connections begin, pause or
 * are asked for histories; or it is refused, and must not be kept: passwords.
 */
const asking = new Set([
  'resend_events',
  'order_process_simulate',
  'connect_demo_provider',
  'record_demo_sample',
  'fail_demo_connection',
  'bulk_import_connections',
  'bulk_trigger_historical_pull',
  'bulk_pause_connections',
  'create_unmatched_result_test',
  'connect_password_provider',
  'complete_password_provider_mfa',
  'connect_email_provider',
])
/** Operations by which a caller says something of a patient, under keys of teams and of organizations. */
const bodies = new Set(described.map(({ body }) => body))
const telling = operations.filter(
  ({ id, body, logsAccess, reads }) => body && bodies.has(body) && logsAccess && !reads && !asking.has(id),
)

/** Fields that were given and are neither in what the team has since, nor in the answer. */
async function listLostFields(team: TestTeam, operation: Operation): Promise<string[]> {
  const request = await valid(team, operation)
  const { body, traces } = await fullBody(team, operation, request)
  const before = new Set(Object.values(await rowsOf(team)).flat())
  const reply = await send(team, operation, { ...request, body })
  assert(success(reply), describeReply(reply))
  const after = Object.values(await rowsOf(team)).flat()
  const kept = compact([...after.filter((row) => !before.has(row)), JSON.stringify(reply.body)].join('\n'))
  untold.push(
    ...listFields(operation.body)
      .filter((field) => !traces.some((trace) => isWithin(trace.field, field)))
      .map((field) => `${operation.id} ${field}`),
  )
  return traces.filter(({ text }) => !kept.includes(text)).map(({ field }) => `${operation.id} ${field}`)
}

/** Whether a field is another one, or stands in it. */
const isWithin = (field: string, otherField: string): boolean => field === otherField || otherField.startsWith(`${field}.`)

const steers = (line: string): boolean => steering.some(([lines]) => lines.test(line))
/** Fields that no request here gave. */
const untold: string[] = []

describe('every field that a request has about a patient is kept, answered or rejected', () => {
  for (const operation of telling)
    test(operation.id, async () => {
      const missing = await listLostFields(await createTestTeam(), operation)
      assert.deepEqual(
        missing.filter((line) => !steers(line)),
        [],
      )
    })

  test('every field was sent in a request above, except fields that control the request and fields that exclude each other', () => {
    assert(telling.length >= 18, `only ${telling.length} operations`)
    assert.deepEqual(
      untold.filter((line) => !steers(line)),
      [],
    )
  })
})
