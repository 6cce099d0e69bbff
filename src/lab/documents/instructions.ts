// Collection instructions of lab tests that have some, for the test and for an order of it. Source: lab-testing.md 15.
import { getLabTest } from '../catalog/lab-tests.ts'
import { findLab } from '../catalog/labs.ts'
import type { LabTest } from '../catalog/schema.ts'
import { fileName, type Drawing } from '../../platform/pdf/draw.ts'
import { iso } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import { fastingPart, kitAfter, kitBefore, kitSteps, visits, type Part } from './instruction-texts.ts'
import type { Instructions } from './instructions-page.ts'
import { isSandbox, openFile, printedLab, type PrintedLab } from './order-data.ts'
import { words } from './person-text.ts'

const none = () => notFound('There are no collection instructions')

/** Those of a lab test. 404: the team has no such test, or the test has none. */
export async function getTestInstructions(tx: Tx, lab_test_id: string): Promise<Drawing<Instructions>> {
  const test = await getLabTest(tx, lab_test_id)
  if (!test.has_collection_instructions) throw none()
  const lab = await findLab(tx, test.lab!.id)
  return { name: fileName(test.slug), input: instructionsOf(tx, test, printedLab(lab!), null) }
}

/** Those of an order's lab test, with the number of its sample. 404: no such order, or its test has none. */
export async function getOrderInstructions(tx: Tx, order_id: string): Promise<Drawing<Instructions>> {
  const { order, lab } = await openFile(tx, order_id)
  if (!order.lab_test.has_collection_instructions) throw none()
  const input = instructionsOf(tx, order.lab_test, printedLab(lab), order.sample_id)
  return { name: fileName(order.sample_id ?? order.id), input }
}

const instructionsOf = (tx: Tx, test: LabTest, lab: PrintedLab, sample_id: string | null): Instructions => ({
  lab,
  test_name: test.name,
  collection: words(test.method),
  sample: words(test.sample_type),
  sample_id,
  parts: partsOf(test),
  at: iso(tx.now),
  sandbox: isSandbox(tx),
})

const partsOf = ({ method, sample_type, fasting }: LabTest): Part[] => [
  ...(fasting ? [fastingPart] : []),
  ...(method === 'testkit' ? [kitBefore, kitSteps[sample_type], kitAfter] : visits[method](sample_type)),
]
