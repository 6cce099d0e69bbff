// Which names of a report the imported LOINC release is searched for. The process that runs jobs imports it, and nothing that reads files.
import { KNOWN_FROM } from '../loinc/match-loinc.ts'
import type { ReadReport } from './read-report.ts'

/** The names of results for which the shipped terms have no likely candidate. */
export const uncertainNames = ({ results }: ReadReport): string[] => [
  ...new Set(
    results
      .filter(({ loinc_matches }) => (loinc_matches?.[0]?.confidence_score ?? 0) < KNOWN_FROM)
      .map(({ test_name }) => test_name),
  ),
]
