// Sends one text message to a gateway over HTTP and classifies its errors. The gateway's texts are not stored: they may repeat a number.
// Protocol: docs/MESSAGES.md.

export interface SmsSettings {
  url: string
  token: string | undefined
  /** A number or a name that the gateway knows. */
  from: string
}

export interface Sms {
  /** The same reference is the same message: a gateway that has already accepted it does nothing. */
  reference: string
  to: string
  text: string
}

/** The outcome of an attempt. `again`: a retry may succeed. `error` is a code. */
export type SmsOutcome = { isSent: true } | { isSent: false; retryable: boolean; error: string }

const TIMEOUT_MS = 10_000

/** HTTP statuses that describe a temporary state, not the message. */
const RETRYABLE_STATUSES = new Set([401, 403, 404, 408, 409, 425, 429])

/** Sends a message to the gateway. Never throws: errors are outcomes. Takes 10 s at most. */
export async function sendSms({ url, token, from }: SmsSettings, { reference, to, text }: Sms): Promise<SmsOutcome> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        'content-type': 'application/json',
        'idempotency-key': reference,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ from, to, text, reference }),
    })
    await response.body?.cancel()
    const { status } = response
    if (status >= 200 && status < 300) return { isSent: true }
    return { isSent: false, retryable: status >= 500 || status < 400 || RETRYABLE_STATUSES.has(status), error: `HTTP ${status}` }
  } catch (error) {
    const { name, cause } = error as { name?: string; cause?: { code?: string } }
    return { isSent: false, retryable: true, error: cause?.code ?? (name === 'TimeoutError' ? 'ETIMEDOUT' : 'UNREACHABLE') }
  }
}
