// Sports of workouts.
import { createHash } from 'node:crypto'
import { slugOf } from './slugs.ts'

/** A sport by the name that a phone or a vendor shows. Its number means nothing; readers go by the slug. */
export function sportOf(name: string): { id: number; name: string; slug: string } {
  const slug = slugOf(name) || 'other'
  return { id: createHash('sha256').update(slug).digest().readUInt16BE(0), name, slug }
}
