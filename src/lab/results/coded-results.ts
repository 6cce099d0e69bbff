// Results with a coded value. The multi-cancer test is interpreted as a whole: a detected signal makes all of its results critical,
// whatever their own interpretation. Unknown codes are passed on unchanged. Source: lab-testing.md 13.8.
import type { BiomarkerResult } from './schema.ts'

const SIGNAL = 'galleri-cancer-signal'
const TEST_CODE = '86038987'

/** Whether a result belongs to the multi-cancer test: `86038987`, or one of its parts, `86038987_1`. */
const isOfTest = ({ slug, provider_id }: BiomarkerResult): boolean =>
  slug.startsWith('galleri-') || provider_id === TEST_CODE || (provider_id ?? '').startsWith(`${TEST_CODE}_`)

/** Applies a detected signal to those results that the laboratory has not interpreted. */
export function applyCancerSignal(results: BiomarkerResult[]): BiomarkerResult[] {
  const detected = results.some(({ slug, result }) => slug === SIGNAL && result === 'DETECTED')
  if (!detected) return results
  return results.map((result) =>
    isOfTest(result) && result.source_interpretation === '' ? { ...result, interpretation: 'critical' } : result,
  )
}
