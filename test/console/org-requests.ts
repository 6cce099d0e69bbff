// Requests of the Management API about the demo organization, for tests of pages.
import assert from 'node:assert/strict'
import type { ConsoleVisit } from './console.ts'

/** Markup in a text from outside. */
export const MARKUP = '<img src=x onerror=alert(1)>'

/** A request of the Management API about the demo organization. */
export async function manageOrg({ server, demo }: ConsoleVisit, method: string, path: string, body?: unknown) {
  const response = await fetch(`${server.url}/v1/org/${demo.org_id}${path}`, {
    method,
    headers: { 'x-management-key': demo.management_key },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const reply = await response.json()
  assert.equal(response.status, 200, JSON.stringify(reply))
  // oxlint-disable-next-line typescript/no-explicit-any -- replies of every shape
  return reply as any
}
