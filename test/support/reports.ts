// Reports of laboratories, made result by result, and orders that wait for one.
import { expectedResults } from '../../src/lab/catalog/lab-tests.ts'
import type { DiagnosticReport, ReportedResult } from '../../src/lab/links/diagnostic-report.ts'
import { updateOrder } from '../../src/lab/orders/change-order.ts'
import type { Order } from '../../src/lab/orders/schema.ts'
import { createOrder, advanceTo } from './orders.ts'
import { createTestTeam, type TestTeam, type Reply } from './server.ts'
import { expectations, type ExpectedResult } from '../../src/lab/results/expected-results.ts'
import { receiveReport } from '../../src/lab/results/results.ts'

export const TO_LAB = [
  'requisition_created',
  'transit_customer',
  'out_for_delivery',
  'with_customer',
  'transit_lab',
  'delivered_to_lab',
]

/** A team with a kit at the laboratory. */
export async function atLab(
  changes: Record<string, unknown> = {},
): Promise<{ team: TestTeam; order: Order; expected: ExpectedResult[] }> {
  const team = await createTestTeam()
  const order = await createOrder(team, changes)
  await advanceTo(team, order.id, ...TO_LAB)
  const markers = await team.db.tx(team.tenant, (tx) => expectedResults(tx, order.lab_test.id))
  return { team, order, expected: expectations(markers) }
}

export const toMeasured = ({ name, slug, provider_id, loinc, loinc_slug, source_markers }: ExpectedResult) => ({
  name,
  slug,
  provider_id,
  loinc,
  loinc_slug,
  source_markers,
})

export const numeric = (item: ExpectedResult, result = '5', overrides: Partial<ReportedResult> = {}): ReportedResult => ({
  ...toMeasured(item),
  type: 'numeric',
  result,
  unit: 'mg/dL',
  reference_range: '1-10',
  flag: '',
  notes: null,
  ...overrides,
})

export const unorderedResult = (slug: string, overrides: Partial<ReportedResult> = {}): ReportedResult => ({
  ...numeric({
    name: slug,
    slug,
    provider_id: null,
    loinc: null,
    loinc_slug: null,
    required: false,
    definition: null,
    source_markers: [],
  }),
  source_markers: null,
  ...overrides,
})

export const report = (results: ReportedResult[], overrides: Partial<DiagnosticReport> = {}): DiagnosticReport => ({
  status: 'final',
  amended: false,
  specimen_number: 'SPEC-1',
  collected_at: '2030-01-02T08:00:00+00:00',
  received_at: '2030-01-03T08:00:00Z',
  reported_at: '2030-01-04T10:00:00+02:00',
  performing_laboratory: null,
  results,
  missing: [],
  ...overrides,
})

export const deliver = ({ db, tenant }: TestTeam, id: string, diagnosticReport: DiagnosticReport) =>
  db.tx(tenant, (tx) => updateOrder(tx, id, (lockedOrder) => receiveReport(tx, lockedOrder, diagnosticReport)))

export const getResult = ({ api }: TestTeam, id: string): Promise<Reply> => api.get(`/v3/order/${id}/result`)
