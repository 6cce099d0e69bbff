// The text of a printed report, before layout. Pure.
import { accreditationLine } from '../catalog/lab-identity.ts'
import { addressLine } from '../documents/printable-patient.ts'
import type { FailureType } from '../links/diagnostic-report.ts'
import type { Order } from '../orders/schema.ts'
import type { Paper } from '../../platform/pdf/canvas.ts'
import type { Report } from './report-pdf.ts'
import type { BiomarkerResult, MissingResult, ResultDocument } from './schema.ts'

/** A report and its file name. */
export interface ReportContent {
  name: string
  report: Report
}

export function toReportContent(
  document: ResultDocument,
  order: Order,
  options: { name: string; sandbox: boolean; paper: Paper; time_zone: string },
): ReportContent {
  const { metadata } = document
  const [sample] = Object.values(document.sample_information)
  const [laboratory] = Object.values(sample?.performing_laboratories ?? {})
  const { patient_details: patient } = order
  return {
    name: options.name,
    report: {
      lab: {
        name: laboratory?.name ?? metadata.laboratory ?? '',
        address: laboratory?.address ? addressLine(laboratory.address) : '',
        accreditation: accreditationLine({ clia: metadata.clia_number, accreditation: laboratory?.accreditation }),
        medical_director: laboratory?.medical_director ?? null,
      },
      patient: {
        name: metadata.patient,
        dob: metadata.dob,
        age: metadata.age,
        gender: capitalize(patient?.gender ?? 'unknown'),
        patient_id: metadata.patient_id,
      },
      order: {
        specimen_number: metadata.specimen_number,
        order_id: order.id,
        collectedAt: metadata.date_collected,
        receivedAt: metadata.date_received,
        reportedAt: metadata.date_reported,
        time_zone: options.time_zone,
        status: metadata.status !== 'partial' && order.last_event.status.endsWith('.corrected') ? 'corrected' : metadata.status,
        fasting: sample?.clinical_information?.fasting ?? null,
        physician: metadata.provider,
        test_name: order.lab_test.name,
        notes: order.clinical_notes,
        comments: sample?.clinical_information?.information ?? null,
        sandbox: options.sandbox,
      },
      paper: options.paper,
      panels: createPanels(document, order.lab_test.name),
      missingResults: document.missing_results.map((item) => ({ name: item.name, reason: reasonOf(item) })),
    },
  }
}

/** Results of a marker with several results are grouped under its name; markers with one result share a table. */
function createPanels({ results, sample_information }: ResultDocument, test_name: string): Report['panels'] {
  const laboratories = Object.values(sample_information)[0]?.performing_laboratories ?? {}
  const sizes = new Map<number, number>()
  const markerOf = (result: BiomarkerResult) => result.source_markers?.[0]
  for (const result of results) {
    const id = markerOf(result)?.marker_id
    if (id !== undefined) sizes.set(id, (sizes.get(id) ?? 0) + 1)
  }
  const panels = new Map<string, Report['panels'][number]>()
  for (const result of results) {
    const marker = markerOf(result)
    const isPanel = marker !== undefined && sizes.get(marker.marker_id)! > 1
    const [key, name] = !marker
      ? ['other', 'Other results']
      : isPanel
        ? [`${marker.marker_id}`, marker.name]
        : ['single', test_name]
    const panel = panels.get(key) ?? { name, results: [] }
    panels.set(key, panel)
    panel.results.push({
      name: result.name,
      result: result.result,
      unit: result.unit,
      reference_range: result.reference_range,
      flag: result.source_interpretation,
      interpretation: result.interpretation,
      notes: printedNotes(result, { laboratories, organism: findParent(result, results) }),
      loinc: result.loinc,
    })
  }
  return [...panels.values()]
}

type Laboratories = NonNullable<ResultDocument['sample_information'][string]['performing_laboratories']>

/** The result that another one specifies. */
const findParent = ({ parent }: BiomarkerResult, results: BiomarkerResult[]): BiomarkerResult | undefined =>
  parent && results.find(({ provider_id, sub_id }) => provider_id === parent.code && (sub_id ?? null) === parent.sub_id)

/** The notes of a result, its organism, whether it may change, and its laboratory if the heading names another one. */
function printedNotes(
  { notes, result, state, parent, performing_laboratory }: BiomarkerResult,
  { laboratories, organism }: { laboratories: Laboratories; organism: BiomarkerResult | undefined },
): string | null {
  const [heading] = Object.keys(laboratories)
  const laboratory = performing_laboratory === heading ? undefined : laboratories[performing_laboratory ?? '']
  const lines = [
    parent && `Of ${organism?.result ?? [parent.code, parent.sub_id].filter(Boolean).join(' ')}.`,
    state === 'preliminary' && 'Preliminary result.',
    state === 'corrected' && 'Corrected result.',
    laboratory &&
      `Performed by ${[laboratory.name, laboratory.clia_number && `CLIA ${laboratory.clia_number}`].filter(Boolean).join(', ')}.`,
  ].filter((line) => typeof line === 'string')
  if (lines.length === 0) return notes
  return [...(notes === null || notes === result ? [] : [notes]), ...lines].join('\n')
}

const reasons: Record<FailureType, string> = {
  quantity_not_sufficient_failure: 'Quantity not sufficient',
  collection_process_failure: 'Handling after collection',
  drop_off_failure: 'Condition on arrival',
  internal_lab_failure: 'Problem inside the laboratory',
  order_entry_failure: 'Not ordered properly at the laboratory',
  non_failure: 'Not needed',
  unknown_failure: 'No reason given',
  patient_condition_failure: "Interference from the patient's condition",
  missing_result_calc_failure: 'Cannot be calculated without other results',
  missing_demo_aoe_calc_failure: 'Cannot be calculated without facts about the patient',
  insufficient_volume: 'Quantity not sufficient',
}

const reasonOf = ({ inferred_failure_type, note }: MissingResult): string =>
  [reasons[inferred_failure_type], note].filter(Boolean).join('. ')

const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
