// What other modules do when an endpoint changes, within that transaction.
import { hookPoint } from '../../platform/db/hooks.ts'

/** The changes of an endpoint that concern deliveries. */
export interface EndpointChange {
  /** The endpoint was disabled. */
  isDisabled: boolean
  /** The endpoint was enabled. */
  isEnabled: boolean
  /** The address was changed. */
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

/** The secret or the headers of an endpoint were replaced: they can be decrypted here. */
export const endpointReadable = hookPoint<[webhook_id: string]>('endpoint.readable')
