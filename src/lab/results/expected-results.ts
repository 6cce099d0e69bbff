// The results to expect of an order: the results of its markers, each once, even if several markers share it. Pure.
import type { AnalyteDefinition, ExpectedMarker } from '../catalog/analytes.ts'
import type { MeasuredAnalyte, SourceMarker } from '../links/diagnostic-report.ts'

export interface ExpectedResult extends MeasuredAnalyte {
  /** False for a reflex result, which the laboratory reports in some cases only. */
  required: boolean
  /** Null for a marker without a known definition. */
  definition: AnalyteDefinition | null
  source_markers: SourceMarker[]
}

/** The results expected of markers, in their order. A result that several markers share is listed at its first marker and names all of them. */
export function expectations(markers: ExpectedMarker[]): ExpectedResult[] {
  const found = new Map<string, ExpectedResult>()
  for (const marker of markers) {
    const source = { marker_id: marker.marker_id, name: marker.name, slug: marker.slug, provider_id: marker.provider_id }
    for (const item of orderExpectedResults(marker)) {
      const known = found.get(item.slug)
      if (!known) {
        found.set(item.slug, { ...item, source_markers: [source] })
        continue
      }
      known.source_markers.push(source)
      known.provider_id ??= item.provider_id
      known.required ||= item.required
    }
  }
  return [...found.values()]
}

/** A marker without listed results is its own result. The results of a panel have no test code of their own. */
function orderExpectedResults(marker: ExpectedMarker): Omit<ExpectedResult, 'source_markers'>[] {
  const { name, slug, provider_id } = marker
  if (marker.expected.length === 0)
    return [{ name, slug, provider_id, loinc: null, loinc_slug: null, required: true, definition: null }]
  return marker.expected.map((item) => ({
    name: item.name,
    slug: item.slug,
    provider_id: marker.type === 'biomarker' ? provider_id : null,
    loinc: item.loinc,
    loinc_slug: item.loinc === null ? null : item.slug,
    required: item.required,
    definition: item.definition,
  }))
}

/** What a report says of an expected result besides its value. */
export const toMeasuredAnalyte = ({
  definition: _definition,
  required: _required,
  ...analyte
}: ExpectedResult): MeasuredAnalyte => analyte
