// Where the tables of a cell are when several PostgreSQL share its data under Citus. The schema follows the rules of Citus also where one
// PostgreSQL has everything: thereby a foreign key cannot cross teams.

/**
 * Copied to every node: small, rarely written, and the same for all teams. Their foreign keys lead to tables of this list.
 */
const REFERENCE_TABLES = [
  'analyte',
  'continuous_query',
  'icd_code',
  'icd_exclusion',
  'insurance_data_version',
  'lab',
  'lab_account',
  'lab_account_team',
  'lab_link',
  'loinc_release_term',
  'marker',
  'marker_analyte',
  'payor',
  'phlebotomist',
  'postal_code_location',
  'psc_directory_version',
  'psc_schedule',
  'psc_site',
  'team',
] as const

/**
 * On one node: they belong to the whole cell, or are written before their team is known. No foreign key connects them with a distributed table.
 */
const LOCAL_TABLES = [
  'access_archive',
  'access_archive_lease',
  'access_day',
  'access_line',
  'access_log',
  'access_log_check',
  'access_log_retention',
  'audit_log',
  'catalog_data_version',
  'database_size',
  'feed_epoch',
  'geocoding_cache',
  'lab_link_claim',
  'lab_link_issue',
  'lab_link_lease',
  'lab_link_trial',
  'lab_listener',
  'lab_message',
  'lab_message_result',
  'mail',
  'migration',
  'raw_result',
  'readiness',
  'stored_file',
] as const

/** Each node has the rows of some teams: all other tables. `team_id` decides which, so it begins each of their keys. */
type Placement = 'distributed' | 'reference' | 'local'

const placements = new Map<string, Placement>([
  ...REFERENCE_TABLES.map((name) => [name, 'reference'] as const),
  ...LOCAL_TABLES.map((name) => [name, 'local'] as const),
])

/** The names of the tables that are not distributed. */
export const undistributedTables: readonly string[] = [...placements.keys()]

export const placementOf = (table: string): Placement => placements.get(table) ?? 'distributed'
