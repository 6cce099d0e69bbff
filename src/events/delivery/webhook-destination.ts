// A webhook endpoint as a destination. A delivery is signed with the keys that are valid now and posted; the status of the response says
// whether it has arrived, when it is tried again, and whether the endpoint asks for a pause. Writes nothing. Source: events.md 6.1-6.5.
import type { Vault } from '../../platform/crypto/vault.ts'
import { retryAfterSeconds } from '../../platform/net/retry-after.ts'
import { uuid } from '../../platform/runtime/uuid.ts'
import { decryptHeaders, redactHeaderValues } from '../endpoints/custom-headers.ts'
import { signatureNames, signatures, signingKey } from '../endpoints/signature.ts'
import { decryptSecret, readable } from '../endpoints/signing-secrets.ts'
import type { Attempt, Delivery, Destination, Outcome, Target } from './destination.ts'
import type { DestinationRow } from './destination-rows.ts'
import type { HttpResult, Sender } from './http-sender.ts'
import { nextDelay, throttleDelay } from './retry-schedule.ts'

const CACHE_SIZE_MAX = 2000

/** The decrypted values of an endpoint. */
interface DecryptedSecrets {
  encryptedText: string
  keys: ReturnType<typeof signingKey>[]
  custom: Record<string, string>
  /** Names and values of the custom headers, alternating, and the names. */
  customList: string[]
  customNames: string[]
}

export interface WebhookTarget extends Target {
  secrets: DecryptedSecrets
}

export interface WebhookAnswer {
  result: HttpResult
  begun_at: Date
  signature: string
}

export interface WebhookOptions {
  vault: Vault
  sender: Pick<Sender, 'post'>
  /** The system clock, for signatures and displayed times. */
  clock: () => Date
  schedule_s: readonly number[]
}

export class WebhookDestination implements Destination<WebhookTarget, WebhookAnswer> {
  readonly #options: WebhookOptions
  /** By endpoint, until the encrypted text changes. */
  readonly #cache = new Map<string, DecryptedSecrets>()

  constructor(options: WebhookOptions) {
    this.#options = options
  }

  prepare(row: DestinationRow): WebhookTarget {
    const { id, team_id, url, rate_limit, first_failure_at, failing_since } = row
    const health = { first_failure_at: toDate(first_failure_at), failing_since: toDate(failing_since) }
    return { id, team_id, kind: 'webhook', address: url!, rate_limit, isBatch: false, health, secrets: this.#decrypt(row) }
  }

  /** Sends a delivery, at the same time as often as a fault of the team says: the first answer counts, and is given when all have come. */
  deliver(target: WebhookTarget, [delivery]: Delivery[], onDone: (answers: WebhookAnswer[]) => void): void {
    const { copies = 1 } = delivery!
    if (copies === 1) return this.#post(target, delivery!, (answer) => onDone([answer]))
    const answers = new Map<number, WebhookAnswer>()
    for (let n = 0; n < copies; n++)
      this.#post(target, delivery!, (answer) => {
        answers.set(n, answer)
        if (answers.size === copies) onDone([answers.get(0)!])
      })
  }

  outcome(
    { secrets }: WebhookTarget,
    delivery: Delivery,
    { result, begun_at, signature }: WebhookAnswer,
    pauses: number,
  ): Outcome {
    const { clock, schedule_s } = this.#options
    const { status, duration_ms, error } = result
    if (result.withheld) return { attempt: undefined, duration_ms, pause_s: undefined, isGone: false }
    const succeeded = error === null && status !== null && status >= 200 && status < 300
    const attempt: Attempt = {
      delivery,
      attempt_id: uuid(),
      begun_at,
      duration_ms,
      response_status: status,
      response_body: redactHeaderValues(result.body, secrets.custom),
      error,
      succeeded,
      signature,
      custom_headers: secrets.customNames,
      next_s: undefined,
      last_report: delivery.last_report,
    }
    if (succeeded) return { attempt, duration_ms, pause_s: undefined, isGone: false }
    const retry_after_s = status === 429 || status === 503 ? retryAfterSeconds(result.retry_after, clock().getTime()) : undefined
    const isGone = status === 410
    if (!isGone) attempt.next_s = nextDelay(schedule_s, delivery.attempts + 1, retry_after_s, Math.random())
    return { attempt, duration_ms, pause_s: throttleDelay(status, retry_after_s, pauses), isGone }
  }

  #post(target: WebhookTarget, { msg, body }: Delivery, onDone: (answer: WebhookAnswer) => void): void {
    const { keys, customList } = target.secrets
    const begun_at = this.#options.clock()
    const at_s = Math.floor(begun_at.getTime() / 1000)
    const signature = signatures(keys, msg, at_s, body)
    const names = signatureNames(msg, String(at_s), signature)
    const headers = customList.length ? names.concat(customList) : names
    this.#options.sender.post({ id: target.id, url: target.address }, headers, body, (result) =>
      onDone({ result, begun_at, signature }),
    )
  }

  #decrypt({ id, headers, secrets }: DestinationRow): DecryptedSecrets {
    const encryptedText = [headers, ...secrets].join(' ')
    let decrypted = this.#cache.get(id)
    if (decrypted?.encryptedText === encryptedText) return decrypted
    const custom = decryptHeaders(this.#options.vault, id, headers!)
    decrypted = {
      encryptedText,
      keys: this.#decryptKeys(id, secrets),
      custom,
      customList: Object.entries(custom).flat(),
      customNames: Object.keys(custom),
    }
    if (this.#cache.size >= CACHE_SIZE_MAX) this.#cache.clear()
    this.#cache.set(id, decrypted)
    return decrypted
  }

  /** The newest key must be readable. Older keys sign as well if they can be read. */
  #decryptKeys(id: string, [newest, ...replaced]: string[]): DecryptedSecrets['keys'] {
    if (newest === undefined) throw new Error('the endpoint has no signing key')
    const { vault } = this.#options
    const older = replaced.flatMap((secret) => readable(() => decryptSecret(vault, id, secret)) ?? [])
    return [decryptSecret(vault, id, newest), ...older].map(signingKey)
  }
}

const toDate = (text: string | null): Date | undefined => (text === null ? undefined : new Date(text))
