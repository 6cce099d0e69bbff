// Sports of workouts.
import { createHash } from 'node:crypto'

/** A sport by the name that a phone or a vendor shows. Its number means nothing; readers go by the slug. */
export function sportOf(name: string): { id: number; name: string; slug: string } {
  const slug =
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '_')
      .replace(/^_|_$/g, '') || 'other'
  return { id: createHash('sha256').update(slug).digest().readUInt16BE(0), name, slug }
}
