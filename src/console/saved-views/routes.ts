import { noContent, operation, type Operation } from '../../platform/http/operation.ts'
import { createView, deleteView, listViews, updateView } from './saved-views.ts'
import { CreateSavedView, PatchSavedView, SavedView, SavedViewList, SavedViewPath, SavedViewQuery } from './schema.ts'

export const savedViewRoutes: Operation[] = [
  operation({
    id: 'list_saved_views',
    isUnlisted: true,
    logsAccess: false,
    method: 'GET',
    path: '/console/v1/saved_views',
    summary: 'List saved views of the team and of the member',
    query: SavedViewQuery,
    reply: SavedViewList,
    run: async (tx, { query, member_id }) => ({ data: await listViews(tx, member_id, query.page) }),
  }),
  operation({
    id: 'create_saved_view',
    isUnlisted: true,
    logsAccess: false,
    method: 'POST',
    path: '/console/v1/saved_views',
    summary: 'Save the filters of a list as a view',
    description: 'At most 200 shared views of a team and 100 of a member.',
    body: CreateSavedView,
    reply: SavedView,
    example: {
      page: 'orders',
      name: 'Kits at the laboratory',
      query: 'state=sample_with_lab&order_type=testkit',
      is_shared: true,
    },
    run: (tx, { body, member_id }) => createView(tx, member_id, body),
  }),
  operation({
    id: 'update_saved_view',
    isUnlisted: true,
    logsAccess: false,
    method: 'PATCH',
    path: '/console/v1/saved_views/{view_id}',
    summary: 'Change a saved view',
    params: SavedViewPath,
    body: PatchSavedView,
    reply: SavedView,
    example: { query: 'state=sample_with_lab' },
    run: (tx, { params, body, member_id }) => updateView(tx, member_id, params.view_id, body),
  }),
  operation({
    id: 'delete_saved_view',
    isUnlisted: true,
    logsAccess: false,
    method: 'DELETE',
    path: '/console/v1/saved_views/{view_id}',
    summary: 'Delete a saved view',
    params: SavedViewPath,
    reply: noContent,
    run: (tx, { params, member_id }) => deleteView(tx, member_id, params.view_id),
  }),
]
