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
export type SmsOutcome = { sent: true } | { sent: false; retryable: boolean; error: string }

const TIMEOUT_MS = 10_000
const FROM = /^[\w +.-]{1,40}$/

/** The settings of text messages; undefined without a gateway. Appends errors, which repeat no value: it may be a secret. */
export function parseSmsSettings(
  { SMS_URL, SMS_TOKEN, SMS_FROM }: Record<string, string | undefined>,
  faults: string[],
): SmsSettings | undefined {
  const [url, token, from] = [SMS_URL, SMS_TOKEN, SMS_FROM].map((text) => text?.trim())
  if (token && !/^[\x21-\x7e]{1,1000}$/.test(token)) faults.push('SMS_TOKEN must be printable ASCII without spaces.')
  if (from && !FROM.test(from)) faults.push('SMS_FROM must be a number or a name of at most 40 characters.')
  if (!url) return undefined
  if (!from) faults.push('SMS_FROM must be set when SMS_URL is.')
  const known = URL.canParse(url) ? new URL(url) : undefined
  if (!known || !['http:', 'https:'].includes(known.protocol) || known.username || known.password)
    faults.push('SMS_URL must be a URL that starts with http:// or https://, without a user.')
  return { url, token: token || undefined, from: from ?? '' }
}

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
    if (status >= 200 && status < 300) return { sent: true }
    return { sent: false, retryable: status >= 500 || status < 400 || RETRYABLE_STATUSES.has(status), error: `HTTP ${status}` }
  } catch (error) {
    const { name, cause } = error as { name?: string; cause?: { code?: string } }
    return { sent: false, retryable: true, error: cause?.code ?? (name === 'TimeoutError' ? 'ETIMEDOUT' : 'UNREACHABLE') }
  }
}
