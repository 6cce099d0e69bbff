// The codes of a laboratory by the profile of its link: catalog codes of its tests, LOINC codes and units of its results. Pure.
import type { MeasuredAnalyte } from '../links/diagnostic-report.ts'
import type { Observation } from '../links/link-message.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'

export interface LinkCodes {
  /** The code that the catalog has for a test. */
  test(code: string): string
  /** The order's expected results give the rest (identify-analytes.ts). */
  result(item: { code: string; name?: string; loinc?: string }): MeasuredAnalyte
  /** The unit as it is shown; null for none. */
  unit(item: Pick<Observation, 'code' | 'unit'>): string | null
}

/** A code that the profile does not list stays as it is, and what the laboratory says itself counts before the profile. */
export function createCodes({ codes }: Pick<LinkProfile, 'codes'>): LinkCodes {
  const results = new Map(codes.results.map((item) => [item.code, item]))
  return {
    test: (code) => translate(codes.tests, code),
    result: ({ code, name, loinc }) => ({
      name: name?.trim() || code,
      slug: '',
      provider_id: results.get(code)?.provider_id ?? code,
      loinc: loinc ?? results.get(code)?.loinc ?? null,
      loinc_slug: null,
      source_markers: null,
    }),
    unit: ({ code, unit }) => {
      const text = unit?.trim() || results.get(code)?.unit
      return text ? translate(codes.units, text) : null
    },
  }
}

/**
 * What a map of the profile has for a text, else the text itself, without the blanks around it: systems with fields of a fixed width pad codes and
 * units. Names that every object inherits are texts like others.
 */
export function translate(map: Readonly<Record<string, string>>, text: string): string {
  const trimmed = text.trim()
  return Object.hasOwn(map, trimmed) ? map[trimmed]! : trimmed
}
