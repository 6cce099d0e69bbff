// The API page as a user uses it who presses "Execute": every operation of the description is asked with its own documented example, and
// answers with success. Only what has to exist before, since the example names it, is prepared and put in its place.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { contents } from '../../src/app/contents.ts'
import { reportForm } from '../../src/lab-reports/parsing-jobs/example-report.ts'
import { CONSOLE_API } from '../../src/platform/http/operation.ts'
import { createDemoMember, newPasskeyRequest, passkeySignInRequest, passwordSignIn } from '../support/console-sessions.ts'
import { client, createTestTeam, type TestTeam } from '../support/server.ts'
import { describeReply, success } from './operations/operation-cases.ts'
import { belonging, isOwnedByTeam, linkTokenOf, sessionHeader, target, type Request } from './operations/requests.ts'

const { operations } = contents

/** A file as a part of a form. */
const FORM = 'multipart/form-data'

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  example?: unknown
  schema: { enum?: unknown[]; type?: string }
}

interface Described {
  operationId: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { example?: unknown }> }
  security?: Record<string, unknown>[]
}

const description = JSON.parse(readFileSync(new URL('../../api/openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Described>>
}

/** What is documented and stays, though a preparation has one of that name: words of a list, and texts that anybody may give. */
const stays = (name: string, { schema }: Partial<Parameter>): boolean =>
  schema?.enum !== undefined || name === 'event_type' || !isOwnedByTeam(name)

/** Where a reference is given and not looked for. */
const givesReference = new Set(['create_user', 'patch_user'])

const documented = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
)
type Documented = (typeof documented)[number]

const findOperation = ({ operationId }: Described) => operations.find(({ id }) => id === operationId.replace(/_alias$/, ''))!

/** The example of a body, with what the team has in place of ids. */
async function prepareExample(team: TestTeam, operation: Documented, value: unknown, name = ''): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((item) => prepareExample(team, operation, item, name)))
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(
      async ([key, item]) => [key, await prepareExample(team, operation, item, key)] as const,
    )
    return Object.fromEntries(await Promise.all(entries))
  }
  const own = name === 'client_user_id' && givesReference.has(operation.operationId)
  return value === null || own || stays(name, {}) ? value : belonging(team, findOperation(operation), name)
}

async function createRequest(team: TestTeam, operation: Documented): Promise<Request> {
  const request: Request = { path: {}, query: {}, body: undefined }
  for (const parameter of operation.parameters ?? []) {
    const { name, example } = parameter
    if (example === undefined || parameter.in === 'header') continue
    // A word of a list, for which the team has to have set something up.
    const isPrepared = name === 'oauth_provider' || !stays(name, parameter)
    const value = isPrepared ? await belonging(team, findOperation(operation), name) : example
    if (parameter.in === 'path') request.path[name] = String(value)
    else request.query[name] = Array.isArray(value) ? value.map(String) : String(value)
  }
  const { content = {} } = operation.requestBody ?? {}
  const { example } = content['application/json'] ?? content['application/octet-stream'] ?? {}
  request.body = await prepareExample(team, operation, example)
  if (content[FORM]) {
    const { user_id, file } = (await prepareExample(team, operation, content[FORM].example)) as { user_id: string; file: string }
    const { body, type } = reportForm(user_id, file)
    return { ...request, body: body.toString(), headers: { 'content-type': type } }
  }
  return request
}

/** The header and key that the description asks for. */
async function chooseKey(team: TestTeam, { security }: Described): Promise<[string | undefined, string]> {
  if (security?.length === 0 || security?.some((requirement) => 'consoleSession' in requirement)) return [undefined, '']
  if (security?.some((requirement) => 'linkToken' in requirement)) return [await linkTokenOf(team), 'x-vital-link-token']
  return security?.some((requirement) => 'managementKey' in requirement)
    ? [team.orgKey, 'x-management-key']
    : [team.key, 'x-service-api-key']
}

test('every operation there is, and every path of it, is described', () => {
  const paths = operations.flatMap(({ method, path, aliases = [] }) =>
    [path, ...aliases].map((url) => `${method} ${url.replace('...}', '}')}`),
  )
  assert.deepEqual(documented.map(({ method, path }) => `${method} ${path}`).toSorted(), paths.toSorted())
})

test('every field that a request needs has an example', () => {
  for (const { operationId, parameters = [], requestBody } of documented) {
    for (const { name, required, example, ...parameter } of parameters)
      if (required) assert.notEqual(example, undefined, `${operationId}: ${parameter.in} ${name}`)
    if (!requestBody) continue
    const { file } = operations.find(({ id }) => id === operationId.replace(/_alias$/, ''))!
    const { 'application/json': json, 'application/octet-stream': bytes, [FORM]: form } = requestBody.content
    if (form) {
      // The part may be repeated.
      const { file: files } = form.example as { file: unknown[] }
      assert.deepEqual(
        files.map((file) => typeof file),
        ['string'],
        `${operationId}: body`,
      )
      continue
    }
    // A file is bytes, which have no JSON: its example is the text of a small file.
    if (file) assert.deepEqual([typeof bytes?.example, json], ['string', undefined], `${operationId}: body`)
    else assert.notEqual(json?.example, undefined, `${operationId}: body`)
  }
})

describe('the documented example works', async () => {
  /** The team of all that only reads. */
  const reader = await createTestTeam()

  for (const operation of documented)
    test(`${operation.method} ${operation.path}`, async () => {
      const team = operation.method === 'GET' ? reader : await createTestTeam()
      if (operation.operationId === 'sign_in_to_demo') await createDemoMember(team)
      const request = await createRequest(team, operation)
      const [key, header] = await chooseKey(team, operation)
      const needed = (operation.parameters ?? []).filter((parameter) => parameter.in === 'header' && parameter.required)
      const headers = Object.fromEntries(needed.map(({ name, example }) => [name, String(example)]))
      const ofConsole = operation.path.startsWith(CONSOLE_API) ? await sessionHeader(team, operation.method, operation.path) : {}
      if (operation.operationId === 'sign_in_with_password') request.body = await passwordSignIn(team)
      if (operation.operationId === 'sign_in_with_passkey') Object.assign(request, await passkeySignInRequest(team))
      if (operation.operationId === 'add_passkey') Object.assign(request, await newPasskeyRequest(team))
      const reply = await client(key, header).call(operation.method, target(operation.path, request), request.body, {
        ...headers,
        ...ofConsole,
        ...request.headers,
      })
      // A provider signs the request, which a document cannot do.
      if (operation.path.startsWith('/v2/link/webhook/')) assert.equal(reply.status, 401, describeReply(reply))
      else assert(success(reply), describeReply(reply))
    })
})
