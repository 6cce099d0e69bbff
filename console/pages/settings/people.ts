// Members and creators of things, in words.
import type { components } from '../../api/schema.d.ts'

export type Creator = components['schemas']['Creator']

/** Who created something. */
export function creatorInWords(creator: Creator): string {
  if (creator.type === 'org_member') return creator.name
  return creator.type === 'removed_org_member' ? 'A member who has left' : 'A key or a command'
}
