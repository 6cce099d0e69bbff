// Results that are constants. The multi-cancer test is judged as a whole: a signal makes all of its results critical, whatever they say.
// Constants nobody knows are passed on as they are. Source: lab-testing.md 13.8.
import type { BiomarkerResult } from './schema.ts'

const SIGNAL = 'galleri-cancer-signal'
const TEST_CODE = '86038987'

/** Whether a result is one of the multi-cancer test: `86038987`, or one of its parts, `86038987_1`. */
const isOfTest = ({ slug, provider_id }: BiomarkerResult): boolean =>
  slug.startsWith('galleri-') || provider_id === TEST_CODE || (provider_id ?? '').startsWith(`${TEST_CODE}_`)

/** The results with what a detected signal says of those that the laboratory has not judged itself. */
export function applyCancerSignal(results: BiomarkerResult[]): BiomarkerResult[] {
  const detected = results.some(({ slug, result }) => slug === SIGNAL && result === 'DETECTED')
  if (!detected) return results
  return results.map((result) =>
    isOfTest(result) && result.source_interpretation === '' ? { ...result, interpretation: 'critical' } : result,
  )
}
