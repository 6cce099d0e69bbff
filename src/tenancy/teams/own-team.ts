// A team as its own keys see it. Source: management-auth.md 18.
import type { Tx } from '../../platform/db/transaction.ts'
import { unprocessable, notFound } from '../../platform/http/errors.ts'
import { valueFault } from '../../platform/schema/fault.ts'
import { Nullable, T, withNulls } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { toWire } from './environment-settings.ts'
import { OwnTeam } from './schema.ts'
import { prioritiesChanged } from './team-hooks.ts'

/** The dependencies of reading the own team. */
export interface OwnTeamDependencies {
  cells: Cells
  /** Contact address shown to patients of teams without an address of their own. */
  support_email: string
}

const Named = T.Object({ name: T.String() })

/** Reads the team, without any secret. 404: another team. */
export async function getOwnTeam(tx: Tx, dependencies: OwnTeamDependencies, team_id: string): Promise<OwnTeam> {
  assertOwn(tx, team_id)
  const { name } = await dependencies.cells.control.queries.one(Named, sql`select name from team where id = ${team_id}`)
  const settings = toWire(tx.tenant.settings, dependencies.support_email)
  const { lab_tests_patient_sms_communication_enabled: sms, lab_tests_patient_email_communication_enabled: email } = settings
  return withNulls(OwnTeam, {
    id: team_id,
    org_id: tx.tenant.org,
    name,
    testkits_texts_enabled: sms,
    lab_tests_patient_communication_enabled: sms || email,
    lab_tests_patient_sms_communication_enabled: sms,
    lab_tests_patient_email_communication_enabled: email,
    logo_url: settings.logo_url,
    delegated_flow: 'order_and_results_with_customer_physician_network',
    critical_result_notification_email: settings.critical_result_notification_email,
  })
}

function assertOwn(tx: Tx, team_id: string): void {
  if (team_id !== tx.team) throw notFound('Not Found')
}

type Priorities = Record<string, unknown>[]

const PrioritiesRow = T.Object({ source_priorities: Nullable(T.String()) })
const DEPTH_MAX = 10

/** The list that the team has stored, or its items about one kind of data. */
export async function getPriorities(tx: Tx, data_type?: string): Promise<Priorities> {
  const { source_priorities } = await tx.one(PrioritiesRow, sql`select source_priorities from team where id = ${tx.team}`)
  const all = JSON.parse(source_priorities ?? '[]') as Priorities
  return data_type === undefined ? all : all.filter((item) => item.data_type === data_type)
}

/** Replaces the list; without one nothing changes. Writes team; notifies `prioritiesChanged`. 422: an item of more than 10 levels. */
export async function replacePriorities(tx: Tx, list: Priorities | undefined): Promise<Priorities> {
  if (!list) return getPriorities(tx)
  const faults = list.flatMap((item, i) =>
    exceedsDepth(item, DEPTH_MAX) ? [valueFault(['body', i], 'has too many levels')] : [],
  )
  if (faults.length) throw unprocessable(faults)
  const text = JSON.stringify(list)
  const changed = await tx.run(sql`
    update team set source_priorities = ${text} where id = ${tx.team} and source_priorities is distinct from ${text}`)
  if (changed) await tx.notify(prioritiesChanged)
  return list
}

const exceedsDepth = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((item) => exceedsDepth(item, levels - 1)))
