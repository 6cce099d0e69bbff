// A service account of Google Cloud, as its key file describes it.
import { createPrivateKey } from 'node:crypto'

export interface ServiceAccount {
  client_email: string
  /** PEM. */
  private_key: string
}

/** What a key file says, as JSON or in base64; undefined if it is none of a service account. */
export function readServiceAccount(text: string): ServiceAccount | undefined {
  const json = text.trim().startsWith('{') ? text : Buffer.from(text, 'base64').toString('utf8')
  try {
    const { type, client_email, private_key } = JSON.parse(json) as Record<string, unknown>
    if (type !== 'service_account' || typeof client_email !== 'string' || typeof private_key !== 'string') return undefined
    return createPrivateKey(private_key).asymmetricKeyType === 'rsa' ? { client_email, private_key } : undefined
  } catch {
    return undefined
  }
}
