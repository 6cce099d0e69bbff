/** Renders a requisition as PDF. A pure function of its input: it makes no decisions about the order. */
import { factBoxes, headedText, plainTable, type Column } from '../../platform/pdf/blocks.ts'
import { contentWidth, pageSize, type Paper, type PdfCanvas } from '../../platform/pdf/canvas.ts'
import type { Block } from '../../platform/pdf/page-layout.ts'
import { formatInstant } from '../../platform/pdf/text.ts'
import { signatureFields, renderForm } from './form-layout.ts'
import type { PrintableLab } from './order-data.ts'
import { dateFormat, printedDate, type PrintablePatient } from './printable-patient.ts'

/** Insurance or patient billing, in addition to the account. */
export interface Coverage {
  payer: string
  member_id: string
  group_id: string | null
  relationship: string
}

export interface Requisition {
  lab: PrintableLab
  account: { number: string; name: string | null }
  order: {
    id: string
    sample_id: string | null
    orderedAt: string
    createdAt: string
    /** Time zone of the collection site. */
    time_zone: string
    priority: boolean
    fasting: { isRequired: boolean; answer: boolean | null }
    collection: string
    sample: string
    test_name: string
    billing: string
    diagnoses: { code: string; description: string | null }[]
    notes: string | null
    sandbox: boolean
    paper: Paper
  }
  patient: PrintablePatient
  physician: { name: string; npi: string; email: string | null } | null
  coverage: Coverage | null
  /** `collected`: specimens with their containers. */
  markers: { name: string; code: string; containers: string[] }[]
  answers: { marker: string; question: string; answer: string }[]
}

const toColumns = (...columns: [title: string, share: number][]): Column[] => {
  let x = pageSize.left + 6
  return columns.map(([title, share]) => {
    const column = { x, width: share * (contentWidth - 6) - 8, title }
    x += share * (contentWidth - 6)
    return column
  })
}

const tests = toColumns(['CODE', 0.15], ['TEST', 0.38], ['SPECIMEN AND CONTAINER', 0.34], ['DIAGNOSES', 0.13])
const questions = toColumns(['QUESTION', 0.42], ['ANSWER', 0.28], ['FOR', 0.3])

/** Renders a requisition on pages of its paper; the same requisition gives the same bytes. */
export function renderRequisition(requisition: Requisition, options: { compress?: boolean } = {}): Promise<Uint8Array> {
  const { lab, order, patient } = requisition
  const number = order.sample_id ?? order.id
  const head = {
    title: 'LABORATORY REQUISITION',
    name: lab.name,
    lines: [lab.address, lab.accreditation].filter(Boolean),
    barcode: number,
    badge: order.priority ? 'STAT' : null,
    foot: `Requisition ${number}   ·   Order ${order.id}`,
    runningHeader: [patient.filedName, patient.dob && `born ${printedDate(patient.dob, order.paper)}`, number]
      .filter(Boolean)
      .join('   ·   '),
    sandbox: order.sandbox,
    paper: order.paper,
    printedAt: order.createdAt,
  }
  return renderForm(head, (canvas) => createBlocks(canvas, requisition), options)
}

function createBlocks(canvas: PdfCanvas, requisition: Requisition): Block[] {
  const { order, markers, answers } = requisition
  const pointers = pointersOf(order.diagnoses.length)
  return [
    ...patientAndPhysicianBlocks(canvas, requisition),
    ...orderAndCoverageBlocks(canvas, requisition),
    ...plainTable(
      canvas,
      `Tests ordered: ${order.test_name}`,
      tests,
      markers.map(({ code, name, containers }) => ({ cells: [code, name, containers.join('\n'), pointers] })),
    ),
    ...headedText(
      canvas,
      'Diagnoses (ICD-10-CM), for every test of this order',
      order.diagnoses
        .map(({ code, description }, index) => `${pointerOf(index)}: ${code} ${description ?? ''}`.trimEnd())
        .join('\n'),
    ),
    ...plainTable(
      canvas,
      'Questions at order entry',
      questions,
      answers.map(({ question, answer, marker }) => ({ cells: [question, answer, marker] })),
    ),
    ...headedText(canvas, 'Clinical notes', order.notes),
    ...signatureBlocks(canvas, order.paper),
  ]
}

