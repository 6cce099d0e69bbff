// What operations have in common by which phones post.
import { createHash } from 'node:crypto'
import { findUser } from '../../people/users/users.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { Problem } from '../../platform/runtime/problem.ts'
import type { Fault } from '../../platform/schema/fault.ts'
import { parseInSlices } from '../../platform/schema/sliced-json.ts'
import { countRejectedPost, recordRejected } from '../../wearables/ingestion/rejected-posts.ts'
import type { Resource } from '../../wearables/resources/resources.ts'
import { manualProviders } from '../connections/providers.ts'
import { messageOf, readDays } from './faults.ts'
import { PostReply, UserParams } from './schema.ts'
import type { Stored } from './store.ts'

const BODY_BYTES_MAX = 16 * 1024 * 1024
export const envelope = { stage: 'daily', time_zone: 'America/Phoenix', provider: 'apple_health_kit' }

export const post = {
  logsAccess: true,
  method: 'POST',
  params: UserParams,
  userTokens: 'path',
  body_bytes_max: BODY_BYTES_MAX,
  reply: PostReply,
  description:
    'A record that is there is brought up to date; a repeated post changes nothing. What is faulty is left out and counted as `rejected`; a post of which nothing is good answers 422.',
} as const

const digestOf = (bytes: Buffer | undefined): Buffer =>
  createHash('sha256')
    .update(bytes ?? '')
    .digest()

/** The response for a post; one of which a part was rejected is counted. Writes rejected_post. */
export async function toReply(
  tx: Tx,
  { user_id, provider, resource, bytes }: { user_id: string; provider: string; resource: Resource; bytes: Buffer | undefined },
  { fault, ...reply }: Stored,
) {
  if (fault !== null) {
    const post = { user_id, provider, resource, digest: digestOf(bytes), is_whole: false }
    await countRejectedPost(tx, { ...post, records: reply.rejected, message: fault })
  }
  return reply
}

/** The body of a request as JSON, as far as it can be read; undefined for any other, and for one whose form costs too much. */
async function jsonOf(bytes: Buffer | undefined): Promise<Record<string, unknown> | undefined> {
  if (!bytes?.length) return undefined
  const read = await parseInSlices(bytes)
  if ('fault' in read) return undefined
  const { value } = read
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
}

/** The provider of a post whose provider cannot be read. */
const UNKNOWN = 'unknown'

/** The provider that a post names, also in a text that is not a whole JSON; `unknown` without one of phones. */
function providerIn(body: Record<string, unknown> | undefined, bytes: Buffer | undefined): string {
  const text = body ? '' : (bytes?.toString('latin1') ?? '')
  const named = body ? body.provider : /"provider"\s{0,20}:\s{0,20}"(\w{1,40})"/.exec(text)?.[1]
  return manualProviders.find((provider) => typeof named === 'string' && provider === named.toLowerCase()) ?? UNKNOWN
}

/** The first fault that an error names, without values of the request. */
function faultOf({ body }: Problem): string {
  const { detail } = body
  return Array.isArray(detail) ? messageOf(detail[0] as Fault) : typeof detail === 'string' ? detail : 'the post was rejected'
}

/**
 * Records a post that was rejected whole: its days, and how often the same bytes came. One whose provider cannot be read, such as one that was
 * too large to be read, is recorded with the provider `unknown` and without days; one for an unknown user is not. Writes day_record,
 * rejected_post.
 */
export async function recordRejectedPost(
  tx: Tx,
  resource: Resource,
  { user_id, bytes, problem }: { user_id: string; bytes: Buffer | undefined; problem: Problem },
): Promise<void> {
  const body = await jsonOf(bytes)
  const provider = providerIn(body, bytes)
  if (!(await findUser(tx, user_id))) return
  const message = faultOf(problem)
  const count = Array.isArray(problem.body.detail) ? problem.body.detail.length : 1
  if (provider !== UNKNOWN)
    await recordRejected(tx, { user_id, provider, resource, count, days: await readDays(body?.data), message })
  // Bodies that were not read differ by their fault alone.
  const post = { user_id, provider, resource, digest: digestOf(bytes ?? Buffer.from(message)), is_whole: true, message }
  await countRejectedPost(tx, { ...post, records: count })
}

/** The handlers of an operation by which phones post one kind of data. */
export const createHandlers = <B extends { provider: string }>(
  resource: Resource,
  store: (tx: Tx, user_id: string, body: B) => Promise<Stored>,
) => ({
  run: async (
    tx: Tx,
    { params: { user_id }, body, bytes }: { params: { user_id: string }; body: B; bytes: Buffer | undefined },
  ) => toReply(tx, { user_id, provider: body.provider, resource, bytes }, await store(tx, user_id, body)),
  onRejected: (tx: Tx, { params, ...rejected }: { params: { user_id: string }; bytes: Buffer | undefined; problem: Problem }) =>
    recordRejectedPost(tx, resource, { user_id: params.user_id, ...rejected }),
})
