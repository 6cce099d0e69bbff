// The cookie of a session is no key: for every operation there is, it reads and changes nothing in a request that no page of this server has
// sent, as one of a person who has stolen it, or of a page of another origin.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { contents } from '../../src/app/contents.ts'
import type { Operation } from '../../src/platform/http/operation.ts'
import { createMember, signedIn } from '../support/console-sessions.ts'
import { createLaunchBody, embedding, openLaunched } from '../support/launch-browser.ts'
import { access, cells, client, createTestTeam, url, type Reply, type TestTeam } from '../support/server.ts'
import { keyNeeded, target, unknownIds } from './operations/requests.ts'
import { rowsOf } from './operations/rows.ts'

/** Operations that a session may call. */
const ofSessions = contents.operations.filter(({ auth }) => auth === 'team' || auth === 'management' || auth === 'session')

/** Sends a request of each operation with these headers, a few at a time. @returns operation → response */
async function askEach(
  team: TestTeam,
  operations: readonly Operation[],
  headers: Record<string, string>,
): Promise<Map<Operation, Reply>> {
  const rest = [...operations]
  const replies = new Map<Operation, Reply>()
  const askOthers = async () => {
    for (let operation = rest.shift(); operation !== undefined; operation = rest.shift()) {
      const request = unknownIds(operation, team)
      const { call } = client(undefined)
      const reply = await call(operation.method, target(operation.path, request), request.body, {
        ...keyNeeded(operation),
        ...request.headers,
        ...headers,
      })
      replies.set(operation, reply)
    }
  }
  await Promise.all(Array.from({ length: 6 }, askOthers))
  return replies
}

/** What there is of a team, its organization and the sessions of its members. */
async function stateOf(team: TestTeam): Promise<unknown> {
  await access.flush()
  const { rows } = await cells.control.pool.query(
    `select (select json_agg(t order by id) from team t where org_id = $1) as teams,
            (select json_agg(k order by id) from api_key k where team_id = $2) as keys,
            (select json_agg(m order by id) from member m where org_id = $1) as members,
            (select json_agg(s.id order by s.id) from console_session s join member m on m.id = s.member_id where m.org_id = $1) as sessions,
            (select json_agg(s order by s.id) from dashboard_session s where team_id = $2) as launches,
            (select count(*) from audit_log where org_id = $1) as audited`,
    [team.org_id, team.team],
  )
  const accesses = await team.db.pool.query('select count(*) from access_log where team_id = $1', [team.team])
  return { control: rows, cell: await rowsOf(team), accesses: accesses.rows }
}

type Sent = Record<string, string>

/** The headers of the page of a member, and of the embedded page of a launch. */
const pages: Record<string, (team: TestTeam) => Promise<Sent>> = {
  'a member': async (team) => (await signedIn(team, await createMember(team))).headers,
  'a launch': async (team) => {
    const { member } = await embedding(team)
    return (await openLaunched(team, createLaunchBody(team, member, { feature: 'team_config', modality: 'feature_embed' })))
      .headers
  },
}

for (const [owner, openPage] of Object.entries(pages))
  describe(`the cookie of ${owner}`, () => {
    test('without the header of the console reads nothing and changes nothing', async () => {
      const team = await createTestTeam()
      const { 'x-drawbridge-console': _header, origin: _origin, ...stolen } = await openPage(team)
      const before = await stateOf(team)
      for (const [{ id, method }, { status, body }] of await askEach(team, ofSessions, stolen)) {
        // A change is refused before anything else is looked at, and a read for the lack of a credential.
        assert.equal(status, method === 'GET' ? 401 : 403, id)
        assert.deepEqual(Object.keys(body), ['detail'], id)
      }
      assert.deepEqual(await stateOf(team), before)
    })

    test('changes nothing with the header, from a page of another origin or of none', async () => {
      const team = await createTestTeam()
      const { origin: _origin, ...headers } = await openPage(team)
      const before = await stateOf(team)
      const others = ofSessions.filter(({ method }) => method !== 'GET')
      const foreign: Sent[] = [
        {},
        { origin: 'https://elsewhere.example' },
        { origin: 'null' },
        { origin: `${url}.elsewhere.example` },
      ]
      for (const origin of foreign)
        for (const [{ id }, { status }] of await askEach(team, others, { ...headers, ...origin }))
          assert.equal(status, 403, `${id} with ${origin.origin}`)
      assert.deepEqual(await stateOf(team), before)
    })
  })
