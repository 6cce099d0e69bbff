// Every operation with the worst bodies that its schema allows. Those of phones have files of their own.
import assert from 'node:assert/strict'
import { contents } from '../../src/app/contents.ts'
import type { Operation } from '../../src/platform/http/operation.ts'
import { demoIn, type Demo } from '../support/program.ts'
import { hostile, serveForCases } from './measured-server.ts'
import { bodyKinds, worstBody } from './worst-bodies.ts'

serveForCases({ REQUESTS_PER_SECOND: '10000', REQUESTS_BURST: '10000' })

const DEFAULT_BYTES_MAX = 100_000
const ANY_ID = '00000000-0000-4000-8000-000000000000'

const withBodies = contents.operations.filter(
  ({ body, auth, module }) => body && (auth === 'team' || auth === 'management') && !module.endsWith('mobile-sdk'),
)
const PLACES: Record<string, string> = { environment: 'sandbox', env: 'sandbox', region: 'us' }

/** A path with ids of nothing, but for the team and the organization of the caller: the body is read before anything else is looked up. */
const fillPath = ({ path }: Operation, { org_id, teams }: Demo): string =>
  path.replace(/\{(\w+)(\.\.\.)?\}/g, (_, name: string) =>
    name === 'org_id' ? org_id : name === 'team_id' ? teams.us! : (PLACES[name] ?? ANY_ID),
  )

for (const kind of bodyKinds)
  hostile(
    `bodies with ${kind}, for each of ${withBodies.length} operations`,
    () =>
      withBodies.map((operation) => ({
        operation,
        body: worstBody(operation.body!, kind, operation.body_bytes_max ?? DEFAULT_BYTES_MAX),
      })),
    async ({ api, server }, requests) => {
      const demo = demoIn(server.dataDir)
      for (const { operation, body } of requests) {
        const headers = operation.auth === 'management' ? { 'x-management-key': demo.management_key } : {}
        const { status } = await api.call(operation.method, fillPath(operation, demo), body, headers)
        assert.ok(status < 500 && status !== 413, `${operation.id} answered ${status}`)
      }
    },
  )
