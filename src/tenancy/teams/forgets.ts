/** Who remembers something under an id for a few seconds, and is told that it has changed. */
export interface Forgets {
  invalidate(id: string): void
}
