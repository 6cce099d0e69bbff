// What other modules do when an endpoint changes, within that transaction.
import { hookPoint } from '../../platform/db/hooks.ts'

/** What has changed of an endpoint that concerns what is sent to it. */
export interface EndpointChange {
  /** It was disabled. */
  isDisabled: boolean
  /** It was enabled. */
  isEnabled: boolean
  /** It has another address. */
  isMoved: boolean
}

/** An endpoint was created. */
export const endpointCreated = hookPoint<[webhook_id: string]>('endpoint.created')

/** An endpoint is about to be changed or deleted; its row is not locked yet. */
export const endpointChanging = hookPoint<[webhook_id: string]>('endpoint.changing')

/** An endpoint was disabled, enabled or given another address. */
export const endpointChanged = hookPoint<[webhook_id: string, change: EndpointChange]>('endpoint.changed')

/** An endpoint is about to be deleted, after `endpointChanging`. */
export const endpointDeleting = hookPoint<[webhook_id: string]>('endpoint.deleting')

/** What is sent with each message, the secret or the headers of an endpoint, was replaced: it can be decrypted here. */
export const endpointReadable = hookPoint<[webhook_id: string]>('endpoint.readable')
