// Invalid requests to every operation: each is rejected with all field errors, never with a server error.
import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { describe } from 'node:test'
import fc from 'fast-check'
import { contents } from '../../src/app/contents.ts'
import type { Operation } from '../../src/platform/http/operation.ts'
import { createTestTeam, type TestTeam } from '../support/server.ts'
import { asJson, testEach, keyedOperations, locs, unknownStatus, withBody, writing } from './operations/operation-cases.ts'
import {
  malformedValues,
  placesOf,
  requiredFields,
  textLeaves,
  invalidFields,
  invalidLeaves,
  type Loc,
} from './operations/invalid-values.ts'
import { chooserByKind, inTurn } from './operations/inputs-in-turn.ts'
import { adversarialTexts, mutateRequest, mutations } from './operations/mutations.ts'
import { call, propertiesOf, send, unknownIds, target, valid, type Request } from './operations/requests.ts'

const { operations } = contents

/** A longer search: `FUZZ_RUNS=2000 FUZZ_SEED=7`. Each day has a seed of its own, which a failure says. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 4)
const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Date.now() / 86_400_000))

describe('an invalid request is rejected with every fault', async () => {
  const team = await createTestTeam()
  const faulty = (operation: Operation, body: unknown, headers?: Record<string, string>) =>
    send(team, operation, { ...unknownIds(operation, team), body }, headers)

  const malformedTexts = declaredInTurn(malformedValues)
  const withPath = operations.filter(({ params }) => params)
  testEach('a malformed value in the path answers 422', withPath, async (operation) => {
    for (const [name, schema] of Object.entries(propertiesOf(operation.params)))
      for (const text of malformedTexts(name, schema)) {
        const request = unknownIds(operation)
        request.path[name] = text
        const reply = await send(team, operation, request)
        assert.equal(reply.status, 422, `${name} ${text}`)
        assert.deepEqual(locs(reply), [['path', name]])
      }
  })

  testEach('fields of the wrong kind are all listed, in order', withBody, async (operation) => {
    const { value, places } = invalidFields(operation.body)
    const reply = await faulty(operation, value)
    assert.equal(reply.status, 422)
    assert.deepEqual(
      locs(reply),
      places.map((place) => ['body', ...place]),
    )
  })

  testEach('fields of the wrong kind are all listed, however deep', withBody, async (operation) => {
    const { value, places } = invalidLeaves(operation.body)
    const reply = await faulty(operation, value)
    assert.equal(reply.status, 422)
    assert.deepEqual(
      locs(reply),
      places.map((place) => ['body', ...place]),
    )
  })

  testEach('fields that are missing are all listed', withBody, async (operation) => {
    const required = requiredFields(operation.body)
    const reply = await faulty(operation, {})
    if (required.length)
      assert.deepEqual(
        reply.body.detail.map(({ loc, type }: { loc: Loc; type: string }) => [...loc, type].join(' ')),
        required.map((name) => `body ${name} missing`),
      )
  })

  for (const [what, text] of [
    ['with NUL', 'a\0b'],
    ['that is half a surrogate pair', 'a\ud800'],
  ] as const)
    testEach(`text ${what} is refused wherever it stands`, withBody, async (operation) => {
      const { value, places } = textLeaves(operation.body, text)
      if (value === undefined) return
      const reply = await faulty(operation, value)
      assert.equal(reply.status, 422)
      const found = new Set(locs(reply).map((loc) => loc.join()))
      for (const place of places) assert(found.has(['body', ...place].join()), place.join('.'))
    })

  testEach('an invalid idempotency key, or an unknown option for it, answers 422', keyedOperations, async (operation) => {
    for (const [name, value] of [
      ['X-Idempotency-Key', ''],
      ['X-Idempotency-Key', 'x'.repeat(256)],
      ['X-Idempotency-Error', 'cache'],
    ] as const) {
      const reply = await send(team.key, operation, unknownIds(operation), { [name]: value })
      // A query that must be there is missing here, which is said as well.
      assert.deepEqual(
        locs(reply).filter(([part]) => part !== 'query'),
        [['header', name]],
      )
    }
  })

  const notJson = inTurn(['{', '{"a":', 'nonsense', "{'a':1}", '{"a":1}{', '\ufeff{}', 'NaN', '[1,]', '\0'])
  testEach('a body that is not JSON answers 422', withBody, async (operation) => {
    for (const text of notJson(operation)) {
      const reply = await faulty(operation, text)
      assert.equal(reply.status, 422, text)
      assert.deepEqual(reply.body.detail[0].loc, ['body'])
      assert.equal(reply.body.detail[0].type, 'json_invalid')
    }
  })

  // In Latin-1, in UTF-16, half a character, half a surrogate pair, and beside text that is in order.
  const notUtf8 = inTurn(['7b2261223a2272656ee8227d', 'fffe7b007d00', '7b2261223a22c3227d', '7b2261223a22eda080227d', '7b7dff'])
  testEach('a body that is not UTF-8 answers 400', withBody, async (operation) => {
    for (const hex of notUtf8(operation)) {
      const reply = await faulty(operation, Buffer.from(hex, 'hex'), asJson)
      assert.deepEqual([reply.status, reply.body], [400, { detail: 'The body is not UTF-8' }], hex)
    }
  })

  const withForm = operations.filter(({ form }) => form)
  testEach('a form whose bytes or escapes are not UTF-8 answers 400', withForm, async (operation) => {
    for (const hex of ['613d72656ee8', Buffer.from('a=ren%E8').toString('hex')]) {
      const reply = await faulty(operation, Buffer.from(hex, 'hex'), { 'content-type': 'application/x-www-form-urlencoded' })
      assert.deepEqual([reply.status, reply.body], [400, { detail: 'The body is not UTF-8' }], hex)
    }
  })

  const noObjects = inTurn(['[]', '[{}]', '"text"', '7', 'true', '1e308'])
  testEach('a body that is no object answers 422', withBody, async (operation) => {
    for (const text of noObjects(operation)) {
      const reply = await faulty(operation, text)
      assert.equal(reply.status, 422, text)
      assert.deepEqual(locs(reply), [['body']])
    }
  })

  const missing = inTurn([undefined, '', 'null'])
  const bodyRequired = withBody.filter(({ body_optional }) => !body_optional)
  testEach('a body that is required is missed', bodyRequired, async (operation) => {
    for (const text of missing(operation)) {
      const reply = await faulty(operation, text, asJson)
      assert.deepEqual(reply.body.detail, [{ loc: ['body'], msg: 'Field required', type: 'missing' }])
    }
  })

  /** More than the buffers of a connection hold: the server answers before the client has sent everything. */
  const bytes = Buffer.alloc(5_000_000, '"')
  const small = writing.filter((operation) => (operation.body_bytes_max ?? 0) < bytes.length)
  const bombsOf = (size: number) => {
    const bomb = gzipSync(bytes.subarray(0, size))
    return { bomb, damaged: Buffer.from(bomb).fill(0xff, bomb.length >> 1) }
  }
  const [bombs, large] = [bombsOf(500_000), bombsOf(bytes.length)]
  const bombFor = ({ body_bytes_max = 0 }: Operation) => (body_bytes_max < 250_000 ? bombs : large)
  const gzipped = { 'content-encoding': 'gzip' }

  const unknown = (operation: Operation, body: Buffer) => send('sk_us_unknown', operation, { ...unknownIds(operation), body })
  const unknownStatus = { none: 413, link: 400, team: 401, management: 401, session: 401 }

  testEach('a body that is a byte over the limit answers 413, after the key has been looked at', small, async (operation) => {
    const body = bytes.subarray(0, (operation.body_bytes_max ?? 100_000) + 1)
    assert.equal((await faulty(operation, body)).status, 413)
    assert.equal((await unknown(operation, body)).status, unknownStatus[operation.auth])
  })

  const farOver = inTurn<(operation: Operation, body: Buffer) => Promise<void>>([
    async (operation, body) => assert.equal((await faulty(operation, body)).status, 413),
    async (operation, body) => assert.equal((await unknown(operation, body)).status, unknownStatus[operation.auth]),
    async (operation) => assert.equal((await faulty(operation, bombFor(operation).bomb, gzipped)).status, 413),
  ])
  testEach('a body far over the limit answers 413, and the client sees it', small, async (operation) => {
    const checks = farOver(operation)
    // Where one is tried alone, it is as far over as matters to what reads the body.
    const body = checks.length > 1 ? bytes : bytes.subarray(0, 2 * (operation.body_bytes_max ?? 100_000) + 100_000)
    for (const check of checks) await check(operation, body)
  })

  testEach('a corrupted gzip bomb is rejected safely', small, async (operation) => {
    assert.equal((await faulty(operation, bombFor(operation).damaged, gzipped)).status, 413)
  })

  const noGzip = inTurn<(sound: Buffer) => Buffer>([
    () => Buffer.from('{}'),
    (sound) => sound.subarray(0, -9),
    (sound) => Buffer.concat([sound, Buffer.from('more')]),
    () => Buffer.alloc(70_000),
  ])
  testEach('a body that says it is gzip and is not answers 422', withBody, async (operation) => {
    const sound = gzipSync(JSON.stringify(operation.example))
    for (const damage of noGzip(operation)) assert.equal((await faulty(operation, damage(sound), gzipped)).status, 422)
  })

  const deep = `${'['.repeat(64)}${' '.repeat(20_000)}${']'.repeat(64)}`
  const longAndDeep = inTurn([`{"unknown":${deep}}`, `[${deep}]`])
  testEach('long JSON of more than 64 levels answers 422 before it is parsed', withBody, async (operation) => {
    for (const text of longAndDeep(operation)) {
      const reply = await faulty(operation, text)
      assert.equal(reply.status, 422)
      assert.deepEqual(reply.body.detail, [
        { loc: ['body'], msg: 'JSON decode error', type: 'json_invalid', ctx: { error: 'more than 64 levels' } },
      ])
    }
  })

  const deeper = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
  const tooDeep = inTurn<(field: string | undefined) => string>([
    () => deeper,
    () => `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
    (field) => `{"${field}":${deeper}}`,
    () => `{"unknown":${deeper}}`,
  ])
  testEach('JSON of 10,000 levels is no fault of the server', withBody, async (operation) => {
    const [field] = Object.keys(propertiesOf(operation.body))
    for (const text of tooDeep(operation)) await faulty(operation, text(field))
  })
})

/** Values for parameters, in turn where they are declared alike. */
function declaredInTurn(textsOf: (schema: unknown) => readonly string[]) {
  const choosers = new Map<string, (kind: string) => readonly string[]>()
  return (name: string, schema: unknown): readonly string[] => {
    const declared = JSON.stringify([name, schema])
    const choose = choosers.get(declared) ?? chooserByKind(textsOf(schema))
    choosers.set(declared, choose)
    return choose(declared)
  }
}

const UUID = /^[0-9a-f-]{36}$/
const NUMBER = /^(-?[\d.]+(e\d+)?|NaN|Infinity)$/
const DATE = /^[+-]?\d{4,}-\d/
/** What a parameter of a kind may take for a valid value. */
const FORMATTED: Record<string, RegExp> = {
  uuid: UUID,
  date: DATE,
  'date-time': DATE,
  integer: NUMBER,
  number: NUMBER,
}

/** By what is declared: a text that only some of it takes is refused by the same code wherever it is declared. */
const choosers = new Map<string, (kind: string) => readonly string[]>()
/** How many texts each later parameter gets. */
const SHARE = 4

/**
 * The first of the parameters that are declared alike gets every text, each later one a few in turn. Of those that take few values, ids,
 * numbers or dates alone the first of each kind does, by whatever name, since no text but these gets further than the schema; those that look
 * like ids, numbers or dates are given to each.
 */
function textsFor(name: string, schema: unknown): readonly string[] {
  const closed = closedKind(schema as Shape)
  const group = closed ?? JSON.stringify([name, schema])
  const choose = choosers.get(group) ?? chooserByKind(adversarialTexts, SHARE)
  choosers.set(group, choose)
  const texts = choose(group)
  const pattern = closed && FORMATTED[closed.replace('list of ', '')]
  return pattern ? [...new Set([...texts, ...adversarialTexts.filter((text) => pattern.test(text))])] : texts
}

interface Shape {
  type?: string
  format?: string
  enum?: unknown
  items?: Shape
}

/** The kind of a parameter that takes one of a few values, or ids, numbers or dates alone. */
function closedKind({ type, format, enum: allowed, items }: Shape): string | undefined {
  if (items) {
    const kind = closedKind(items)
    return kind && `list of ${kind}`
  }
  if (allowed) return 'one of a list'
  return format && format in FORMATTED ? format : type && /^(boolean|integer|number)$/.test(type) ? type : undefined
}

interface Prepared {
  key: TestTeam
  request: Request
}

/** A request that works, of a team of its own: what is sent may well succeed, and a sandbox has few places. */
async function fresh(operation: Operation): Promise<Prepared> {
  const team = operation.method === 'GET' ? await (reader ??= createTestTeam()) : await createTestTeam()
  return { key: team, request: await valid(team, operation) }
}

/** The team of all operations that change nothing. */
let reader: Promise<TestTeam> | undefined

/** Fields that are checked only when all other fields are valid. */
const refusedLater: Record<string, number> = {
  cursor: 400,
  verification_token: 401,
  // The profile of a provider that the user has none of.
  provider: 404,
  next_cursor: 400,
  final_status: 400,
  site_codes: 400,
  radius: 400,
  start_date: 400,
  is_primary: 404,
  // The connection has ended with the first value that is valid.
  delete_data: 404,
  // Where a part of a file begins.
  offset: 409,
}
const nonsense = [
  '__proto__=1',
  'constructor[]=1',
  '%=%',
  '%ff=%ff',
  '[]=1',
  'a[b][c]=1',
  '&&&=&=',
  'limit[0]=x&limit[a]=y',
  'x'.repeat(9000),
  'x&'.repeat(4000),
]

describe('no input causes a 5xx response', () => {
  /** What operations that change nothing are asked with is asked again. */
  const known = new Map<string, Prepared>()
  const prepared = async (operation: Operation): Promise<Prepared> => {
    const before = operation.method === 'GET' ? known.get(operation.id) : undefined
    if (before) return before
    const found = await fresh(operation)
    known.set(operation.id, found)
    return found
  }

  const queries = inTurn(nonsense)
  testEach('nonsense in the query', operations, async (operation) => {
    const { key, request } = await prepared(operation)
    for (const [name, schema] of Object.entries(propertiesOf(operation.query)))
      await Promise.all(
        textsFor(name, schema).map(async (text) => {
          const { status } = await send(key, operation, { ...request, query: { ...request.query, [name]: text } })
          const instead = refusedLater[name] ?? (UUID.test(text) ? unknownStatus(operation) : 422)
          assert([operation.success ?? 200, 422, instead].includes(status), `${name}=${text.slice(0, 50)} was HTTP ${status}`)
        }),
      )
    const path = target(operation.path, request)
    for (const query of queries(operation))
      await call(key, operation.method, `${path}${path.includes('?') ? '&' : '?'}${query}`, request.body)
  })

  const paths = inTurn(['%', '%zz', '%ff', '%ed%a0%80', '%2f', '%00', '..%2f..', 'x'.repeat(3000)])
  const withPath = operations.filter(({ params }) => params)
  testEach('invalid UTF-8 in the path', withPath, async (operation) => {
    // It asks for nothing that is there, so the team that has been asked before will do.
    const { key } = known.get(operation.id) ?? (await prepared(operation))
    for (const text of paths(operation))
      await call(key, operation.method, operation.path.replace(/\{[\w.]+\}/g, text), operation.example)
  })

  testEach('random changes of a request that works', operations, async (operation) => {
    const { key, request } = await prepared(operation)
    const further = [
      ...(operation.query ? placesOf(operation.query) : []).map((place) => ['query', ...place]),
      ...(operation.body ? placesOf(operation.body).map((place) => ['body', ...place]) : []),
    ]
    await fc.assert(
      fc.asyncProperty(mutations, async (changes) => {
        await send(key, operation, mutateRequest(request, further, changes))
      }),
      { seed: SEED, numRuns: RUNS },
    )
  })
})
