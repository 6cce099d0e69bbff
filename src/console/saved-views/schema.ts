import { Fields, Maybe, OpenEnum, T, Text, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'

const pages = ['orders', 'users', 'events', 'requests', 'messages', 'catalog', 'work', 'reviews', 'audit'] as const

const Page = OpenEnum(pages, { description: 'The list that the view filters.' })
const ViewName = Text({ minLength: 1, maxLength: 80 })
const ViewQuery = Text({
  maxLength: 2000,
  description: 'The filters as the query of the address: statuses, dates and ids, no names of patients.',
})

export const SavedView = Fields(
  {
    id: Uuid,
    page: Page,
    name: T.String(),
    query: T.String(),
    is_shared: T.Boolean({ description: 'Every member of the team sees it; otherwise only the member who saved it.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'SavedView' },
)
export type SavedView = Static<typeof SavedView>
export const SavedViewList = Fields({ data: T.Array(SavedView) }, { title: 'SavedViewList' })
export const SavedViewQuery = Fields({ page: Maybe(OpenEnum(pages)) })
export const SavedViewPath = Fields({ view_id: Uuid })

export const CreateSavedView = Fields(
  { page: Page, name: ViewName, query: ViewQuery, is_shared: Maybe(T.Boolean({ default: false })) },
  { title: 'CreateSavedView' },
)
export type CreateSavedView = Static<typeof CreateSavedView>
export const PatchSavedView = Fields({ name: Maybe(ViewName), query: Maybe(ViewQuery) }, { title: 'PatchSavedView' })
export type PatchSavedView = Static<typeof PatchSavedView>
