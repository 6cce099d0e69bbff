// What holds for every operation there is, and for every one that will be in the list: nothing here names one by hand but the few
// exceptions. Invalid requests: operations-hostile.test.ts.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { contents } from '../../src/app/contents.ts'
import { createOrgKey } from '../../src/tenancy/keys/keys.ts'
import { isFile, type Operation } from '../../src/platform/http/operation.ts'
import { cells, createTestTeam } from '../support/server.ts'
import {
  describeReply,
  asJson,
  testEach,
  forTeams,
  forbidsExtraProperties,
  keyedOperations,
  locs,
  success,
  withBody,
  withoutBody,
  writing,
} from './operations/operation-cases.ts'
import { chooserByKind, inTurn } from './operations/inputs-in-turn.ts'
import { call, propertiesOf, send, unknownIds, target, valid, type Request } from './operations/requests.ts'
import { strangers, whatBelongsToOthers } from './operations/strangers.ts'
import { openPolicies } from '../support/policies.ts'

const { operations } = contents

const succeeded = new Set<string>()

const writer = await createTestTeam()
/** The team of operations that change nothing, and what they are asked with: it works each time. */
const reader = await createTestTeam()
const known = new Map<string, Request>()
async function readersRequest(operation: Operation): Promise<Request> {
  const request = known.get(operation.id) ?? (await valid(reader, operation))
  known.set(operation.id, request)
  return request
}

testEach('an operation does what its example asks for', operations, async (operation) => {
  const reads = operation.method === 'GET'
  const team = reads ? reader : writer
  const reply = await send(team, operation, reads ? await readersRequest(operation) : await valid(team, operation))
  assert(success(reply), describeReply(reply))
  succeeded.add(operation.id)
})

