// The code for the official SDK that the console shows: called as it is shown, the SDK sends the request of the operation.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { JunctionClient } from '@junction-api/sdk'
import { methodNames } from '../acceptance/sdk-methods.ts'
import { toOperations, type ApiOperation } from '../../console/pages/explorer/operations.ts'
import { sdkCall } from '../../console/pages/explorer/sdk-sample.ts'
import { SDK_METHODS } from '../../console/pages/explorer/sdk-methods.ts'

const operations = toOperations(
  JSON.parse(readFileSync(fileURLToPath(new URL('../../api/openapi.json', import.meta.url)), 'utf8')),
)
const ID = '01890000-0000-7000-8000-000000000001'

/** Their operations take a file, a list or a date, or the token of a link or none. */
const LEFT_OUT = [
  'labReport.parserCreateJob',
  'labTests.getLabelsPdf',
  'link.completePasswordProviderMfa',
  'link.connectEmailAuthProvider',
  'link.connectPasswordProvider',
  'link.generateOauthLink',
  'link.getAllProviders',
  'providers.getAll',
  'team.updateSourcePriorities',
]
/** The SDK sends these values in the query. */
const IN_QUERY = new Set(['get_psc_appointment_availability'])

interface Sent {
  line: string
  body: unknown
}

let url = ''
let sent: Sent | undefined
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const text = Buffer.concat(chunks).toString()
    sent = { line: `${request.method} ${request.url!.split('?', 1)[0]}`, body: text ? JSON.parse(text) : undefined }
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"detail":"Not found"}')
  })
})
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => {
  server.closeAllConnections()
  server.close()
})

/** Values for the parameters of a path. */
const pathValues = ({ parameters }: ApiOperation): Record<string, string[]> =>
  Object.fromEntries(
    parameters
      .filter(({ in: place }) => place === 'path')
      .map(({ name, schema }) => [name, [String(schema.enum?.[0] ?? (schema.type === 'integer' ? 1 : ID))]]),
  )

/** What the SDK sends for the call that is shown. */
async function send(operation: ApiOperation, values: Record<string, string[]>): Promise<Sent> {
  const { method, request } = sdkCall(operation, values, operation.exampleBody)!
  const [part, name] = method.split('.') as [keyof JunctionClient, string]
  const client = new JunctionClient({ apiKey: 'sk_us_fictional', environment: url, maxRetries: 0 })
  const area = client[part] as unknown as Record<string, (request?: unknown) => Promise<unknown>>
  sent = undefined
  await assert.rejects(area[name]!(Object.keys(request).length ? request : undefined), /404|Not found/)
  return sent!
}

test('every method that is shown is one of the SDK, and most of the SDK are shown', () => {
  const methods = methodNames(new JunctionClient({ apiKey: 'none' }))
  const shown = Object.entries(SDK_METHODS).flatMap(([part, names]) => Object.values(names).map((name) => `${part}.${name}`))
  assert.deepEqual(shown.filter((name) => !methods.includes(name)).toSorted(), [])
  const isLeftOut = (name: string) => !shown.includes(name) && !name.startsWith('vitals.')
  assert.deepEqual(methods.filter(isLeftOut).toSorted(), LEFT_OUT)
})

describe('the SDK calls as it is shown', () => {
  for (const operation of operations.filter((candidate) => sdkCall(candidate, pathValues(candidate), undefined)))
    test(operation.id, async () => {
      const values = pathValues(operation)
      const { line, body } = await send(operation, values)
      const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => values[name]![0]!)
      assert.equal(line, `${operation.method} ${path}`)
      if (operation.exampleBody !== undefined && !IN_QUERY.has(operation.id)) assert.deepEqual(body, operation.exampleBody)
    })
})
