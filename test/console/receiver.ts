// An endpoint on this machine, for pages about events.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import assert from 'node:assert/strict'
import type { ConsoleVisit } from './console.ts'

export interface Receiver {
  url: string
  counts: () => number
  /** The headers of the newest request. */
  headers: () => Record<string, unknown>
  /** How it answers from now on. */
  answer: (status: number, body?: string) => void
}

/** It accepts everything, and counts it, until a test changes its answer. */
export async function startReceiver(): Promise<Receiver> {
  let count = 0
  let [status, body] = [200, 'thank you']
  let headers: Record<string, unknown> = {}
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      count++
      headers = request.headers
      response.writeHead(status).end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    counts: () => count,
    headers: () => headers,
    answer: (nextStatus, nextBody = 'thank you') => ([status, body] = [nextStatus, nextBody]),
  }
}

/** Requests about the demo team with the management key: `manage('POST', '/webhook', { url })`. */
export async function manage({ server, demo }: ConsoleVisit, method: string, path: string, body?: unknown) {
  const response = await fetch(`${server.url}/v1/org/${demo.org_id}/team/${demo.teams.us}/sandbox${path}`, {
    method,
    headers: { 'x-management-key': demo.management_key },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  assert(response.ok, `${method} ${path}: ${response.status} ${text}`)
  return text ? JSON.parse(text) : undefined
}

/** Deletes the endpoints of the demo team, so that a test has only its own. */
export async function deleteEndpoints(visit: ConsoleVisit): Promise<void> {
  const { data } = await manage(visit, 'GET', '/webhook?limit=250')
  for (const { id } of data as { id: string }[]) await manage(visit, 'DELETE', `/webhook/${id}`)
}
