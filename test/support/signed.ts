// How a receiver checks what it is sent, written from the standard and not from our code.
import { createHmac } from 'node:crypto'

/** Whether one of the signatures of a delivery was made with the key, `whsec_` and base64. */
export function isValidSignature(key: string, headers: Record<string, unknown>, body: string): boolean {
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
  const due = `v1,${createHmac('sha256', Buffer.from(key.replace('whsec_', ''), 'base64'))
    .update(signed)
    .digest('base64')}`
  return String(headers['webhook-signature']).split(' ').includes(due)
}
