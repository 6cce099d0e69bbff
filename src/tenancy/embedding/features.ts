// What an embedded session may do: the operations that the page of its feature calls, about the order or the user of the feature alone.
// Source: management-auth.md 16.
import type { Call } from '../../platform/http/call.ts'
import type { LaunchScope } from '../../platform/http/operation.ts'

type Request = Pick<Call, 'operation' | 'params' | 'body'>
/** Whether a request is about what the feature names; `id` is empty if it names nothing. Until the body has been read, it is about nothing. */
type Condition = (request: Request, id: string) => boolean

const always: Condition = () => true
const aboutOrder: Condition = ({ params }, id) => readId(params, 'order_id') === id
const aboutUser: Condition = ({ params }, id) => readId(params, 'user_id') === id
const bodyAboutUser: Condition = ({ body }, id) => body === undefined || readId(body, 'user_id') === id
/** The reference is how the organization's backend finds the team. */
const withoutReference: Condition = ({ body }) =>
  (body as { integration_team_id?: unknown } | undefined)?.integration_team_id === undefined

function readId(input: unknown, name: string): string | undefined {
  const value = (input as Record<string, unknown> | undefined)?.[name]
  return typeof value === 'string' ? value.toLowerCase() : undefined
}

const permitIf = (ids: readonly string[], condition: Condition): Record<string, Condition> =>
  Object.fromEntries(ids.map((id) => [id, condition]))

const orderableTests = permitIf(['get_paginated_lab_tests_for_team', 'get_lab_test_for_team'], always)
const clock = permitIf(['get_sandbox_clock'], always)

/** Feature → operation → condition. Names with a colon are of features that name an order or a user. */
const features: Readonly<Record<string, Readonly<Record<string, Condition>>>> = {
  order_creation: {
    ...clock,
    ...orderableTests,
    ...permitIf(['create_user', 'get_user_by_client_user_id', 'create_order'], always),
  },
  'order_creation:': {
    ...clock,
    ...orderableTests,
    ...permitIf(['get_user', 'get_user_demographics'], aboutUser),
    create_order: bodyAboutUser,
  },
  'order:': {
    ...clock,
    ...permitIf(
      [
        'get_order',
        'get_order_progress',
        'get_order_messages',
        'get_order_requisition_url',
        'get_order_labels',
        'get_lab_test_result',
        'get_lab_test_result_raw',
        'get_lab_test_result_metadata',
        'get_psc_appointment',
        'get_phlebotomy_appointment',
        'cancel_order',
        'order_process_simulate',
      ],
      aboutOrder,
    ),
  },
  team_panels: {
    ...clock,
    ...orderableTests,
    ...permitIf(
      [
        'get_labs',
        'get_markers',
        'get_markers_for_test',
        'get_markers_for_order_set',
        'search_compendium',
        'search_orderable_tests',
        'update_lab_test_for_team',
      ],
      always,
    ),
  },
  team_config: { ...clock, get_team_in_org: always, update_team_in_org: withoutReference },
}

/** What an embedded session may do besides its feature. */
const OWN_SESSION = new Set(['get_launch_session', 'end_launch_session'])

/** The operations of a session that are about itself. */
export const isOfOwnSession = (operation_id: string): boolean => OWN_SESSION.has(operation_id)

/** The name of a feature, and the id of the order or user in it. */
function partsOf(feature: string): { name: string; id: string } {
  const colon = feature.indexOf(':') + 1
  return colon === 0 ? { name: feature, id: '' } : { name: feature.slice(0, colon), id: feature.slice(colon) }
}

/** Whether a feature has an operation, whatever the request is about. */
export const hasOperation = (feature: string, operation_id: string): boolean =>
  features[partsOf(feature).name]?.[operation_id] !== undefined

/** Whether a request belongs to the feature of a launch. */
export function isOfFeature({ feature }: LaunchScope, request: Request): boolean {
  const { name, id } = partsOf(feature)
  return features[name]?.[request.operation.id]?.(request, id) ?? false
}