function patientAndPhysicianBlocks(canvas: PdfCanvas, { patient, physician, account, order }: Requisition): Block[] {
  const { dob, age } = patient
  const left = {
    title: 'PATIENT',
    rows: [
      ['Name', patient.filedName],
      ['Date of birth', dob && `${printedDate(dob, order.paper)} (age ${age})`],
      ['Sex', patient.gender],
      ['Phone', patient.phone],
      ['E-mail', patient.email],
      ['Address', patient.address],
      ...(patient.guardian === null ? [] : [['Guardian', patient.guardian] as const]),
    ] as const,
  }
  const right = {
    title: 'ACCOUNT AND PHYSICIAN',
    rows: [
      ['Account', account.number],
      ['Account name', account.name],
      ['Physician', physician?.name ?? null],
      ['NPI', physician?.npi ?? null],
      ...(physician?.email ? [['E-mail', physician.email] as const] : []),
      ['Ordered', formatInstant(order.orderedAt, order.time_zone)],
      ['Requisition', formatInstant(order.createdAt, order.time_zone)],
    ] as const,
  }
  return [factBoxes(canvas, left, right)]
}

function orderAndCoverageBlocks(canvas: PdfCanvas, { order, coverage }: Requisition): Block[] {
  const left = {
    title: 'COLLECTION',
    rows: [
      ['Priority', order.priority ? 'STAT' : 'Routine'],
      ['Collection', order.collection],
      ['Sample', order.sample],
      ['Fasting', fastingWords(order.fasting)],
    ] as const,
  }
  const right = {
    title: 'BILLING',
    rows: [
      ['Bill to', order.billing],
      ['Insurance', coverage?.payer ?? 'None given'],
      ...(coverage
        ? ([
            ['Member ID', coverage.member_id],
            ['Group', coverage.group_id],
            ['Insured', coverage.relationship],
          ] as const)
        : []),
    ] as const,
  }
  return [factBoxes(canvas, left, right)]
}

/** What the patient has answered; without an answer, what the test requires. */
const fastingWords = ({ isRequired, answer }: Requisition['order']['fasting']): string =>
  answer === null
    ? isRequired
      ? 'Required'
      : 'Not required'
    : `${answer ? 'Yes' : 'No'} (answered; the test ${isRequired ? 'requires it' : 'does not require it'})`

/** A, B, …, Z, AA, … as forms for claims point from a test to a diagnosis. */
const pointerOf = (index: number): string =>
  (index < 26 ? '' : pointerOf(Math.floor(index / 26) - 1)) + String.fromCharCode('A'.charCodeAt(0) + (index % 26))

/** `A, B, C`, or `A to F` for more than four. An order names its diagnoses for all its tests. */
function pointersOf(count: number): string {
  if (count > 4) return `${pointerOf(0)} to ${pointerOf(count - 1)}`
  return Array.from({ length: count }, (_, index) => pointerOf(index)).join(', ')
}

/** Signed by the ordering physician where the laboratory asks for it, and filled in by the person who takes the sample. */
const signatureBlocks = (canvas: PdfCanvas, paper: Paper): Block[] => [
  signatureFields(canvas, [
    { name: 'Signature of the ordering physician', width: contentWidth - 126 },
    { name: `Date (${dateFormat(paper)})`, width: 140 },
  ]),
  signatureFields(canvas, [
    { name: `Collection date (${dateFormat(paper)})`, width: 150 },
    { name: 'Time (24 h)', width: 90 },
    { name: 'Fasting for (hours)', width: 100 },
    { name: 'Collected by', width: contentWidth - 326 },
  ]),
]
