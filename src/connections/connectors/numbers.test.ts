// Every number and text in the answers of every vendor, with values that no vendor means: what comes of it can be stored, or is left out.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTestTeam } from '../../../test/support/server.ts'
import { answersOf, NOW_MS, type Answers } from '../../../test/support/vendors/answers.ts'
import { CLIENT } from '../../../test/support/vendors/vendor-server.ts'
import { getUser } from '../../people/users/users.ts'
import { storePulled } from '../pulls/stored.ts'
import { VendorError, type Connector, type Grant, type Pulled, type VendorHttp } from './connector.ts'
import { connectors } from './connectors.ts'

const RANGE = { from_ms: NOW_MS - 86_400_000, to_ms: NOW_MS, time_zone: 'UTC' }

/** JSON texts to put where a number is expected. `1e999` is read as infinity. */
const worst = [
  '1e300',
  '-1e300',
  '1e999',
  '-1',
  '0.5',
  '1e-300',
  '9007199254740993',
  'null',
  'true',
  '""',
  '"NaN"',
  '"1e300"',
  '"-5"',
  '[1]',
]
/** The same for a text, and an object that cannot be made a text. */
const worstTexts = ['{"toString":1}', '"a\\u0000"', '"\\ud800"']
const MARK = '"<here>"'

const isNumber = (value: unknown): boolean =>
  typeof value === 'number' || (typeof value === 'string' && /^-?\d+(\.\d+)?s?$/.test(value))
const isAny = (value: unknown): boolean => typeof value === 'number' || typeof value === 'string'

/** A JSON text for each number or text in it that matches: with a mark instead. */
function replaceEachMatch(answer: unknown, isMatch: (value: unknown) => boolean): string[] {
  const found: string[] = []
  const walk = (value: unknown, put: (text: string) => string): void => {
    if (isMatch(value)) found.push(put(MARK))
    if (typeof value !== 'object' || value === null) return
    for (const key of Object.keys(value)) {
      const copy = JSON.stringify({ ...(Array.isArray(value) ? [...value] : value), [key]: '<place>' })
      const whole = Array.isArray(value) ? JSON.stringify(Object.assign([...(value as unknown[])], { [key]: '<place>' })) : copy
      walk((value as Record<string, unknown>)[key], (text) => put(whole.replace('"<place>"', () => text)))
    }
  }
  walk(answer, (text) => text)
  return found
}

/** Answers as usual, but one. @param indices those of the answers that were asked for are added */
const createHttp =
  (answers: Answers, replacement: number, text: string, indices = new Set<number>()): VendorHttp =>
  async ({ url, body }) => {
    // Strava's last page is an empty one.
    if (/[?&]page=([2-9]|\d\d)/.test(url)) return { status: 200, headers: new Headers(), text: '[]' }
    const action = typeof body === 'object' ? (body.action ?? '') : ''
    const index = answers.findIndex(([path]) => path.test(`${new URL(url).pathname.split('/').slice(1).join('/')} ${action}`))
    const answer = answers[index]?.[1]
    if (answer === undefined) return { status: 404, headers: new Headers(), text: '{}' }
    indices.add(index)
    return { status: 200, headers: new Headers(), text: index === replacement ? text : JSON.stringify(answer) }
  }

const app = (connector: Connector) => ({ ...CLIENT, details: null, urls: connector.urls })

interface Outcome {
  grants: Grant[]
  parts: Pulled[]
}

/** What the server asks a vendor for: grants, and each resource. */
function stepsOf(connector: Connector): ((http: VendorHttp) => Promise<Outcome>)[] {
  const orFailure = (work: (http: VendorHttp, outcome: Outcome) => Promise<void>) => async (http: VendorHttp) => {
    const outcome: Outcome = { grants: [], parts: [] }
    try {
      await work(http, outcome)
    } catch (error) {
      assert(error instanceof VendorError, `${connector.provider}: ${String(error)}`)
    }
    return outcome
  }
  const own = connector.resources.filter((resource) => connector.comesWith?.[resource] === undefined)
  return [
    orFailure(async (http, { grants }) => {
      const request = { code: 'c', redirect_uri: 'https://here.example', code_verifier: 'v', now_ms: NOW_MS }
      const grant = await connector.exchange(http, app(connector), request)
      grants.push(grant, await connector.refresh(http, app(connector), grant, NOW_MS))
    }),
    ...own.map((resource) =>
      orFailure(async (http, { parts }) => {
        for await (const part of connector.pull(http, app(connector), 'a', { ...RANGE, resource })) parts.push(part)
      }),
    ),
  ]
}

for (const connector of connectors)
  describe(`an answer of ${connector.provider} that no vendor means`, () => {
    test('has its numbers left out, or they can be stored', () => replaceAll(isNumber, worst))
    test('has its texts left out, or they can be stored', () => replaceAll(isAny, worstTexts))

    async function replaceAll(isMatch: (value: unknown) => boolean, values: readonly string[]): Promise<void> {
      const answers = answersOf[connector.provider]!
      const seen = new Set<string>()
      const steps: { run: (http: VendorHttp) => Promise<Outcome>; indices: Set<number> }[] = []
      for (const run of stepsOf(connector)) {
        const indices = new Set<number>()
        const { grants, parts } = await run(createHttp(answers, -1, '', indices))
        assert(steps.length > 0 || grants.length === 2)
        for (const part of parts) seen.add(JSON.stringify(part))
        steps.push({ run, indices })
      }
      assert(seen.size > 0)
      const team = await createTestTeam()
      const user_id = await team.user()
      let count = 0
      for (const [index, [path, answer]] of answers.entries()) {
        // The others are answered as usual.
        const touched = steps.filter(({ indices }) => indices.has(index))
        assert(touched.length > 0, `${path} is asked for`)
        for (const place of replaceEachMatch(answer, isMatch)) {
          count++
          const all: Pulled[] = []
          for (const value of values)
            for (const { run } of touched) {
              const { grants, parts } = await run(createHttp(answers, index, place.replace(MARK, value)))
              for (const { expires_at_ms } of grants) assertDate(expires_at_ms, `${path} with ${value}`)
              for (const part of parts) {
                const json = JSON.stringify(part)
                if (!seen.has(json)) all.push(part)
                seen.add(json)
              }
            }
          await team.db.tx(team.tenant, async (tx) => {
            const user = await getUser(tx, user_id)
            for (const part of all)
              await storePulled(tx, user, connector.provider, part, true).catch((error: unknown) => {
                throw new Error(`${path}: ${text80(place)}`, { cause: error })
              })
          })
        }
      }
      assert(count >= 4, `${count} places`)
    }
  })

function assertDate(ms: number | null, source: string): void {
  if (ms === null) return
  assert(Math.abs(ms - NOW_MS) <= 1e12, `expires at ${ms}: ${source}`)
  new Date(ms).toISOString()
}

const text80 = (place: string): string => {
  const at = place.indexOf(MARK)
  return place.slice(Math.max(0, at - 60), at + 20)
}
