// Endpoints as the sender needs them: address, signing keys and health.
import type { Queries } from '../../platform/db/transaction.ts'
import { dbNow } from '../../platform/db/leases.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { decryptHeaders } from '../endpoints/custom-headers.ts'
import type { Health } from './retry-schedule.ts'
import { decryptSecret, readable } from '../endpoints/signing-secrets.ts'
import { signingKey } from '../endpoints/signature.ts'

export const Endpoint = T.Object({
  id: T.String(),
  team_id: T.String(),
  url: T.String(),
  rate_limit: Nullable(T.Integer()),
  headers: T.String(),
  secrets: T.Array(T.String()),
  first_failure_at: Nullable(T.String()),
  failing_since: Nullable(T.String()),
  /** It could not be decrypted before. */
  unreadable: T.Boolean(),
})
export type Endpoint = Static<typeof Endpoint>

/**
 * From `webhook w`, `webhook_lease l` and `team t`: with the keys that sign now, newest first; the old key ends at the team's
 * time.
 */
export const endpointColumns: Sql = sql`
  w.id, w.team_id, w.url, w.rate_limit, w.headers, l.first_failure_at, l.failing_since, l.unreadable_since is not null as unreadable,
  to_json(array(
    select s.secret from webhook_secret s
    where s.webhook_id = w.id and (s.expires_at is null or s.expires_at > ${dbNow} + make_interval(secs => t.clock_offset_s))
    order by s.id desc)) as secrets`

export const loadEndpoints = (db: Queries, ids: string[]): Promise<Endpoint[]> =>
  db.many(
    Endpoint,
    sql`
    select ${endpointColumns}
    from webhook w join team t on t.id = w.team_id join webhook_lease l on l.webhook_id = w.id
    where w.id = any (${ids}::text[])`,
  )

/** The decrypted values of an endpoint. */
interface DecryptedSecrets {
  encrypted: string
  keys: ReturnType<typeof signingKey>[]
  custom: Record<string, string>
  /** Names and values of the custom headers, alternating, and the names. */
  customList: string[]
  customNames: string[]
}

/** An endpoint with its decrypted secrets. */
export interface SendableEndpoint extends DecryptedSecrets {
  id: string
  team_id: string
  url: string
  rate_limit: number | null
  /** The health when the endpoint was read. */
  health: Health
}

const CACHE_SIZE_MAX = 2000

/** Why an endpoint cannot be decrypted. */
export interface Unreadable {
  cause: unknown
}

/** Decrypts the values of endpoints, and caches them until the encrypted text changes. */
export class SecretsCache {
  readonly #vault: Vault
  readonly #cache = new Map<string, DecryptedSecrets>()

  constructor(vault: Vault) {
    this.#vault = vault
  }

  /** Never throws: a failure concerns only its own endpoint. */
  decrypt(endpoint: Endpoint): SendableEndpoint | Unreadable {
    try {
      return this.#open(endpoint)
    } catch (cause) {
      return { cause }
    }
  }

  /**
   * Decrypts endpoints, each on its own. @returns those that can be decrypted, the ids of others, and of those that could not
   * be before
   */
  openAll(
    endpoints: Endpoint[],
    onUnreadable: (endpoint: Endpoint, cause: unknown) => void,
  ): { ready: Map<string, SendableEndpoint>; unreadable: string[]; again: string[] } {
    const ready = new Map<string, SendableEndpoint>()
    const unreadable: string[] = []
    const again: string[] = []
    for (const endpoint of endpoints) {
      const opened = this.decrypt(endpoint)
      if ('cause' in opened) {
        unreadable.push(endpoint.id)
        onUnreadable(endpoint, opened.cause)
      } else {
        ready.set(endpoint.id, opened)
        if (endpoint.unreadable) again.push(endpoint.id)
      }
    }
    return { ready, unreadable, again }
  }

  #open(endpoint: Endpoint): SendableEndpoint {
    const { id, team_id, url, rate_limit } = endpoint
    const health = { first_failure_at: date(endpoint.first_failure_at), failing_since: date(endpoint.failing_since) }
    const encrypted = [endpoint.headers, ...endpoint.secrets].join(' ')
    let opened = this.#cache.get(id)
    if (opened?.encrypted !== encrypted) {
      const custom = decryptHeaders(this.#vault, id, endpoint.headers)
      opened = {
        encrypted,
        keys: this.#keysOf(endpoint),
        custom,
        customList: Object.entries(custom).flat(),
        customNames: Object.keys(custom),
      }
      if (this.#cache.size >= CACHE_SIZE_MAX) this.#cache.clear()
      this.#cache.set(id, opened)
    }
    return { ...opened, id, team_id, url, rate_limit, health }
  }

  /** The newest key must be readable. Older keys sign beside it if they can be read. */
  #keysOf({ id, secrets }: Endpoint): DecryptedSecrets['keys'] {
    const [newest, ...replaced] = secrets
    if (newest === undefined) throw new Error('the endpoint has no signing key')
    const keys = [signingKey(decryptSecret(this.#vault, id, newest))]
    for (const secret of replaced) {
      const key = readable(() => decryptSecret(this.#vault, id, secret))
      if (key !== undefined) keys.push(signingKey(key))
    }
    return keys
  }
}

const date = (text: string | null): Date | undefined => (text === null ? undefined : new Date(text))
