// What members may do: their role in a team, by groups of operations. Members with the role org_admin may do everything; other members have a
// role in each of their teams. docs/reference/roles.md has the table of operations and roles.
import { isWrite, type Operation } from '../../platform/http/operation.ts'

/** The roles of a member in a team. A binding without a role, or with one that is not in this list, is that of an administrator. */
export const teamRoles = ['administrator', 'developer', 'staff', 'reviewer', 'viewer'] as const
export type TeamRole = (typeof teamRoles)[number]
export type Environment = 'sandbox' | 'production'

/** The role of a stored or sent text. */
export const teamRoleOf = (text: string | undefined): TeamRole => teamRoles.find((role) => role === text) ?? 'administrator'

/** The roles other than administrators, to whom everything in their team is permitted. */
type OtherRoles = readonly Exclude<TeamRole, 'administrator'>[]
interface GroupRoles {
  read: OtherRoles
  change: OtherRoles
}

const EVERYONE: OtherRoles = ['developer', 'staff', 'reviewer', 'viewer']
const STAFF: OtherRoles = ['developer', 'staff']
const REVIEWERS: OtherRoles = ['developer', 'reviewer']
const DEVELOPERS: OtherRoles = ['developer']
const ADMINISTRATORS: OtherRoles = []

const work: GroupRoles = { read: EVERYONE, change: STAFF }
const review: GroupRoles = { read: EVERYONE, change: REVIEWERS }
const integration: GroupRoles = { read: DEVELOPERS, change: DEVELOPERS }
const configuration: GroupRoles = { read: EVERYONE, change: ADMINISTRATORS }
const administration: GroupRoles = { read: ADMINISTRATORS, change: ADMINISTRATORS }
const healthData: GroupRoles = { read: EVERYONE, change: DEVELOPERS }

/** Group of operations → roles. A group that is not here is for administrators alone. */
const groups: Readonly<Record<string, GroupRoles>> = {
  users: work,
  orders: work,
  testkits: work,
  scheduling: work,
  phlebotomy: work,
  psc: work,
  insurance: work,
  fulfillment: work,
  messages: work,
  results: work,
  documents: work,
  'file-imports': work,
  connections: work,
  link: work,
  catalog: healthData,
  summaries: healthData,
  timeseries: healthData,
  streams: healthData,
  devices: healthData,
  introspection: healthData,
  wearables: healthData,
  simulator: healthData,
  matching: review,
  'lab-reports': review,
  console: { read: EVERYONE, change: ['developer', 'staff', 'reviewer'] },
  physicians: configuration,
  labs: configuration,
  webhooks: integration,
  pipelines: integration,
  ehr: integration,
  'mobile-sdk': integration,
  management: administration,
}

/** Operations that differ from their group. */
const exceptions: Readonly<Record<string, OtherRoles>> = {
  approve_lab_test: ADMINISTRATORS,
  set_data_retention: ADMINISTRATORS,
  upsert_team_scope_requirements: ADMINISTRATORS,
  create_lab_report_parser_job: STAFF,
  send_lab_link_order: STAFF,
  // They hold or give credentials.
  get_team_custom_credentials: DEVELOPERS,
  prepare_team_custom_credentials: DEVELOPERS,
  upsert_team_custom_credentials: DEVELOPERS,
  delete_team_custom_credentials: DEVELOPERS,
  bulk_export_connections: DEVELOPERS,
  bulk_import_connections: DEVELOPERS,
  bulk_pause_connections: DEVELOPERS,
  bulk_trigger_historical_pull: DEVELOPERS,
  list_bulk_ops: DEVELOPERS,
  upsert_team_data_pull_preferences: DEVELOPERS,
  delete_team_data_pull_preferences: DEVELOPERS,
  list_team_api_keys: DEVELOPERS,
  create_team_api_key: DEVELOPERS,
  delete_team_api_keys: DEVELOPERS,
  // Samples of demo connections, and no patients.
  fail_demo_connection: DEVELOPERS,
  record_demo_sample: DEVELOPERS,
  // The events of an order, and their deliveries.
  list_events: EVERYONE,
  list_event_rows: EVERYONE,
  follow_events: EVERYONE,
  get_team_event_delivery_metric: EVERYONE,
  list_event_types: EVERYONE,
  // What a team is called, and how it is set.
  get_team: EVERYONE,
  get_team_in_org: EVERYONE,
  list_teams_in_org: EVERYONE,
  resolve_team: EVERYONE,
  get_source_priorities: EVERYONE,
  update_source_priorities: DEVELOPERS,
}

/** Whether a role in a team permits an operation in an environment; in both, if its path names none: `undefined`. */
export function isPermitted(operation: Operation, role: TeamRole, environment: Environment | undefined): boolean {
  if (operation.keyScope === 'org') return false
  if (role === 'administrator') return true
  const group = groups[operation.module]
  const permitted = exceptions[operation.id] ?? (isWrite(operation) ? group?.change : group?.read) ?? ADMINISTRATORS
  if (!permitted.includes(role)) return false
  return role !== 'developer' || environment === 'sandbox' || showsOnlySettings(operation)
}

/** In production developers read how things are set: no patients, no secrets, and no keys, with which they could read both. */
const showsOnlySettings = (operation: Operation): boolean =>
  !isWrite(operation) && !operation.logsAccess && !operation.auditsRead && !/key|credential/.test(operation.id)

/** The environment that the path of a management operation names. */
export const environmentOf = (params: Record<string, string>): Environment | undefined =>
  (params.env ?? params.environment) as Environment | undefined
