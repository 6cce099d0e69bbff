// Requests to the Google Health API: points with filters, page by page.
import { dayOf } from '../answers.ts'
import { VendorError, type Access, type PullRequest } from '../connector.ts'
import { readList, objectIn, refusalOf, type Values } from '../reading.ts'
import { bearer } from '../tokens.ts'
import { DAY_MS } from '../../../platform/runtime/durations.ts'

export const getPath = ({ http, app, access_token }: Access, path: string) =>
  http({ method: 'GET', url: `${app.urls.api}/${path}`, headers: bearer(access_token) })

export async function readPath({ http, app, access_token }: Access, path: string, body?: Values): Promise<Values> {
  const url = `${app.urls.api}/${path}`
  const headers = { ...bearer(access_token), ...(body && { 'content-type': 'application/json' }) }
  const answer = await http(body ? { method: 'POST', url, headers, body: JSON.stringify(body) } : { method: 'GET', url, headers })
  if (answer.status !== 200) throw refusalOf(answer)
  return objectIn(answer.text)
}

const PAGES_MAX = 1000
/** Nights and workouts, of which a page has at most 25. */
export const SESSIONS_MAX = 25
export const POINTS_MAX = 5000

/** The points of a type that a filter names, page by page. */
export async function* points(access: Access, type: string, filter: string, pageSize: number): AsyncGenerator<Values[]> {
  let pageToken: string | null = null
  for (let page = 0; page < PAGES_MAX; page++) {
    const query: Record<string, string> = { filter, pageSize: String(pageSize), ...(pageToken !== null && { pageToken }) }
    const values = await readPath(access, `users/me/dataTypes/${type}/dataPoints?${new URLSearchParams(query)}`)
    const found = readList(values.dataPoints)
    if (found.length) yield found
    const next = typeof values.nextPageToken === 'string' && values.nextPageToken.length < 4000 ? values.nextPageToken : null
    if (!next) return
    if (next === pageToken) throw new VendorError('unexpected')
    pageToken = next
  }
  throw new VendorError('unexpected')
}

export const rangeFilter = (field: string, start: string, end: string) => `${field} >= "${start}" AND ${field} < "${end}"`
export const instants = ({ from_ms, to_ms }: PullRequest) =>
  [new Date(from_ms).toISOString(), new Date(to_ms).toISOString()] as const

/** The days that a range touches anywhere on earth; the second is the first that it does not. */
export const civilDays = ({ from_ms, to_ms }: PullRequest) => [dayOf(from_ms - DAY_MS / 2), dayOf(to_ms + 1.6 * DAY_MS)] as const
