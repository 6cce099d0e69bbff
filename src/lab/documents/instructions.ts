// Collection instructions of a lab test, for the test and for an order of it. Source: lab-testing.md 15.
import { getLabTest } from '../catalog/lab-tests.ts'
import { findLab } from '../catalog/labs.ts'
import type { LabTest } from '../catalog/schema.ts'
import { paperOf } from '../../settings/cells.ts'
import { pdfFileName, type RenderJob } from '../../platform/pdf/render.ts'
import { iso } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import {
  fastingSection,
  afterKitSection,
  beforeKitSection,
  kitSectionsBySample,
  sectionsByMethod,
  type InstructionSection,
} from './instruction-texts.ts'
import type { Instructions } from './instructions-page.ts'
import { isSandbox, loadOrderData, toPrintableLab, type PrintableLab } from './order-data.ts'
import { toWords } from './printable-patient.ts'

const instructionsNotFound = () => notFound('There are no collection instructions')

/** The instructions of a lab test. Errors: 404 unknown test, or a test without instructions. */
export async function getTestInstructions(tx: Tx, lab_test_id: string): Promise<RenderJob<Instructions>> {
  const test = await getLabTest(tx, lab_test_id)
  if (!test.has_collection_instructions) throw instructionsNotFound()
  const lab = await findLab(tx, test.lab!.id)
  return { name: pdfFileName(test.slug), input: createInstructions(tx, test, toPrintableLab(lab!), null) }
}

/** The instructions of an order's lab test, with the sample id. Errors: 404 unknown order, or a test without instructions. */
export async function getOrderInstructions(tx: Tx, order_id: string): Promise<RenderJob<Instructions>> {
  const { order, lab } = await loadOrderData(tx, order_id)
  if (!order.lab_test.has_collection_instructions) throw instructionsNotFound()
  const input = createInstructions(tx, order.lab_test, toPrintableLab(lab), order.sample_id)
  return { name: pdfFileName(order.sample_id ?? order.id), input }
}

const createInstructions = (tx: Tx, test: LabTest, lab: PrintableLab, sample_id: string | null): Instructions => ({
  lab,
  test_name: test.name,
  collection: toWords(test.method),
  sample: toWords(test.sample_type),
  sample_id,
  parts: sectionsFor(test),
  printedAt: iso(tx.now),
  sandbox: isSandbox(tx),
  paper: paperOf(tx.tenant.cell),
})

const sectionsFor = ({ method, sample_type, fasting }: LabTest): InstructionSection[] => [
  ...(fasting ? [fastingSection] : []),
  ...(method === 'testkit'
    ? [beforeKitSection, kitSectionsBySample[sample_type], afterKitSection]
    : sectionsByMethod[method](sample_type)),
]
