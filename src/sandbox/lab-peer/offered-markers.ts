// The markers of the bundled catalog by the codes of a laboratory, with their expected results. Reads files, not the database.
import type { ExpectedMarker } from '../../lab/catalog/analytes.ts'
import { labRows, readCatalogRows } from '../../lab/catalog/data-files.ts'
import type { OrderedCode } from './order-message.ts'

/**
 * A function from codes to markers of a laboratory. A code that the catalog lacks is a marker with one result of its own.
 * Errors: Error unknown laboratory.
 */
export function offeredMarkers(lab_slug: string): (codes: readonly OrderedCode[]) => ExpectedMarker[] {
  const lab = labRows().find(({ slug }) => slug === lab_slug)
  if (!lab)
    throw new Error(
      `The laboratory must be one of ${labRows()
        .map(({ slug }) => slug)
        .join(', ')}.`,
    )
  const { markers, analytes, marker_analytes } = readCatalogRows()
  const bySlug = new Map(analytes.map((analyte) => [analyte.slug, analyte]))
  const byCode = new Map(markers.filter(({ lab_id }) => lab_id === lab.id).map((marker) => [marker.provider_id, marker]))
  const expectedOf = (marker_id: number): ExpectedMarker['expected'] =>
    marker_analytes
      .filter((item) => item.marker_id === marker_id)
      .toSorted((a, b) => a.position - b.position)
      .map((item) => ({ ...bySlug.get(item.analyte)!, required: item.required }))
  return (codes) =>
    codes.map(({ code, name }, i) => {
      const marker = byCode.get(code)
      const common = { marker_id: marker?.id ?? -1 - i, provider_id: code, lab_id: lab.id }
      if (!marker) return { ...common, name: name || code, slug: `test-${code.toLowerCase()}`, type: 'biomarker', expected: [] }
      const { slug, type } = marker
      return { ...common, name: marker.name, slug, type: type as ExpectedMarker['type'], expected: expectedOf(marker.id) }
    })
}
