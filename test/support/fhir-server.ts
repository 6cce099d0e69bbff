// A FHIR R4 server as far as senders of Observations need one: transactions with conditional updates, and OAuth client credentials.
// Source: https://hl7.org/fhir/R4/http.html#transaction, #cond-update; RFC 6749 4.4.
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'

export interface StoredObservation {
  id: string
  versionId: number
  // oxlint-disable-next-line typescript/no-explicit-any -- a test looks into resources of every shape
  resource: any
}

const CLIENT = { client_id: 'fictional clinic', client_secret: 'an-invented:secret' }

export async function fhirServer() {
  const observations = new Map<string, StoredObservation>()
  const state = {
    token: 'an-invented-token',
    tokens: 0,
    transactions: 0,
    failures: [] as ('503' | 'lost')[],
    observations,
    url: '',
    ...CLIENT,
  }

  const transact = (bundle: { entry: { resource: object; request: { method: string; url: string } }[] }) => {
    state.transactions++
    return bundle.entry.map(({ resource, request: { method, url } }) => {
      const [type, query = ''] = url.split('?')
      const identifier = new URLSearchParams(query).get('identifier')
      if (method !== 'PUT' || type !== 'Observation' || identifier === null) throw new Error(`unexpected ${method} ${url}`)
      const known = observations.get(identifier)
      observations.set(identifier, { id: known?.id ?? randomUUID(), versionId: (known?.versionId ?? 0) + 1, resource })
      return { response: { status: known ? '200 OK' : '201 Created' } }
    })
  }

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const answer = (status: number, content: object) =>
      response.writeHead(status, { 'content-type': 'application/fhir+json' }).end(JSON.stringify(content))
    const { authorization, 'content-type': type } = request.headers
    if (request.url === '/token') {
      const basic = [CLIENT.client_id, CLIENT.client_secret]
        .map((text) => encodeURIComponent(text).replaceAll('%20', '+'))
        .join(':')
      const isRight =
        authorization === `Basic ${Buffer.from(basic).toString('base64')}` && body === 'grant_type=client_credentials'
      if (!isRight) return answer(401, { error: 'invalid_client' })
      state.tokens++
      return answer(200, { access_token: state.token, token_type: 'Bearer', expires_in: 300 })
    }
    const outcome = { resourceType: 'OperationOutcome', issue: [{ severity: 'error' }] }
    if (request.url !== '/fhir' || request.method !== 'POST') return answer(404, outcome)
    if (authorization !== `Bearer ${state.token}`) return answer(401, outcome)
    if (type !== 'application/fhir+json') return answer(415, outcome)
    const failure = state.failures.shift()
    if (failure === '503') return answer(503, outcome)
    const entry = transact(JSON.parse(body))
    if (failure === 'lost') return request.socket.destroy()
    return answer(200, { resourceType: 'Bundle', type: 'transaction-response', entry })
  }
  const server = createServer((request, response) => void serve(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return state
}
export type FhirServer = Awaited<ReturnType<typeof fhirServer>>
