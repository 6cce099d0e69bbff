// The terms of results that say whether an antibiotic acts on an organism. They bear the names of the antibiotics, as the levels of these in
// the blood do, and only the table of a report tells which of both is meant. Pure.
import type { Candidate } from './match-terms.ts'
import type { Term } from './terms.ts'

/** As sure as a name can be; the method (dilution, strip, disk) is that of other terms. */
const SCORE = 0.95

/** Parts of names that other words stand for. */
const SAME: Record<string, string> = {
  amoxycillin: 'amoxicillin',
  benzylpenicillin: 'penicilling',
  clavulanic: 'clavulanate',
  clav: 'clavulanate',
  clavulanat: 'clavulanate',
  gentamycin: 'gentamicin',
  rifampicin: 'rifampin',
  sulpha: 'sulfamethoxazole',
  sulfa: 'sulfamethoxazole',
  sulphamethoxazole: 'sulfamethoxazole',
  cephazolin: 'cefazolin',
}
/** Parts that do not tell substances apart. */
const LEFT_OUT = /^(?:acid|k|potassium|sodium|susceptibility|or|and|with)$/u

/** The substances of a name in one order. */
const substancesOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/\bpenicillin g\b/u, 'penicilling')
    .replace(/\bhigh[ -]level\b|\.high potency\b|\(?synergy\)?/u, ' highlevel')
    .split(/[^\p{L}]+/u)
    .filter((part) => part && !LEFT_OUT.test(part))
    .map((part) => SAME[part] ?? part)
    .toSorted()
    .join(' ')

export const isSusceptibilityTerm = ({ property }: Term): boolean => property === 'Susc'

/** The term of an antibiotic among these; none if it is not there. */
export function susceptibilityCandidates(terms: readonly Term[], name: string): Candidate[] {
  const wanted = substancesOf(name)
  return terms
    .filter(
      (term) =>
        isSusceptibilityTerm(term) &&
        term.method === '' &&
        [term.component, ...term.aliases].some((alias) => substancesOf(alias) === wanted),
    )
    .slice(0, 1)
    .map((term) => ({ term, score: SCORE, isExact: true }))
}
