// Results of a laboratory as FHIR R4 Observations, in transactions that may be repeated: each Observation is updated by its identifier.
// Pure. Source: https://hl7.org/fhir/R4/observation.html, /http.html#cond-update. Unsourced: the systems of identifiers.
import type { Order } from '../../lab/orders/schema.ts'
import type { BiomarkerResult, ResultDocument } from '../../lab/results/schema.ts'

/** The systems of our identifiers. */
const RESULT_SYSTEM = 'urn:drawbridge:result'
const ORDER_SYSTEM = 'urn:drawbridge:order'
const USER_SYSTEM = 'urn:drawbridge:user'
const LOINC = 'http://loinc.org'
const INTERPRETATIONS = 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation'
const CATEGORIES = 'http://terminology.hl7.org/CodeSystem/observation-category'
/** Observations in one transaction. */
const ENTRIES_MAX = 200

export interface Observation {
  resourceType: 'Observation'
  identifier: [{ system: string; value: string }]
  [field: string]: unknown
}

export interface TransactionBundle {
  resourceType: 'Bundle'
  type: 'transaction'
  entry: { resource: Observation; request: { method: 'PUT'; url: string } }[]
}

/** Who a result is about, as the records system may know them. */
export interface Subject {
  user_id: string
  client_user_id: string
}

/** The Observations of a result, in transactions of at most 200. */
export function bundlesOf(order: Order, document: ResultDocument, subject: Subject): TransactionBundle[] {
  const isCorrected = order.events.some(({ status }) => status.endsWith('.corrected'))
  const seen = new Map<string, number>()
  const observations = document.results.map((result) => {
    const name = result.slug || (result.loinc ?? result.name)
    const n = (seen.get(name) ?? 0) + 1
    seen.set(name, n)
    return observationOf(result, { order, document, subject, isCorrected, key: n === 1 ? name : `${name}/${n}` })
  })
  const bundles: TransactionBundle[] = []
  for (let at = 0; at < observations.length; at += ENTRIES_MAX)
    bundles.push({
      resourceType: 'Bundle',
      type: 'transaction',
      entry: observations.slice(at, at + ENTRIES_MAX).map((resource) => ({
        resource,
        request: { method: 'PUT', url: `Observation?identifier=${encodeURIComponent(tokenOf(resource))}` },
      })),
    })
  return bundles
}

/** A token of a search: backslashes, commas, dollars and bars of its parts are escaped. Source: search.html#escaping. */
function tokenOf({ identifier: [{ system, value }] }: Observation): string {
  const escaped = (text: string) => text.replace(/[\\,$|]/g, '\\$&')
  return `${escaped(system)}|${escaped(value)}`
}

interface Context {
  order: Order
  document: ResultDocument
  subject: Subject
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
    subject: { type: 'Patient', identifier: { system: USER_SYSTEM, value: subject.user_id }, display: subject.client_user_id },
    ...(metadata.date_collected !== null && { effectiveDateTime: metadata.date_collected }),
    ...(issued && { issued }),
    ...(metadata.laboratory !== null && { performer: [{ type: 'Organization', display: metadata.laboratory }] }),
    ...valueOf(result),
    interpretation: [{ coding: [{ system: INTERPRETATIONS, code: interpretationOf(result) }] }],
    ...rangeOf(result),
    ...(result.notes !== null && result.notes !== '' && { note: [{ text: result.notes }] }),
  }
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
