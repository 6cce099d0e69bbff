// Sports of workouts: one sport has one slug, whatever its source calls it.
import { createHash } from 'node:crypto'
import { slugOf } from './slugs.ts'
import { sportNames } from './sport-names.ts'

/** By each slug of a name: the name that is shown. */
const shown: ReadonlyMap<string, string> = new Map(
  sportNames
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [name = '', others = ''] = line.split(':')
      return [slugOf(name), ...(others.match(/\w+/g) ?? [])].map((slug) => [slug, name] as const)
    }),
)

/** The sport of distances that were covered by wheelchair. Source: events.md 2. */
export const WHEELCHAIR = 'wheelchair_pushing'

/**
 * A sport by the name that a phone, a vendor or a file has for it; one that is not in the list has the name of its source. Its number means
 * nothing; readers go by the slug.
 */
export function sportOf(given: string): { id: number; name: string; slug: string } {
  const name = shown.get(slugOf(given)) ?? given
  const slug = slugOf(name) || 'other'
  return { id: createHash('sha256').update(slug).digest().readUInt16BE(0), name, slug }
}
