// Results of a laboratory as FHIR R4 Observations. Pure. Source: https://hl7.org/fhir/R4/observation.html. Unsourced: the systems of identifiers.
import type { Order } from '../../lab/orders/schema.ts'
import type { BiomarkerResult, ResultDocument } from '../../lab/results/schema.ts'
import { patientReference } from '../../people/users/fhir-patient.ts'
import type { UserIdentity } from '../../people/users/users.ts'
import type { Observation } from './transactions.ts'

/** The systems of our identifiers. */
const RESULT_SYSTEM = 'urn:drawbridge:result'
const ORDER_SYSTEM = 'urn:drawbridge:order'
const LOINC = 'http://loinc.org'
/** The identifier of laboratories in US Core. */
const CLIA = 'urn:oid:2.16.840.1.113883.4.7'
const INTERPRETATIONS = 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation'
const CATEGORIES = 'http://terminology.hl7.org/CodeSystem/observation-category'

/** The Observations of a result. */
export function observationsOfResult(order: Order, document: ResultDocument, subject: UserIdentity): Observation[] {
  const isCorrected = order.events.some(({ status }) => status.endsWith('.corrected'))
  const seen = new Map<string, number>()
  return document.results.map((result) => {
    const name = result.slug || (result.loinc ?? result.name)
    const n = (seen.get(name) ?? 0) + 1
    seen.set(name, n)
    return observationOf(result, { order, document, subject, isCorrected, key: n === 1 ? name : `${name}/${n}` })
  })
}

interface Context {
  order: Order
  document: ResultDocument
  subject: UserIdentity
  isCorrected: boolean
  /** Tells the results of an order apart. */
  key: string
}

function observationOf(result: BiomarkerResult, { order, document, subject, isCorrected, key }: Context): Observation {
  const { metadata } = document
  const status = metadata.status === 'partial' ? 'preliminary' : isCorrected ? 'corrected' : 'final'
  const coding = result.loinc === null ? {} : { coding: [{ system: LOINC, code: result.loinc, display: result.name }] }
  const issued = result.timestamp ?? metadata.date_reported
  return {
    resourceType: 'Observation',
    identifier: [{ system: RESULT_SYSTEM, value: `${order.id}/${key}` }],
    basedOn: [{ type: 'ServiceRequest', identifier: { system: ORDER_SYSTEM, value: order.id } }],
    status,
    category: [{ coding: [{ system: CATEGORIES, code: 'laboratory', display: 'Laboratory' }] }],
    code: { ...coding, text: result.name },
    subject: patientReference(subject),
    ...(metadata.date_collected !== null && { effectiveDateTime: metadata.date_collected }),
    ...(issued && { issued }),
    ...performerOf(result, document),
    ...valueOf(result),
    interpretation: [{ coding: [{ system: INTERPRETATIONS, code: interpretationOf(result) }] }],
    ...rangeOf(result),
    ...(result.notes !== null && result.notes !== '' && { note: [{ text: result.notes }] }),
  }
}

/** The laboratory that performed the test, with its CLIA number; nothing if it is unknown. */
function performerOf({ performing_laboratory }: BiomarkerResult, { metadata, sample_information }: ResultDocument) {
  const [sample] = Object.values(sample_information)
  const performing = performing_laboratory === null ? undefined : sample?.performing_laboratories?.[performing_laboratory]
  const display = performing?.name ?? metadata.laboratory
  if (display === null) return {}
  const identifier = metadata.clia_number !== null && { identifier: { system: CLIA, value: metadata.clia_number } }
  return { performer: [{ type: 'Organization', ...identifier, display }] }
}

/** `5.4`, `<0.1`, `>= 200`. */
const MEASURED = /^(<=|>=|<|>)?\s*([+-]?\d+(?:\.\d+)?)$/

/** A number as a quantity, with its comparator; everything else as text. */
function valueOf({ type, result, unit }: BiomarkerResult): Record<string, unknown> {
  const [, comparator, digits] = (type === 'numeric' && MEASURED.exec(result.trim())) || []
  if (digits === undefined) return { valueString: result }
  return { valueQuantity: { value: Number(digits), ...(comparator && { comparator }), ...(unit !== null && { unit }) } }
}

function interpretationOf({ interpretation, is_above_max_range, is_below_min_range }: BiomarkerResult): string {
  if (interpretation !== 'abnormal' && interpretation !== 'critical') return 'N'
  const letter = is_above_max_range ? 'H' : is_below_min_range ? 'L' : 'A'
  return interpretation === 'critical' ? letter + letter : letter
}

function rangeOf({ reference_range: text, min_range_value: min, max_range_value: max, unit }: BiomarkerResult) {
  if (text === null && min === null && max === null) return {}
  const quantity = (value: number) => ({ value, ...(unit !== null && { unit }) })
  return {
    referenceRange: [
      {
        ...(min !== null && { low: quantity(min) }),
        ...(max !== null && { high: quantity(max) }),
        ...(text !== null && { text }),
      },
    ],
  }
}
