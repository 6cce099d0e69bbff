// The official TypeScript SDK, as published, against a running server. One server for all of it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { JunctionClient } from '@junction-api/sdk'
import { customer, succeededCalls } from './client.ts'
import { methodNames } from './sdk-methods.ts'
import { labReports } from './parts/lab-reports.ts'
import { appointments } from './parts/appointments.ts'
import { connections } from './parts/connections.ts'
import { fileImports } from './parts/file-imports.ts'
import { link } from './parts/link.ts'
import { phoneSignIn } from './parts/phone-sign-in.ts'
import { timeseries } from './parts/timeseries.ts'
import { introspection } from './parts/introspection.ts'
import { summaries } from './parts/summaries.ts'
import { queries } from './parts/queries.ts'
import { catalog } from './parts/catalog.ts'
import { cellsAndKeys } from './parts/cells.ts'
import { phlebotomyOrders } from './parts/phlebotomy-orders.ts'
import { documents } from './parts/documents.ts'
import { management } from './parts/management.ts'
import { customLabTests } from './parts/custom-lab-tests.ts'
import { insurance } from './parts/insurance.ts'
import { orders } from './parts/orders.ts'
import { places } from './parts/places.ts'
import { results } from './parts/results.ts'
import { kitEndToEnd } from './parts/kit-end-to-end.ts'
import { testUnmatchedResults } from './parts/unmatched.ts'
import { users } from './parts/users.ts'
import { vitals } from './parts/vitals.ts'
import { atHomePhlebotomy } from './parts/at-home-phlebotomy.ts'
import { openServer } from './server.ts'

const server = await openServer()
after(() => server.stop())
const skip = server.log ? false : 'the server was not started here'

const parts = [
  kitEndToEnd,
  users,
  connections,
  timeseries,
  vitals,
  fileImports,
  introspection,
  summaries,
  queries,
  phoneSignIn,
  link,
  catalog,
  customLabTests,
  insurance,
  orders,
  phlebotomyOrders,
  documents,
  results,
  testUnmatchedResults,
  places,
  appointments,
  atHomePhlebotomy,
  labReports,
]
for (const part of parts) {
  const one = customer(server, 'sandbox-us')
  part(one)
  test(`users of ${part.name} leave`, () => one.leave())
}
cellsAndKeys(server)
management(server, customer(server, 'sandbox-us'))

/** Operations that nobody outside can call with success: only a vendor has the token by which it asks whether its notifications are expected. */
const unreachable = new Set(['confirm_provider_notifications'])

test('every operation of a team has been called with success', { skip }, async () => {
  const text = async (path: string) => (await fetch(server.base_url + path)).text()
  const { paths } = JSON.parse(await text('/openapi.json')) as { paths: Record<string, Record<string, { operationId: string }>> }
  const ofTeams = Object.entries(paths).filter(([path]) => !/^(\/management)?\/(v1\/(org|invite)|console)\b/.test(path))
  const ids = ofTeams.flatMap(([, methods]) => Object.values(methods).map(({ operationId }) => operationId))
  const answered = /^drawbridge_http_request_duration_seconds_count\{operation="(\w+)",status="20[024]"\} [1-9]/gm
  const called = new Set([...(await text('/metrics')).matchAll(answered)].map(([, id]) => id!))
  assert.deepEqual(
    ids.filter((id) => !unreachable.has(id) && !called.has(id.replace(/_alias$/, ''))),
    [],
  )
})

test('every method of the SDK has been called with success', { skip }, () => {
  const names = methodNames(new JunctionClient({ apiKey: 'none' }))
  assert(names.length > 200, 'the list of methods is not whole')
  assert.deepEqual(
    names.filter((name) => !succeededCalls.has(name)),
    [],
  )
})

test('the server ends when it is asked to, and has nothing to say', { skip }, async () => {
  assert.equal(await server.stop(), 0)
  // On a machine that is busy a turn of the event loop may take long.
  const lines = server.log!()
    .split('\n')
    .filter((line) => line !== '' && !line.includes('the event loop was blocked'))
  assert.deepEqual(lines, [])
})
