/** Caches values by id for a few seconds, and is notified when a value has changed. */
export interface Forgets {
  invalidate(id: string): void
}