test('test/contract/uncovered.txt lists the operations that are not called with success here', () => {
  const listed = readFileSync(new URL('uncovered.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter(Boolean)
  assert.deepEqual(
    operations.map(({ id }) => id).filter((id) => !succeeded.has(id)),
    listed,
  )
})

/** Operations whose answers change while the worker runs the jobs that wait. */
const COUNT_JOBS = ['count_team_jobs', 'preview_sandbox_clock']

describe('a key is required', async () => {
  const team = await createTestTeam()
  const other = await createTestTeam()
  const management = await cells.control.plainTx((tx) => createOrgKey(tx, { org_id: team.org_id, label: 'test' }))
  const unknown = `${team.key.slice(0, -4)}AAAA`
  const everywhere: [what: string, headers: Record<string, string>][] = [
    ['no key', {}],
    ['an unknown key', { 'x-service-api-key': unknown }],
    ['a key of another kind in its own header', { 'x-management-key': management }],
  ]
  const refused = inTurn<[what: string, headers: Record<string, string>]>([
    ['an empty key', { 'x-service-api-key': '' }],
    ['a key of another kind', { 'x-service-api-key': management }],
    ['a team key in the header of another kind', { 'x-management-key': team.key }],
    ['a team key as a bearer token', { authorization: `Bearer ${team.key}` }],
    ['a key of 600 characters', { 'x-service-api-key': `sk_us_${'x'.repeat(600)}` }],
    ['a key with something before it', { 'x-service-api-key': `Bearer ${team.key}` }],
    ['two keys, one of them unknown', { 'x-service-api-key': team.key, 'x-vital-api-key': unknown }],
    ['two keys of two teams', { 'x-service-api-key': team.key, 'x-vital-api-key': other.key }],
  ])
  testEach('without a key of a team an operation answers 401', forTeams, async (operation) => {
    for (const [what, headers] of [...everywhere, ...refused(operation)]) {
      const reply = await send(undefined, operation, unknownIds(operation), headers)
      assert.equal(reply.status, 401, what)
      assert.equal(typeof reply.body.detail, 'string', what)
    }
  })
  const accepted = inTurn<[where: string, headers: Record<string, string>]>([
    ['in its documented header', { 'x-service-api-key': team.key }],
    ['in the header of the SDKs', { 'x-vital-api-key': team.key }],
    ['in a header in capitals', { 'X-SERVICE-API-KEY': team.key }],
    ['in both headers', { 'x-service-api-key': team.key, 'x-vital-api-key': team.key }],
    ['beside a management key', { 'x-service-api-key': team.key, 'x-management-key': management }],
  ])
  testEach('a key is accepted wherever it may stand', forTeams, async (operation) => {
    for (const [where, headers] of accepted(operation))
      assert.notEqual((await send(undefined, operation, unknownIds(operation), headers)).status, 401, where)
  })
})

/** Something that only one team can have: an id. */
const NAMING = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/
/** An answer without its instants: those of a clock or an example are of the request, and a second may pass between two requests. */
const timeless = (body: unknown): string => JSON.stringify(body).replace(INSTANT, 'an instant')
const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)/g

describe('how a request is written makes no difference', async () => {
  const team = await createTestTeam()
  const callerOf = ({ method }: Operation) => (method === 'GET' ? reader : team)
  const prepared = (operation: Operation) => (operation.method === 'GET' ? readersRequest(operation) : valid(team, operation))

  testEach('JSON content type with zero bytes is no body', withoutBody, async (operation) => {
    const request = { ...(await prepared(operation)), body: operation.method === 'GET' ? undefined : '' }
    const reply = await send(callerOf(operation), operation, request, asJson)
    assert(success(reply), describeReply(reply))
  })

  testEach(
    'a gzipped body is understood, and keys nobody declared are ignored or, where it says so, refused',
    withBody,
    async (operation) => {
      const request = await valid(team, operation)
      const text = JSON.stringify({ unknown: 1, ...(request.body as object) }).replace('{', '{"__proto__":{"polluted":1},')
      const reply = await send(team, operation, { ...request, body: gzipSync(text) }, { 'content-encoding': 'gzip' })
      if (forbidsExtraProperties(operation))
        assert.deepEqual(locs(reply).sort(), [
          ['body', '__proto__'],
          ['body', 'unknown'],
        ])
      else assert(success(reply), describeReply(reply))
      assert.equal(({} as { polluted?: number }).polluted, undefined)
    },
  )

  // Each address for a browser has a text of its own.
  const known = operations.filter(({ id, auth, method }) => id !== 'generate_oauth_link' && (auth !== 'none' || method === 'GET'))
  const spellings = inTurn<(path: string) => string>([
    (path) => `${path}/`,
    (path) => `${path}//`,
    (path) => `/${path}`,
    (path) => path.replace('/', '//').replace(/(\/[a-z_]+)\//, '$1//'),
  ])
  const changesWithRequests = new Set(['list_user_access', 'get_server_health', ...COUNT_JOBS])
  testEach('slashes at the end and twice lead to the same place', known, async (operation) => {
    const reads = operation.method === 'GET'
    const request = reads ? await readersRequest(operation) : unknownIds(operation)
    const [path = '', query = ''] = target(operation.path, request).split(/(?=\?)/)
    const key = reads ? reader : 'sk_us_unknown'
    const plain = await call(key, operation.method, path + query, request.body)
    assert.equal(plain.status, reads ? 200 : operation.auth === 'link' ? 400 : 401)
    for (const spelling of spellings(operation)) {
      const variant = spelling(path)
      const reply = await call(key, operation.method, variant + query, request.body)
      assert.equal(reply.status, plain.status, variant)
      // A document says when it was made, and what a request leaves in logs and databases changes these.
      if (!Buffer.isBuffer(plain.body) && !changesWithRequests.has(operation.id))
        assert.equal(timeless(reply.body), timeless(plain.body), variant)
    }
  })

  testEach('a list in the query may be written in four ways', operations, async (operation) => {
    for (const [name, { type, items }] of Object.entries(propertiesOf(operation.query))) {
      if (type !== 'array') continue
      const { type: kind, format, enum: allowed } = items as { type: string; format?: string; enum?: string[] }
      const [a, b] = allowed ?? (format === 'uuid' ? [randomUUID(), randomUUID()] : kind === 'integer' ? [1, 2] : ['a', 'b'])
      const request = await prepared(operation)
      // The list takes the place of the one that the request has.
      const { [name]: _, ...query } = request.query
      const path = target(operation.path, { ...request, query })
      const begun = path.includes('?') ? `${path}&` : `${path}?`
      const plain = await call(callerOf(operation), operation.method, `${begun}${name}=${a}&${name}=${b}`)
      // What the list names need not be there.
      assert(plain.status === 200 || plain.status === 400, describeReply(plain))
      for (const list of [`${name}[]=${a}&${name}[]=${b}`, `${name}%5B0%5D=${a}&${name}%5B1%5D=${b}`, `${name}=${a},${b}`])
        assert.deepEqual((await call(callerOf(operation), operation.method, begun + list)).body, plain.body)
    }
  })
})

// After all tests that show what operations do while the policies hold.
describe('the data of another team is not found, by the conditions of the statements alone', async () => {
  let closePolicies: () => Promise<void>
  before(async () => {
    closePolicies = await openPolicies()
  })
  after(() => closePolicies())
  const two = await strangers()
  const { owner, stranger, askedByStranger } = two

  // The lists of requests have those of this test, jobs are run meanwhile, and a document says when it was made.
  const changesByItself = new Set(['list_sandbox_requests', 'list_requests', 'count_requests', ...COUNT_JOBS])
  const compared = forTeams.filter(({ method, id, reply }) => method === 'GET' && !changesByItself.has(id) && !isFile(reply))
  const answers = new Map<string, string>()
  const ask = async (operation: Operation): Promise<string> => {
    const reply = await send(reader, operation, await readersRequest(operation))
    assert(success(reply), describeReply(reply))
    return timeless(reply.body)
  }
  before(async () => {
    for (const operation of compared) await readersRequest(operation)
    for (const operation of compared) answers.set(operation.id, await ask(operation))
  })

  whatBelongsToOthers(two)

  testEach('what a team is answered has nothing of another, whose idempotency key is not known', forTeams, async (operation) => {
    const own = await valid(stranger, operation)
    const others = await valid(owner, operation)
    const headers: Record<string, string> = keyedOperations.includes(operation) ? { 'x-idempotency-key': 'the-same' } : {}
    const first = keyedOperations.includes(operation) ? await send(owner, operation, others, headers) : undefined
    const second = await askedByStranger(() => send(stranger, operation, own, headers))
    assert(success(second), describeReply(second))
    if (!first) return
    assert(success(first), describeReply(first))
    // An answer without an id or another name says the same to everybody.
    if (NAMING.test(JSON.stringify(first.body))) assert.notDeepEqual(second.body, first.body)
    assert(!JSON.stringify(second.body).includes(owner.team))
  })

  describe('changes of other teams change no answer', () => {
    // The operations of teams have been called just before.
    before(async () => {
      for (const operation of writing) if (operation.auth !== 'team') await send(owner, operation, await valid(owner, operation))
    })
    for (const operation of compared)
      test(operation.id, async () => assert.equal(await ask(operation), answers.get(operation.id)))
  })
})

describe('a method that a path does not have answers 405', async () => {
  const team = await createTestTeam()
  const paths = new Map<string, Operation[]>()
  for (const operation of operations)
    for (const path of [operation.path, ...(operation.aliases ?? [])]) paths.set(path, [...(paths.get(path) ?? []), operation])
  const pages = contents.pages.map((page) => new RegExp(`^${page.path.replace(/\{\w+\}/g, '[^/]+')}$`))
  /** Two of them for a path that has the same methods as an earlier one. */
  const choosers = new Map<string, (kind: string) => readonly string[]>()
  for (const [path, [first, ...more]] of paths)
    test(path, async () => {
      const isPage = pages.some((page) => page.test(path))
      const allowed = [first!, ...more].map(({ method }) => method as string).sort()
      const kind = `${allowed.join()} ${isPage}`
      const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter(
        (method) => !allowed.includes(method) && !(isPage && method === 'GET'),
      )
      const choose = choosers.get(kind) ?? chooserByKind(others, 2)
      choosers.set(kind, choose)
      for (const method of choose(kind)) {
        const reply = await call(team, method, target(path, unknownIds(first!)))
        assert.equal(reply.status, 405, method)
        assert.equal(reply.headers.get('allow'), allowed.join(', '))
        assert.deepEqual(reply.body, { detail: 'Method Not Allowed' })
      }
    })
})
