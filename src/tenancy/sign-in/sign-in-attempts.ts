// Sign-ins that take more than one request: what the server must remember in between, under a token in a cookie of the browser. Each works
// once and for minutes.
import { addSeconds } from '../../platform/runtime/clock.ts'
import type { PlainTx } from '../../platform/db/transaction.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { generateKey, hashKey } from '../../platform/crypto/api-keys.ts'
import { sql } from '../../platform/db/sql.ts'

/** What an attempt is for: the way back from an OpenID issuer; a passkey alone, as a second factor, or to be added. */
type Purpose = 'oidc' | 'passkey' | 'second_factor' | 'new_passkey'

export const ATTEMPT_S = 600
const TOKEN = /^sa_[\w-]{43}$/

/** Starts an attempt. Writes sign_in_attempt. @returns its token, for the cookie */
export async function startAttempt(
  tx: PlainTx,
  attempt: { purpose: Purpose; member_id: string | null; data: Record<string, string> },
): Promise<string> {
  const token = generateKey('sa_')
  await tx.run(sql`
    insert into sign_in_attempt (token_hash, purpose, member_id, data, expires_at)
    values (${hashKey(token)}, ${attempt.purpose}, ${attempt.member_id}, ${JSON.stringify(attempt.data)}, ${addSeconds(tx.now, ATTEMPT_S)})`)
  return token
}

const Attempt = T.Object({ purpose: T.String(), member_id: Nullable(T.String()), data: T.Record(T.String(), T.String()) })

/** Ends an attempt of one of these purposes; undefined if it is unknown, was used, or has expired. Writes sign_in_attempt. */
export async function takeAttempt(
  tx: PlainTx,
  token: string | undefined,
  purposes: readonly Purpose[],
): Promise<Static<typeof Attempt> | undefined> {
  if (token === undefined || !TOKEN.test(token)) return undefined
  return tx.maybe(
    Attempt,
    sql`
    delete from sign_in_attempt where token_hash = ${hashKey(token)} and purpose = any (${[...purposes]}::text[]) and expires_at > ${tx.now}
    returning purpose, member_id, data`,
  )
}

/** Deletes attempts that have expired. */
export const attemptCleanup = cleanup({ table: 'sign_in_attempt', column: 'expires_at', control: 'alone' })
