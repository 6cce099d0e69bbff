// What laboratories send in tests: deliveries made for an order or for nobody, taken in as a link does.
import { randomUUID } from 'node:crypto'
import { expectedResults } from '../../src/lab/catalog/lab-tests.ts'
import type { DiagnosticReport } from '../../src/lab/links/diagnostic-report.ts'
import type { IncomingResult, ReportedPatient } from '../../src/lab/result-matching/incoming-result.ts'
import { receiveForTeam, receiveFromLink, type Receipt } from '../../src/lab/result-matching/receive.ts'
import type { Order } from '../../src/lab/orders/schema.ts'
import type { Db } from '../../src/platform/db/database.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { T } from '../../src/platform/schema/schema.ts'
import { expectations } from '../../src/lab/results/expected-results.ts'
import { patient, createOrder, tenantOf, advanceTo } from './orders.ts'
import { cells, guard, type TestTeam } from './server.ts'

const { first_name, last_name, dob, gender } = patient
/** The patient of `placed`, as a laboratory names them. */
export const reportedPatient: ReportedPatient = { first_name, last_name, dob, gender }

/** A normal report of everything that a lab test expects. */
export async function createReport(
  team: TestTeam,
  lab_test_id: string,
  overrides: Partial<DiagnosticReport> = {},
): Promise<DiagnosticReport> {
  const markers = await team.db.tx(await tenantOf(team), (tx) => expectedResults(tx, lab_test_id))
  const results = expectations(markers).map(({ definition: _definition, required: _required, ...item }) => ({
    ...item,
    type: 'numeric' as const,
    result: '5',
    unit: null,
    reference_range: '1-10',
    flag: '',
    notes: null,
  }))
  return {
    status: 'final',
    amended: false,
    specimen_number: 'SPEC-1',
    collected_at: null,
    received_at: null,
    reported_at: '2030-01-04T10:00:00Z',
    performing_laboratory: null,
    results,
    missing: [],
    ...overrides,
  }
}

/** A delivery about an order, as its laboratory would send it, with changes. */
export async function deliveryFor(team: TestTeam, order: Order, changes: Partial<IncomingResult> = {}): Promise<IncomingResult> {
  return {
    lab_slug: order.lab_test.lab!.slug,
    link: null,
    message_id: randomUUID(),
    sample_id: order.sample_id,
    numbers: [],
    account_number: null,
    patient: reportedPatient,
    report: await createReport(team, order.lab_test.id),
    ...changes,
  }
}

/** Receives a result for the team, as from a sender of that team. */
export const receiveResult = async (team: TestTeam, delivery: IncomingResult): Promise<Receipt> =>
  team.db.tx(await tenantOf(team), (tx) => receiveForTeam(tx, delivery))

/** Receives a result of a sandbox cell over the link of a lab account, by default that of the platform. */
export async function receiveOverLink(
  delivery: IncomingResult,
  {
    account_id,
    sender = 'FICTIONAL-LIS',
    db = cells.db('sandbox-us'),
    pdf = null,
  }: { account_id?: string; sender?: string; db?: Db; pdf?: Buffer | null } = {},
): Promise<Receipt> {
  const link = { account_id: account_id ?? (await platformAccountId(db, delivery.lab_slug)), sender }
  return receiveFromLink({ cell: 'sandbox-us', db, findTenant: guard.tenant }, { ...delivery, link }, pdf ? [pdf] : [])
}

/** The platform's account at a laboratory of a cell. */
const platformAccountId = async (db: Db, lab_slug: string): Promise<string> =>
  (
    await db.queries.one(
      T.Object({ id: T.String() }),
      sql`select a.id from lab_account a join lab l on l.id = a.lab_id where l.slug = ${lab_slug} and a.org_id is null`,
    )
  ).id

/** Creates an order, and lets the simulated laboratory accept it and give it a sample id. */
export async function acceptedOrder(
  team: TestTeam,
  method = 'walk_in_test',
  changes: Record<string, unknown> = {},
): Promise<Order> {
  const { id } = await createOrder(team, { lab_test_id: await team.test(method), ...changes })
  await team.api.post(`/v3/order/${id}/test?final_status=received.${method}.requisition_created`)
  await team.settle()
  return (await team.api.get(`/v3/order/${id}`)).body
}

/** Takes an order through further statuses. */
export async function advanceOrder(team: TestTeam, order: Order, ...steps: string[]): Promise<Order> {
  await advanceTo(team, order.id, ...steps)
  return (await team.api.get(`/v3/order/${order.id}`)).body
}
