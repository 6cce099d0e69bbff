import { Fields, Nullable, OpenEnum, T, Text, Uuid, type Static } from '../../platform/schema/schema.ts'

const foundKinds = [
  'order',
  'order_transaction',
  'user',
  'event',
  'message',
  'endpoint',
  'request',
  'appointment',
  'lab_report_job',
  'unmatched_result',
  'lab_test',
  'job',
  'key',
] as const

/** The most things of one kind that a search finds. */
export const FOUND_MAX = 10

export const SearchQuery = Fields({
  search_input: Text({
    minLength: 2,
    maxLength: 200,
    description:
      'An id or at least its first 8 digits, a sample id, a barcode as it is typed, a part of a client user id, or a part of a name of at least three letters.',
    example: '01890000',
  }),
})

export const Found = Fields(
  {
    kind: OpenEnum(foundKinds),
    id: T.String(),
    user_id: Nullable(Uuid),
    label: Nullable(T.String({ description: 'What distinguishes it for people: a name, a type, an operation.' })),
    detail: Nullable(T.String({ description: 'Its status, or what else is known.' })),
  },
  { title: 'FoundObject' },
)
export type Found = Static<typeof Found>
export const SearchResults = Fields(
  { data: T.Array(Found, { description: `At most ${FOUND_MAX} of a kind. Empty if nothing is found.` }) },
  { title: 'SearchResults' },
)
