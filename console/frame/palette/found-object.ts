import type { FoundObject } from './object-search.ts'
import { shortId } from '../../components/IdText.tsx'
import { PAGES } from '../../pages.ts'

const WORDS: Record<FoundObject['kind'], string> = {
  order: 'Order',
  order_transaction: 'Order transaction',
  user: 'User',
  event: 'Event',
  message: 'Message',
  endpoint: 'Endpoint',
  request: 'Request',
  appointment: 'Appointment',
  lab_report_job: 'Lab report',
  unmatched_result: 'Unmatched result',
  lab_test: 'Lab test',
  job: 'Job',
  key: 'Key',
}

/** What an object is, in a word. */
export const kindInWords = ({ kind }: FoundObject): string => WORDS[kind] ?? kind

/** What is known of an object beside its kind and name. */
export function describeObject(object: FoundObject): string {
  const hint = pathOfObject(object) === undefined ? 'No page shows it: Enter copies its id' : undefined
  return [object.label === null ? undefined : shortId(object.id), object.detail, hint].filter(Boolean).join(' · ')
}

/** The page of an object, or else of its user; undefined if there is none. */
export function pathOfObject(object: FoundObject): string | undefined {
  const { user_id } = object
  return findPath(object) ?? (user_id === null ? undefined : findPath({ ...object, kind: 'user', id: user_id }))
}

function findPath(object: FoundObject): string | undefined {
  for (const { objects } of PAGES) {
    const path = objects?.[object.kind]?.(object.id)
    if (path !== undefined) return path
  }
  return undefined
}
