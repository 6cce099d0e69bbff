// Every table ends: docs/operating/monitor.md says when rows of tables that grow with use are deleted, and all others are bounded by what is
// configured. A table in neither list fails.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { contents } from '../../src/app/contents.ts'

/** Tables that do not grow with orders, results, samples, events or requests, by what they have rows of. */
const BOUNDED: Record<string, string[]> = {
  'the installation': ['completed_backup', 'feed_epoch', 'migration', 'readiness', 'sign_in_key'],
  'organizations, teams and people who administer them': [
    'api_key',
    'continuous_query',
    'custom_credential',
    'dashboard_embedding',
    'data_pull_preference',
    'data_retention',
    'data_retention_check',
    'ehr_pipeline',
    'event_subscribed_team',
    'integration_member',
    'invite',
    'list_count',
    'management_key',
    'management_key_team',
    'member',
    'member_identity',
    'member_password',
    'org',
    'org_domain',
    'passkey',
    'provider_limit',
    'saved_view',
    'scope_requirement',
    'team_physician',
  ],
  'endpoints, pipelines and sandboxes of teams': [
    'clock_move',
    'destination',
    'pipeline',
    'sandbox_fault',
    'webhook',
    'webhook_secret',
  ],
  'laboratories and their links': [
    'lab',
    'lab_account',
    'lab_account_team',
    'lab_link',
    'lab_link_lease',
    'lab_link_claim',
    'lab_link_trial',
    'lab_listener',
  ],
  'the catalog, directories and code lists': [
    'analyte',
    'catalog_data_version',
    'icd_code',
    'icd_exclusion',
    'insurance_data_version',
    'lab_test',
    'lab_test_marker',
    'loinc_release_term',
    'marker',
    'marker_analyte',
    'payor',
    'phlebotomist',
    'postal_code_location',
    'psc_directory_version',
    'psc_schedule',
    'psc_site',
  ],
  'the access log, a row in all or a row a day': [
    'access_archive',
    'access_archive_lease',
    'access_day',
    'access_log_check',
    'access_log_retention',
  ],
}

/** Kinds of the retention that are not named as their table. */
const KINDS: Record<string, string> = { access_log_day: 'access_log', unassigned_result: 'raw_result' }

const columnsByTable = new Map<string, string>()
for (const [, name, columns] of readFileSync('schema.sql', 'utf8').matchAll(/^table (\w+)\n((?: {2}.+\n)+)/gm))
  columnsByTable.set(name!, (columnsByTable.get(name!) ?? '') + columns!)

const page = readFileSync('docs/operating/monitor.md', 'utf8')
const section = /^## Retention\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(page)![1]!
const namesOnPage = new Set([...section.matchAll(/`(\w+)`/g)].map(([, name]) => KINDS[name!] ?? name!))

/** Tables about users: they have the column, or a key to such a table. The tests of erasure find no row in them when a user is erased. */
function listTablesOfUsers(): Set<string> {
  const isOfUser = (columns: string) => /^ {2}user_id uuid/m.test(columns)
  const direct = [...columnsByTable].filter(([, columns]) => isOfUser(columns)).map(([name]) => name)
  const refers = (columns: string) => direct.some((name) => new RegExp(`REFERENCES "?${name}"?\\(`).test(columns))
  return new Set([...direct, ...[...columnsByTable].filter(([, columns]) => refers(columns)).map(([name]) => name)])
}

test('each table has a documented retention, ends with its user, or is bounded by configuration', () => {
  const ofUsers = listTablesOfUsers()
  const bounded = Object.values(BOUNDED).flat()
  assert(columnsByTable.size > 120 && ofUsers.size > 20 && namesOnPage.size > 30)
  assert.match(section, /`user_id`/)
  const missing = [...columnsByTable.keys()].filter(
    (name) => !namesOnPage.has(name) && !ofUsers.has(name) && !bounded.includes(name),
  )
  assert.deepEqual(missing, [], 'tables without an end')
  assert.deepEqual(
    bounded.filter((name) => !columnsByTable.has(name) || namesOnPage.has(name) || ofUsers.has(name)),
    [],
    'tables that are not there, or grow with use',
  )
})

test('the documented kinds of the retention are those that the worker deletes', () => {
  const kinds = contents.periodicTasks.map(({ kind }) => kind)
  assert(kinds.length > 20)
  assert.deepEqual(
    kinds.filter((kind) => !section.includes(`\`${kind}\``)),
    [],
  )
})
