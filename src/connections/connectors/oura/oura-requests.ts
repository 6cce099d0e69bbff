// Requests to Oura: documents in pages, or one by its id.
import { VendorError, type Access } from '../connector.ts'
import { readList, object, objectIn, refusalOf, readText, type Values } from '../reading.ts'
import { bearer, withQuery } from '../tokens.ts'

/** Pages of one collection in one request for a range. */
const PAGES_MAX = 200

/** One answer. Errors: VendorError. */
export async function getPath(
  { http, app, access_token }: Access,
  path: string,
  query: Record<string, string> = {},
): Promise<Values> {
  const url = withQuery(`${app.urls.api}/v2/usercollection/${path}`, query)
  const answer = await http({ method: 'GET', url, headers: bearer(access_token) })
  if (answer.status !== 200) throw refusalOf(answer)
  return objectIn(answer.text)
}

/** The documents of a range, page by page. */
export async function* documents(access: Access, path: string, query: Record<string, string>): AsyncGenerator<Values[]> {
  let next: string | null = null
  for (let page = 0; page < PAGES_MAX; page++) {
    const body: Values = await getPath(access, path, next === null ? query : { ...query, next_token: next })
    yield readList(body.data)
    next = readText(body.next_token)
    if (next === null) return
  }
  throw new VendorError('unexpected')
}

/** A document that a notification named. Errors: VendorError `not_ready` while it cannot be read. */
export async function fetchDocument({ http, app, access_token }: Access, path: string, id: string): Promise<Values> {
  const url = `${app.urls.api}/v2/usercollection/${path}/${encodeURIComponent(id)}`
  const answer = await http({ method: 'GET', url, headers: bearer(access_token) })
  if (answer.status === 404) throw new VendorError('not_ready')
  if (answer.status !== 200) throw refusalOf(answer)
  return object(objectIn(answer.text))
}
